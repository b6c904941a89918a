"""Voices without words: crying, laughing, screaming, cheering."""

import numpy as np

from synthetic.sounds.kit import (
    SAMPLE_RATE,
    Recipe,
    Signal,
    add,
    at_random,
    band,
    bump,
    coloured,
    curve,
    level,
    noise,
    outdoors,
    room,
    samples,
    silence,
)
from synthetic.sounds.singing import whistled
from synthetic.sounds.voice import call, formants, vowels


def _cry(rng: np.random.Generator, pitch: float, long: float, anger: float) -> Signal:
    top = pitch * rng.uniform(0.92, 1.1)
    points = [(0, 0.85 * top), (0.25 * long, top), (0.7 * long, 0.95 * top), (long, 0.7 * top)]
    wail = call(rng, points, "er ae a ae er", 1.45, 0.9, 0.15, 0.08 + 0.5 * anger, 0.4)
    tremor = np.sin(2 * np.pi * rng.uniform(9, 13) * np.arange(len(wail)) / SAMPLE_RATE)
    return wail * (1 + 0.2 * tremor)


def _crying(rng: np.random.Generator, pitch: float, long: float, anger: float) -> Signal:
    seconds = rng.uniform(4.5, 5.5)
    ground, at, pitch = silence(seconds), 0.1, pitch * rng.uniform(0.9, 1.1)
    while at < seconds - 0.4:
        this = long * rng.uniform(0.7, 1.35)
        add(ground, _cry(rng, pitch, this, anger * rng.uniform(0.3, 1)), at, rng.uniform(0.7, 1))
        at += this + 0.05
        gasp = band(noise(rng, 0.22, 0.3), 1200, 7000, 1) * bump(0.22, 0.7)
        add(ground, gasp, at, 0.35)
        at += rng.uniform(0.22, 0.4)
    return outdoors(rng, room(rng, ground, 0.4, 0.12), 0.004)


def _laugh(rng: np.random.Generator, pitch: float, size: float, pace: float, vowel: str) -> Signal:
    """Ha ha ha: breath and voice in turn, falling."""
    bursts = rng.integers(5, 10)
    ground, at = silence(bursts / pace + 0.6), 0.02
    for index in range(bursts):
        top = pitch * (1.15 - 0.5 * index / bursts) * rng.uniform(0.93, 1.1)
        long = 0.78 / pace * rng.uniform(0.85, 1.1)
        points = [(0, 0.9 * top), (0.3 * long, 1.1 * top), (long, 0.8 * top)]
        huff = formants(noise(rng, 0.4 / pace, 0.4), vowels(samples(0.4 / pace), vowel, size))
        loud = (0.6 + 0.4 * np.sin(np.pi * (index + 1) / (bursts + 1))) * rng.uniform(0.8, 1)
        add(ground, huff * bump(0.4 / pace, 0.6), at, 0.12 * loud)
        ha = call(rng, points, f"{vowel} {vowel} er", size, 0.65, 0.25, 0.12, 0.3)
        add(ground, ha, at + 0.25 / pace, loud)
        at += 1 / pace * rng.uniform(0.93, 1.07)
    return ground


def _laughing(
    rng: np.random.Generator, voices: tuple[tuple[float, float], ...], pace: float, vowels: str
) -> Signal:
    """Laughter of several people. voices: (pitch, size) of everybody who laughs."""
    seconds = rng.uniform(3.8, 5)
    ground = silence(seconds)
    for index, (pitch, size) in enumerate(voices):
        at, pitch = rng.uniform(0, 0.3) + 0.25 * index, pitch * rng.uniform(0.9, 1.12)
        while at < seconds - 1:
            vowel = str(rng.choice(vowels.split()))
            laugh = _laugh(rng, pitch, size, pace * rng.uniform(0.92, 1.1), vowel)
            add(ground, laugh, at, rng.uniform(0.6, 1))
            at += len(laugh) / SAMPLE_RATE + rng.uniform(0, 0.5)
    return outdoors(rng, room(rng, ground, 0.5, 0.12), 0.004)


def _scream(rng: np.random.Generator, pitch: float, size: float) -> Signal:
    long = rng.uniform(1.3, 1.9)
    points = [(0, 0.6 * pitch), (0.15, pitch), (0.7 * long, 1.08 * pitch), (long, 0.75 * pitch)]
    cry = call(rng, points, "ae a a ae", size, 1.0, 0.3, 0.35, 0.3)
    ground = silence(long + 0.3)
    add(ground, cry, 0.1)
    return outdoors(rng, room(rng, ground, 1.6, 0.25), 0.003)


def _cheering(rng: np.random.Generator, people: int, hall: float) -> Signal:
    """Shouts, whoops and whistles of a crowd."""
    seconds = rng.uniform(4.5, 5.5)
    ground = silence(seconds)
    for _ in range(people):
        size = rng.choice([1.0, 1.0, 1.17, 1.17, 1.35])
        top, long = rng.uniform(190, 330) * size**2, rng.uniform(0.5, 1.8)
        points = [(0, 0.75 * top), (0.3 * long, top), (long, rng.uniform(0.6, 1.3) * top)]
        vowel = str(rng.choice(["e a", "u", "a", "i ae", "o"]))
        shout = call(rng, points, vowel, size, 0.95, 0.3, 0.25, 0.3)
        add(ground, shout, rng.uniform(-0.3, seconds - 0.8), rng.uniform(0.2, 1))
    for at in at_random(rng, seconds - 0.8, 0.8):
        shrill = curve(0.6, (0, 1800), (0.2, 2900), (0.6, 2300)) * rng.uniform(0.9, 1.2)
        add(ground, whistled(rng, shrill) * bump(0.6), at, 0.7)
    roar = coloured(rng, seconds, (120, -10), (500, 0), (1200, 0), (3500, -10), (12_000, -28))
    swell = bump(seconds + 1, 0.35, 0.4)[: len(ground)]
    return outdoors(rng, room(rng, (level(ground) + 0.5 * roar) * swell, hall, 0.3), 0.005)


RECIPES = (
    Recipe(
        "crying_baby",
        "baby-crying",
        (
            "A baby cries.",
            "baby, crying, infant",
            "somebody needs a clean nappy",
        ),
        lambda rng: _crying(rng, 430, 0.9, 0.3),
    ),
    Recipe(
        "crying_baby",
        "newborn-wailing",
        (
            "A newborn wails in short, thin cries.",
            "newborn, wail, hospital",
            "fresh from the delivery room",
        ),
        lambda rng: _crying(rng, 540, 0.55, 0.15),
    ),
    Recipe(
        "crying_baby",
        "toddler-screaming-with-rage",
        (
            "A toddler screams with rage.",
            "toddler, tantrum, screaming, crying",
            "not getting any sweets at the checkout",
        ),
        lambda rng: _crying(rng, 480, 1.3, 1),
    ),
    Recipe(
        "laughing",
        "man-laughing",
        (
            "A man laughs heartily.",
            "laughter, man, ha ha",
            "grandpa tells his own jokes",
        ),
        lambda rng: _laughing(rng, ((190, 1.0),), 4.8, "a"),
    ),
    Recipe(
        "laughing",
        "woman-laughing",
        (
            "A woman laughs.",
            "laughter, woman, amused",
            "she found that really funny",
        ),
        lambda rng: _laughing(rng, ((330, 1.17),), 5.2, "a ae"),
    ),
    Recipe(
        "laughing",
        "child-giggling",
        (
            "A child giggles.",
            "giggle, child, hee hee",
            "tickling a little kid",
        ),
        lambda rng: _laughing(rng, ((470, 1.38),), 6, "i e"),
    ),
    Recipe(
        "laughing",
        "evil-laughter",
        (
            "A villain laughs slowly and menacingly.",
            "evil laugh, deep, mwahaha",
            "the mad scientist's plan is working",
        ),
        lambda rng: _laughing(rng, ((125, 0.88),), 3.2, "a o"),
    ),
    Recipe(
        "laughing",
        "friends-laughing-together",
        (
            "A group of friends laughs together.",
            "group laughter, people, party",
            "everybody got the joke",
        ),
        lambda rng: _laughing(
            rng, ((180, 1.0), (310, 1.17), (230, 1.02), (360, 1.2), (150, 0.95)), 4.9, "a ae e"
        ),
    ),
    Recipe(
        "screaming",
        "woman-screaming",
        (
            "A woman screams in terror.",
            "scream, woman, horror",
            "aaaah, a spider!",
        ),
        lambda rng: _scream(rng, rng.uniform(850, 1150), 1.2),
    ),
    Recipe(
        "screaming",
        "man-screaming",
        (
            "A man screams.",
            "scream, yell, man",
            "somebody fell off a roof in a film",
        ),
        lambda rng: _scream(rng, rng.uniform(380, 500), 1.0),
    ),
    Recipe(
        "cheering",
        "stadium-crowd-cheering",
        (
            "A crowd cheers in a stadium.",
            "cheering, stadium, goal, fans",
            "they scored!",
        ),
        lambda rng: _cheering(rng, 70, 2.0),
    ),
    Recipe(
        "cheering",
        "friends-cheering",
        (
            "A few people cheer and whistle at a party.",
            "cheers, hooray, party, whoop",
            "surprise! happy birthday!",
        ),
        lambda rng: _cheering(rng, 9, 0.6),
    ),
)
