"""Animals of a farm."""

import numpy as np

from synthetic.sounds.kit import (
    SAMPLE_RATE,
    Recipe,
    Signal,
    add,
    at_random,
    band,
    bump,
    clock,
    curve,
    decay,
    in_step,
    level,
    low_pass,
    modes,
    noise,
    outdoors,
    room,
    scatter,
    silence,
)
from synthetic.sounds.voice import call


def _moo(rng: np.random.Generator, pitch: float, size: float) -> Signal:
    long, top = rng.uniform(1.4, 2.1), pitch * rng.uniform(0.9, 1.1)
    points = [(0, 0.75 * top), (0.3 * long, top), (0.8 * long, 1.05 * top), (long, 0.7 * top)]
    return call(rng, points, "m u o a o", size, 0.8, 0.15, 0.12, 0.6)


def _mooing(rng: np.random.Generator, pitch: float, size: float, animals: int) -> Signal:
    seconds = rng.uniform(3.2, 4) + 0.6 * animals
    herd = silence(seconds)
    for index in range(animals):
        own = pitch * rng.uniform(0.8, 1.25) if animals > 1 else pitch
        add(herd, _moo(rng, own, size), rng.uniform(0.1, 0.5) + 1.2 * index, rng.uniform(0.4, 1))
    return outdoors(rng, room(rng, herd, 0.9, 0.15), 0.01)


def _grunt(rng: np.random.Generator) -> Signal:
    long = rng.uniform(0.12, 0.32)
    pitch = rng.uniform(60, 110)
    points = [(0, pitch), (long, 0.8 * pitch)]
    return call(rng, points, str(rng.choice(["m er", "u o", "er m"])), 0.85, 0.6, 0.9, 0.8, 0.3)


def _pig_grunting(rng: np.random.Generator) -> Signal:
    seconds = rng.uniform(4, 5)
    times = in_step(rng, seconds - 0.4, rng.uniform(0.35, 0.55), 0.22)
    return outdoors(rng, scatter(seconds, times, lambda: rng.uniform(0.4, 1) * _grunt(rng)), 0.015)


def _squeal(rng: np.random.Generator, long: float) -> Signal:
    top = rng.uniform(850, 1400)
    knots = [(t, top * rng.uniform(0.75, 1.1)) for t in np.linspace(0, long, 6)]
    return call(rng, knots, "e ae e i ae", 1.5, 0.95, 0.35, 0.35, 0.4)


def _pig_squealing(rng: np.random.Generator, animals: int) -> Signal:
    seconds = rng.uniform(4, 5)
    ground = scatter(seconds, at_random(rng, seconds - 0.3, 1.2 * animals), lambda: _grunt(rng))
    for at in at_random(rng, seconds - 1, 0.5 * animals).tolist() + [rng.uniform(0.2, 1)]:
        add(ground, _squeal(rng, rng.uniform(0.5, 1.2)), at, rng.uniform(0.6, 1.1))
    return outdoors(rng, room(rng, ground, 0.6, 0.15), 0.015)


def _bleat(rng: np.random.Generator, pitch: float, size: float) -> Signal:
    long = rng.uniform(0.7, 1.2)
    own = pitch * rng.uniform(0.9, 1.12)
    points = [(0, 0.9 * own), (0.2 * long, own), (0.75 * long, 0.97 * own), (long, 0.8 * own)]
    voice = call(rng, points, "er ae e ae er", size, 0.95, 0.5, 0.3)
    shake = 2 * np.pi * rng.uniform(7, 10) * clock(long)[: len(voice)]
    return voice * (1 + 0.35 * np.sin(shake))


def _bleating(rng: np.random.Generator, pitch: float, size: float, rate: float) -> Signal:
    seconds = rng.uniform(4, 5)
    times = np.append(rng.uniform(0.1, 0.4), 1.2 + at_random(rng, seconds - 2.2, rate))
    pitch *= rng.uniform(0.9, 1.1)

    def one() -> Signal:
        return rng.uniform(0.4, 1) * _bleat(rng, pitch * rng.uniform(0.85, 1.15), size)

    flock = scatter(seconds, times, one)
    return outdoors(rng, room(rng, flock, 0.7, 0.12), 0.01)


def _hoof(rng: np.random.Generator, hard: float) -> Signal:
    """The step of a hoof. hard: 0 turf, 1 cobblestones."""
    thud = low_pass(rng.standard_normal(4800) * decay(0.15, 0.09), 160) * (1.4 - hard)
    clop = modes(0.15, rng.uniform(0.9, 1.1, 4) * (620, 1150, 1900, 3100), 0.05, (1, 0.8, 0.5, 0.3))
    grit = band(rng.standard_normal(4800) * decay(0.15, 0.05), 700, 7000, 1)
    return rng.uniform(0.7, 1) * (6 * thud + hard * clop + (0.5 - 0.25 * hard) * grit)


def _hooves(
    rng: np.random.Generator, period: float, beats: tuple[float, ...], hard: float
) -> Signal:
    """The hooves of a horse. beats: where in one stride the hooves fall."""
    seconds = rng.uniform(4, 5.5)
    ground = silence(seconds)
    stride = period * rng.uniform(0.9, 1.1)
    for at in in_step(rng, seconds - 0.3, stride, 0.02):
        for beat in beats:
            add(ground, _hoof(rng, hard), at + stride * beat + rng.normal(0, 0.006))
    return outdoors(rng, room(rng, ground, 0.5, 0.1 + 0.15 * hard), 0.006)


def _neigh(rng: np.random.Generator) -> Signal:
    long, top = rng.uniform(1.6, 2.2), rng.uniform(900, 1250)
    points = [(0, 0.6 * top), (0.15, top), (0.5 * long, 0.75 * top), (long, 0.35 * top)]
    voice = call(rng, points, "i e ae a", 0.95, 0.9, 0.3, 0.15, 0.25)
    shake = np.sin(2 * np.pi * np.cumsum(curve(long, (0, 8), (long, 13))) / SAMPLE_RATE)
    ground = silence(long + 1.2)
    add(ground, voice * (1 + 0.55 * shake[: len(voice)]), 0.1)
    flutter = np.abs(np.sin(2 * np.pi * 13 * clock(0.7))) * bump(0.7, 0.3)
    add(ground, level(low_pass(noise(rng, 0.7, 0.6), 3000)) * flutter, long + 0.3, 0.5)
    return outdoors(rng, room(rng, ground, 0.6, 0.15), 0.006)


def _bray(rng: np.random.Generator) -> Signal:
    seconds = rng.uniform(4.5, 5.5)
    ground, period = silence(seconds), rng.uniform(0.95, 1.15)
    for at in np.arange(0.1, seconds - 1, period):
        high, low = rng.uniform(600, 800), rng.uniform(190, 250)
        hee = call(rng, [(0, high), (0.4, 1.1 * high)], "i e", 0.9, 0.8, 1.2, 0.3, 0.6)
        haw = call(rng, [(0, low), (0.5, 0.9 * low)], "ae a o", 0.75, 0.95, 0.3, 0.4)
        add(ground, hee, at, 0.5)
        add(ground, haw, at + 0.45)
    return outdoors(rng, room(rng, ground, 0.8, 0.15), 0.008)


RECIPES = (
    Recipe(
        "cow",
        "cow-mooing",
        (
            "A cow moos.",
            "cow, moo, cattle",
            "a cow calling on the pasture",
        ),
        lambda rng: _mooing(rng, 150, 0.72, 1),
    ),
    Recipe(
        "cow",
        "calf-calling",
        (
            "A calf calls for its mother.",
            "calf, mooing, young cow",
            "the little calf is hungry",
        ),
        lambda rng: _mooing(rng, 290, 0.95, 1),
    ),
    Recipe(
        "cow",
        "herd-of-cattle",
        (
            "Several cows moo in the barn.",
            "cattle, herd, mooing, farm",
            "milking time",
        ),
        lambda rng: _mooing(rng, 170, 0.75, 4),
    ),
    Recipe(
        "pig",
        "pig-grunting",
        (
            "A pig grunts while it roots in the mud.",
            "pig, grunt, oink, snuffling",
            "oink oink",
        ),
        _pig_grunting,
    ),
    Recipe(
        "pig",
        "pig-squealing",
        (
            "A pig squeals.",
            "pig, squeal, shrill",
            "somebody is holding a piglet that does not like it",
        ),
        lambda rng: _pig_squealing(rng, 1),
    ),
    Recipe(
        "pig",
        "pigs-at-feeding-time",
        (
            "Pigs grunt and squeal at feeding time.",
            "pigs, sty, squealing, grunting",
            "feeding the pigs",
        ),
        lambda rng: _pig_squealing(rng, 3),
    ),
    Recipe(
        "sheep",
        "sheep-bleating",
        (
            "A sheep bleats.",
            "sheep, baa, bleating",
            "a sheep behind the fence",
        ),
        lambda rng: _bleating(rng, 230, 0.95, 0.3),
    ),
    Recipe(
        "sheep",
        "lamb-calling",
        (
            "A lamb bleats in a high voice.",
            "lamb, bleat, spring",
            "baa baa, says the little lamb",
        ),
        lambda rng: _bleating(rng, 420, 1.3, 0.4),
    ),
    Recipe(
        "sheep",
        "flock-of-sheep",
        (
            "A whole flock of sheep bleats all at once.",
            "flock, sheep, lambs, bleating",
            "the shepherd is coming with his flock",
        ),
        lambda rng: _bleating(rng, 300, 1.1, 3.5),
    ),
    Recipe(
        "horse_gallop",
        "horse-galloping-on-turf",
        (
            "A horse gallops past on grass.",
            "horse, gallop, hooves, turf",
            "at the races",
        ),
        lambda rng: _hooves(rng, 0.48, (0, 0.2, 0.4), 0.1),
    ),
    Recipe(
        "horse_gallop",
        "horse-trotting-on-cobblestones",
        (
            "A horse trots over cobblestones.",
            "horse, clip-clop, hooves, carriage",
            "a horse-drawn carriage in the old town",
        ),
        lambda rng: _hooves(rng, 0.7, (0, 0.5), 1),
    ),
    Recipe(
        "horse_gallop",
        "horse-walking-on-a-road",
        (
            "A horse walks slowly along a paved road.",
            "horse, walking, hooves, slow",
            "leading the pony home",
        ),
        lambda rng: _hooves(rng, 1.25, (0, 0.24, 0.5, 0.74), 0.8),
    ),
    Recipe(
        "horse_neigh",
        "horse-neighing",
        (
            "A horse neighs and snorts.",
            "horse, whinny, neigh",
            "the stallion greets the mares",
        ),
        _neigh,
    ),
    Recipe(
        "donkey",
        "donkey-braying",
        (
            "A donkey brays: hee-haw.",
            "donkey, bray, ass",
            "that stubborn donkey again",
        ),
        _bray,
    ),
)
