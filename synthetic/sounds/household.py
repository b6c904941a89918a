"""Machines and things about the house."""

from functools import partial

import numpy as np

from synthetic.sounds.kit import (
    Point,
    Recipe,
    Signal,
    band,
    bump,
    clock,
    coloured,
    curve,
    high_pass,
    level,
    noise,
    outdoors,
    resonate,
    tone,
    wander,
)
from synthetic.sounds.parts import click, exhaust, firings, gate, sequence, vary

BRUSHES = (1, 0.4, 0.25, 0.5, 0.15, 0.3, 0.1, 0.2, 0.08, 0.12)  # harmonics of a motor


def motor(
    rng: np.random.Generator, speed: Signal, whine: float, *air: Point, rough: float = 0.3
) -> Signal:
    """An electric motor at a speed (Hz, a curve) with a fan: hum, whine, and air of a spectrum."""
    seconds = len(speed) / 32_000
    unrest = speed * (1 + 0.004 * wander(rng, seconds, 8, -1, 1))
    hum = level(tone(unrest, BRUSHES))
    blades = tone(unrest * rng.integers(7, 13), (1, 0.4, 0.15)) * wander(rng, seconds, 10, 0.6, 1)
    share = np.minimum(speed / np.max(speed), 1) ** 2
    flow = coloured(rng, seconds, *air) * (
        1 + 0.15 * np.sin(2 * np.pi * np.cumsum(unrest) / 32_000)
    )
    return share * (flow + rough * hum + whine * blades)


def _vacuum(
    rng: np.random.Generator, hz: float, whine: float, starts: bool, moves: float
) -> Signal:
    """A vacuum cleaner; moves: how much the sound changes as the nozzle is pushed about."""
    seconds, top = 4.2, vary(rng, hz, 0.15)
    spin = (
        curve(seconds, (0.1, 5), (0.5, 0.7 * top), (1.4, top)) if starts else top + 0 * clock(4.2)
    )
    push = wander(rng, seconds, 1.2, -1, 1)
    air = ((80, -4), (350, 2), (1100, 3), (3500, -2), (8000, -8), (15_000, -18))
    sound = motor(rng, spin * (1 + 0.02 * moves * push), whine, *air, rough=0.5)
    nozzle = band(noise(rng, seconds), 700, 5000, 1) * moves * (0.5 + 0.5 * push)
    switch = sequence(seconds, [(0.08, 2 * starts * click(rng, 800, 7000, 0.03))])
    return outdoors(rng, sound + nozzle * (spin > 0.6 * top) + switch, 0.004)


def _dryer(rng: np.random.Generator, hz: float, wave: float) -> Signal:
    """A hair dryer; wave: how far it is waved to and fro."""
    seconds, top = 4.2, vary(rng, hz, 0.15)
    spin = curve(seconds, (0.15, 3), (0.7, top), (3.4, top), (4.1, 0.2 * top))
    air = ((100, -14), (500, -2), (2200, 3), (6000, 0), (15_000, -10))
    sound = motor(rng, spin, 0.35, *air, rough=0.2)
    return outdoors(rng, sound * (1 - wave * wander(rng, seconds, 2.5, 0, 1)), 0.004)


def _fan(rng: np.random.Generator, blades: float, rattle: float, dull: float) -> Signal:
    """Air chopped by blades (Hz); a loose part rattles along."""
    seconds, blades = 4.0, vary(rng, blades, 0.15)
    turn = blades * (1 + 0.01 * wander(rng, seconds, 1, -1, 1))
    chop = 1 + 0.5 * np.sin(2 * np.pi * np.cumsum(turn) / 32_000)
    air = coloured(rng, seconds, (40, 0), (300, 2), (1200, -4), (6000, -14), (15_000, -26 - dull))
    tick = exhaust(firings(rng, turn / 3, (1, 0.3), 0.02), (700, 1900, 3100, 5200), 0.02)
    hum = 0.2 * tone(np.full(len(air), 100.0), (1, 0.5, 0.2, 0.3))
    return air * chop + hum + rattle * level(tick)


def _shaver(rng: np.random.Generator) -> Signal:
    """An electric shaver on a beard."""
    seconds, hz = 3.2, vary(rng, 118)
    pitch = hz * wander(rng, seconds, 2, 0.96, 1.0)
    buzz = resonate(firings(rng, pitch, (1, 0.9), 0.01), (500, 1400, 2900, 4700, 7400), 0.008)
    beard = high_pass(firings(rng, pitch, (1, 0.6), 0.3), 3000) * wander(rng, seconds, 6, 0, 1)
    return (
        (level(buzz) + 0.6 * level(beard)) * gate(seconds, 0.05, 0.08) * (0.9 + 0.1 * bump(seconds))
    )


RECIPES = (
    Recipe(
        "vacuum_cleaner",
        "vacuum-cleaner-switched-on",
        ("A vacuum cleaner is switched on and spins up.", "hoover, start, motor, whine"),
        partial(_vacuum, hz=310, whine=1.2, starts=True, moves=0.2),
    ),
    Recipe(
        "vacuum_cleaner",
        "vacuum-cleaner-on-carpet",
        (
            "Someone vacuums a carpet with long strokes.",
            "vacuuming, carpet, suction",
            "house chores",
        ),
        partial(_vacuum, hz=220, whine=0.5, starts=False, moves=1),
    ),
    Recipe(
        "vacuum_cleaner",
        "hand-held-vacuum",
        ("A small hand-held vacuum whines.", "dustbuster, high whine, crumbs"),
        partial(_vacuum, hz=480, whine=1.5, starts=False, moves=0.4),
    ),
    Recipe(
        "hair_dryer",
        "hair-dryer",
        ("A hair dryer blows, then is switched off.", "hair dryer, hot air, bathroom"),
        partial(_dryer, hz=250, wave=0.2),
    ),
    Recipe(
        "hair_dryer",
        "hair-dryer-waved-about",
        ("A hair dryer is waved to and fro.", "blow dryer, swishing air, drying hair"),
        partial(_dryer, hz=330, wave=0.85),
    ),
    Recipe(
        "fan",
        "ceiling-fan",
        ("A ceiling fan turns slowly with a click.", "fan, slow, ticking, summer night"),
        partial(_fan, blades=7, rattle=0.4, dull=12),
    ),
    Recipe(
        "fan",
        "desk-fan",
        ("A desk fan hums and blows.", "electric fan, steady, breeze", "cooling the office"),
        partial(_fan, blades=48, rattle=0.08, dull=0),
    ),
    Recipe(
        "electric_shaver",
        "electric-shaver",
        ("A man shaves with an electric razor.", "shaver, buzzing, beard", "getting ready"),
        _shaver,
    ),
)
