"""Engines that burn: cars, lorries, motorcycles, mowers, chainsaws."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from synthetic.sounds.kit import (
    Recipe,
    Signal,
    add,
    coloured,
    curve,
    drive,
    high_pass,
    level,
    low_pass,
    outdoors,
    resonate,
    room,
    silence,
    tone,
    wander,
)
from synthetic.sounds.parts import click, exhaust, firings, passing, vary

FOUR, TWIN, ONE = (1, 0.85, 0.95, 0.8), (1, 0.55, 0), (1,)  # strengths of strokes in turn


def engine(
    rng: np.random.Generator,
    rate: Signal,
    strokes: Sequence[float],
    pipe: float,
    load: Signal | float = 0.5,
    clatter: float = 0.3,
    rough: float = 0.03,
) -> Signal:
    """An engine that fires at a rate (Hz, a curve) into a pipe (Hz), at unit level.

    load: 0 (idling) to 1, brighter and louder; clatter: of valves; rough: how unevenly it fires.
    """
    seconds = len(rate) / 32_000
    train = firings(rng, rate, [vary(rng, stroke, 0.2) for stroke in strokes], rough)
    hz = pipe * np.array([1, 2.1, 3.3, 4.6, 6.9, 10, 15])
    pulses = level(exhaust(train, hz, 4 / hz**0.9, hz**-0.5))
    breath = low_pass(exhaust(np.abs(train), (40, 90), 0.05).clip(0), 400)
    gas = coloured(rng, seconds, (100, 0), (500, 2), (2500, -6), (14_000, -24)) * level(breath)
    ticks = firings(rng, rate, (1, 0.7), 0.1)
    valves = resonate(ticks, rng.uniform(1200, 9000, 9), 0.003) + 0.15 * high_pass(ticks, 3000)
    sound = level(drive(pulses, 1.5)) + (0.15 + 0.35 * load) * gas + clatter * level(valves)
    return level(sound * (0.6 + 0.4 * load))


def _idle(
    rng: np.random.Generator, rate: float, pipe: float, strokes: Sequence[float], clatter: float
) -> Signal:
    turn = vary(rng, rate) * wander(rng, 4, 1.5, 0.97, 1.03)
    sound = engine(rng, turn, strokes, vary(rng, pipe), 0.1, clatter, 0.04)
    return outdoors(rng, sound, 0.01)


def _start(rng: np.random.Generator, cranks: float, pipe: float) -> Signal:
    """The starter cranks until the engine catches, revs up and settles."""
    seconds, at = 5.5, vary(rng, cranks, 0.2)
    crank = curve(seconds, (0.15, 0), (0.2, 1), (at, 1), (at + 0.15, 0))
    turn = vary(rng, 9.5) * wander(rng, seconds, 2, 0.9, 1.1)
    heave = 0.6 + 0.4 * np.sin(2 * np.pi * np.cumsum(turn) / 32_000)
    whine = tone(turn * 27 * (0.85 + 0.15 * heave), (1, 0.8, 0.6, 0.5, 0.3, 0.3, 0.2))
    starter = level(whine) * heave + 0.4 * coloured(rng, seconds, (200, 0), (1500, 0), (9000, -15))
    run = curve(seconds, (at, 15), (at + 0.4, 62), (at + 1.2, 38), (at + 2.2, 28), (seconds, 26))
    running = engine(rng, run, FOUR, vary(rng, pipe), 0.3) * curve(
        seconds, (at - 0.05, 0), (at + 0.2, 1)
    )
    ground = starter * crank + 1.3 * running
    add(ground, click(rng, 300, 5000, 0.03), 0.14, 1.5)
    return outdoors(rng, room(rng, ground, 0.4, 0.15), 0.005)


def _revving(rng: np.random.Generator, strokes: Sequence[float], low: float, high: float) -> Signal:
    """The throttle is opened again and again."""
    seconds = 4.6
    throttle, points = silence(seconds), [(0.0, 0.0)]
    for at in np.arange(0.4, 3.6, vary(rng, 1.35)):
        peak = rng.uniform(0.6, 1)
        points += [(at, 0.05), (at + 0.35, peak), (at + 0.5, peak), (at + 1.1, 0.05)]
    throttle = low_pass(curve(seconds, *points), 4, 1)
    sound = engine(rng, low * (high / low) ** throttle, strokes, vary(rng, 95), throttle, 0.2)
    return outdoors(rng, sound * (0.3 + 0.7 * throttle), 0.004)


def _drives_by(
    rng: np.random.Generator, rate: float, pipe: float, strokes: Sequence[float], speed: float
) -> Signal:
    seconds, near = 5.2, rng.uniform(2.2, 3)
    turn = vary(rng, rate) * curve(seconds, (0, 0.93), (seconds, 1.08))
    sound = engine(rng, turn, strokes, vary(rng, pipe), 0.9, 0.15, 0.01)
    tyres = coloured(rng, seconds, (80, -6), (500, 0), (1100, 3), (4000, -9), (15_000, -24))
    by = passing(sound + 0.6 * tyres, near, vary(rng, speed), 7)
    return outdoors(rng, by, 0.015)


RECIPES = (
    Recipe(
        "engine",
        "car-engine-idling",
        ("A car engine idles.", "engine, idling, petrol, steady", "waiting at the lights"),
        partial(_idle, rate=27, pipe=75, strokes=FOUR, clatter=0.25),
    ),
    Recipe(
        "engine",
        "lorry-diesel-idling",
        ("A diesel lorry idles with a clatter.", "truck engine, diesel, rattling, low"),
        partial(_idle, rate=19, pipe=48, strokes=(1, 0.8, 0.9, 0.85, 0.95, 0.7), clatter=0.9),
    ),
    Recipe(
        "engine",
        "car-engine-starting",
        (
            "A car is started and its engine settles.",
            "ignition, starter, engine starts",
            "off we go",
        ),
        partial(_start, cranks=1.2, pipe=80),
    ),
    Recipe(
        "engine",
        "car-engine-hard-start",
        ("An old car cranks for a long time before it starts.", "cold start, cranking, engine"),
        partial(_start, cranks=2.4, pipe=65),
    ),
    Recipe(
        "engine",
        "sports-car-revving",
        ("A sports car revs its engine.", "engine, revving, roaring", "boy racer showing off"),
        partial(_revving, strokes=FOUR, low=45, high=220),
    ),
    Recipe(
        "motorcycle",
        "motorcycle-idling-twin",
        ("A big motorcycle idles unevenly.", "motorbike, potato potato, chopper", "a biker waits"),
        partial(_idle, rate=26, pipe=62, strokes=TWIN, clatter=0.2),
    ),
    Recipe(
        "motorcycle",
        "motorcycle-revving",
        ("A motorcycle revs up again and again.", "motorbike, throttle, loud exhaust"),
        partial(_revving, strokes=(1, 0.8), low=38, high=210),
    ),
    Recipe(
        "motorcycle",
        "motorcycle-racing-past",
        ("A racing motorcycle screams past.", "motorbike, fast, passing, Doppler", "at the race"),
        partial(_drives_by, rate=290, pipe=190, strokes=FOUR, speed=42),
    ),
    Recipe(
        "motorcycle",
        "moped-buzzing-by",
        ("A moped buzzes by.", "scooter, two-stroke, nasal, passing", "pizza delivery"),
        partial(_drives_by, rate=105, pipe=260, strokes=ONE, speed=11),
    ),
)
