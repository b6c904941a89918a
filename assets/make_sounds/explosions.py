"""Bangs: explosions, shots, fireworks, balloons."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from assets.make_sounds.kit import (
    Recipe,
    Signal,
    add,
    at_random,
    band,
    bump,
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
    tone,
    wander,
)
from assets.make_sounds.parts import click, vary


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
