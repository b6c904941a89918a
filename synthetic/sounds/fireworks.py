"""Fireworks and balloons."""

from functools import partial

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
    modes,
    moving_band,
    noise,
    outdoors,
    room,
    scatter,
    silence,
    tone,
    wander,
)
from synthetic.sounds.parts import click, vary


def _rocket(rng: np.random.Generator, high: float, crackles: float) -> Signal:
    """A rocket whistles up, bursts a moment later, and its stars crackle."""
    seconds, up = 5.0, vary(rng, 1.1)
    ground = silence(seconds)
    pitch = curve(up, (0, 0.55 * high), (0.7 * up, high), (up, 0.9 * high)) * vary(rng, 1)
    pitch *= wander(rng, up, 12, 0.97, 1.03)
    whistle = tone(pitch, (1, 0.3, 0.2, 0.1)) + 1.2 * moving_band(noise(rng, up), pitch, 0.8)
    launch = band(noise(rng, up), 600, 9000) * decay(up, 1.0, 0.02)
    add(ground, 0.1 * (level(whistle) * bump(up, 0.4, 0.5) + level(launch)), 0.1)
    at = 0.1 + up + 0.25
    add(ground, click(rng, 45, 1500, 0.9), at, 1.5)
    add(ground, click(rng, 300, 9000, 0.15), at, 0.8)
    stars = (
        150 * crackles * curve(seconds, (at + 0.3, 0), (at + 0.7, 1), (seconds - 1, 0.2), (4.8, 0))
    )
    snaps = scatter(
        seconds,
        at_random(rng, seconds, stars),
        lambda: rng.lognormal(-2, 0.5) * click(rng, 1500, 13_000, 0.012),
    )
    return outdoors(rng, room(rng, ground + snaps, 2.0, 0.3), 0.003)


def _display(rng: np.random.Generator, rate: float) -> Signal:
    """The finale: bangs near and far, one over the other."""
    seconds = 4.5
    ground = silence(seconds)
    for at in at_random(rng, seconds - 0.4, rate):
        near = rng.uniform(0.1, 1)
        add(ground, click(rng, 40, 600 + 4000 * near, rng.uniform(0.3, 1.1)), at, 1.3 * near)
        if rng.random() < 0.6:
            add(ground, click(rng, 400, 4000 + 9000 * near, 0.1), at, 0.6 * near)
        if rng.random() < 0.3:
            fizz = level(high_pass(impulses(rng, 1.0, 260, 0.7), 1500)) * bump(1.0, 0.3)
            add(ground, 0.06 * near * fizz, at + 0.4)
    return outdoors(rng, room(rng, ground, 2.0, 0.35)[: 32_000 * 6], 0.003)


def _crackers(rng: np.random.Generator) -> Signal:
    """A string of firecrackers in the street."""
    ground, at = silence(3.6), 0.3
    fuse = 0.02 * high_pass(noise(rng, 0.3), 3000)
    add(ground, fuse, 0)
    while at < 3.1:
        add(ground, click(rng, 350, 13_000, rng.uniform(0.02, 0.06)), at, rng.uniform(0.3, 1))
        at += rng.exponential(0.055) + 0.01
    return outdoors(rng, room(rng, ground, 0.9, 0.3), 0.003)


def _balloon(rng: np.random.Generator, squeaks: int) -> Signal:
    """Fingers squeak on the rubber, then it bursts."""
    ground, at = silence(0.9 * squeaks + 1.2), 0.15
    for _ in range(squeaks):
        held = rng.uniform(0.2, 0.6)
        pitch = vary(rng, 700, 0.4) * wander(rng, held, 8, 0.8, 1.4)
        squeak = tone(pitch, (1, 0.8, 0.7, 0.5, 0.5, 0.3, 0.3, 0.2)) * wander(rng, held, 30, 0, 1)
        add(ground, 0.06 * squeak * bump(held), at)
        at += held + rng.uniform(0.05, 0.25)
    add(ground, click(rng, 250, 14_000, 0.05), at + 0.2, 1.6)
    add(ground, modes(0.1, (vary(rng, 300), 640), 0.05, 0.5), at + 0.2)
    return outdoors(rng, room(rng, ground, 0.6, 0.25), 0.001)


RECIPES = (
    Recipe(
        "fireworks",
        "firework-rocket",
        ("A rocket whistles up and bursts with a crackle.", "firework, whistle, bang, crackling"),
        partial(_rocket, high=2600, crackles=1),
    ),
    Recipe(
        "fireworks",
        "firework-rocket-single-boom",
        ("A single firework goes up and booms.", "rocket, hiss, one deep bang", "New Year's Eve"),
        partial(_rocket, high=1500, crackles=0),
    ),
    Recipe(
        "fireworks",
        "fireworks-finale",
        ("The finale of a fireworks display.", "fireworks, many bangs, crackle", "Fourth of July"),
        partial(_display, rate=5.5),
    ),
    Recipe(
        "fireworks",
        "firecrackers-string",
        ("A string of firecrackers goes off in the street.", "firecrackers, rapid pops, banging"),
        _crackers,
    ),
    Recipe(
        "balloon_pop",
        "balloon-pops",
        (
            "A balloon squeaks and pops.",
            "balloon, rubber squeak, burst",
            "children's party accident",
        ),
        partial(_balloon, squeaks=3),
    ),
    Recipe(
        "balloon_pop",
        "balloon-sudden-pop",
        ("A balloon bursts without warning.", "pop, sudden, short bang"),
        partial(_balloon, squeaks=0),
    ),
)
