"""Drums, cymbals, and bars that are struck."""

from functools import partial

import numpy as np

from synthetic.sounds.kit import (
    Recipe,
    Signal,
    add,
    clock,
    curve,
    decay,
    high_pass,
    level,
    modes,
    noise,
    room,
    silence,
)
from synthetic.sounds.parts import click, sequence, struck, vary

MEMBRANE = np.array([1, 1.59, 2.14, 2.3, 2.65, 2.92, 3.16, 3.5])


def _skin(rng: np.random.Generator, hz: float, t60: float, slap: float) -> Signal:
    """A drum head: its modes, sinking a little in pitch, and the stick."""
    seconds = 1.2 * t60
    t = clock(seconds)
    sink = np.cumsum(1 + 0.35 * np.exp(-t / 0.03)) / 32_000
    head = np.zeros(len(t))
    for ratio in MEMBRANE:
        fall = t60 * ratio**-0.9
        head += ratio**-0.9 * np.sin(2 * np.pi * hz * ratio * sink) * 10 ** (-3 * t / fall)
    add(head, click(rng, 300, 5000 + 8000 * slap, 0.03), 0, slap)
    return head


def _snare(rng: np.random.Generator, t60: float = 0.22) -> Signal:
    sound = _skin(rng, vary(rng, 190, 0.03), 0.18, 0.8)
    wires = high_pass(noise(rng, 1.2 * t60), 1400, 1) * decay(1.2 * t60, t60, 0.001)
    total = silence(0.4)
    add(total, sound, 0, 0.8)
    add(total, wires, 0, 0.7)
    return total


def _plate(rng: np.random.Generator, low: float, t60: float, stick: float) -> Signal:
    """A cymbal: hundreds of modes that cannot be told apart, highest first to build up."""
    seconds = min(t60, 5.0)
    hz = np.exp(rng.uniform(np.log(low), np.log(15_000), 110))
    ring = modes(seconds, hz, t60 * (hz / low) ** -0.25, rng.uniform(0.3, 1, 110))
    wash = high_pass(noise(rng, seconds), 3000) * decay(seconds, 0.8 * t60, 0.002)
    sound = 0.6 * level(ring) + level(wash)
    sound *= curve(seconds, (0, 1 - 0.5 * stick), (0.03, 1))
    add(sound, click(rng, 2500, 13_000, 0.03), 0, 3 * stick)
    return sound / np.max(np.abs(sound))


def _beat(rng: np.random.Generator, tempo: float, bars: int) -> Signal:
    """Kick, snare and hi-hat; some ghost notes."""
    step = 60 / vary(rng, tempo, 0.12) / 4
    kick = _skin(rng, vary(rng, 56), 0.35, 0.5)
    closed, parts = _plate(rng, 5000, 0.09, 0.3), []
    for i in range(16 * bars):
        at = 0.05 + step * i + 0.004 * abs(rng.standard_normal())
        if i % 16 in (0, 7, 10) or rng.random() < 0.04:
            parts.append((at, 1.0 * kick))
        if i % 8 == 4 or rng.random() < 0.06:
            parts.append((at, (1 if i % 8 == 4 else 0.25) * _snare(rng)))
        if i % 2 == 0:
            parts.append((at, vary(rng, 0.28, 0.3) * closed))
    return room(rng, sequence(16 * bars * step + 0.4, parts), 0.5, 0.15)


def _roll(rng: np.random.Generator) -> Signal:
    """A snare roll that swells into one stroke, with a cymbal."""
    seconds, parts = 5.0, []
    swell = curve(3.2, (0, 0.12), (3.2, 0.9))
    for at in np.arange(0.05, 3.2, 1 / vary(rng, 23)):
        parts.append((vary(rng, at, 0.003), swell[round(at * 32_000)] * _snare(rng, 0.12)))
    parts += [(3.3, 1.5 * _snare(rng)), (3.3, _plate(rng, 400, 2.2, 0.5))]
    return room(rng, sequence(seconds, parts), 0.8, 0.2)


def _hands(rng: np.random.Generator, tempo: float) -> Signal:
    """Two hand drums, open and slapped."""
    parts, step = [], 60 / vary(rng, tempo) / 4
    low, high = vary(rng, 190), vary(rng, 310)
    for i in range(32):
        if i % 8 in (0, 3, 4, 6) or rng.random() < 0.3:
            hz, slap = (low if i % 4 == 0 else high), rng.choice([0.1, 0.2, 0.9])
            gain = vary(rng, 0.7, 0.4)
            parts.append((0.05 + i * step, gain * _skin(rng, hz, 0.35 - 0.25 * slap, slap)))
    return room(rng, sequence(32 * step + 0.6, parts), 0.7, 0.2)


def _timpani(rng: np.random.Generator) -> Signal:
    low = vary(rng, 82)
    strokes = [(0.1, low), (1.1, 1.33 * low), (2.1, low)]
    strokes += [(2.6 + 0.09 * i, low) for i in range(14)]
    kettle = (1, 1.5, 1.98, 2.44, 2.9, 3.4)
    parts = [
        (at, min(0.3 + at / 4, 1) * struck(rng, hz, kettle, 2.5, 2, 0.15)) for at, hz in strokes
    ]
    return room(rng, sequence(5.5, parts), 1.6, 0.25)


def _cymbals(rng: np.random.Generator, times: tuple[float, ...], low: float, t60: float) -> Signal:
    plate = _plate(rng, low, t60, 0.5)
    strokes = [(0.05 + at, vary(rng, 0.8, 0.2) * plate) for at in times]
    return room(rng, sequence(max(times) + min(t60, 5.0) + 0.1, strokes), 0.8, 0.12)


RECIPES = (
    Recipe(
        "drum",
        "drum-kit-beat",
        ("A drummer plays a rock beat.", "drum kit, groove, kick and snare", "band rehearsal"),
        partial(_beat, tempo=100, bars=2),
    ),
    Recipe(
        "drum",
        "drum-roll",
        ("A drum roll swells to a final crash.", "snare roll, cymbal", "and the winner is"),
        _roll,
    ),
    Recipe(
        "drum",
        "hand-drums",
        ("Hand drums play a lively rhythm.", "bongos, congas, hands, Latin"),
        partial(_hands, tempo=105),
    ),
    Recipe(
        "drum",
        "timpani",
        ("Timpani thunder in an orchestra.", "kettle drums, deep, roll", "dramatic moment"),
        _timpani,
    ),
    Recipe(
        "cymbal",
        "cymbal-crash",
        ("A crash cymbal is hit.", "cymbal, crash, long shimmer"),
        partial(_cymbals, times=(0,), low=350, t60=4),
    ),
    Recipe(
        "cymbal",
        "ride-cymbal-jazz",
        ("A ride cymbal keeps swing time.", "ride cymbal, jazz, ting ting-a-ting"),
        partial(_cymbals, times=(0, 0.5, 0.83, 1, 1.5, 1.83, 2, 2.5, 2.83, 3), low=700, t60=1.5),
    ),
    Recipe(
        "cymbal",
        "hi-hat-closed",
        ("A closed hi-hat ticks in eighth notes.", "hi-hat, tss tss, short, steady"),
        partial(_cymbals, times=tuple(0.25 * i for i in range(16)), low=4500, t60=0.12),
    ),
)
