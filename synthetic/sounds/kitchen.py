"""Cooking: pans, pots, kettles, knives, tins and bottles."""

from functools import partial

import numpy as np

from synthetic.sounds.kit import (
    Recipe,
    Signal,
    at_random,
    band,
    bump,
    coloured,
    curve,
    high_pass,
    impulses,
    in_step,
    level,
    modes,
    moving_band,
    noise,
    outdoors,
    resonate,
    room,
    scatter,
    tone,
    wander,
)
from synthetic.sounds.parts import click, sequence, vary
from synthetic.sounds.water import bubble


def _frying(rng: np.random.Generator, wet: float, spit: float, starts: float) -> Signal:
    """Fat that sizzles and spits; wet: how much of it is steam; starts: second it gets going."""
    seconds = rng.uniform(3.5, 4.5)
    heat = curve(seconds, (starts, 0.02), (starts + 0.15, 1), (seconds, 0.75))
    fizz = level(high_pass(impulses(rng, seconds, vary(rng, 2500, 0.3), 1.1), 2200, 1))
    steam = coloured(rng, seconds, (300, -25), (2500, -2), (6000, 2), (15_000, -6))
    spits = scatter(
        seconds,
        at_random(rng, seconds, vary(rng, spit, 0.3)),
        lambda: rng.lognormal(0.6, 0.7) * click(rng, rng.uniform(700, 3000), 12_000, 0.012),
    )
    pan = resonate(spits, rng.uniform(600, 5000, 9), 0.05, 0.02)
    sizzle = (fizz + wet * steam) * wander(rng, seconds, 12, 0.6, 1.1)
    return outdoors(rng, (sizzle + spits + pan) * heat, 0.002)


def _boiling(rng: np.random.Generator, rate: float, low: float, high: float, lid: float) -> Signal:
    """Bubbles burst at the surface of a pot; lid: how often one lifts it and it rattles."""
    seconds = rng.uniform(3.5, 4.5)
    surge = rate * wander(rng, seconds, 6, 0.4, 1.4)

    def one() -> Signal:
        hz = np.exp(rng.uniform(np.log(low), np.log(high)))
        return (
            rng.lognormal(0, 0.5)
            * (300 / hz) ** 0.3
            * bubble(rng, hz, vary(rng, 12 / hz, 0.4), 0.6)
        )

    roll = scatter(seconds, at_random(rng, seconds, surge), one)
    boil = coloured(rng, seconds, (40, 0), (300, 3), (1500, -14), (14_000, -34))
    lids = np.array([1, 1.52, 2.3, 3.4, 4.7, 6.1]) * vary(rng, 900, 0.2)
    rattle = scatter(
        seconds,
        at_random(rng, seconds, lid),
        lambda: rng.uniform(0.3, 1) * modes(0.15, lids, 0.1, 0.4),
    )
    steam = 0.05 * high_pass(noise(rng, seconds), 3000, 1)
    return level(roll) + 0.35 * boil * wander(rng, seconds, 8, 0.6, 1.1) + rattle + steam


def _kettle(rng: np.random.Generator, low: float, high: float, warble: float) -> Signal:
    """The roar of the water, then steam finds the whistle, whose pitch climbs."""
    seconds = 5.5
    low, high, start = vary(rng, low), vary(rng, high), vary(rng, 1.6, 0.3)
    pitch = curve(seconds, (start, low), (start + 1.5, 0.93 * high), (seconds, high))
    pitch = pitch * (1 + warble * wander(rng, seconds, 9, -1, 1))
    blow = curve(seconds, (start, 0), (start + 0.7, 0.4), (start + 1.8, 1))
    whistle = tone(pitch, (1, 0.22, 0.12, 0.06)) + 0.5 * tone(1.19 * pitch, (1, 0.15, 0.05))
    steam = moving_band(noise(rng, seconds), pitch, 0.3) + 0.12 * high_pass(
        noise(rng, seconds), 2000
    )
    roar = coloured(rng, seconds, (50, 0), (400, 0), (2000, -20), (14_000, -45))
    shake = wander(rng, seconds, 14, 0.75, 1.1)
    return (whistle + 0.5 * steam) * blow * shake + 0.25 * roar * curve(seconds, (0, 0.7), (3, 1))


def _chopping(rng: np.random.Generator, rate: float, crunch: float, heavy: float) -> Signal:
    """A knife that cuts through something crisp onto a wooden board."""
    seconds, strokes = rng.uniform(3.2, 4), []
    board = vary(rng, 260 / heavy, 0.15) * np.array([1, 1.62, 2.7, 3.9, 5.6])
    for at in in_step(rng, seconds - 0.4, vary(rng, 1 / rate), 0.08):
        crisp = level(band(impulses(rng, 0.05, 1500), 1200, 12_000)) * bump(0.05, 0.6)
        knock = modes(0.15, board, (0.12, 0.1, 0.07, 0.05, 0.03), (1, 0.8, 0.5, 0.4, 0.2))
        knock = knock + 0.3 * np.pad(click(rng, 2500, 12_000, 0.02), (0, 4800 - 928))
        strokes += [(at, 0.12 * crunch * crisp), (at + 0.045, vary(rng, 1, 0.3) * knock)]
    return outdoors(rng, room(rng, sequence(seconds, strokes), 0.35, 0.15), 0.002)


RECIPES = (
    Recipe(
        "frying",
        "frying-bacon",
        ("Bacon sizzles in a pan.", "frying, sizzling, spitting fat", "breakfast is on the stove"),
        partial(_frying, wet=0.5, spit=18, starts=-1),
    ),
    Recipe(
        "frying",
        "frying-egg-dropped-in",
        ("An egg is dropped into hot oil and hisses.", "frying pan, sudden sizzle, kitchen"),
        partial(_frying, wet=1.2, spit=8, starts=0.8),
    ),
    Recipe(
        "frying",
        "deep-fryer",
        ("A deep fryer boils fiercely.", "deep frying, chips, oil, roaring sizzle"),
        partial(_frying, wet=2.5, spit=40, starts=-1),
    ),
    Recipe(
        "boiling_water",
        "boiling-pot",
        ("A pot of water is at a rolling boil.", "boiling, bubbling, pot", "time for the pasta"),
        partial(_boiling, rate=110, low=180, high=1400, lid=0),
    ),
    Recipe(
        "boiling_water",
        "boiling-pot-lid-rattles",
        ("The lid rattles on a boiling pot.", "boiling over, rattling lid, steam"),
        partial(_boiling, rate=60, low=200, high=900, lid=14),
    ),
    Recipe(
        "boiling_water",
        "stew-simmering",
        ("A thick stew simmers with slow bubbles.", "simmering, blub, gentle", "soup on low heat"),
        partial(_boiling, rate=9, low=90, high=380, lid=0),
    ),
    Recipe(
        "kettle_whistle",
        "kettle-whistling",
        (
            "A kettle on the stove begins to whistle.",
            "kettle, whistle, steam",
            "tea water is ready",
        ),
        partial(_kettle, low=1300, high=2300, warble=0.01),
    ),
    Recipe(
        "kettle_whistle",
        "kettle-shrieking",
        ("An old tea kettle shrieks and sputters.", "shrill whistling kettle, high, wavering"),
        partial(_kettle, low=2000, high=3300, warble=0.03),
    ),
    Recipe(
        "chopping",
        "chopping-carrots-fast",
        ("A cook chops carrots quickly on a board.", "chopping, knife, rapid, wooden board"),
        partial(_chopping, rate=5.5, crunch=1.5, heavy=0.8),
    ),
    Recipe(
        "chopping",
        "chopping-cabbage-slow",
        ("Someone cuts up a cabbage slowly.", "knife, crunchy, cutting, kitchen"),
        partial(_chopping, rate=1.3, crunch=4, heavy=1.1),
    ),
    Recipe(
        "chopping",
        "cleaver-on-butchers-block",
        ("A cleaver hits a butcher's block.", "meat cleaver, heavy chops, thud"),
        partial(_chopping, rate=1.0, crunch=0.6, heavy=2.2),
    ),
)
