"""Dogs and cats."""

import numpy as np

from synthetic.sounds.kit import (
    SAMPLE_RATE,
    Recipe,
    Signal,
    add,
    bump,
    clock,
    curve,
    high_pass,
    in_step,
    level,
    noise,
    outdoors,
    room,
    scatter,
    silence,
    tone,
    wander,
)
from synthetic.sounds.voice import call, formants


def _bark(rng: np.random.Generator, pitch: float, size: float) -> Signal:
    long = rng.uniform(0.13, 0.2) / size**0.4
    top = pitch * rng.uniform(0.92, 1.1)
    points = [(0, 0.55 * top), (0.25 * long, top), (0.7 * long, 0.85 * top), (long, 0.5 * top)]
    return call(rng, points, "er a ae o", size, 0.8, 0.5, 0.5, 0.25)


def _barking(rng: np.random.Generator, pitch: float, size: float, period: float) -> Signal:
    """Barks in twos and threes."""
    seconds = rng.uniform(3.5, 5)
    ground = silence(seconds)
    pitch, size = pitch * rng.uniform(0.85, 1.15), size * rng.uniform(0.92, 1.08)
    at = rng.uniform(0.1, 0.4)
    while at < seconds - 0.3:
        for _ in range(rng.integers(1, 4)):
            add(ground, _bark(rng, pitch, size), at, rng.uniform(0.7, 1))
            at += period * rng.uniform(0.85, 1.2)
        at += rng.uniform(0.2, 0.9)
    return outdoors(rng, room(rng, ground, 0.6, 0.12), 0.006)


def _growl(rng: np.random.Generator) -> Signal:
    seconds = rng.uniform(3, 4)
    points = [(t, rng.uniform(55, 95)) for t in np.linspace(0, seconds - 0.4, 6)]
    growl = call(rng, points, "er a er ae er", 0.9, 0.9, 0.7, 0.9, 0.6)
    for at in rng.uniform(0.7, 0.95, 2) * seconds - 0.3:
        add(growl, _bark(rng, 330, 0.95), at, 1.3)
    return outdoors(rng, growl, 0.004)


def _whine(rng: np.random.Generator) -> Signal:
    """A puppy that wants in: thin, gliding, nearly a whistle."""
    seconds = rng.uniform(3.5, 4.5)
    ground = silence(seconds)
    for at in in_step(rng, seconds - 0.7, rng.uniform(0.7, 0.95), 0.08):
        long, high = rng.uniform(0.4, 0.65), rng.uniform(900, 1500)
        pitch = curve(long, (0, 0.7 * high), (0.4 * long, high), (long, 0.55 * high))
        pitch *= wander(rng, long, 25, 0.97, 1.03)
        whine = tone(pitch, (1, 0.5, 0.35, 0.15, 0.08)) + 0.03 * noise(rng, long, 0.5)
        add(ground, whine * bump(long, 0.4), at, rng.uniform(0.5, 1))
    return outdoors(rng, ground, 0.004)


def _meow(rng: np.random.Generator, pitch: float, long: float, rough: float = 0.0) -> Signal:
    top = pitch * rng.uniform(0.9, 1.12)
    points = [(0, 0.75 * top), (0.3 * long, top), (0.6 * long, 0.93 * top), (long, 0.62 * top)]
    return call(rng, points, "i ae a o u", 1.55, 0.75, 0.12, rough, 0.4)


def _meowing(rng: np.random.Generator, pitch: float, long: float, rough: float) -> Signal:
    seconds = rng.uniform(3, 4.5)
    own = pitch * rng.uniform(0.9, 1.1)
    times = in_step(rng, seconds - long, 2.1 * long, 0.1)
    cry = scatter(seconds, times, lambda: _meow(rng, own, long * rng.uniform(0.8, 1.25), rough))
    return outdoors(rng, room(rng, cry, 0.4, 0.12), 0.004)


def _purr(rng: np.random.Generator) -> Signal:
    """The larynx flutters about 25 times a second, breathing in as well as out."""
    seconds = rng.uniform(4.5, 6)
    flutter = rng.uniform(22, 27) * wander(rng, seconds, 2, 0.95, 1.05)
    breath = np.sin(2 * np.pi * rng.uniform(0.35, 0.5) * clock(seconds))
    flutter *= 1 + 0.06 * np.sign(breath)
    beat = np.maximum(np.sin(2 * np.pi * np.cumsum(flutter) / SAMPLE_RATE), 0) ** 4
    throat = formants(beat * noise(rng, seconds, 1.2), (240, 900, 1900, 3300))
    return throat * (0.25 + np.abs(breath)) + 0.02 * noise(rng, seconds, 0.5) * np.abs(breath)


def _purr_and_meow(rng: np.random.Generator) -> Signal:
    purr = level(_purr(rng))
    for at in rng.uniform(0.4, 1.4) + np.array([0, 2]):
        add(purr, level(_meow(rng, rng.uniform(550, 700), 0.5)), at, 1.2)
    return purr


def _hissing_cat(rng: np.random.Generator) -> Signal:
    seconds = rng.uniform(2.5, 3.2)
    ground = silence(seconds)
    for at in (0.15, rng.uniform(1.3, 1.6)):
        long = rng.uniform(0.7, 1.0)
        hiss = formants(high_pass(noise(rng, long), 900), (1500, 3600, 5600, 8200))
        add(ground, hiss * bump(long, 0.2), at)
    snarl = call(rng, [(0, 300), (0.6, 480), (1.3, 260)], "er ae a", 1.5, 0.9, 0.4, 0.8)
    add(ground, snarl, 0.9, 0.7)
    return outdoors(rng, ground, 0.004)


RECIPES = (
    Recipe(
        "dog",
        "big-dog-barking",
        (
            "A big dog barks deeply.",
            "dog, deep bark, large breed",
            "the neighbour's mastiff is at it again",
        ),
        lambda rng: _barking(rng, 260, 0.9, 0.5),
    ),
    Recipe(
        "dog",
        "small-dog-yapping",
        (
            "A small dog yaps excitedly.",
            "dog, yapping, terrier, high bark",
            "a lapdog going off at the postman",
        ),
        lambda rng: _barking(rng, 850, 1.5, 0.28),
    ),
    Recipe(
        "dog",
        "dog-barking-at-the-gate",
        (
            "A dog barks at somebody behind the garden gate.",
            "dog bark, watchdog, outdoors",
            "beware of the dog",
        ),
        lambda rng: _barking(rng, 480, 1.15, 0.38),
    ),
    Recipe(
        "dog",
        "dog-growling",
        (
            "A dog growls and snaps.",
            "growling dog, threatening, snarl",
            "better not come any closer",
        ),
        _growl,
    ),
    Recipe(
        "dog",
        "puppy-whining",
        (
            "A puppy whines at the door.",
            "whimpering puppy, dog, crying",
            "the little dog wants to be let in",
        ),
        _whine,
    ),
    Recipe(
        "cat",
        "cat-meowing",
        (
            "A cat meows.",
            "cat, meow",
            "the cat wants its dinner",
        ),
        lambda rng: _meowing(rng, 560, 0.8, 0.04),
    ),
    Recipe(
        "cat",
        "kitten-mewing",
        (
            "A kitten mews in a thin, high voice.",
            "kitten, mewing, tiny",
            "where is mummy cat?",
        ),
        lambda rng: _meowing(rng, 950, 0.45, 0.02),
    ),
    Recipe(
        "cat",
        "cat-yowling",
        (
            "A tomcat yowls at night.",
            "cat, yowl, caterwaul",
            "two cats quarrelling on the roof",
        ),
        lambda rng: _meowing(rng, 430, 1.4, 0.3),
    ),
    Recipe(
        "cat",
        "cat-hissing",
        (
            "A frightened cat hisses and spits.",
            "cat, hiss, angry",
            "don't touch that cat",
        ),
        _hissing_cat,
    ),
    Recipe(
        "purring",
        "cat-purring",
        (
            "A contented cat purrs.",
            "cat, purring, close",
            "stroking the cat on my lap",
        ),
        _purr,
    ),
    Recipe(
        "purring",
        "cat-purring-and-meowing",
        (
            "A cat purrs and meows softly in between.",
            "cat, purr, meow, content",
            "the cat greets me when I come home",
        ),
        _purr_and_meow,
    ),
)
