"""Tunes, whistled, hummed or sung."""

import numpy as np

from synthetic.sounds.kit import (
    SAMPLE_RATE,
    Point,
    Recipe,
    Signal,
    add,
    band,
    bump,
    clock,
    curve,
    in_step,
    level,
    low_pass,
    moving_band,
    noise,
    outdoors,
    room,
    samples,
    silence,
    tone,
    wander,
)
from synthetic.sounds.voice import formants, glottis, vowels

# Semitones above the first note, and lengths in beats.
TUNES = (
    ((0, 1), (2, 1), (4, 1), (0, 1), (4, 1), (5, 1), (7, 2)),
    ((7, 1), (5, 0.5), (4, 0.5), (2, 1), (0, 1), (2, 1), (4, 1), (0, 2)),
    ((0, 1.5), (4, 0.5), (7, 1), (9, 1), (7, 1.5), (4, 0.5), (2, 2)),
    ((0, 0.5), (0, 0.5), (5, 1), (4, 0.5), (2, 0.5), (4, 1), (0, 2)),
)


def melody(rng: np.random.Generator, base: float, beat: float, vibrato: float = 0.01) -> Signal:
    """Draw a curve of pitch along one of the tunes, gliding a little from note to note."""
    tune = TUNES[rng.integers(len(TUNES))]
    steps = np.concatenate([np.full(samples(beat * long), float(tone)) for tone, long in tune])
    glide = np.hanning(samples(0.09))
    padded = np.pad(steps, (len(glide) // 2, (len(glide) - 1) // 2), mode="edge")
    steps = np.convolve(padded, glide / glide.sum(), "valid")
    seconds = len(steps) / SAMPLE_RATE
    swing = np.sin(2 * np.pi * rng.uniform(5, 6.2) * np.arange(len(steps)) / SAMPLE_RATE)
    swing *= wander(rng, seconds, 2, 0.2, 1)
    return base * 2 ** (steps / 12) * (1 + vibrato * swing)


def _phrased(rng: np.random.Generator, sound: Signal) -> Signal:
    """The sound sung in one breath: it starts softly, sways, and dies away at the end."""
    seconds = len(sound) / SAMPLE_RATE
    breath = curve(seconds, (0, 0), (0.08, 1), (seconds - 0.4, 1), (seconds - 0.02, 0))
    return sound * breath * wander(rng, seconds, 3, 0.6, 1)


def whistled(rng: np.random.Generator, pitch: Signal) -> Signal:
    """Lips whistle nearly a sine, with a little breath around it."""
    seconds = len(pitch) / SAMPLE_RATE
    breath = level(moving_band(noise(rng, seconds), pitch, 0.25))
    return tone(pitch, (1, 0.05, 0.015)) + 0.05 * breath + 0.02 * noise(rng, seconds, 0.2)


def _whistling_tune(rng: np.random.Generator) -> Signal:
    pitch = melody(rng, rng.uniform(1000, 1500), rng.uniform(0.38, 0.52), 0.012)
    return outdoors(rng, room(rng, _phrased(rng, whistled(rng, pitch)), 0.8, 0.15), 0.004)


def _whistle_calls(rng: np.random.Generator, shape: tuple[Point, ...]) -> Signal:
    """Whistled calls. shape: (time, Hz) points of one call, which is given a few times."""
    seconds, long = rng.uniform(3.5, 4.5), shape[-1][0]
    ground, height = silence(seconds), rng.uniform(0.9, 1.1)
    for at in in_step(rng, seconds - long, long + rng.uniform(0.5, 0.9), 0.05):
        pitch = height * rng.uniform(0.98, 1.02) * curve(long, *shape)
        gate = np.interp(pitch, (600, 700), (0, 1))
        add(ground, whistled(rng, pitch) * gate * bump(long, 0.4, 0.25), at)
    return outdoors(rng, room(rng, ground, 1.2, 0.2), 0.004)


def _humming(rng: np.random.Generator, base: float, size: float) -> Signal:
    pitch = melody(rng, base * rng.uniform(0.9, 1.1), rng.uniform(0.45, 0.6), 0.008)
    source = low_pass(glottis(rng, pitch, 0.3, 0.03), 900, 1)
    hum = formants(source, vowels(len(source), "m", size))
    return outdoors(rng, room(rng, _phrased(rng, low_pass(hum, 1400, 1)), 0.4, 0.12), 0.004)


def _singer(rng: np.random.Generator, pitch: Signal, size: float, spoken: str) -> Signal:
    """A trained voice: vibrato from the curve, and the singer's formant near 3 kHz."""
    source = glottis(rng, pitch, 0.75, 0.04)
    sung = formants(source, vowels(len(source), spoken, size))
    return sung + 0.5 * level(band(sung, 2500 * size, 3400 * size))


def _singing(rng: np.random.Generator, base: float, size: float, spoken: str) -> Signal:
    pitch = melody(rng, base * rng.uniform(0.92, 1.08), rng.uniform(0.5, 0.65), 0.022)
    sung = _phrased(rng, _singer(rng, pitch, size, spoken))
    return outdoors(rng, room(rng, sung, 1.2, 0.25), 0.003)


def _choir(rng: np.random.Generator) -> Signal:
    seconds = rng.uniform(4.5, 5.4)
    ground, root = silence(seconds), rng.uniform(110, 147)
    for semitones in (0, 0, 7, 7, 12, 12, 16, 16, 19, 19, 24, 24):
        hz = root * 2 ** (semitones / 12) * rng.uniform(0.994, 1.006)
        swing = np.sin(2 * np.pi * rng.uniform(4.8, 6) * clock(seconds) + rng.uniform(0, 6))
        pitch = hz * (1 + 0.01 * swing)
        size = 1.0 if semitones < 12 else 1.17
        add(ground, _singer(rng, pitch, size, "a a o a"), rng.uniform(0, 0.15), rng.uniform(0.5, 1))
    return outdoors(rng, room(rng, ground * bump(seconds, 0.4, 0.5), 2.4, 0.4), 0.003)


RECIPES = (
    Recipe(
        "whistling",
        "whistling-a-tune",
        (
            "Somebody whistles a tune.",
            "whistling, melody, lips",
            "a cheerful person walking down the road",
        ),
        _whistling_tune,
    ),
    Recipe(
        "whistling",
        "whistling-for-the-dog",
        (
            "Somebody whistles for a dog.",
            "whistle, calling, dog owner",
            "come here, boy!",
        ),
        lambda rng: _whistle_calls(
            rng, ((0, 1300), (0.15, 1500), (0.3, 1450), (0.34, 2300), (0.7, 2400))
        ),
    ),
    Recipe(
        "whistling",
        "wolf-whistle",
        (
            "A wolf whistle: up, then up and down.",
            "wolf whistle, catcall",
            "phew, looking good",
        ),
        lambda rng: _whistle_calls(
            rng,
            (
                (0, 900),
                (0.35, 2100),
                (0.42, 600),
                (0.5, 600),
                (0.55, 1000),
                (0.8, 1900),
                (1.2, 850),
            ),
        ),
    ),
    Recipe(
        "humming",
        "man-humming",
        (
            "A man hums to himself.",
            "humming, man, tune, mouth closed",
            "in a good mood while doing the dishes",
        ),
        lambda rng: _humming(rng, 120, 1.0),
    ),
    Recipe(
        "humming",
        "woman-humming-a-lullaby",
        (
            "A woman hums a lullaby.",
            "humming, woman, lullaby, soft",
            "putting the baby to sleep",
        ),
        lambda rng: _humming(rng, 225, 1.17),
    ),
    Recipe(
        "singing_vowel",
        "soprano-singing",
        (
            "A soprano sings a melody on an open vowel.",
            "singing, soprano, opera, vibrato",
            "la la la at the opera house",
        ),
        lambda rng: _singing(rng, 420, 1.2, "a a o a"),
    ),
    Recipe(
        "singing_vowel",
        "bass-singing",
        (
            "A bass sings a slow melody.",
            "singing, bass voice, deep",
            "the monk with the deepest voice",
        ),
        lambda rng: _singing(rng, 98, 0.95, "o a o"),
    ),
    Recipe(
        "singing_vowel",
        "choir-holding-a-chord",
        (
            "A choir holds a chord in a church.",
            "choir, chord, aah, church",
            "angels singing",
        ),
        _choir,
    ),
)
