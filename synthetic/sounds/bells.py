"""Bells, chimes and gongs."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from synthetic.sounds.kit import (
    Recipe,
    Signal,
    at_random,
    clock,
    decay,
    modes,
    noise,
    room,
    samples,
    wander,
)
from synthetic.sounds.parts import BAR, CUP, sequence, struck, vary

CHURCH = (0.5, 1.0, 1.19, 1.5, 2.0, 2.51, 2.66, 3.01, 4.0, 5.33, 6.7, 8.2, 9.7)


def _church(rng: np.random.Generator, hz: float, seconds: float) -> Signal:
    """One stroke of a bell whose strike note is hz."""
    bell = struck(rng, hz, CHURCH, vary(rng, 9 * (300 / hz) ** 0.5), seconds, 0.75, 0.002)
    return bell / np.max(np.abs(bell))


def _toll(rng: np.random.Generator, hz: float, period: float, seconds: float, wet: float) -> Signal:
    hz, period = vary(rng, hz), vary(rng, period)
    times = np.arange(0.1, seconds - 0.5, period)
    strokes = [(at, vary(rng, 1) * _church(rng, hz, seconds - at)) for at in times]
    return room(rng, sequence(seconds, strokes), 2.0, wet)


def _peal(rng: np.random.Generator, low: float, seconds: float) -> Signal:
    """Change ringing: rounds of six bells, with neighbours swapped in later rounds."""
    scale = vary(rng, low) * np.array([1.667, 1.5, 1.333, 1.25, 1.125, 1.0])
    gap, order, strokes = vary(rng, 0.24), np.arange(6), []
    for i, at in enumerate(np.arange(0.05, seconds - 0.2, gap)):
        if i % 6 == 0 and i:
            swap = rng.integers(0, 5)
            order[[swap, swap + 1]] = order[[swap + 1, swap]]
        strokes.append((vary(rng, at, 0.004), _church(rng, float(scale[order[i % 6]]), 2.5)))
    return room(rng, sequence(seconds, strokes), 1.5, 0.35)


def _chimes(
    rng: np.random.Generator,
    low: float,
    t60: float,
    rate: float,
    bars: Sequence[float],
    hard: float,
) -> Signal:
    """Hanging pieces that the wind knocks together, more in the gusts."""
    seconds = 5.5
    scale = vary(rng, low, 0.2) * np.array([1, 1.125, 1.25, 1.5, 1.667, 2, 2.25])
    gusts = rate * wander(rng, seconds, 0.8, 0, 2.2)
    strokes = [
        (at, rng.uniform(0.15, 1) * struck(rng, rng.choice(scale), bars, t60, min(t60, 4), hard))
        for at in at_random(rng, seconds - 0.5, gusts)
    ]
    air = 0.015 * noise(rng, seconds, 1.3) * wander(rng, seconds, 1, 0.3, 1)
    return sequence(seconds, strokes) + air


def _gong(
    rng: np.random.Generator, low: float, count: int, reach: float, bloom: float, t60: float
) -> Signal:
    """A dense plate of modes; the high ones bloom some time after the stroke."""
    seconds = min(0.8 * t60, 6.0)
    low = vary(rng, low, 0.2)
    hz = low * np.sort(rng.uniform(1, reach, count) ** rng.uniform(0.9, 1.1))
    early = modes(seconds, hz[hz < 5 * low], t60, rng.uniform(0.3, 1, int(np.sum(hz < 5 * low))))
    early += 2 * modes(seconds, low * np.array([1, 1.48, 2.02]), 1.3 * t60, (1, 0.6, 0.5))
    late = modes(seconds, hz, t60 * (hz / low) ** -0.35, (hz / low) ** -0.5)
    late *= np.minimum((clock(seconds) / bloom) ** 1.5, 1)
    early[: samples(0.1)] += 0.3 * noise(rng, 0.1, 1.5) * decay(0.1, 0.1)
    return room(rng, early + late, 2.0, 0.15)


def _shaken(rng: np.random.Generator, hz: float, rate: float, t60: float, seconds: float) -> Signal:
    """A hand bell whose clapper swings to and fro."""
    hz, rate = vary(rng, hz, 0.15), vary(rng, rate, 0.15)
    bell = [
        (at + 0.1 / rate * rng.uniform(), vary(rng, 0.8, 0.4) * struck(rng, hz, CUP, t60, t60, 0.7))
        for at in np.arange(0.05, seconds - 0.6 * t60 - 0.3, 1 / rate)
    ]
    return room(rng, sequence(seconds, bell), 0.5, 0.15)


def _sleigh(rng: np.random.Generator, rate: float) -> Signal:
    """Dozens of little round bells shaken in time."""
    seconds, rate = 3.5, vary(rng, rate)
    shakes = np.concatenate(
        [at + np.abs(0.03 * rng.standard_normal(14)) for at in np.arange(0.1, 3, 1 / rate)]
    )
    jingles = [
        (at, rng.uniform(0.1, 1) * modes(0.4, rng.uniform(3500, 11_000, 4), 0.25, 0.5))
        for at in shakes
    ]
    return sequence(seconds, jingles)


def _temple_bowl(rng: np.random.Generator, hz: float) -> Signal:
    """A singing bowl, struck with felt; each of its modes beats slowly."""
    bowl = struck(rng, vary(rng, hz, 0.2), (1, 2.71, 4.95, 7.6), 14, 6.4, 0.3, 0.008)
    return room(rng, bowl, 1.5, 0.1)


RECIPES = (
    Recipe(
        "church_bells",
        "church-bell-large-tolling",
        ("A large church bell tolls slowly.", "big bell, tolling, deep", "a funeral bell"),
        partial(_toll, hz=220, period=2.3, seconds=5.2, wet=0.3),
    ),
    Recipe(
        "church_bells",
        "church-bell-village",
        ("A village church bell strikes the hour.", "church bell, striking, bright, distant"),
        partial(_toll, hz=420, period=1.3, seconds=4.5, wet=0.55),
    ),
    Recipe(
        "church_bells",
        "church-bells-pealing",
        ("Church bells peal for a wedding.", "bells, change ringing, many", "wedding bells"),
        partial(_peal, low=330, seconds=5),
    ),
    Recipe(
        "wind_chimes",
        "wind-chimes-metal",
        ("Metal wind chimes ring in the breeze.", "wind chimes, tubes, gentle", "a breeze stirs"),
        partial(_chimes, low=700, t60=3.5, rate=4, bars=BAR[:4], hard=0.5),
    ),
    Recipe(
        "wind_chimes",
        "wind-chimes-bamboo",
        ("Bamboo wind chimes clatter softly.", "bamboo chimes, wooden, hollow, wind"),
        partial(_chimes, low=480, t60=0.16, rate=7, bars=(1, 2.3, 4.1), hard=0.3),
    ),
    Recipe(
        "wind_chimes",
        "wind-chimes-glass",
        ("Little glass wind chimes tinkle.", "glass chimes, tinkling, delicate"),
        partial(_chimes, low=2600, t60=0.8, rate=9, bars=(1, 1.58, 2.2, 3.1), hard=0.8),
    ),
    Recipe(
        "gong",
        "gong-large",
        ("A large gong is struck and swells.", "tam-tam, gong, shimmering, long", "dinner gong"),
        partial(_gong, low=62, count=230, reach=130, bloom=0.9, t60=12),
    ),
    Recipe(
        "gong",
        "gong-small",
        ("A small gong is hit once.", "gong, bright, metallic, single hit"),
        partial(_gong, low=190, count=60, reach=45, bloom=0.08, t60=5),
    ),
    Recipe(
        "gong",
        "singing-bowl",
        ("A singing bowl is struck and hums for a long time.", "meditation bowl, calm, humming"),
        partial(_temple_bowl, hz=250),
    ),
    Recipe(
        "hand_bell",
        "hand-bell-town-crier",
        ("A hand bell is swung loudly.", "hand bell, swinging, clanging", "hear ye, hear ye"),
        partial(_shaken, hz=1050, rate=4.2, t60=1.6, seconds=4),
    ),
    Recipe(
        "hand_bell",
        "hand-bell-small",
        ("A tiny bell is shaken to call for tea.", "little bell, tinkling, shaken"),
        partial(_shaken, hz=3200, rate=8, t60=0.8, seconds=3),
    ),
    Recipe(
        "hand_bell",
        "reception-bell",
        ("A bell on a reception desk is tapped once.", "counter bell, ding", "service, please"),
        partial(_shaken, hz=2450, rate=0.4, t60=2, seconds=2.6),
    ),
    Recipe(
        "cowbell",
        "cow-bells-in-a-meadow",
        ("Cow bells clank in a meadow.", "cowbell, dull, clanking", "cattle in the Alps"),
        partial(_chimes, low=420, t60=0.35, rate=4, bars=(1, 1.47, 2.6, 3.9), hard=0.7),
    ),
    Recipe(
        "sleigh_bells",
        "sleigh-bells",
        ("Sleigh bells jingle in time.", "jingle bells, shaken", "here comes the Christmas sleigh"),
        partial(_sleigh, rate=2.6),
    ),
    Recipe(
        "sleigh_bells",
        "sleigh-bells-fast",
        ("A tambourine of jingles is shaken fast.", "jingles, shaking, rapid, bright"),
        partial(_sleigh, rate=6.5),
    ),
)
