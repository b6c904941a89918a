"""Vehicles that drive, roll and fly: cars, trains, aircraft."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from synthetic.sounds.engines import FOUR, engine
from synthetic.sounds.kit import (
    Point,
    Recipe,
    Signal,
    add,
    clock,
    colour,
    coloured,
    curve,
    drive,
    level,
    mix,
    moving_band,
    noise,
    outdoors,
    room,
    silence,
    tone,
    wander,
)
from synthetic.sounds.parts import HORN, exhaust, firings, gate, passing, vary


def _car_horn(
    rng: np.random.Generator, pitches: Sequence[float], calls: Sequence[Point], wet: float
) -> Signal:
    """Discs that buzz in their trumpets, two a car."""
    ground, tune = silence(sum(calls[-1]) + 0.2), vary(rng, 1, 0.12)
    for at, held in calls:
        onset = 1 - 0.03 * np.exp(-clock(held) / 0.015)
        discs = mix(*(tone(hz * tune * onset, HORN * 2) for hz in pitches))
        voice = colour(drive(discs, 3), (200, -12), (700, 0), (2600, 4), (5000, -4), (15_000, -22))
        add(ground, voice * gate(held, 0.012, 0.03), at)
    street = 0.02 * coloured(rng, len(ground) / 32_000, (60, 4), (400, 0), (4000, -16))
    return room(rng, ground + street, 0.9, wet)


def _rolls_by(rng: np.random.Generator, speed: float, wet: float, motor: float) -> Signal:
    """Tyres and engine of a car; wet: the hiss of water on the road."""
    seconds = 5.4
    tyres = coloured(rng, seconds, (60, 0), (300, 0), (1000, 4), (3000, -8), (15_000, -26))
    spray = coloured(rng, seconds, (500, -20), (2500, 0), (7000, 2), (15_000, -4))
    turn = np.full(len(tyres), vary(rng, 24 + 2.2 * speed))
    sound = tyres + wet * spray + motor * engine(rng, turn, FOUR, 70, 0.5)
    return outdoors(rng, passing(sound, rng.uniform(2.2, 3.2), vary(rng, speed), 6), 0.012)


def _street(rng: np.random.Generator) -> Signal:
    """Many cars, near and far, at once."""
    seconds = 5.2
    ground = 0.25 * coloured(rng, seconds, (50, 4), (250, 2), (900, 0), (3000, -14), (15_000, -34))
    for near in rng.uniform(-0.5, 5.5, 5):
        tyres = coloured(rng, seconds, (60, 2), (300, 0), (1000, 3), (3000, -8), (15_000, -25))
        turn = np.full(len(tyres), rng.uniform(35, 75))
        sound = tyres + 0.5 * engine(rng, turn, FOUR, rng.uniform(55, 90), 0.4)
        ground += rng.uniform(0.4, 1) * passing(sound, near, rng.uniform(8, 15), 9)
    return ground


def _skid(rng: np.random.Generator) -> Signal:
    """Tyres squeal and the car comes to a stop."""
    seconds, stop = 3.4, vary(rng, 2.2)
    pitch = (
        vary(rng, 900)
        * curve(seconds, (0.2, 1), (stop, 0.72))
        * wander(rng, seconds, 14, 0.96, 1.04)
    )
    squeal = level(
        tone(pitch, (1, 0.7, 0.5, 0.35, 0.2, 0.15)) + 0.6 * tone(1.31 * pitch, (1, 0.5, 0.3))
    )
    rubber = level(moving_band(noise(rng, seconds), 2 * pitch, 2))
    share = curve(seconds, (0.2, 0), (0.3, 1), (stop - 0.2, 0.8), (stop, 0))
    return outdoors(rng, room(rng, share * (squeal + 0.7 * rubber), 0.9, 0.25), 0.006)


def _freewheel(rng: np.random.Generator) -> Signal:
    """A bicycle rolls: the pawls of its hub tick, slower and slower."""
    seconds = 4.0
    rate = curve(seconds, (0, vary(rng, 42)), (seconds, 14))
    pawls = exhaust(firings(rng, rate, (1, 0.8, 0.9), 0.02), (2400, 3800, 5700, 8800), 0.012)
    tyres = 0.12 * coloured(rng, seconds, (200, 0), (1500, 0), (6000, -8), (15_000, -20))
    return outdoors(rng, level(pawls) + tyres, 0.002)


RECIPES = (
    Recipe(
        "car_horn",
        "car-horn-short-double",
        ("A car hoots twice.", "car horn, two short beeps", "hey, the light is green"),
        partial(_car_horn, pitches=(405, 500), calls=((0.1, 0.25), (0.5, 0.3)), wet=0.25),
    ),
    Recipe(
        "car_horn",
        "car-horn-long-angry",
        ("An angry driver leans on the horn.", "car horn, one long blast", "road rage"),
        partial(_car_horn, pitches=(350, 440), calls=((0.1, 2.0),), wet=0.3),
    ),
    Recipe(
        "car_horn",
        "old-car-horn",
        ("A small old car gives a nasal toot.", "single-tone horn, vintage car, toot"),
        partial(_car_horn, pitches=(520,), calls=((0.1, 0.3), (0.55, 0.6)), wet=0.2),
    ),
    Recipe(
        "car_passing",
        "car-passing-country-road",
        ("A car drives past on a country road.", "car, passing, tyres, whoosh"),
        partial(_rolls_by, speed=22, wet=0, motor=0.4),
    ),
    Recipe(
        "car_passing",
        "car-passing-on-wet-road",
        ("A car drives by on a wet road.", "wet tyres, hiss, passing", "puddles in the street"),
        partial(_rolls_by, speed=14, wet=1.2, motor=0.2),
    ),
    Recipe(
        "car_passing",
        "lorry-thundering-past",
        ("A heavy lorry thunders past.", "truck, passing, loud, engine", "beside the motorway"),
        partial(_rolls_by, speed=25, wet=0.1, motor=1.4),
    ),
    Recipe(
        "city_traffic",
        "city-street",
        ("Cars roll along a busy city street.", "traffic, many cars, rush hour"),
        _street,
    ),
    Recipe(
        "car_brakes",
        "tyres-squealing",
        ("A car brakes hard with squealing tyres.", "skidding, screech", "a near accident"),
        _skid,
    ),
    Recipe(
        "bicycle_wheel",
        "bicycle-freewheeling",
        ("A bicycle coasts with a ticking hub.", "freewheel, ticking, bike, slowing down"),
        _freewheel,
    ),
)
