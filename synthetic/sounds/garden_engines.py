"""Small engines of gardens and forests: mowers and chainsaws."""

from functools import partial

import numpy as np

from synthetic.sounds.engines import ONE, engine
from synthetic.sounds.kit import (
    Recipe,
    Signal,
    add,
    bump,
    coloured,
    curve,
    high_pass,
    level,
    low_pass,
    moving_band,
    noise,
    outdoors,
    resonate,
    silence,
    wander,
)
from synthetic.sounds.parts import firings, vary


def _mower(rng: np.random.Generator) -> Signal:
    """A lawn mower: one cylinder, and the blade's wind."""
    seconds = 4.0
    rate = vary(rng, 25) * wander(rng, seconds, 0.9, 0.93, 1.02)
    sound = engine(rng, rate, ONE, vary(rng, 120), 0.6, 0.5, 0.04)
    blade = coloured(rng, seconds, (150, 0), (700, 2), (4000, -6), (15_000, -18))
    chop = 1 + 0.4 * np.sin(4 * np.pi * np.cumsum(rate) / 32_000)
    grass = high_pass(noise(rng, seconds), 2500, 1) * wander(rng, seconds, 4, 0, 1)
    return sound + 0.6 * blade * chop + 0.2 * grass


def _chainsaw(rng: np.random.Generator, cuts: float, top: float) -> Signal:
    """A two-stroke that idles, screams, and labours in the wood (cuts: how much of the time)."""
    seconds = 4.6
    throttle = np.clip(wander(rng, seconds, 0.9, -1.4 + 1.6 * cuts, 1.8), 0, 1)
    bite = cuts * np.clip(wander(rng, seconds, 1.1, -0.6, 1.4), 0, 1) * (throttle > 0.7)
    bite = low_pass(bite, 6, 1).clip(0)
    rate = vary(rng, top) * (0.3 + 0.7 * throttle) * (1 - 0.25 * bite)
    sound = engine(rng, rate, (1, 0.9), vary(rng, 210), throttle, 0.4, 0.05 - 0.03 * cuts)
    chain = resonate(firings(rng, 5.3 * rate, (1, 0.6, 0.8), 0.2), (2300, 3600, 5400, 8200), 0.008)
    chips = moving_band(noise(rng, seconds), 3500 - 1500 * bite, 2.5)
    loud = 0.35 + 0.65 * throttle
    return outdoors(
        rng, loud * sound + throttle * 0.5 * level(chain) + 0.9 * bite * level(chips), 0.004
    )


def _pulled(rng: np.random.Generator) -> Signal:
    """A chainsaw's cord is pulled twice in vain; at the third pull it runs."""
    ground = silence(6.0)
    pulls = 0.2 + np.array([0, 1.1, 2.2]) * vary(rng, 1)
    for at in pulls:
        rate = 45 * bump(0.5, 0.4) + 1
        ratchet = resonate(firings(rng, 5 * rate, (1,), 0.05), (900, 2100, 3800), 0.02)
        puff = engine(rng, rate, ONE, 210, 0.1, 0.3)
        add(ground, (level(ratchet) + puff) * bump(0.5, 0.4, 0.5), at, 0.5)
    start = pulls[-1] + 0.35
    rate = curve(6 - start, (0, 20), (0.3, 45), (1.2, 38), (1.6, 120), (2.6, 130), (3.2, 42))
    add(
        ground, engine(rng, rate, (1, 0.9), 210, rate / 130, 0.4, 0.05) * (rate / 130) ** 0.6, start
    )
    return outdoors(rng, ground, 0.004)


RECIPES = (
    Recipe(
        "lawn_mower",
        "lawn-mower",
        ("Someone mows the lawn.", "lawn mower, petrol, droning", "Saturday morning in the garden"),
        _mower,
    ),
    Recipe(
        "chainsaw",
        "chainsaw-cutting-log",
        ("A chainsaw cuts through a log.", "chainsaw, cutting, wood", "felling a tree"),
        partial(_chainsaw, cuts=1, top=135),
    ),
    Recipe(
        "chainsaw",
        "chainsaw-idle-and-rev",
        ("A chainsaw idles and is revved now and then.", "chainsaw, throttle, two-stroke, forest"),
        partial(_chainsaw, cuts=0.2, top=150),
    ),
    Recipe(
        "chainsaw",
        "chainsaw-pulled-to-start",
        ("The cord of a chainsaw is pulled until it starts.", "chainsaw, pull start, sputtering"),
        _pulled,
    ),
)
