"""Things that fall and bounce: coins and balls."""

from functools import partial

import numpy as np

from synthetic.sounds.kit import (
    Recipe,
    Signal,
    add,
    at_random,
    curve,
    level,
    mix,
    modes,
    outdoors,
    resonate,
    room,
    scatter,
    silence,
    wander,
)
from synthetic.sounds.parts import click, firings, sequence, struck, vary

COIN = (1.0, 1.59, 2.31, 3.02, 3.9)


def _coins(rng: np.random.Generator, count: int, spread: float, spins: bool) -> Signal:
    """Coins fall: each bounces ever faster; one may spin until it lies flat."""
    parts, seconds, hz = [], 1.6 + spread + 1.4 * spins, 0.0
    for _ in range(count):
        hz, at = rng.uniform(3800, 7000), 0.1 + rng.uniform(0, spread)
        gap, gain = rng.uniform(0.08, 0.22), rng.uniform(0.5, 1)
        while gain > 0.05 and gap > 0.008:
            coin = modes(0.25, hz * np.array(COIN) * rng.uniform(0.99, 1.01, 5), 0.2, 0.4)
            parts += [(at, gain * coin), (at, 0.5 * gain * click(rng, 1500, 12_000, 0.01))]
            at, gap, gain = at + gap, 0.72 * gap, 0.7 * gain
    if spins:
        rate = curve(1.8, (0, 9), (1.2, 22), (1.8, 90))
        spin = resonate(firings(rng, rate, (1, 0.7), 0.02), hz * np.array(COIN), 0.15)
        parts.append((1.0, 0.15 * level(spin) * curve(1.8, (0, 0.4), (1.6, 1), (1.8, 0))))
    return outdoors(rng, room(rng, sequence(seconds, parts), 0.4, 0.12), 0.001)


def _purse(rng: np.random.Generator) -> Signal:
    """A handful of coins is shaken."""
    seconds = 3.5
    shakes = 70 * wander(rng, seconds, 7, -0.5, 1.2).clip(0)

    def coin() -> Signal:
        hz = rng.uniform(3500, 7500) * np.array(COIN)
        return rng.lognormal(-0.5, 0.6) * modes(0.1, hz, rng.uniform(0.03, 0.09), 0.4)

    return outdoors(rng, scatter(seconds, at_random(rng, seconds, shakes), coin), 0.001)


def _bounce(
    rng: np.random.Generator, hz: float, first: float, keeps: float, hard: float, t60: float
) -> Signal:
    """A ball is dropped; each bounce is lower by `keeps` and sooner than the one before.

    first: seconds until the second bounce; hard: from 0 (rubber) to 1 (plastic, glass).
    """
    ground, at, gap, gain = silence(6.0), 0.15, vary(rng, first), 1.0
    hz = vary(rng, hz)
    while gap > 0.015 and at < 5.5:
        ball = struck(rng, hz * (1 + 0.05 * (1 - gain)), (1, 1.58, 2.24, 2.92, 3.6), t60, 0.5, hard)
        ball = mix(ball / np.max(np.abs(ball)), 0.6 * click(rng, 60, 900 + 9000 * hard, 0.03))
        add(ground, ball, at, gain)
        at, gap, gain = at + gap, keeps * gap, gain * keeps**1.3
    return outdoors(rng, room(rng, ground, 0.7, 0.2), 0.001)[: round((at + 1) * 32_000)]


def _dribble(rng: np.random.Generator) -> Signal:
    """A basketball in a gymnasium, bounced by hand; shoes squeak."""
    ground, at, hz = silence(6.0), 0.2, vary(rng, 95)
    while at < 5.5:
        ball = modes(0.4, hz * np.array([1, 1.9, 3.1, 8.4, 13]), (0.2, 0.15, 0.1, 0.15, 0.1), 0.5)
        add(ground, mix(ball, 1.2 * click(rng, 100, 4000, 0.03)), at, vary(rng, 0.9, 0.2))
        at += vary(rng, 0.55, 0.3)
    return outdoors(rng, room(rng, ground, 1.8, 0.35), 0.003)[: 32_000 * 7]


RECIPES = (
    Recipe(
        "coins",
        "coin-dropped-and-spinning",
        ("A coin falls on a table and spins to rest.", "coin, drop, spinning, ringing"),
        partial(_coins, count=1, spread=0, spins=True),
    ),
    Recipe(
        "coins",
        "coins-spilled",
        (
            "A handful of coins spills on the floor.",
            "coins falling, many, metal",
            "broken piggy bank",
        ),
        partial(_coins, count=14, spread=0.8, spins=False),
    ),
    Recipe(
        "coins",
        "coins-shaken",
        ("Small change jingles in a pocket.", "coins, jingling, shaken", "spare change"),
        _purse,
    ),
    Recipe(
        "ball_bounce",
        "ping-pong-ball-dropped",
        ("A table tennis ball bounces to a stop.", "ping-pong ball, bouncing, faster, light"),
        partial(_bounce, hz=1250, first=0.55, keeps=0.88, hard=0.6, t60=0.06),
    ),
    Recipe(
        "ball_bounce",
        "marble-on-tiles",
        ("A glass marble drops on tiles and bounces.", "marble, hard, clicking, rolling out"),
        partial(_bounce, hz=3400, first=0.4, keeps=0.8, hard=0.9, t60=0.05),
    ),
    Recipe(
        "ball_bounce",
        "basketball-dribbled",
        ("A basketball is dribbled in a gym.", "basketball, bouncing, hall", "sports practice"),
        _dribble,
    ),
)
