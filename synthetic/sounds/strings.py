"""Instruments with strings or tongues: piano, guitar, violin, harp, music box."""

from functools import partial

import numpy as np

from synthetic.sounds.kit import (
    SAMPLE_RATE,
    Recipe,
    Signal,
    add,
    band,
    colour,
    curve,
    decay,
    drive,
    modes,
    noise,
    resonate,
    room,
    samples,
)
from synthetic.sounds.parts import click, gate, melody, sequence, struck, vary

Notes = tuple[tuple[float, int, float], ...]

SCALE: Notes = tuple((0.5 * i, n, 0.5) for i, n in enumerate((60, 62, 64, 65, 67, 69, 71, 72)))
TUNE: Notes = (
    (0, 67, 0.5),
    (0.5, 64, 0.5),
    (1, 64, 1),
    (2, 65, 0.5),
    (2.5, 62, 0.5),
    (3, 62, 1),
    (4, 60, 2),
)
CHORDS: Notes = tuple(
    (2 * i, n, 2)
    for i, c in enumerate(((48, 55, 64, 67), (43, 55, 59, 67), (48, 52, 60, 67)))
    for n in c
)
BASS: Notes = ((0, 36, 2), (2, 33, 2), (4, 31, 1.5))


def shifted(notes: Notes, by: int) -> Notes:
    """Shift the notes up by so many semitones."""
    return tuple((at, note + by, held) for at, note, held in notes)


def pluck(rng: np.random.Generator, hz: float, seconds: float, t60: float, bright: float) -> Signal:
    """Pluck a string, after Karplus and Strong: noise that runs round a loop and loses its edge.

    bright: from 0.5 (nylon) to 0.95 (steel).
    """
    period = SAMPLE_RATE / hz - (1 - bright)
    whole, part = int(period), period % 1
    loop = 10 ** (-3 / (t60 * hz)) * np.convolve((1 - part, part), (bright, 1 - bright))
    burst = rng.uniform(-1, 1, whole)
    string = np.zeros(samples(seconds) + whole + 2)
    string[2 : whole + 2] = burst - 0.9 * np.roll(burst, round(0.18 * whole))
    for at in range(whole + 2, len(string) - whole, whole):
        string[at : at + whole] = np.convolve(string[at - whole - 2 : at], loop, "valid")
    return string[2 : samples(seconds) + 2]


def _piano(rng: np.random.Generator, notes: Notes, pace: float, hard: float) -> Signal:
    def play(hz: float, held: float) -> Signal:
        seconds = held + 1.0
        k = np.arange(1, min(24, int(9000 / hz)) + 1)
        partials = hz * k * np.sqrt(1 + 3e-4 * (hz / 260) * k**2)
        gains = np.abs(np.sin(np.pi * k / 8.3)) * k ** (-1.6 + hard)
        falls = 9 * (200 / hz) ** 0.6 * k**-0.6
        strings = modes(seconds, partials, falls, gains)
        strings += modes(seconds, partials * 1.0006, 0.5 * falls, 0.8 * gains)
        add(strings, click(rng, 90, 1800, 0.06), 0, 0.25)
        return strings * curve(seconds, (held, 1), (held + 0.15, 0.03), (seconds, 0))

    return room(rng, melody(rng, notes, play, pace), 0.9, 0.12)


def _guitar(
    rng: np.random.Generator, notes: Notes, pace: float, bright: float, gain: float
) -> Signal:
    """Plucked notes in a box of wood, or (gain) through an overdriven amplifier."""

    def play(hz: float, held: float) -> Signal:
        return pluck(rng, hz, held + 0.8, vary(rng, 3.5), bright) * gate(held + 0.8, 0.0005, 0.3)

    plain = melody(rng, notes, play, pace)
    if gain:
        return room(
            rng, colour(drive(plain, gain), (80, -6), (400, 0), (3000, 2), (5500, -14)), 0.6, 0.15
        )
    box = resonate(plain, (102, 204, 290, 415), 0.08, 0.002)
    return room(rng, plain + box, 0.5, 0.12)


def _strummed(notes: Notes, gap: float) -> Notes:
    """Chords whose notes come one after another."""
    seen: dict[float, int] = {}
    spread = []
    for at, note, held in notes:
        seen[at] = seen.get(at, -1) + 1
        spread.append((at + gap * seen[at], note, held))
    return tuple(spread)


def _music_box(rng: np.random.Generator, notes: Notes, pace: float) -> Signal:
    """Steel tongues plucked by the pins of a cylinder that whirs."""

    def play(hz: float, held: float) -> Signal:
        tongue = struck(rng, hz, (1, 6.27, 17.5), 1.8, 1.8, 0.4)
        return tongue / np.max(tongue)

    tune = melody(rng, notes, play, pace)
    clockwork = band(noise(rng, len(tune) / SAMPLE_RATE), 1500, 6000) * 0.006
    ticks = [(at, 0.02 * click(rng, 2000, 9000, 0.01)) for at in np.arange(0, 5, 0.09)]
    box = sequence(len(tune) / SAMPLE_RATE, ticks) + clockwork * decay(len(tune) / SAMPLE_RATE, 60)
    return room(rng, tune + box, 0.5, 0.15)


def _bass(rng: np.random.Generator, notes: Notes, pace: float) -> Signal:
    def play(hz: float, held: float) -> Signal:
        string = pluck(rng, hz, held + 0.2, 4, 0.6) * gate(held + 0.2, 0.002, 0.1)
        add(string, click(rng, 600, 3500, 0.02), 0, 0.5)
        return string

    return drive(melody(rng, notes, play, pace), 1.5)


RECIPES = (
    Recipe(
        "piano",
        "piano-melody",
        (
            "A short melody is played on a piano.",
            "piano, tune, gentle",
            "someone practises upstairs",
        ),
        partial(_piano, notes=TUNE, pace=0.55, hard=0),
    ),
    Recipe(
        "piano",
        "piano-chords",
        ("Slow chords on a grand piano.", "piano, chords, calm, sad"),
        partial(_piano, notes=CHORDS, pace=0.9, hard=0.2),
    ),
    Recipe(
        "piano",
        "piano-scale-fast",
        ("A fast scale runs up a bright piano.", "piano, scale, exercise, quick"),
        partial(_piano, notes=shifted(SCALE, 12), pace=0.36, hard=0.5),
    ),
    Recipe(
        "guitar",
        "acoustic-guitar-strummed",
        ("Chords are strummed on an acoustic guitar.", "guitar, strumming, folk", "campfire song"),
        partial(_guitar, notes=_strummed(CHORDS, 0.03), pace=0.8, bright=0.75, gain=0),
    ),
    Recipe(
        "guitar",
        "classical-guitar-melody",
        ("A classical guitar plays a soft melody.", "nylon strings, plucked, fingerpicking"),
        partial(_guitar, notes=shifted(TUNE, -12), pace=0.6, bright=0.55, gain=0),
    ),
    Recipe(
        "guitar",
        "electric-guitar-distorted",
        ("A distorted electric guitar plays power chords.", "rock, overdrive, heavy metal riff"),
        partial(_guitar, notes=shifted(CHORDS[::2], -8), pace=0.65, bright=0.9, gain=14),
    ),
    Recipe(
        "bass_guitar",
        "bass-guitar-line",
        ("A bass guitar plays three low notes.", "electric bass, deep, plucked, groove"),
        partial(_bass, notes=BASS, pace=0.6),
    ),
    Recipe(
        "music_box",
        "music-box-lullaby",
        ("A music box plays a lullaby.", "music box, tinkling, nursery", "putting a baby to sleep"),
        partial(_music_box, notes=shifted(TUNE, 24), pace=0.6),
    ),
    Recipe(
        "music_box",
        "music-box-running-down",
        ("A tiny music box plays a slow scale.", "toy, tinkling notes, winding down"),
        partial(_music_box, notes=shifted(SCALE, 19), pace=0.95),
    ),
)
