"""Hand tools and power tools."""

from functools import partial

import numpy as np

from synthetic.sounds.kit import (
    Recipe,
    Signal,
    add,
    bump,
    colour,
    impulses,
    in_step,
    level,
    low_pass,
    mix,
    modes,
    noise,
    outdoors,
    resonate,
    room,
    silence,
    wander,
)
from synthetic.sounds.parts import click, firings, sequence, vary


def _hammer(rng: np.random.Generator, hz: float, t60: float, period: float, wood: float) -> Signal:
    """Blows on a nail, that sounds higher the deeper it sits, or on iron (wood 0)."""
    seconds, parts, rise = 3.8, [], 1.0
    body = vary(rng, hz) * np.array([1, 1.63, 2.41, 3.35, 4.6, 5.9, 7.7])
    plank = vary(rng, 170) * np.array([1, 1.6, 2.3, 3.7, 5.2])
    for at in in_step(rng, seconds - 0.5, vary(rng, period), 0.04):
        steel = modes(
            max(t60, 0.1), rise * body * vary(rng, 1, 0.01), t60, (1, 0.8, 0.8, 0.6, 0.5, 0.4, 0.3)
        )
        thud = wood * modes(0.2, plank, (0.15, 0.12, 0.08, 0.05, 0.04), 0.8)
        parts.append(
            (at, vary(rng, 0.9, 0.2) * mix(0.5 * steel, thud, 1.5 * click(rng, 400, 13_000, 0.03)))
        )
        rise *= 1 + 0.04 * wood
    return outdoors(rng, room(rng, sequence(seconds, parts), 0.7, 0.2), 0.002)


def _saw(rng: np.random.Generator, period: float, teeth: float, body: float) -> Signal:
    """Strokes of a hand saw: the push louder and longer than the pull."""
    seconds, period = 4.2, vary(rng, period)
    ground, at = silence(seconds), 0.1
    wood = vary(rng, body, 0.2) * np.array([1, 1.7, 2.8, 4.4])
    while at < seconds - period:
        for share, gain in ((0.5, 1.0), (0.38, 0.45)):
            held = share * period * vary(rng, 1, 0.08)
            rate = teeth * bump(held, 0.5, 0.4) + 20
            rasp = firings(rng, rate, (1, 0.6, 0.8), 0.15) + 0.1 * noise(rng, held)
            grain = colour(rasp, (150, -14), (900, 0), (3000, 3), (7000, 0), (15_000, -10))
            sound = grain + 0.5 * level(resonate(rasp, wood, 0.02))
            add(ground, sound * bump(held, 0.6, 0.5) * wander(rng, held, 30, 0.6, 1), at, gain)
            at += held + 0.04
    return outdoors(rng, room(rng, ground, 0.3, 0.12), 0.003)


def _sanding(rng: np.random.Generator, rate: float, coarse: float) -> Signal:
    """Sandpaper is rubbed to and fro."""
    ground, at = silence(3.6), 0.1
    while at < 3.3:
        held = vary(rng, 0.5 / rate, 0.12)
        grit = level(impulses(rng, held, 9000, 0.8)) + noise(rng, held)
        rub = colour(
            grit, (200, -22), (1200 / coarse, -4), (4500 / coarse, 3), (9000, 0), (15_000, -7)
        )
        add(ground, rub * bump(held, 0.5, 0.6), at, rng.uniform(0.7, 1))
        at += held
    return outdoors(rng, ground + 0.1 * low_pass(ground, 300), 0.003)


def _ratchet(rng: np.random.Generator) -> Signal:
    """A ratchet wrench: clicks back, tightens, clicks back."""
    parts, at = [], 0.15
    for _ in range(5):
        for _ in range(rng.integers(6, 10)):
            pawl = modes(0.06, vary(rng, 2600, 0.04) * np.array([1, 1.6, 2.3, 3.4]), 0.04, 0.4)
            parts.append((at, vary(rng, 0.6, 0.2) * mix(pawl, click(rng, 1500, 12_000, 0.008))))
            at += vary(rng, 0.045, 0.15)
        at += vary(rng, 0.5)
    return outdoors(rng, room(rng, sequence(at + 0.2, parts), 0.4, 0.15), 0.002)


RECIPES = (
    Recipe(
        "hammering",
        "hammer-on-nail",
        ("A hammer drives a nail into a board.", "hammering, wood, nail", "carpenter at work"),
        partial(_hammer, hz=1500, t60=0.09, period=0.62, wood=1),
    ),
    Recipe(
        "hammering",
        "blacksmith-on-anvil",
        ("A blacksmith's hammer rings on an anvil.", "anvil, metal, clang, forge"),
        partial(_hammer, hz=1750, t60=1.1, period=0.75, wood=0),
    ),
    Recipe(
        "hammering",
        "hammer-on-metal-sheet",
        ("Someone bangs on a sheet of metal.", "metal banging, loud, clanging", "car body shop"),
        partial(_hammer, hz=420, t60=0.6, period=0.5, wood=0.2),
    ),
    Recipe(
        "hand_saw",
        "hand-saw-plank",
        ("A plank is cut with a hand saw.", "sawing wood, strokes", "carpenter cutting a board"),
        partial(_saw, period=0.85, teeth=330, body=420),
    ),
    Recipe(
        "hand_saw",
        "hand-saw-fast",
        ("Someone saws quickly through a thin branch.", "pruning saw, quick strokes, garden"),
        partial(_saw, period=0.42, teeth=520, body=800),
    ),
    Recipe(
        "hand_saw",
        "hacksaw-on-pipe",
        ("A hacksaw cuts a metal pipe.", "metal sawing, screechy", "plumber cutting a pipe"),
        partial(_saw, period=0.6, teeth=900, body=2400),
    ),
    Recipe(
        "sanding",
        "sanding-by-hand",
        ("Wood is sanded by hand.", "sandpaper, rubbing, to and fro", "smoothing a table"),
        partial(_sanding, rate=1.8, coarse=1),
    ),
    Recipe(
        "sanding",
        "sanding-coarse-file",
        ("A coarse file rasps slowly.", "filing, rasp, rough strokes"),
        partial(_sanding, rate=0.9, coarse=2.2),
    ),
    Recipe(
        "ratchet",
        "ratchet-wrench",
        ("A ratchet wrench tightens a bolt.", "ratchet, clicking, garage", "changing a wheel"),
        _ratchet,
    ),
)
