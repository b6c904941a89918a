"""Small things in the hand: zips, paper, coins, balls, switches, sprays."""

from functools import partial

import numpy as np

from synthetic.sounds.kit import (
    Recipe,
    Signal,
    add,
    at_random,
    band,
    bump,
    colour,
    curve,
    decay,
    high_pass,
    impulses,
    level,
    mix,
    modes,
    moving_band,
    noise,
    outdoors,
    resonate,
    room,
    scatter,
    silence,
    wander,
)
from synthetic.sounds.parts import click, firings, gate, sequence, vary


def _zip(rng: np.random.Generator, low: float, high: float, pulls: int, coarse: float) -> Signal:
    """A slider clicks over teeth, ever faster; pulls alternate between up and down."""
    parts, at = [], 0.15
    for i in range(pulls):
        held = vary(rng, 0.65, 0.3)
        ends = (low, high) if i % 2 == 0 else (high, low)
        rate = curve(held, (0, ends[0]), (held, ends[1])) * wander(rng, held, 6, 0.85, 1.15)
        teeth = firings(rng, rate, (1,), 0.08)
        cloth = colour(noise(rng, held), (300, -20), (2500, 0), (7000, 2), (15_000, -8))
        metal = resonate(teeth, vary(rng, 3000 / coarse) * np.array([1, 1.45, 2.1, 2.9]), 0.008)
        pitch = curve(held, (0, 6 * ends[0]), (held, 6 * ends[1]))
        sweep = moving_band(cloth + level(teeth), pitch, 1.5)
        sound = level(metal) + 0.8 * level(sweep) + 0.25 * cloth
        parts.append((at, sound * gate(held, 0.03, 0.03)))
        parts.append((at + held, 8 * click(rng, 1500, 9000, 0.02)))
        at += held + rng.uniform(0.3, 0.6)
    return outdoors(rng, sequence(at, parts), 0.002)


def _paper(rng: np.random.Generator, rate: float, stiff: float, folds: float) -> Signal:
    """Creases that snap: many small and a few large, in the movements of two hands."""
    seconds = rng.uniform(3.5, 4.5)
    hands = wander(rng, seconds, folds, -0.6, 1.2).clip(0.0)

    def crease() -> Signal:
        low = rng.uniform(600, 3000) * stiff
        return rng.lognormal(-1, 0.6) * click(
            rng, low, min(5 * low, 15_000), rng.uniform(0.004, 0.02)
        )

    kinds = [crease() for _ in range(40)]
    creases = scatter(
        seconds,
        at_random(rng, seconds, rate * hands + 0.5),
        lambda: rng.lognormal(0, 0.8) * kinds[rng.integers(40)],
    )
    rustle = colour(noise(rng, seconds), (300, -15), (2000, 0), (6000, -2), (15_000, -12))
    return outdoors(rng, creases + 0.12 * rustle * hands * wander(rng, seconds, 25, 0.2, 1), 0.003)


def _tear(rng: np.random.Generator, rips: int) -> Signal:
    ground, at = silence(0.9 * rips + 0.6), 0.15
    for _ in range(rips):
        held = vary(rng, 0.5, 0.3)
        fibres = impulses(rng, held, curve(held, (0, 900), (held, 4000)), 0.8)
        sound = level(band(fibres, 900, 13_000, 1)) * curve(held, (0, 0.4), (held, 1))
        add(ground, sound * gate(held, 0.02, 0.01), at)
        at += held + 0.35
    return outdoors(rng, ground, 0.001)


def _page(rng: np.random.Generator) -> Signal:
    """Pages of a book are turned: lift, swish, settle."""
    ground = silence(5.0)
    for at in (0.1, 1.7, 3.3):
        held = vary(rng, 0.6)
        sweep = curve(held, (0, 2500), (0.5 * held, 5500), (held, 1500))
        swish = moving_band(noise(rng, held), sweep, 1.8) * bump(held, 0.6, 1.5)
        crackle = scatter(held, at_random(rng, held, 40), lambda: click(rng, 2000, 12_000, 0.006))
        add(ground, level(swish) + 0.5 * crackle, vary(rng, at, 0.05), vary(rng, 0.8))
        add(ground, click(rng, 200, 3000, 0.06), at + held, 0.8)
    return outdoors(rng, ground, 0.004)


def _switch(rng: np.random.Generator) -> Signal:
    """A light switch is flicked on, and off again."""
    box = vary(rng, 650) * np.array([1, 1.7, 2.9, 4.4])
    flicks = [
        (at + later, gain * mix(click(rng, 900, 11_000, 0.012), modes(0.1, box * pitch, 0.05, 0.4)))
        for at, pitch in ((0.2, 1.0), (1.3, 0.85))
        for later, gain in ((0, 0.3), (0.035, 1))
    ]
    return outdoors(rng, room(rng, sequence(2, flicks), 0.4, 0.2), 0.001)


def _spray(rng: np.random.Generator) -> Signal:
    """The ball in a can of paint rattles; then it sprays."""
    ground = silence(5.0)
    for at in np.arange(0.1, 1.9, vary(rng, 0.1)):
        can = modes(0.08, vary(rng, 2300, 0.08) * np.array([1, 1.5, 2.3, 3.4]), 0.05, 0.4)
        add(
            ground,
            mix(can, 0.5 * click(rng, 900, 9000, 0.01)),
            vary(rng, at, 0.02),
            vary(rng, 0.6, 0.5),
        )
    for at, held in ((2.3, 0.8), (3.4, 1.2)):
        hiss = colour(noise(rng, held), (400, -25), (3000, -2), (8000, 2), (15_000, -2))
        add(ground, hiss * gate(held, 0.015, 0.04) * decay(held, 12), at, 0.35)
    return outdoors(rng, high_pass(ground, 100), 0.001)


RECIPES = (
    Recipe(
        "zipper",
        "zipper-jacket",
        ("A jacket is zipped up.", "zipper, one quick pull", "getting dressed for the cold"),
        partial(_zip, low=90, high=330, pulls=1, coarse=1),
    ),
    Recipe(
        "zipper",
        "zipper-tent",
        ("A tent is zipped open and closed.", "coarse zip, up and down, long", "camping"),
        partial(_zip, low=60, high=190, pulls=3, coarse=1.6),
    ),
    Recipe(
        "paper_crumple",
        "paper-crumpled",
        ("A sheet of paper is crumpled into a ball.", "crumpling paper, crackling", "a bad draft"),
        partial(_paper, rate=320, stiff=1, folds=2.5),
    ),
    Recipe(
        "paper_crumple",
        "gift-wrap-rustling",
        ("Gift wrapping rustles as a present is unwrapped.", "stiff paper, rustle, birthday"),
        partial(_paper, rate=150, stiff=1.6, folds=1.2),
    ),
    Recipe(
        "paper_crumple",
        "crisp-packet",
        ("A bag of crisps crackles.", "plastic packet, crinkling", "snack at the cinema"),
        partial(_paper, rate=500, stiff=2.3, folds=4),
    ),
    Recipe(
        "paper_tear",
        "paper-torn",
        ("A letter is torn to pieces.", "ripping paper, several tears", "a torn-up contract"),
        partial(_tear, rips=4),
    ),
    Recipe(
        "page_turn",
        "book-pages-turned",
        ("Someone turns the pages of a book.", "page turn, paper, quiet", "reading in a library"),
        _page,
    ),
    Recipe(
        "light_switch",
        "light-switch",
        ("A light switch is flicked on and off.", "switch, click, wall", "lights out"),
        _switch,
    ),
    Recipe(
        "spray_can",
        "spray-can",
        ("A spray can is shaken and sprayed.", "aerosol, rattle, hiss", "graffiti on a wall"),
        _spray,
    ),
)
