"""Fire: crackling, roaring, lit, put out."""

import numpy as np

from synthetic.sounds.kit import (
    Recipe,
    Signal,
    add,
    at_random,
    band,
    bump,
    curve,
    decay,
    high_pass,
    impulses,
    level,
    low_pass,
    modes,
    noise,
    outdoors,
    scatter,
    wander,
)


def _crackles(rng: np.random.Generator, seconds: float, rate: float, snap: float) -> Signal:
    """Wood that bursts: ticks in clusters, and now and then a snap that is heard in the log."""
    heat = wander(rng, seconds, 3, 0, 1) ** 2

    def pop() -> Signal:
        strength = rng.lognormal(0, 1)
        tick = rng.standard_normal(640) * decay(0.02, rng.uniform(0.002, 0.012), 0.0003)
        log = modes(0.02, rng.uniform(300, 1400, 3), 0.02, 0.3 * snap)
        return strength * (high_pass(tick, rng.uniform(800, 4000), 1) + log)

    times = at_random(rng, seconds, 3 * rate * heat)
    bursts = np.concatenate(
        [at + rng.exponential(0.02, rng.integers(1, 5)) for at in times] or [[]]
    )
    return level(scatter(seconds, bursts, pop))


def _roar(rng: np.random.Generator, seconds: float, flutter: float) -> Signal:
    flames = level(low_pass(noise(rng, seconds, 1.2), 450, 1))
    return flames * wander(rng, seconds, flutter, 0.2, 1)


def _fire(rng: np.random.Generator, rate: float, roar: float, snap: float, hiss: float) -> Signal:
    seconds = rng.uniform(4.5, 6)
    sizzle = level(high_pass(noise(rng, seconds), 4000, 1)) * wander(rng, seconds, 4, 0.3, 1)
    crackles = _crackles(rng, seconds, rate * rng.uniform(0.8, 1.25), snap)
    return crackles + roar * _roar(rng, seconds, 8) + hiss * sizzle


def _match(rng: np.random.Generator) -> Signal:
    seconds = rng.uniform(2.2, 3)
    lit = rng.uniform(0.28, 0.4)
    scrape = level(band(impulses(rng, seconds, 4000, 1), 2500, 12_000, 1))
    scrape *= curve(seconds, (0.08, 0), (0.12, 0.7), (lit, 0.9), (lit + 0.04, 0))
    flare = high_pass(noise(rng, seconds, 0.4), 700, 1)
    flare *= curve(seconds, (lit - 0.02, 0), (lit + 0.06, 1), (lit + 0.5, 0.25), (seconds, 0.0))
    flare *= wander(rng, seconds, 40, 0.4, 1)
    burning = 0.12 * _roar(rng, seconds, 12) * curve(seconds, (lit, 0), (lit + 0.4, 1))
    return scrape + 1.3 * flare + burning + 0.2 * _crackles(rng, seconds, 8, 0) * (flare != 0)


def _lighter(rng: np.random.Generator) -> Signal:
    """The wheel turns without luck a few times, then the gas burns."""
    seconds = rng.uniform(2.5, 3.5)
    ground = 0.002 * noise(rng, seconds, 1)
    tries = 0.2 + np.cumsum(rng.uniform(0.35, 0.55, rng.integers(2, 4)))
    for at in tries:
        rasp = level(band(impulses(rng, 0.09, 1400), 2500, 13_000, 1)) * bump(0.09, 0.4)
        add(ground, rasp, at)
        add(ground, modes(0.03, rng.uniform(2500, 7000, 4), 0.02, 0.8), at + 0.09)
    gas = high_pass(noise(rng, 1.2, 0.5), 500, 1) * curve(
        1.2, (0, 0), (0.03, 1), (0.3, 0.25), (1.2, 0)
    )
    add(ground, gas, tries[-1] + 0.08, 0.5)
    return ground


def _quenched(rng: np.random.Generator) -> Signal:
    seconds = rng.uniform(3.5, 4.5)
    steam = high_pass(noise(rng, seconds, -0.2), 2500, 1)
    steam *= curve(seconds, (0.3, 0), (0.36, 1), (1.2, 0.4), (seconds, 0.01))
    spit = _crackles(rng, seconds, 14, 0.3) * curve(seconds, (0.2, 0.3), (0.4, 1), (seconds, 0.1))
    return level(steam * wander(rng, seconds, 18, 0.5, 1)) + 0.5 * spit


def _sparkler(rng: np.random.Generator) -> Signal:
    seconds = rng.uniform(3.5, 5)
    sparks = level(
        high_pass(impulses(rng, seconds, 1500 * wander(rng, seconds, 6, 0.3, 1), 1), 3500)
    )
    hiss = high_pass(noise(rng, seconds, -0.3), 3000, 1) * wander(rng, seconds, 25, 0.5, 1)
    return (sparks + 0.5 * level(hiss)) * curve(seconds, (0, 0.1), (0.3, 1), (seconds, 0.7))


RECIPES = (
    Recipe(
        "crackling_fire",
        "campfire",
        (
            "A campfire crackles at night.",
            "fire, crackling wood, camp",
            "sitting around the campfire",
        ),
        lambda rng: outdoors(rng, _fire(rng, 12, 0.4, 1, 0.05), 0.004),
    ),
    Recipe(
        "crackling_fire",
        "fireplace",
        (
            "Logs burn quietly in a fireplace, with a snap now and then.",
            "fireplace, logs, snapping, cosy",
            "a winter evening by the hearth",
        ),
        lambda rng: _fire(rng, 4, 0.7, 2, 0.03),
    ),
    Recipe(
        "crackling_fire",
        "bonfire",
        (
            "A big bonfire roars and crackles.",
            "bonfire, roaring flames, burning",
            "the flames are getting huge",
        ),
        lambda rng: _fire(rng, 30, 1.4, 0.8, 0.25),
    ),
    Recipe(
        "crackling_fire",
        "dry-twigs-burning",
        (
            "Dry twigs and leaves burn fast with fine crackles.",
            "burning twigs, brushwood, fine crackle",
            "getting the kindling going",
        ),
        lambda rng: _fire(rng, 55, 0.35, 0.4, 0.2),
    ),
    Recipe(
        "lighting_a_flame",
        "striking-a-match",
        (
            "A match is struck and flares up.",
            "match, strike, ignition",
            "lighting a candle",
        ),
        _match,
    ),
    Recipe(
        "lighting_a_flame",
        "cigarette-lighter",
        (
            "A cigarette lighter is flicked until it catches.",
            "lighter, flint wheel, click, flame",
            "have you got a light?",
        ),
        _lighter,
    ),
    Recipe(
        "sizzling",
        "water-thrown-on-embers",
        (
            "Water is poured on hot embers and hisses away as steam.",
            "fire put out, hissing steam, embers",
            "putting out the campfire",
        ),
        _quenched,
    ),
    Recipe(
        "sizzling",
        "sparkler-burning",
        (
            "A hand-held sparkler fizzes and throws sparks.",
            "sparkler, fizzing, firework",
            "new year's eve in the garden",
        ),
        _sparkler,
    ),
)
