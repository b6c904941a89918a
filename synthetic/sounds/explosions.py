"""Bangs: explosions, shots, fireworks, balloons."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from synthetic.sounds.kit import (
    Recipe,
    Signal,
    add,
    at_random,
    clock,
    coloured,
    curve,
    decay,
    drive,
    high_pass,
    impulses,
    level,
    low_pass,
    modes,
    moving_band,
    noise,
    outdoors,
    room,
    scatter,
    silence,
    wander,
)
from synthetic.sounds.parts import click, vary


def _blast(rng: np.random.Generator, size: float, far: float, debris: float) -> Signal:
    """A shock, a fireball whose noise sinks, and what falls afterwards.

    size: 1 is a building; far: 0 near to 1 distant, which dulls it.
    """
    seconds = 2.2 + 2.8 * size**0.5
    t60 = (1.5 + 2.5 * size) * vary(rng, 1)
    sink = curve(seconds, (0.1, 2500 - 1900 * far), (0.4, 700 - 450 * far), (seconds, 90))
    fire = moving_band(noise(rng, seconds, 0.8), sink, 3.5) * decay(seconds, t60, 0.02)
    boom = low_pass(noise(rng, seconds, 1.5), 110) * decay(seconds, 1.2 * t60, 0.03)
    ground = 2 * fire / np.max(np.abs(fire)) + 1.5 * boom / np.max(np.abs(boom))
    ground *= wander(rng, seconds, 18, 0.6, 1.2)
    blow = silence(seconds)
    add(blow, ground, 0.08)
    add(blow, click(rng, 60, 12_000 - 10_000 * far, 0.12 + 0.1 * size), 0.08, 2.5)
    falls = 40 * debris * curve(seconds, (0.5, 0), (1.2, 1), (seconds, 0.05))
    stones = scatter(
        seconds,
        at_random(rng, seconds, falls),
        lambda: rng.lognormal(-1.5, 0.7) * click(rng, rng.uniform(150, 1500), 6000, 0.05),
    )
    return room(rng, drive(blow, 2) + 0.4 * stones, 2.2, 0.3)[: 32_000 * 6]


def _shot(rng: np.random.Generator, times: Sequence[float], calibre: float, echo: float) -> Signal:
    """Shots: a crack, the muzzle's blast, and the land's answer; calibre 1 is a pistol."""
    ground = silence(max(times) + 0.6)
    for at in times:
        crack = click(rng, 700, 15_000, 0.03 * vary(rng, calibre, 0.2))
        muzzle = click(rng, 90 / calibre, 2500, 0.14 * calibre)
        thump = modes(0.3, 75 / calibre * np.array([1, 1.8]), 0.2 * calibre, 0.5)
        bolt = click(rng, 1800, 8000, 0.02)
        for sound, later, gain in (
            (crack, 0, 1.0),
            (muzzle, 0.001, 1.2),
            (thump, 0, 1),
            (bolt, 0.06, 0.1),
        ):
            add(ground, sound, at + 0.1 + later, gain)
    answer = low_pass(ground, 1800, 1)
    valley = np.concatenate([silence(0.25), 0.25 * echo * answer, silence(0.6)])
    dry = drive(np.pad(ground, (0, len(valley) - len(ground))), 2)
    return outdoors(rng, room(rng, dry + valley, 1.8, 0.12 + 0.25 * echo), 0.002)


def _cannon(rng: np.random.Generator) -> Signal:
    """A fuse fizzes, then an old gun fires over the hills."""
    fuse = level(high_pass(impulses(rng, 1.2, 900, 0.8), 2500)) * 0.02 * clock(1.2)
    ground = silence(6.0)
    add(ground, fuse, 0.05)
    shot = coloured(rng, 3, (40, 3), (120, 4), (500, 0), (2500, -10), (15_000, -30)) * decay(
        3, 1.6, 0.004
    )
    add(ground, shot, 1.3, 0.5)
    add(ground, click(rng, 100, 7000, 0.12), 1.3, 1.5)
    add(ground, low_pass(shot, 300), 2.1, 0.15)
    return outdoors(rng, room(rng, ground, 2.6, 0.3)[: 32_000 * 8], 0.002)


RECIPES = (
    Recipe(
        "explosion",
        "explosion-near",
        ("A huge explosion nearby throws debris about.", "explosion, blast, debris", "it blew up"),
        partial(_blast, size=1, far=0, debris=1),
    ),
    Recipe(
        "explosion",
        "explosion-distant",
        ("A distant explosion rumbles.", "far blast, dull boom, rumble", "quarry blasting"),
        partial(_blast, size=0.8, far=1, debris=0),
    ),
    Recipe(
        "explosion",
        "explosion-small",
        ("A small charge goes off.", "short explosion, burst, bang", "a grenade in a game"),
        partial(_blast, size=0.15, far=0.1, debris=0.4),
    ),
    Recipe(
        "explosion",
        "cannon-fired",
        ("An old cannon is fired.", "cannon, fuse, deep boom, echo", "salute from the castle"),
        _cannon,
    ),
    Recipe(
        "gunshot",
        "pistol-single-shot",
        ("A single pistol shot.", "gunshot, one, sharp crack", "the starter's gun"),
        partial(_shot, times=(0,), calibre=1, echo=0.4),
    ),
    Recipe(
        "gunshot",
        "rifle-shots-in-valley",
        ("Two rifle shots echo through a valley.", "rifle, hunting, echo, outdoors"),
        partial(_shot, times=(0, 1.7), calibre=1.5, echo=1.6),
    ),
    Recipe(
        "gunshot",
        "machine-gun-bursts",
        ("A machine gun fires in bursts.", "automatic weapon, rapid gunfire, war"),
        partial(
            _shot,
            times=tuple(0.085 * i + 0.7 * (i // 8) for i in range(24)),
            calibre=0.8,
            echo=0.6,
        ),
    ),
)
