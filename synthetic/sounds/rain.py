"""Rain and hail."""

import numpy as np

from synthetic.sounds.kit import (
    Recipe,
    Signal,
    at_random,
    band,
    coloured,
    curve,
    decay,
    impulses,
    level,
    low_pass,
    modes,
    resonate,
    scatter,
    wander,
)
from synthetic.sounds.water import bubble


def shower(rng: np.random.Generator, seconds: float, tilt: float, unrest: float) -> Signal:
    """The far, even part of rain: drops too many to be told apart."""
    far = coloured(
        rng, seconds, (60, 9), (400, 5), (2500, 0), (6000, -4), (16_000, -11 + tilt)
    ) * wander(rng, seconds, 2, 1 - unrest, 1 + unrest)
    return far + 0.5 * level(band(impulses(rng, seconds, 3000, 1.2), 1500, 13_000))


def _rain_on_tin(rng: np.random.Generator, rate: float) -> Signal:
    seconds = rng.uniform(4.5, 6)
    hz = np.sort(np.exp(rng.uniform(np.log(350), np.log(7500), 28)))
    sheet = resonate(
        impulses(rng, seconds, rate, 1.1), hz, rng.uniform(0.03, 0.12, 28), rng.uniform(0.2, 1, 28)
    )
    return level(sheet) + 0.35 * shower(rng, seconds, 2, 0.1)


def _rain_on_leaves(rng: np.random.Generator) -> Signal:
    seconds = rng.uniform(4.5, 6)
    taps = scatter(
        seconds,
        at_random(rng, seconds, rng.uniform(35, 70)),
        lambda: (
            rng.lognormal(0, 0.8)
            * decay(0.03, rng.uniform(0.01, 0.03))
            * band(rng.standard_normal(960), rng.uniform(700, 1800), rng.uniform(3000, 9000), 1)
        ),
    )
    return level(taps) + rng.uniform(0.25, 0.4) * shower(rng, seconds, -4, 0.15)


def _downpour(rng: np.random.Generator) -> Signal:
    seconds = rng.uniform(4.5, 6)
    splashes = scatter(
        seconds,
        at_random(rng, seconds, 160),
        lambda: rng.lognormal(0, 0.6) * bubble(rng, np.exp(rng.uniform(7.2, 8.6)), 0.02),
    )
    return shower(rng, seconds, 4, 0.2) + 0.3 * level(splashes)


def _rain_on_window(rng: np.random.Generator) -> Signal:
    seconds = rng.uniform(4.5, 6)
    pane = rng.uniform(500, 4000, 12)
    taps = resonate(impulses(rng, seconds, rng.uniform(14, 30), 0.7), pane, 0.03, 1)
    splat = band(impulses(rng, seconds, 40, 0.7), 2000, 12_000, 1)
    outside = low_pass(shower(rng, seconds, -6, 0.2), 1200, 1)
    return level(taps) + 0.6 * level(splat) + 0.3 * outside


def _rain_on_umbrella(rng: np.random.Generator) -> Signal:
    seconds = rng.uniform(4.5, 6)
    cloth = rng.uniform(180, 1100, 8)
    hits = impulses(rng, seconds, rng.uniform(45, 90), 0.7)
    drum = resonate(hits, cloth, rng.uniform(0.015, 0.04, 8), 1)
    return level(drum) + 0.5 * level(band(hits, 2500, 9000, 1)) + 0.2 * shower(rng, seconds, 0, 0.1)


def _hail(rng: np.random.Generator, body: tuple[float, float], ring: float) -> Signal:
    """Ice on a body with resonances in the range."""
    seconds = rng.uniform(4, 5.5)
    thick = curve(seconds, (0, rng.uniform(30, 60)), (seconds, rng.uniform(60, 130)))
    hz = np.exp(rng.uniform(np.log(body[0]), np.log(body[1]), 16))

    def stone() -> Signal:
        near = rng.lognormal(0, 0.9)
        own = rng.uniform(3500, 9000, 3)
        struck = modes(0.08, rng.permutation(hz)[:5], ring * rng.uniform(0.6, 1.4), 0.5)
        return near * (struck + modes(0.08, own, 0.012, 0.8))

    stones = scatter(seconds, at_random(rng, seconds, thick), stone)
    return level(stones) + 0.12 * shower(rng, seconds, 3, 0.1)


RECIPES = (
    Recipe(
        "rain",
        "heavy-rain-on-a-tin-roof",
        (
            "Heavy rain drums on a tin roof.",
            "rain, metal roof, downpour",
            "pouring rain hammering on corrugated iron",
        ),
        lambda rng: _rain_on_tin(rng, rng.uniform(500, 900)),
    ),
    Recipe(
        "rain",
        "first-drops-on-a-tin-roof",
        (
            "The first raindrops tap on a metal roof.",
            "rain starting, sparse drops, tin",
            "it is beginning to rain on the shed",
        ),
        lambda rng: _rain_on_tin(rng, rng.uniform(25, 60)),
    ),
    Recipe(
        "rain",
        "light-rain-on-leaves",
        (
            "Light rain patters on the leaves of a garden.",
            "gentle rain, leaves, drizzle",
            "soft rain in the woods",
        ),
        _rain_on_leaves,
    ),
    Recipe(
        "rain",
        "downpour-on-the-street",
        (
            "A cloudburst pours down on the street and splashes in the puddles.",
            "heavy rain, downpour, puddles",
            "it is raining cats and dogs",
        ),
        _downpour,
    ),
    Recipe(
        "rain",
        "rain-against-a-window",
        (
            "Raindrops patter against a window pane, heard from inside.",
            "rain, window, indoors",
            "a rainy day at home",
        ),
        _rain_on_window,
    ),
    Recipe(
        "rain",
        "rain-on-an-umbrella",
        (
            "Rain falls on an open umbrella.",
            "rain, umbrella, drumming drops",
            "walking under an umbrella in the rain",
        ),
        _rain_on_umbrella,
    ),
    Recipe(
        "hail",
        "hail-on-a-car-roof",
        (
            "Hailstones clatter on the roof of a car.",
            "hail, car, metal, clatter",
            "sitting in the car while it hails",
        ),
        lambda rng: _hail(rng, (250, 2500), 0.07),
    ),
    Recipe(
        "hail",
        "hail-on-a-glass-roof",
        (
            "Hail rattles on the glass of a greenhouse.",
            "hailstorm, glass, ice pellets",
            "ice pellets bouncing off the conservatory",
        ),
        lambda rng: _hail(rng, (1800, 7500), 0.04),
    ),
)
