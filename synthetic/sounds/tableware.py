"""Glasses, plates and cutlery, whole and broken."""

from functools import partial

import numpy as np

from synthetic.sounds.kit import (
    Recipe,
    Signal,
    at_random,
    band,
    bump,
    curve,
    decay,
    impulses,
    level,
    modes,
    noise,
    outdoors,
    resonate,
    room,
    scatter,
    wander,
)
from synthetic.sounds.parts import click, sequence, struck, vary

GLASS = (1.0, 2.32, 4.25, 6.63, 9.38)
PLATE = (1.0, 1.71, 2.36, 2.96, 3.73, 4.44, 5.2)


def _toast(rng: np.random.Generator, hz: float, clinks: int, t60: float) -> Signal:
    """Two glasses, each with its own pitch, touch `clinks` times."""
    pair, parts = vary(rng, hz, 0.15) * np.array([1, rng.uniform(1.05, 1.3)]), []
    for at in 0.1 + np.cumsum(rng.uniform(0.35, 0.8, clinks)) - 0.35:
        gain = vary(rng, 0.8, 0.3)
        for pitch in pair:
            parts.append((at, gain * struck(rng, pitch, GLASS, t60, t60, 0.7, 0.003)))
        parts.append(
            (at + rng.uniform(0.02, 0.06), 0.3 * gain * struck(rng, pair[0], GLASS, t60, t60))
        )
    return outdoors(rng, room(rng, sequence(parts[-1][0] + t60, parts), 0.6, 0.15), 0.001)


def _shard(rng: np.random.Generator, low: float, high: float) -> Signal:
    """One splinter falls: a few high modes."""
    hz = np.exp(rng.uniform(np.log(low), np.log(high))) * np.array([1, 1.4, 1.9, 2.7, 3.3])
    t60 = rng.uniform(0.03, 0.25)
    ring = modes(
        t60, hz * rng.uniform(0.95, 1.05, 5), t60 * rng.uniform(0.3, 1, 5), rng.uniform(size=5)
    )
    return rng.lognormal(-1, 0.8) * ring


def _smash(rng: np.random.Generator, low: float, size: float, falls: float) -> Signal:
    """Glass bursts, and its shards rain down for a while (falls, seconds)."""
    seconds = falls + 1.2
    at = 0.1
    burst = click(rng, low, 14_000, 0.25 * size)
    thud = modes(0.3, vary(rng, 160) * np.array([1, 1.8, 2.7]), 0.15, 0.5 * size)
    rain = (
        260
        * size
        * curve(
            seconds,
            (at, 0),
            (at + 0.02, 1.8),
            (at + 0.4 * falls, 0.4),
            (at + falls, 0.03),
            (seconds, 0),
        )
    )
    shards = scatter(seconds, at_random(rng, seconds, rain), lambda: _shard(rng, low, 6 * low))
    crash = sequence(seconds, [(at, 2.5 * burst), (at, thud)])
    return outdoors(rng, room(rng, crash + 0.7 * shards, 0.4, 0.15), 0.001)


def _trodden(rng: np.random.Generator) -> Signal:
    """Steps on broken glass that crunches and slides."""
    seconds, steps = 5.0, []
    for at in np.arange(0.2, 4.2, vary(rng, 0.75)):
        press = 400 * bump(0.4, 0.3)
        grit = scatter(0.4, at_random(rng, 0.4, press), lambda: _shard(rng, 2500, 9000))
        crack = level(band(impulses(rng, 0.4, press), 1000, 12_000)) * bump(0.4, 0.3)
        steps.append((vary(rng, at, 0.03), vary(rng, 1, 0.3) * (grit + 0.3 * crack)))
    return outdoors(rng, sequence(seconds, steps), 0.002)


def _cutlery(rng: np.random.Generator, rate: float, plates: float, drawer: float) -> Signal:
    """Knives and forks on each other and on plates; drawer: how much of it slides in a heap."""
    seconds = rng.uniform(4.5, 5.5)
    china = vary(rng, 1500, 0.2) * np.array(PLATE)

    def fork() -> Signal:
        hz = rng.uniform(1800, 4200)
        body = struck(rng, hz, (1, 1.6, 2.76, 3.9, 5.4), rng.uniform(0.08, 0.4), 0.5, 0.85)
        return rng.lognormal(-0.5, 0.6) * body

    def plate() -> Signal:
        return rng.lognormal(0, 0.5) * modes(0.35, china * vary(rng, 1, 0.03), 0.22, 0.5)

    busy = rate * wander(rng, seconds, 2, 0.1, 1.9)
    metal = scatter(seconds, at_random(rng, seconds, busy), fork)
    table = scatter(seconds, at_random(rng, seconds, plates), plate)
    scrape = level(resonate(noise(rng, seconds), rng.uniform(2500, 9000, 8), 0.03))
    heap = scrape * wander(rng, seconds, 5, -1, 1).clip(0) * drawer
    return outdoors(rng, room(rng, metal + table + heap, 0.4, 0.15), 0.002)


def _dishes(rng: np.random.Generator, rate: float, dropped: bool) -> Signal:
    """Plates that are stacked, or a stack that falls and breaks."""
    seconds = 4.5
    sizes = [vary(rng, hz, 0.2) * np.array(PLATE) for hz in (620, 850, 1150, 1600)]

    def plate() -> Signal:
        ring = modes(0.4, sizes[rng.integers(4)] * vary(rng, 1, 0.02), rng.uniform(0.1, 0.35), 0.5)
        return rng.lognormal(0, 0.4) * (
            ring + 0.4 * np.pad(click(rng, 900, 9000, 0.02), (0, 11_872))
        )

    if not dropped:
        times = at_random(rng, seconds - 0.4, rate)
        return outdoors(rng, room(rng, scatter(seconds, times, plate), 0.4, 0.2), 0.003)
    fall = rate * curve(seconds, (0.1, 0), (0.15, 5), (0.8, 1), (2.5, 0.05))
    crash = 0.8 * sequence(seconds, [(0.12, click(rng, 300, 12_000, 0.4))])
    pieces = scatter(seconds, at_random(rng, seconds, 6 * fall), lambda: _shard(rng, 1200, 5000))
    plates = scatter(seconds, at_random(rng, seconds, fall), plate)
    return outdoors(rng, room(rng, plates + 3 * crash + pieces, 0.5, 0.2), 0.001)


def _spinning(rng: np.random.Generator) -> Signal:
    """A plate or lid that wobbles on the table ever faster until it lies still."""
    seconds, end = 3.6, vary(rng, 3.2, 0.1)
    hz = vary(rng, 1100, 0.2) * np.array(PLATE)
    at, hits = 0.1, []
    while at < end - 0.02:
        left = (end - at) / end
        hits.append((at, left**0.6 * modes(0.3, hz * vary(rng, 1, 0.01), 0.22, vary(rng, 0.5))))
        hits.append((at, 0.5 * left * click(rng, 400, 9000, 0.02)))
        at += 0.02 + 0.22 * left**1.3
    return outdoors(rng, sequence(seconds, hits) * decay(seconds, 40), 0.001)


RECIPES = (
    Recipe(
        "glass_clink",
        "glasses-clink-toast",
        ("Two wine glasses clink in a toast.", "glass, clink, crystal", "cheers"),
        partial(_toast, hz=1350, clinks=1, t60=1.6),
    ),
    Recipe(
        "glass_clink",
        "glasses-clink-party",
        ("Several glasses clink around the table.", "clinking glasses, many, party"),
        partial(_toast, hz=1900, clinks=6, t60=0.9),
    ),
    Recipe(
        "glass_clink",
        "spoon-on-glass",
        ("A spoon taps a glass to announce a speech.", "tapping a glass, ting ting ting"),
        partial(_toast, hz=2500, clinks=4, t60=1.1),
    ),
    Recipe(
        "glass_breaking",
        "window-smashed",
        ("A window pane is smashed and shards fall.", "glass breaking, crash, burglar"),
        partial(_smash, low=900, size=1.6, falls=2),
    ),
    Recipe(
        "glass_breaking",
        "wine-glass-dropped",
        ("A wine glass falls on the floor and breaks.", "thin glass, shatter, tinkling", "oops"),
        partial(_smash, low=2000, size=0.5, falls=1),
    ),
    Recipe(
        "glass_breaking",
        "bottle-smashed",
        ("A bottle is thrown against a wall.", "bottle breaking, hard, short"),
        partial(_smash, low=1300, size=0.9, falls=0.7),
    ),
    Recipe(
        "glass_breaking",
        "walking-on-broken-glass",
        ("Someone walks over broken glass.", "glass crunching underfoot, shards"),
        _trodden,
    ),
    Recipe(
        "cutlery",
        "cutlery-at-dinner",
        ("Knives and forks clatter on plates at dinner.", "cutlery, plates, eating, restaurant"),
        partial(_cutlery, rate=5, plates=2.5, drawer=0),
    ),
    Recipe(
        "cutlery",
        "cutlery-drawer",
        ("Someone rummages in a cutlery drawer.", "spoons and forks, rattling, metal, drawer"),
        partial(_cutlery, rate=28, plates=0, drawer=0.4),
    ),
    Recipe(
        "dishes",
        "dishes-stacked",
        ("Plates are stacked in the cupboard.", "dishes, china, clatter", "putting dishes away"),
        partial(_dishes, rate=3, dropped=False),
    ),
    Recipe(
        "dishes",
        "dishes-dropped",
        ("A pile of plates crashes to the floor.", "crockery, crash, breaking, china"),
        partial(_dishes, rate=14, dropped=True),
    ),
    Recipe(
        "dishes",
        "plate-wobbling-on-table",
        ("A lid spins on the table faster and faster until it stops.", "wobbling plate, rattle"),
        _spinning,
    ),
)
