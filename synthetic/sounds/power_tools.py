"""Tools with a motor, and compressed air."""

from functools import partial

import numpy as np

from synthetic.sounds.kit import (
    Recipe,
    Signal,
    add,
    band,
    colour,
    coloured,
    curve,
    drive,
    impulses,
    level,
    moving_band,
    noise,
    outdoors,
    resonate,
    room,
    silence,
    tone,
    wander,
)
from synthetic.sounds.parts import click, exhaust, firings, gate, vary

GEARS = (0.5, 1, 0.4, 0.7, 0.5, 0.6, 0.3, 0.5, 0.3, 0.3, 0.2, 0.25, 0.2, 0.15, 0.1, 0.1)


def _drill(rng: np.random.Generator, hz: float, hammer: float, wall: float) -> Signal:
    """A drill spins up, bites (pitch sinks), and is let go; hammer: its blows in a wall."""
    seconds, top = 4.4, vary(rng, hz)
    bite = wander(rng, seconds, 1.2, 0.82, 0.95)
    spin = curve(
        seconds, (0.1, 0.05), (0.45, 1), (1.1, 1), (1.4, 0.9), (3.5, 0.9), (3.8, 1), (4.2, 0.1)
    )
    spin *= top * bite
    load = curve(seconds, (1.1, 0), (1.4, 1), (3.5, 1), (3.7, 0))
    gears = level(drive(tone(spin, GEARS) + 0.4 * tone(3.63 * spin, GEARS[:8]), 2))
    brushes = moving_band(noise(rng, seconds), 12 * spin + 200, 2.5)
    blows = exhaust(firings(rng, spin / 8, (1,), 0.02), (160, 420, 1100, 2700, 5200), 0.03)
    chips = colour(noise(rng, seconds), (200, -12), (1500, 0), (6000, 0), (15_000, -10))
    chips *= load * wander(rng, seconds, 30, 0.4, 1)
    power = np.minimum(spin / (0.5 * top), 1)
    sound = (gears + 0.6 * level(brushes)) * power
    return outdoors(
        rng, room(rng, sound + wall * chips + hammer * load * level(blows), 0.5, 0.2), 0.002
    )


def _sander(rng: np.random.Generator) -> Signal:
    """An electric sander: a motor at some 200 turns a second, and grit."""
    seconds, hz = 3.8, vary(rng, 195)
    speed = curve(seconds, (0, 10), (0.5, hz)) * wander(rng, seconds, 1.5, 0.9, 1)
    motor = level(drive(tone(speed, GEARS), 2)) + 0.5 * level(tone(9.3 * speed, (1, 0.4, 0.2)))
    grit = coloured(rng, seconds, (200, -10), (1500, 0), (5000, 3), (15_000, -6))
    orbit = 1 + 0.3 * np.sin(np.pi * np.cumsum(speed) / 32_000)
    return (0.7 * motor + 1.1 * grit * wander(rng, seconds, 2.2, 0.3, 1) * orbit) * gate(
        seconds, 0.3
    )


def _grinder(rng: np.random.Generator) -> Signal:
    """A grinding wheel screams on steel, again and again."""
    seconds, hz = 4.2, vary(rng, 330)
    press = np.clip(wander(rng, seconds, 1.6, -0.8, 1.5), 0, 1)
    speed = hz * (1 - 0.12 * press)
    motor = level(tone(speed, GEARS)) + 0.4 * level(tone(5.7 * speed, (1, 0.5)))
    steel = vary(rng, 2100) * np.array([1, 1.37, 1.9, 2.6, 3.3, 4.3])
    scream = level(resonate(noise(rng, seconds), steel, 0.05))
    sparks = coloured(rng, seconds, (500, -15), (3000, 0), (9000, 2), (15_000, -3))
    return outdoors(rng, 0.6 * motor + press * (1.2 * scream + 1.2 * sparks), 0.004)


def _jackhammer(rng: np.random.Generator) -> Signal:
    """A pneumatic drill on concrete in bursts, with the hiss of its air."""
    seconds = 4
    on = curve(
        seconds, (0.2, 0), (0.25, 1), (1.6, 1), (1.65, 0), (2.2, 0), (2.25, 1), (3.7, 1), (3.75, 0)
    )
    rate = vary(rng, 24) * wander(rng, seconds, 2, 0.95, 1.05)
    blows = firings(rng, rate, (1, 0.85), 0.03) * on
    steel = exhaust(
        blows, (130, 310, 900, 1700, 2900, 4400, 6800), 0.025, (1, 1, 0.7, 0.6, 0.5, 0.4, 0.3)
    )
    burst = exhaust(blows, (80, 160), 0.06)
    air = coloured(rng, seconds, (300, -8), (1500, 0), (6000, 0), (15_000, -8))
    grit = level(band(impulses(rng, seconds, 2500 * on + 1), 900, 9000, 1)) * on
    sound = level(steel) + 0.7 * level(burst) + 0.35 * air * (0.25 + on) + 0.3 * grit
    return outdoors(rng, room(rng, drive(sound, 1.5), 0.8, 0.2), 0.003)


def _steam(rng: np.random.Generator, puffs: int, held: float, wet: float) -> Signal:
    """Air or steam let off under pressure."""
    ground, at = silence(puffs * (held + 0.35) + 0.6), 0.1
    for _ in range(puffs):
        length = vary(rng, held, 0.2)
        jet = colour(noise(rng, length), (150, -22), (1200, -4), (5000, 2), (15_000, -3))
        fade = curve(length, (0, 0), (0.02, 1), (0.4 * length, 0.6), (length, 0.02))
        add(ground, jet * fade * wander(rng, length, 18, 1 - 0.5 * wet, 1), at)
        add(ground, click(rng, 200, 5000, 0.04), at, 2)
        at += length + vary(rng, 0.35, 0.3)
    return outdoors(rng, room(rng, ground, 0.7, 0.15), 0.002)


RECIPES = (
    Recipe(
        "drill",
        "drill-into-wood",
        ("An electric drill bores into wood.", "power drill, whirring", "putting up shelves"),
        partial(_drill, hz=190, hammer=0, wall=0.5),
    ),
    Recipe(
        "drill",
        "hammer-drill-in-wall",
        ("The neighbour drills into concrete.", "hammer drill, loud, wall", "noisy renovation"),
        partial(_drill, hz=240, hammer=1.6, wall=0.9),
    ),
    Recipe(
        "drill",
        "dentist-drill",
        ("A dentist's drill whines.", "dental drill, very high whine", "at the dentist"),
        partial(_drill, hz=900, hammer=0, wall=0.25),
    ),
    Recipe(
        "sanding",
        "electric-sander",
        ("An electric sander runs over a board.", "power sander, motor, grit", "workshop"),
        _sander,
    ),
    Recipe(
        "angle_grinder",
        "angle-grinder-on-steel",
        ("An angle grinder screams on steel.", "grinder, sparks, metal, shrieking"),
        _grinder,
    ),
    Recipe(
        "jackhammer",
        "jackhammer",
        ("A jackhammer breaks up the road.", "pneumatic drill, pounding", "road works outside"),
        _jackhammer,
    ),
    Recipe(
        "steam_hiss",
        "steam-valve",
        ("Steam escapes from a valve in one long hiss.", "steam, hissing, pressure", "boiler room"),
        partial(_steam, puffs=1, held=2.6, wet=0.4),
    ),
    Recipe(
        "steam_hiss",
        "air-brakes",
        (
            "A lorry's air brakes hiss.",
            "pneumatic hiss, short bursts, truck",
            "the bus has stopped",
        ),
        partial(_steam, puffs=2, held=0.9, wet=0),
    ),
    Recipe(
        "steam_hiss",
        "steam-iron",
        ("A steam iron puffs over a shirt.", "ironing, puffs of steam", "pressing clothes"),
        partial(_steam, puffs=4, held=0.6, wet=1),
    ),
)
