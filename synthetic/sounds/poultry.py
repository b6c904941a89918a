"""Birds of the yard and the pond."""

import numpy as np

from synthetic.sounds.kit import (
    Recipe,
    Signal,
    add,
    at_random,
    high_pass,
    outdoors,
    room,
    scatter,
    silence,
)
from synthetic.sounds.songbirds import flute
from synthetic.sounds.voice import call


def _crowing(rng: np.random.Generator, size: float) -> Signal:
    """A cock that crows: two short notes, a rise, a long fall."""
    seconds, top = rng.uniform(3, 3.8), rng.uniform(700, 850) * size
    ground = silence(seconds)
    at = rng.uniform(0.1, 0.3)
    notes = ((0.16, 0.6, 0.75), (0.14, 0.75, 0.85), (0.32, 0.8, 1.05), (0.95, 1.0, 0.72))
    for long, first, last in notes:
        long *= rng.uniform(0.9, 1.15)
        points = [(0, 0.9 * first * top), (0.2 * long, first * top), (long, last * top)]
        add(ground, call(rng, points, "o a o", 1.45, 0.95, 0.15, 0.15, 0.3), at)
        at += long + rng.uniform(0.02, 0.06)
    return outdoors(rng, room(rng, ground, 0.9, 0.15), 0.006)


def _cluck(rng: np.random.Generator, hz: float) -> Signal:
    long = rng.uniform(0.06, 0.11)
    points = [(0, 1.15 * hz), (long, 0.75 * hz)]
    return call(rng, points, "o er", 1.75, 0.9, 0.35, 0.35, 0.2)


def _clucking(rng: np.random.Generator, hens: int, excited: float) -> Signal:
    """Hens that cluck. excited: how often a row of clucks ends in a cackle."""
    seconds = rng.uniform(4, 5)
    ground = silence(seconds)
    for hen in range(hens):
        hz, near, at = rng.uniform(380, 560), 1 if hen == 0 else rng.uniform(0.3, 0.8), 0.1
        while at < seconds - 0.7:
            for _ in range(rng.integers(2, 6)):
                add(ground, _cluck(rng, hz * rng.uniform(0.9, 1.1)), at, near * rng.uniform(0.4, 1))
                at += rng.uniform(0.16, 0.3)
            if rng.random() < excited:
                points = [(0, hz), (0.12, 1.9 * hz), (0.45, 1.5 * hz)]
                add(ground, call(rng, points, "er a ae er", 1.7, 0.95, 0.25, 0.3), at, near)
                at += 0.5
            at += rng.uniform(0.1, 0.7)
    return outdoors(rng, room(rng, ground, 0.4, 0.1), 0.012)


def _chicks(rng: np.random.Generator) -> Signal:
    seconds = rng.uniform(4, 5)

    def peep() -> Signal:
        hz, long = rng.uniform(3000, 4300), rng.uniform(0.07, 0.14)
        return rng.uniform(0.2, 1) * flute(rng, [(0, 1.25 * hz), (long, 0.8 * hz)], (1, 0.25, 0.1))

    return outdoors(rng, scatter(seconds, at_random(rng, seconds - 0.2, 13), peep), 0.008)


def _quacking(rng: np.random.Generator, ducks: int) -> Signal:
    seconds = rng.uniform(3.8, 5)
    ground = silence(seconds)
    for duck in range(ducks):
        hz, at, near = rng.uniform(230, 300), 0.15 + rng.uniform(0, 1) * duck, 0.7**duck
        while at < seconds - 0.5:
            for index in range(rng.integers(2, 7)):
                long = rng.uniform(0.13, 0.2)
                points = [(0, hz), (0.3 * long, 1.12 * hz), (long, 0.85 * hz)]
                quack = call(rng, points, "ae a ae", 1.25, 1.0, 0.35, 0.35, 0.25)
                add(ground, high_pass(quack, 500, 1), at, near * 0.88**index)
                at += long + rng.uniform(0.06, 0.12)
            at += rng.uniform(0.3, 1)
    return outdoors(rng, room(rng, ground, 0.6, 0.12), 0.01)


def _honking(rng: np.random.Generator) -> Signal:
    seconds = rng.uniform(4.5, 5.5)

    def honk() -> Signal:
        hz, break_at = rng.uniform(380, 480), rng.uniform(0.1, 0.15)
        points = [
            (0, 0.75 * hz),
            (break_at, 0.8 * hz),
            (break_at + 0.02, 1.35 * hz),
            (0.35, 1.2 * hz),
        ]
        return rng.uniform(0.2, 1) * call(rng, points, "o a ae", 1.2, 0.95, 0.25, 0.25, 0.4)

    flock = scatter(seconds, at_random(rng, seconds - 0.5, rng.uniform(3, 5)), honk)
    return outdoors(rng, room(rng, flock, 1.2, 0.15), 0.01)


RECIPES = (
    Recipe(
        "rooster",
        "rooster-crowing",
        (
            "A rooster crows: cock-a-doodle-doo.",
            "rooster, cock, crowing, morning",
            "the cock crows at sunrise",
        ),
        lambda rng: _crowing(rng, 1),
    ),
    Recipe(
        "rooster",
        "bantam-cock-crowing",
        (
            "A small bantam cock crows in a thin, high voice.",
            "cockerel, crow, farmyard",
            "a young cockerel practising",
        ),
        lambda rng: _crowing(rng, 1.35),
    ),
    Recipe(
        "hen",
        "hen-clucking",
        (
            "A hen clucks calmly.",
            "hen, chicken, cluck",
            "a chicken walking about the yard",
        ),
        lambda rng: _clucking(rng, 1, 0.05),
    ),
    Recipe(
        "hen",
        "hen-cackling-after-laying",
        (
            "A hen cackles loudly because it has laid an egg.",
            "hen, cackle, egg, bok bok bagawk",
            "fresh eggs today",
        ),
        lambda rng: _clucking(rng, 1, 0.9),
    ),
    Recipe(
        "hen",
        "henhouse",
        (
            "Several hens cluck in the henhouse.",
            "chickens, coop, clucking",
            "collecting eggs from the chickens",
        ),
        lambda rng: _clucking(rng, 5, 0.15),
    ),
    Recipe(
        "chicks",
        "chicks-peeping",
        (
            "Newly hatched chicks peep under a lamp.",
            "chicks, cheeping, baby birds",
            "fluffy yellow chicks",
        ),
        _chicks,
    ),
    Recipe(
        "duck",
        "duck-quacking",
        (
            "A duck quacks.",
            "duck, quack, pond",
            "feeding the ducks in the park",
        ),
        lambda rng: _quacking(rng, 1),
    ),
    Recipe(
        "duck",
        "ducks-on-a-pond",
        (
            "Several ducks quack on a pond.",
            "ducks, quacking, lake",
            "the ducks are fighting over bread",
        ),
        lambda rng: _quacking(rng, 4),
    ),
    Recipe(
        "goose",
        "geese-honking",
        (
            "A flock of geese honks overhead.",
            "geese, honking, migration",
            "wild geese flying south",
        ),
        _honking,
    ),
)
