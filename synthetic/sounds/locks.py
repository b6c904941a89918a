"""Locks, keys and drawers."""

from functools import partial

import numpy as np

from synthetic.sounds.doors import latch, panel
from synthetic.sounds.kit import (
    Recipe,
    Signal,
    add,
    bump,
    decay,
    impulses,
    in_step,
    level,
    modes,
    noise,
    outdoors,
    resonate,
    room,
    scatter,
    silence,
    wander,
)
from synthetic.sounds.parts import vary


def _lock(rng: np.random.Generator, turns: int) -> Signal:
    """A key scrapes into a lock and turns the bolt."""
    seconds = 1.6 + 0.7 * turns
    ground = silence(seconds)
    for at in 0.15 + np.sort(rng.uniform(0, 0.35, 9)):
        add(ground, latch(rng, rng.uniform(2500, 5500)), at, rng.uniform(0.1, 0.4))
    for i in range(turns):
        at = 0.8 + 0.7 * i
        for step in range(4):
            add(ground, latch(rng, rng.uniform(1800, 3500)), at + 0.06 * step, 0.2)
        add(ground, latch(rng, vary(rng, 700)), at + 0.3, 0.9)
        add(ground, panel(rng, 190, 0.3), at + 0.3, 0.5)
    return outdoors(rng, room(rng, ground, 0.4, 0.2), 0.001)


def _keys(rng: np.random.Generator, rate: float) -> Signal:
    """A bunch of keys that is shaken."""
    seconds = rng.uniform(2.5, 3.5)

    def key() -> Signal:
        hz = rng.uniform(3000, 6500) * np.array([1, 1.55, 2.2, 3.1])
        return rng.lognormal(-0.5, 0.6) * modes(0.15, hz, rng.uniform(0.04, 0.14), 0.4)

    shakes = in_step(rng, seconds - 0.3, vary(rng, 0.28), 0.12)
    times = np.concatenate([at + rng.exponential(0.05, max(round(rate), 1)) for at in shakes])
    return outdoors(rng, scatter(seconds, times, key) * decay(seconds, 30), 0.001)


def _drawer(rng: np.random.Generator) -> Signal:
    """A wooden drawer slides open and is pushed shut."""
    ground, wood = silence(3.4), vary(rng, 280) * np.array([1, 1.7, 2.6, 4.1, 6.5])
    for at, held in ((0.15, 0.8), (1.8, 0.55)):
        slide = level(resonate(impulses(rng, held, 700), wood, 0.03)) + 0.4 * noise(rng, held, 0.6)
        add(ground, slide * bump(held, 0.6) * wander(rng, held, 12, 0.5, 1), at, 0.12)
    add(ground, panel(rng, 220, 0.5), 0.95, 0.4)
    add(ground, panel(rng, 150, 0.6), 2.36, 1.5)
    return outdoors(rng, room(rng, ground, 0.4, 0.2), 0.002)


RECIPES = (
    Recipe(
        "door_lock",
        "key-turned-in-lock",
        ("A key is turned in a lock.", "locking a door, key, click", "coming home"),
        partial(_lock, turns=1),
    ),
    Recipe(
        "door_lock",
        "door-locked-twice",
        ("A door is locked with two turns of the key.", "lock, bolt, double click"),
        partial(_lock, turns=2),
    ),
    Recipe(
        "keys",
        "keys-jingling",
        ("A bunch of keys jingles.", "keys, jangling, metal", "looking for the right key"),
        partial(_keys, rate=5),
    ),
    Recipe(
        "drawer",
        "drawer-opened-and-closed",
        ("A wooden drawer is opened and closed.", "drawer, sliding, wood, bump"),
        _drawer,
    ),
)
