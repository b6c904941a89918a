"""Quiet breath, and sleep."""

import numpy as np

from synthetic.sounds.breath import air
from synthetic.sounds.kit import (
    SAMPLE_RATE,
    Recipe,
    Signal,
    add,
    bump,
    curve,
    in_step,
    level,
    moving_band,
    noise,
    outdoors,
    room,
    silence,
    tone,
    wander,
)
from synthetic.sounds.voice import call, formants


def _breathing(rng: np.random.Generator, period: float, size: float, voice: float) -> Signal:
    seconds = max(4.0, 2.2 * period)
    ground = silence(seconds)
    for at in in_step(rng, seconds, period, 0.04) - 0.3 * period:
        into, out = 0.4 * period * rng.uniform(0.9, 1.1), 0.45 * period * rng.uniform(0.9, 1.1)
        add(ground, air(rng, into, "e i", 1.15 * size, 0.6), at, 0.55)
        breath = air(rng, out, "a er", size, 0.3)
        if voice:
            breath = breath + voice * call(rng, [(0, 180), (out, 130)], "a er", size, 0.2, 0.3)
        add(ground, breath, at + 0.48 * period)
    return outdoors(rng, room(rng, ground, 0.3, 0.08), 0.003)


def _snore(rng: np.random.Generator, long: float, beat: float, size: float) -> Signal:
    """The soft palate flaps while air is drawn in."""
    pace = curve(long, (0, 0.8 * beat), (0.6 * long, beat), (long, 0.7 * beat))
    turn = np.cumsum(pace * wander(rng, long, 30, 0.8, 1.2)) / SAMPLE_RATE % 1
    flaps = np.exp(-9 * turn) * (0.4 + noise(rng, long, 0.8))
    air = 0.3 * noise(rng, long, 0.6)
    throat = formants(flaps + air, [f * size for f in (300, 950, 2300, 3600, 4800)])
    return throat * bump(long, 0.65, 0.7)


def _snoring(rng: np.random.Generator, beat: float, size: float, whistle: float) -> Signal:
    period = rng.uniform(2.4, 3)
    seconds = 2.1 * period
    ground = silence(seconds)
    for at in np.arange(0.1, seconds, period):
        add(ground, _snore(rng, rng.uniform(0.95, 1.3), beat * rng.uniform(0.9, 1.1), size), at)
        out = rng.uniform(0.7, 1)
        add(ground, air(rng, out, "u", size, 0.3), at + 1.45, 0.12)
        if whistle:
            pitch = curve(out, (0, 1300), (0.5 * out, 1500), (out, 1150)) * rng.uniform(0.9, 1.1)
            whisper = moving_band(noise(rng, out), pitch, 0.12) + 0.02 * tone(pitch)
            add(ground, level(whisper) * bump(out, 0.4), at + 1.45, whistle)
    return outdoors(rng, room(rng, ground, 0.4, 0.1), 0.003)


def _yawn(rng: np.random.Generator, pitch: float, size: float) -> Signal:
    into, out = rng.uniform(1.0, 1.4), rng.uniform(1.6, 2.2)
    ground = silence(into + out + 0.6)
    add(ground, air(rng, into, "e a", 1.1 * size, 0.7), 0.1, 0.4)
    points = [
        (0, 1.1 * pitch),
        (0.25 * out, 1.4 * pitch),
        (0.7 * out, 0.8 * pitch),
        (out, 0.6 * pitch),
    ]
    voice = call(rng, points, "a a o u m", size, 0.25, 0.35, 0.03, 0.3)
    add(ground, voice, 0.1 + 0.92 * into)
    add(ground, air(rng, out, "a o u", size, 0.3), 0.1 + 0.92 * into, 0.3)
    return outdoors(rng, room(rng, ground, 0.4, 0.1), 0.003)


RECIPES = (
    Recipe(
        "breathing",
        "calm-breathing",
        (
            "Somebody breathes calmly in and out.",
            "breathing, calm, close",
            "listening to someone asleep",
        ),
        lambda rng: _breathing(rng, 2.6, 1.05, 0),
    ),
    Recipe(
        "breathing",
        "panting-after-a-run",
        (
            "A runner pants, out of breath.",
            "heavy breathing, panting, exhausted",
            "just ran up all those stairs",
        ),
        lambda rng: _breathing(rng, 0.75, 1.0, 0.1),
    ),
    Recipe(
        "breathing",
        "frightened-breathing",
        (
            "A woman breathes fast and shakily, as if afraid.",
            "nervous breathing, gasps, fear",
            "hiding in the cupboard in a horror film",
        ),
        lambda rng: _breathing(rng, 1.2, 1.17, 0.2),
    ),
    Recipe(
        "snoring",
        "man-snoring",
        (
            "A man snores loudly.",
            "snoring, man, sleep",
            "dad is asleep on the sofa",
        ),
        lambda rng: _snoring(rng, 48, 0.95, 0),
    ),
    Recipe(
        "snoring",
        "light-snoring-with-a-whistle",
        (
            "Somebody snores softly and whistles while breathing out.",
            "light snore, whistle, sleeping",
            "my roommate at night",
        ),
        lambda rng: _snoring(rng, 75, 1.15, 0.35),
    ),
    Recipe(
        "snoring",
        "rattling-snore",
        (
            "A deep, rattling snore.",
            "heavy snoring, rattle, night",
            "sawing wood all night long",
        ),
        lambda rng: _snoring(rng, 30, 0.85, 0),
    ),
    Recipe(
        "yawn",
        "man-yawning",
        (
            "A man yawns heartily.",
            "yawn, tired, man",
            "time to go to bed",
        ),
        lambda rng: _yawn(rng, 150, 1.0),
    ),
    Recipe(
        "yawn",
        "woman-yawning",
        (
            "A woman yawns with a sigh.",
            "yawning, woman, sleepy",
            "so tired this morning",
        ),
        lambda rng: _yawn(rng, 260, 1.17),
    ),
)
