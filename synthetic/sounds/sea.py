"""The sea, streams, waterfalls."""

import numpy as np

from synthetic.sounds.kit import (
    Recipe,
    Signal,
    add,
    band,
    bump,
    coloured,
    high_pass,
    impulses,
    in_step,
    level,
    low_pass,
    modes,
    moving_band,
    noise,
    wander,
)
from synthetic.sounds.water import bubbles


def _waves(
    rng: np.random.Generator, period: float, surf: float, fizz: float, stones: float = 0
) -> Signal:
    """Waves that swell, break and draw back; surf: their weight, fizz: of the foam left behind."""
    seconds = rng.uniform(6.5, 8)
    ground = 0.2 * noise(rng, seconds, 1.2)
    for at in in_step(rng, seconds + period, period, 0.12) - 0.7 * period:
        long = period * rng.uniform(1.1, 1.5)
        peak, strength = rng.uniform(0.25, 0.4), rng.uniform(0.6, 1)
        swell = bump(long, peak, 1.3)
        brightness = 200 + 1500 * surf * swell**2
        water = level(moving_band(noise(rng, long, 1), brightness, 4)) * swell
        foam = level(high_pass(impulses(rng, long, 100 + 6000 * bump(long, peak + 0.2), 1), 2500))
        add(ground, strength * (water + fizz * foam * bump(long, peak + 0.25)), at)
        if stones:
            drag = bump(long, 0.75, 3) ** 2
            pebbles = impulses(rng, long, 20 + 500 * drag, 1)
            clatter = modes(0.02, rng.uniform(1500, 6000, 9), 0.012, 1)
            add(ground, stones * level(np.convolve(pebbles, clatter)[: len(drag)]) * drag, at)
    return ground


def _lapping(rng: np.random.Generator) -> Signal:
    seconds = rng.uniform(5, 7)
    ground = 0.03 * noise(rng, seconds, 1.2)
    for at in in_step(rng, seconds, rng.uniform(0.7, 1.1), 0.25):
        long = rng.uniform(0.4, 0.8)
        slap = band(noise(rng, long, 0.5), 200, rng.uniform(1200, 2500), 1) * bump(long, 0.2)
        gulps = bubbles(rng, long, 40 * bump(long, 0.4), 300, 1400)
        add(ground, rng.uniform(0.4, 1) * (level(slap) * bump(long, 0.2) + 0.7 * gulps), at)
    return ground


def _stream(rng: np.random.Generator, low: float, high: float, rush: float) -> Signal:
    seconds = rng.uniform(5, 7)
    calm = wander(rng, seconds, 3, 0.5, 1.2)
    far = coloured(rng, seconds, (100, -4), (400, 2), (1500, 0), (5000, -9), (16_000, -24))
    return bubbles(rng, seconds, 320 * calm, low, high) * calm + rush * far


def _waterfall(rng: np.random.Generator, deep: float, cut: float) -> Signal:
    seconds = rng.uniform(5, 6.5)
    fall = coloured(rng, seconds, (40, deep), (250, 2), (2000, 0), (6000, -5), (16_000, -14))
    spray = level(band(impulses(rng, seconds, 5000, 1), 1500, 12_000))
    total = fall * wander(rng, seconds, 5, 0.8, 1.1) + 0.45 * spray
    return low_pass(total, cut, 1) + 0.25 * bubbles(rng, seconds, 120, 200, 900)


RECIPES = (
    Recipe(
        "sea_waves",
        "waves-breaking-on-a-beach",
        (
            "Waves break on a sandy beach and run back.",
            "ocean waves, beach, surf",
            "a day at the seaside",
        ),
        lambda rng: _waves(rng, rng.uniform(3.2, 4.2), 1, 0.4),
    ),
    Recipe(
        "sea_waves",
        "waves-dragging-pebbles",
        (
            "Waves roll onto a shingle beach and drag the pebbles back.",
            "sea, pebble beach, rattling stones",
            "surf on stones",
        ),
        lambda rng: _waves(rng, rng.uniform(3, 3.8), 0.8, 0.2, rng.uniform(0.5, 0.8)),
    ),
    Recipe(
        "sea_waves",
        "stormy-sea",
        (
            "Heavy waves of a stormy sea crash against rocks.",
            "rough sea, breakers, storm surge",
            "big waves pounding the coast",
        ),
        lambda rng: _waves(rng, rng.uniform(2, 2.6), 1.6, 0.7),
    ),
    Recipe(
        "sea_waves",
        "water-lapping-at-a-boat",
        (
            "Small waves lap gently against the hull of a moored boat.",
            "water, lapping, harbour, calm",
            "lying in a rowing boat on a lake",
        ),
        _lapping,
    ),
    Recipe(
        "stream",
        "brook-over-stones",
        (
            "A brook babbles over stones.",
            "stream, babbling, running water",
            "hiking along a mountain stream",
        ),
        lambda rng: _stream(rng, 350, 2600, 0.35),
    ),
    Recipe(
        "stream",
        "fast-flowing-river",
        (
            "A river flows fast past its banks.",
            "river, rushing water, current",
            "standing beside a wild river",
        ),
        lambda rng: _stream(rng, 180, 1200, 1.3),
    ),
    Recipe(
        "stream",
        "trickle-of-a-garden-fountain",
        (
            "A small fountain trickles in a garden.",
            "fountain, trickling, splashing water",
            "the little fountain in the courtyard",
        ),
        lambda rng: _stream(rng, 900, 5500, 0.2),
    ),
    Recipe(
        "waterfall",
        "big-waterfall",
        (
            "A big waterfall thunders into its basin.",
            "waterfall, roaring water, powerful",
            "standing below the falls",
        ),
        lambda rng: _waterfall(rng, 8, 11_000),
    ),
    Recipe(
        "waterfall",
        "waterfall-in-the-distance",
        (
            "A waterfall roars somewhere further off.",
            "distant waterfall, steady rushing",
            "you can hear the falls through the forest",
        ),
        lambda rng: _waterfall(rng, 3, 1800),
    ),
)
