"""Alarms and sirens."""

from functools import partial

import numpy as np

from synthetic.sounds.kit import (
    Recipe,
    Signal,
    clock,
    colour,
    curve,
    drive,
    level,
    noise,
    room,
    tone,
)
from synthetic.sounds.parts import HORN, passing, vary


def _horn_speaker(sound: Signal) -> Signal:
    """Filter a sound as the horn of a siren does, and distort it."""
    return colour(drive(sound, 2.5), (150, -40), (600, 0), (2500, 3), (5000, -6), (15_000, -30))


def _wail(rng: np.random.Generator, low: float, high: float, period: float, shape: float) -> Signal:
    """An electronic siren between two pitches; shape: share of the period that rises."""
    t = clock(5)
    x = (t / vary(rng, period) + rng.uniform()) % 1
    rise = np.where(x < shape, x / shape, (1 - x) / (1 - shape))
    pitch = vary(rng, low) * (high / low) ** rise
    return room(rng, _horn_speaker(tone(pitch, HORN[:12])), 1.2, 0.35)[: len(t)]


def _two_tone(
    rng: np.random.Generator, low: float, high: float, held: float, speed: float
) -> Signal:
    """A European siren that drives by."""
    t = clock(6)
    step = np.where((t / held).astype(int) % 2, vary(rng, high, 0.02), vary(rng, low, 0.02))
    sound = _horn_speaker(tone(step, HORN[:12]))
    gone = passing(sound, rng.uniform(2.5, 3.5), vary(rng, speed), 12)
    return room(rng, gone, 1.0, 0.2)[: len(t)]


def _air_raid(rng: np.random.Generator) -> Signal:
    """A motor winds a siren's rotor up and lets it run down."""
    top = vary(rng, 440)
    pitch = curve(
        8, (0, 90), (0.8, 0.5 * top), (2, 0.85 * top), (3.5, top), (5, top), (8, 0.5 * top)
    )
    chopped = tone(pitch, HORN[:10]) + 0.7 * tone(pitch * 1.2, HORN[:10])
    sound = level(chopped) * curve(8, (0, 0), (1.5, 1), (6, 1), (8, 0.3)) + 0.05 * noise(
        rng, 8, 0.5
    )
    return room(rng, colour(sound, (100, -20), (600, 0), (3000, -8), (14_000, -30)), 2.5, 0.45)[
        :-80_000
    ]


def _car_alarm(rng: np.random.Generator) -> Signal:
    """Whoops, yelps and two-tones in turn."""
    t = clock(5)
    tunes = (
        1600 * (1 - 0.5 * ((t * 2.2) % 1)),
        700 + 900 * (0.5 + 0.5 * np.sin(2 * np.pi * 5.5 * t)),
        np.where((t * 3.2).astype(int) % 2, 1450, 1050),
        600 * 2 ** (1.5 * ((t * 1.4) % 1)),
    )
    order = rng.permutation(4)
    pitch = np.choose(order[np.minimum((t / 1.25).astype(int), 3)], tunes) * vary(rng, 1)
    return room(rng, _horn_speaker(tone(pitch, HORN[:10])), 1.0, 0.3)[: len(t)]


RECIPES = (
    Recipe(
        "siren",
        "siren-police-wail",
        ("A police siren wails.", "siren, rising and falling, slow", "here come the police"),
        partial(_wail, low=580, high=1500, period=3.6, shape=0.45),
    ),
    Recipe(
        "siren",
        "siren-yelp",
        ("An ambulance siren yelps quickly.", "siren, fast, yelping, emergency"),
        partial(_wail, low=650, high=1450, period=0.33, shape=0.6),
    ),
    Recipe(
        "siren",
        "siren-two-tone-passing",
        ("A fire engine with a two-tone siren drives by.", "nee-naw, siren, passing, Doppler"),
        partial(_two_tone, low=435, high=580, held=0.62, speed=17),
    ),
    Recipe(
        "siren",
        "siren-air-raid",
        (
            "An air raid siren winds up and dies down.",
            "air raid, howling, war",
            "take cover",
        ),
        _air_raid,
    ),
    Recipe(
        "car_alarm",
        "car-alarm",
        (
            "A car alarm cycles through its tunes.",
            "car alarm, whooping, parked",
            "someone stole it",
        ),
        _car_alarm,
    ),
)
