"""Animals of the wild, from the pond to the savanna."""

import numpy as np

from synthetic.sounds.kit import (
    Recipe,
    Signal,
    add,
    bump,
    curve,
    fm,
    high_pass,
    impulses,
    in_step,
    level,
    noise,
    outdoors,
    resonate,
    room,
    samples,
    silence,
    wander,
)
from synthetic.sounds.voice import call, formants


def _croak(rng: np.random.Generator, hz: float, beat: float, long: float) -> Signal:
    """A train of pulses, each ringing in the vocal sac."""
    pulses = silence(long + 0.05)
    for at in in_step(rng, long, 1 / beat, 0.03):
        pulses[samples(at)] = 1
    sac = resonate(pulses, (hz, 1.9 * hz, 2.9 * hz), (0.022, 0.016, 0.01), (1, 0.7, 0.25))
    return level(sac) * np.append(bump(long, 0.6, 0.5), np.zeros(len(sac) - samples(long)))


def _croaking(rng: np.random.Generator, hz: float, beat: float, long: float, frogs: int) -> Signal:
    seconds = rng.uniform(4.5, 5.5)
    ground = silence(seconds)
    for _ in range(frogs):
        own, near = hz * rng.uniform(0.8, 1.25), rng.uniform(0.25, 1)
        for at in in_step(rng, seconds - long, 2 * long * rng.uniform(0.9, 1.6), 0.12):
            add(ground, _croak(rng, own, beat * rng.uniform(0.95, 1.05), long), at, near)
    return outdoors(rng, room(rng, ground, 0.8, 0.12), 0.012)


def _ribbit(rng: np.random.Generator) -> Signal:
    """Two trains of pulses, the second higher."""
    seconds = rng.uniform(4, 5)
    hz = rng.uniform(1100, 1600)
    ground = silence(seconds)
    for at in in_step(rng, seconds - 0.5, rng.uniform(0.75, 1), 0.08):
        add(ground, _croak(rng, 0.75 * hz, 75, 0.11), at, 0.7)
        add(ground, _croak(rng, 1.25 * hz, 95, 0.14), at + 0.16)
    return outdoors(rng, room(rng, ground, 0.5, 0.1), 0.01)


def _howl(rng: np.random.Generator, long: float) -> Signal:
    top = rng.uniform(420, 620)
    break_at = rng.uniform(0.12, 0.2) * long
    points = [(0, 0.5 * top), (break_at, 0.95 * top), (0.4 * long, top), (0.75 * long, 0.9 * top)]
    pitch = [*points, (long, 0.55 * top)]
    return call(rng, pitch, "u o a o u", 1.0, 0.25, 0.06, 0.02, 0.5)


def _howling(rng: np.random.Generator, wolves: int) -> Signal:
    seconds = rng.uniform(4.6, 5.4)
    pack = silence(seconds)
    for index in range(wolves):
        long = rng.uniform(2.6, 3.6)
        add(pack, _howl(rng, long), 0.2 + index * rng.uniform(0.4, 0.9), rng.uniform(0.5, 1))
    return outdoors(rng, room(rng, pack, 2.5, 0.35), 0.006)


def _roar(rng: np.random.Generator) -> Signal:
    seconds, long = rng.uniform(4, 5), rng.uniform(1.6, 2.2)
    pitch = rng.uniform(85, 130)
    points = [(0, 0.6 * pitch), (0.3 * long, pitch), (long, 0.45 * pitch)]
    ground = silence(seconds)
    add(ground, call(rng, points, "er a o u", 0.65, 0.9, 0.7, 0.8), 0.1)
    for index, at in enumerate(np.arange(long + 0.4, seconds - 0.4, 0.55)):
        grunt = call(rng, [(0, 75), (0.4, 60)], "o u", 0.65, 0.8, 0.8, 0.8)
        add(ground, grunt, at, 0.6 * 0.8**index)
    return outdoors(rng, room(rng, ground, 1.2, 0.2), 0.006)


def _trumpet(rng: np.random.Generator) -> Signal:
    seconds, long = rng.uniform(2.6, 3.4), rng.uniform(1.1, 1.6)
    top = rng.uniform(420, 620)
    pitch = curve(long, (0, 0.6 * top), (0.15, top), (0.7 * long, 1.15 * top), (long, 0.7 * top))
    blare = fm(pitch * (1 + 0.06 * wander(rng, long, 70, -1, 1)), 1, 3.5 * bump(long, 0.4, 0.4))
    blare = formants(blare + 0.25 * noise(rng, long, 0.3), (900, 1900, 3400, 5200))
    ground = silence(seconds)
    add(ground, blare * bump(long, 0.3, 0.5), 0.2)
    add(ground, call(rng, [(0, 45), (0.9, 35)], "u o", 0.5, 0.8, 0.5, 0.7), long + 0.4, 0.4)
    return outdoors(rng, room(rng, ground, 1, 0.2), 0.006)


def _monkeys(rng: np.random.Generator) -> Signal:
    seconds = rng.uniform(3.5, 4.5)
    ground, at = silence(seconds), 0.15
    while at < seconds - 0.5:
        excited = at / seconds
        top = 330 + 600 * excited * rng.uniform(0.8, 1.2)
        hoot = [(0, 0.8 * top), (0.12, 1.1 * top), (0.22, 0.75 * top)]
        vowel = "u u o" if excited < 0.55 else "ae a"
        cry = call(rng, hoot, vowel, 1.3, 0.3 + 0.6 * excited, 0.1, 0.4 * excited)
        add(ground, cry, at, 0.5 + excited)
        at += rng.uniform(0.26, 0.36) - 0.1 * excited
    return outdoors(rng, room(rng, ground, 1.4, 0.25), 0.01)


def _rattlesnake(rng: np.random.Generator) -> Signal:
    seconds = rng.uniform(3.5, 4.5)
    beat = 2 * np.pi * np.cumsum(wander(rng, seconds, 3, 45, 62)) / 32_000
    rattle = high_pass(impulses(rng, seconds, 9000), 3500) * np.maximum(np.sin(beat), 0) ** 2
    rattle = level(rattle) * curve(seconds, (0, 0), (0.4, 0.7), (seconds - 0.5, 1), (seconds, 0.2))
    hiss = high_pass(noise(rng, 1.1), 2500) * bump(1.1, 0.3)
    add(rattle, level(hiss), rng.uniform(0.5, 2))
    return outdoors(rng, rattle, 0.004)


RECIPES = (
    Recipe(
        "frog",
        "frog-croaking",
        (
            "A frog croaks in a pond.",
            "frog, croak, pond",
            "the bullfrog by the water",
        ),
        lambda rng: _croaking(rng, 950, 28, 0.7, 1),
    ),
    Recipe(
        "frog",
        "tree-frog-ribbit",
        (
            "A tree frog calls: ribbit, ribbit.",
            "frog, ribbit, night",
            "kissing a frog to get a prince",
        ),
        _ribbit,
    ),
    Recipe(
        "frog",
        "chorus-of-frogs",
        (
            "Dozens of frogs croak together at night.",
            "frogs, chorus, swamp, night",
            "summer night at the marsh",
        ),
        lambda rng: _croaking(rng, 1500, 42, 0.4, 12),
    ),
    Recipe(
        "wolf_howl",
        "wolf-howling",
        (
            "A lone wolf howls.",
            "wolf, howl, night, wilderness",
            "full moon over the forest",
        ),
        lambda rng: _howling(rng, 1),
    ),
    Recipe(
        "wolf_howl",
        "pack-of-wolves-howling",
        (
            "A pack of wolves howls together.",
            "wolves, howling, pack",
            "the wolves are calling each other",
        ),
        lambda rng: _howling(rng, 5),
    ),
    Recipe(
        "lion",
        "lion-roaring",
        (
            "A lion roars, then grunts.",
            "lion, roar, big cat",
            "the king of the beasts",
        ),
        _roar,
    ),
    Recipe(
        "elephant",
        "elephant-trumpeting",
        (
            "An elephant trumpets.",
            "elephant, trumpet call, zoo",
            "the biggest animal on land is upset",
        ),
        _trumpet,
    ),
    Recipe(
        "monkey",
        "chimpanzee-hooting",
        (
            "A chimpanzee hoots, more and more excited.",
            "chimpanzee, monkey, hooting, jungle",
            "ooh ooh aah aah",
        ),
        _monkeys,
    ),
    Recipe(
        "snake",
        "rattlesnake",
        (
            "A rattlesnake rattles and hisses.",
            "rattlesnake, rattle, warning",
            "don't step any further, there is a snake",
        ),
        _rattlesnake,
    ),
)
