"""Birds with harsh voices, of the field and the shore; and wings."""

import numpy as np

from synthetic.sounds.kit import (
    Recipe,
    Signal,
    add,
    band,
    bump,
    impulses,
    in_step,
    level,
    noise,
    outdoors,
    room,
    silence,
    wander,
)
from synthetic.sounds.voice import call


def _caw(rng: np.random.Generator, hz: float) -> Signal:
    long = rng.uniform(0.26, 0.42)
    points = [(0, 0.85 * hz), (0.25 * long, hz), (long, 0.82 * hz)]
    return call(rng, points, "ae a a", 1.5, 0.95, 0.7, 0.55, 0.3)


def _cawing(rng: np.random.Generator, hz: float, birds: int) -> Signal:
    seconds = rng.uniform(4, 5)
    ground = silence(seconds)
    for bird in range(birds):
        own, near = hz * rng.uniform(0.85, 1.15), 1 if bird == 0 else rng.uniform(0.2, 0.8)
        for at in in_step(rng, seconds - 0.5, rng.uniform(0.6, 0.8), 0.08):
            if birds == 1 or rng.random() < 0.6:
                add(ground, _caw(rng, own), at, near * rng.uniform(0.7, 1))
    return outdoors(rng, room(rng, ground, 1.2, 0.2), 0.01)


def _screech(rng: np.random.Generator) -> Signal:
    seconds = rng.uniform(3, 4)
    ground = silence(seconds)
    for at in (0.2, rng.uniform(1.7, 2.1)):
        long, hz = rng.uniform(0.9, 1.2), rng.uniform(1500, 2000)
        cry = call(rng, [(0, 0.8 * hz), (0.5, hz), (long, 0.9 * hz)], "ae e", 2, 0.9, 1.5, 0.6)
        add(ground, cry, at)
    return outdoors(rng, room(rng, ground, 1.6, 0.25), 0.006)


def _gulls(rng: np.random.Generator, birds: int) -> Signal:
    """Long calls: cries that start high and fall, faster and faster."""
    seconds = rng.uniform(4.5, 5.5)
    ground = 0.03 * noise(rng, seconds, 1) * wander(rng, seconds, 0.7, 0.2, 1)
    for bird in range(birds):
        at, near, hz = 0.2 + rng.uniform(0, 1.5) * bird, rng.uniform(0.3, 1), rng.uniform(900, 1250)
        for index in range(rng.integers(4, 9)):
            long = rng.uniform(0.3, 0.5) * 0.92**index
            points = [(0, 0.75 * hz), (0.2 * long, 1.2 * hz), (long, 0.7 * hz)]
            cry = call(rng, points, "e ae a", 1.7, 0.95, 0.1, 0.08, 0.3)
            add(ground, cry, at, near)
            at += long + rng.uniform(0.05, 0.15)
    return outdoors(rng, room(rng, ground, 1, 0.15), 0.006)


def _wings(rng: np.random.Generator, beats: float, flock: int) -> Signal:
    seconds = rng.uniform(3, 4)
    ground = silence(seconds)
    for bird in range(flock):
        at, pace = 0.1 + rng.uniform(0, 0.5) * (bird > 0), beats * rng.uniform(0.85, 1.15)
        leaves = seconds * rng.uniform(0.6, 0.95)
        while at < leaves:
            long = 0.9 / pace
            flap = band(noise(rng, long, 0.8), 120, rng.uniform(2500, 6000), 1) * bump(
                long, 0.3, 1.5
            )
            rustle = level(band(impulses(rng, long, 900), 2000, 10_000, 1)) * bump(long, 0.4, 2)
            near = np.exp(-2.5 * at / seconds) * rng.uniform(0.6, 1)
            add(ground, level(flap) * bump(long, 0.3, 1) + 0.3 * rustle, at, near)
            at += 1 / pace * rng.uniform(0.95, 1.05)
    return outdoors(rng, ground, 0.006)


RECIPES = (
    Recipe(
        "crow",
        "crow-cawing",
        (
            "A crow caws.",
            "crow, caw, black bird",
            "a crow up in the bare tree",
        ),
        lambda rng: _cawing(rng, 480, 1),
    ),
    Recipe(
        "crow",
        "raven-croaking",
        (
            "A raven calls in a deep, hoarse voice.",
            "raven, croak, deep",
            "nevermore",
        ),
        lambda rng: _cawing(rng, 270, 1),
    ),
    Recipe(
        "crow",
        "flock-of-crows",
        (
            "A flock of crows caws over the field.",
            "crows, flock, murder, cawing",
            "crows gathering in the evening",
        ),
        lambda rng: _cawing(rng, 500, 6),
    ),
    Recipe(
        "owl",
        "barn-owl-screeching",
        (
            "A barn owl screeches.",
            "barn owl, screech, hoarse",
            "a ghostly shriek in the churchyard",
        ),
        _screech,
    ),
    Recipe(
        "seagull",
        "seagull-crying",
        (
            "A seagull cries above the harbour.",
            "seagull, gull, cry",
            "a gull is after my chips",
        ),
        lambda rng: _gulls(rng, 1),
    ),
    Recipe(
        "seagull",
        "gulls-behind-a-fishing-boat",
        (
            "Gulls scream around a fishing boat.",
            "seagulls, harbour, screaming",
            "the gulls follow the trawler",
        ),
        lambda rng: _gulls(rng, 6),
    ),
    Recipe(
        "flapping_wings",
        "pigeon-taking-off",
        (
            "A pigeon takes off with clapping wings.",
            "wings, flapping, taking off",
            "I scared a bird away",
        ),
        lambda rng: _wings(rng, 8, 1),
    ),
    Recipe(
        "flapping_wings",
        "flock-of-birds-taking-off",
        (
            "A whole flock of birds takes to the air.",
            "wings, flock, fluttering",
            "all the birds fly up at once",
        ),
        lambda rng: _wings(rng, 10, 14),
    ),
)
