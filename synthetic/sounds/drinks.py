"""Drinks: cans, corks, and machines that mix or brew."""

from functools import partial

import numpy as np

from synthetic.sounds.kit import (
    Recipe,
    Signal,
    at_random,
    bump,
    clock,
    colour,
    coloured,
    curve,
    decay,
    high_pass,
    impulses,
    level,
    low_pass,
    mix,
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
from synthetic.sounds.parts import click, firings, gate, sequence, vary


def _tin(rng: np.random.Generator, hz: float, fizz: float, peel: float) -> Signal:
    """A can is opened: the tab cracks, gas escapes, fizz; or a lid that peels off (seconds)."""
    crack = 0.15 * vary(rng, 1, 0.4)
    body = vary(rng, hz, 0.15) * np.array([1, 1.4, 1.93, 2.7, 3.3, 4.1, 5.2])
    snaps = [
        (at, g * mix(click(rng, 1200, 14_000, 0.03), modes(0.2, body, 0.09, 0.25)))
        for at, g in ((crack, 0.4), (crack + 0.28, 1.0), (crack + 0.34 + peel, 0.9))
    ]
    seconds = 1.6 + peel + 2.2 * bool(fizz)
    gas = high_pass(noise(rng, 0.4, -0.2), 1500, 1) * decay(0.4, 0.28, 0.004)
    tearing = level(resonate(impulses(rng, peel + 0.05, 350), body, 0.03)) * gate(peel + 0.05)
    bubbles = level(high_pass(impulses(rng, seconds, vary(rng, 900), 0.9), 3500, 1))
    bubbles *= curve(seconds, (crack + 0.3, 0), (crack + 0.5, 1), (seconds, 0.15))
    sound = sequence(seconds, snaps + [(crack + 0.29, bool(fizz) * 0.5 * gas)])
    ground = sequence(seconds, [(crack + 0.3, 0.2 * tearing)])
    return outdoors(rng, room(rng, sound + ground + fizz * 0.1 * bubbles, 0.3, 0.12), 0.002)


def _cork(rng: np.random.Generator, hz: float, fizz: float) -> Signal:
    """A cork squeaks and pops out of a bottle; fizz: what follows."""
    seconds, t = 1.6 + 2.5 * bool(fizz), clock(0.12)
    squeak = tone(curve(0.4, (0, 500), (0.4, vary(rng, 900))), (1, 0.7, 0.5, 0.4, 0.3, 0.2))
    squeak *= 0.1 * wander(rng, 0.4, 40, 0, 1) * bump(0.4, 0.7)
    pop = np.sin(2 * np.pi * vary(rng, hz) * (t + 1.5 * t**2)) * decay(0.12, 0.09, 0.001)
    burst = click(rng, 300, 9000, 0.05)
    foam = level(high_pass(impulses(rng, seconds, 2500, 0.8), 2500, 1))
    foam *= curve(seconds, (0.55, 0), (0.7, 1), (seconds, 0.2))
    parts = [(0.1, (1 - bool(fizz)) * squeak), (0.55, pop), (0.55, 0.6 * burst)]
    return outdoors(rng, room(rng, sequence(seconds, parts) + fizz * 0.1 * foam, 0.5, 0.2), 0.001)


def _blender(rng: np.random.Generator) -> Signal:
    """A motor that winds up, with ice that is thrown about until it is crushed."""
    seconds = 4.5
    rate = curve(seconds, (0, 40), (0.6, vary(rng, 260)), (3.6, vary(rng, 300)), (4.3, 60))
    whine = tone(rate, (0.6, 1, 0.3, 0.8, 0.2, 0.6, 0.15, 0.5, 0.1, 0.3, 0.1, 0.2))
    brushes = resonate(firings(rng, 2 * rate, (1, 0.8), 0.05), (2400, 3900, 5600, 8200), 0.01)
    air = coloured(rng, seconds, (150, -8), (900, 0), (5000, -3), (15_000, -16))
    ice = scatter(
        seconds,
        at_random(rng, seconds, 45 * curve(seconds, (0.2, 0), (0.4, 1), (2.8, 0.15), (4, 0))),
        lambda: rng.lognormal(1, 0.6) * click(rng, 500, 9000, 0.03),
    )
    power = curve(seconds, (0, 0), (0.4, 1), (3.6, 1), (4.4, 0))
    return (level(whine) + 0.6 * level(brushes) + 0.8 * air) * power + 0.7 * ice


def _espresso(rng: np.random.Generator) -> Signal:
    """A pump hums, then steam screams into milk."""
    seconds, turn = 5.5, vary(rng, 2, 0.15)
    pump = resonate(firings(rng, np.full(len(clock(seconds)), 50.0)), (180, 420, 1100, 2600), 0.03)
    pump = level(pump) * curve(seconds, (0.1, 0), (0.3, 1), (turn, 1), (turn + 0.1, 0))
    steam = colour(noise(rng, seconds), (200, -20), (1500, -3), (4500, 2), (15_000, -8))
    scream = moving_band(noise(rng, seconds), 1200 * wander(rng, seconds, 2, 0.7, 2), 0.25)
    milk = steam + 0.5 * level(scream) * wander(rng, seconds, 5, 0, 1)
    blown = curve(seconds, (turn + 0.3, 0), (turn + 0.5, 1), (5, 1), (5.3, 0.05))
    drip = low_pass(noise(rng, seconds, 0.5), 1500) * wander(rng, seconds, 20, 0, 0.15)
    return outdoors(rng, pump + milk * blown + drip, 0.005)


RECIPES = (
    Recipe(
        "can_opening",
        "beer-can-opened",
        ("A can of beer is opened and fizzes.", "can, crack, psst, fizz", "cold drink after work"),
        partial(_tin, hz=1500, fizz=1, peel=0),
    ),
    Recipe(
        "can_opening",
        "soda-can-cracked",
        ("Someone cracks open a soda can.", "ring pull, snap, hiss"),
        partial(_tin, hz=1900, fizz=0.3, peel=0),
    ),
    Recipe(
        "can_opening",
        "tin-lid-peeled-off",
        (
            "The lid of a tin is pulled off.",
            "food tin, ring pull, metal tearing",
            "feeding the cat",
        ),
        partial(_tin, hz=900, fizz=0, peel=0.6),
    ),
    Recipe(
        "cork_pop",
        "wine-cork",
        ("A cork is pulled out of a wine bottle.", "cork, squeak, pop"),
        partial(_cork, hz=480, fizz=0),
    ),
    Recipe(
        "cork_pop",
        "champagne-cork",
        ("A champagne cork pops and the wine foams.", "champagne, pop, fizz", "a toast to us"),
        partial(_cork, hz=650, fizz=1),
    ),
    Recipe(
        "blender",
        "blender-with-ice",
        ("A blender crushes ice.", "blender, loud motor, ice", "making a smoothie"),
        _blender,
    ),
    Recipe(
        "coffee_machine",
        "espresso-machine",
        ("An espresso machine brews and froths milk.", "coffee machine, pump, steam, café"),
        _espresso,
    ),
)
