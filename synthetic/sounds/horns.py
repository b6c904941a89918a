"""Horns and whistles that are blown."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from synthetic.sounds.kit import (
    Point,
    Recipe,
    Signal,
    clock,
    colour,
    curve,
    drive,
    high_pass,
    level,
    mix,
    moving_band,
    noise,
    resonate,
    room,
    tone,
    wander,
)
from synthetic.sounds.parts import HORN, gate, sequence, vary


def _blast(
    rng: np.random.Generator,
    pitches: Sequence[float],
    calls: Sequence[Point],
    hiss: float,
    wet: float,
) -> Signal:
    """A chord of horns or pipes blown at these (time, length)s; hiss is the share of steam."""
    tune, sounds = vary(rng, 1, 0.08), []
    for at, held in calls:
        t = clock(held)
        onset = 1 - 0.06 * np.exp(-t / 0.05) - 0.05 * np.exp(-(held - t) / 0.06)
        chord = mix(
            *(
                tone(hz * tune * onset * (1 + 0.003 * wander(rng, held, 6, -1, 1)), HORN)
                for hz in pitches
            )
        )
        steam = hiss * level(high_pass(noise(rng, held, 0.5), 800))
        sounds.append((at, (2 * drive(chord, 3) + steam) * gate(held, 0.08, 0.2)))
    ground = sequence(sum(calls[-1]) + 0.2, sounds)
    shaped = colour(ground, (60, -6), (300, 0), (1200, 0), (4000, -8 + 8 * hiss), (15_000, -32))
    return room(rng, shaped, 2.0, wet)


def _steam_whistle(
    rng: np.random.Generator, pitches: Sequence[float], calls: Sequence[Point]
) -> Signal:
    """Flue pipes on steam: weak harmonics in much hiss; pitch scoops up at the start."""
    tune, sounds = vary(rng, 1, 0.12), []
    for at, held in calls:
        t = clock(held)
        scoop = 1 - 0.12 * np.exp(-t / 0.08) - 0.1 * np.exp(-(held - t) / 0.1)
        steam = noise(rng, held, 0.6)
        voices = [tone(hz * tune * scoop, (1, 0.35, 0.15, 0.08, 0.04)) for hz in pitches]
        ringing = resonate(steam, np.array(pitches) * tune, 0.04)
        sound = level(mix(*voices)) + 0.5 * level(ringing) + 0.3 * level(high_pass(steam, 1500))
        sounds.append((at, sound * wander(rng, held, 9, 0.8, 1.1) * gate(held, 0.06, 0.15)))
    return room(rng, sequence(sum(calls[-1]) + 0.2, sounds), 2.2, 0.35)


def _pea_whistle(
    rng: np.random.Generator, hz: float, calls: Sequence[Point], trill: float
) -> Signal:
    """A whistle with a pea that trills; two chambers that beat."""
    hz, sounds = vary(rng, hz), []
    for at, held in calls:
        roll = trill * wander(rng, held, 4, 0.9, 1.1)
        wave = np.sin(2 * np.pi * np.cumsum(roll) / 32_000)
        blown = curve(held, (0, 0.9), (0.06, 1), (held - 0.05, 1), (held, 0.92))
        pitch = hz * blown * (1 + 0.025 * wave * bool(trill))
        shrill = tone(pitch, (1, 0.12, 0.1, 0.03)) + 0.5 * tone(pitch * 1.07, (1, 0.1, 0.08))
        breath = moving_band(noise(rng, held), pitch, 0.5) + 0.1 * high_pass(noise(rng, held), 4000)
        sound = (shrill + 0.25 * breath) * (1 + 0.5 * wave * bool(trill))
        sounds.append((at, sound * gate(held, 0.015, 0.04)))
    return room(rng, sequence(sum(calls[-1]) + 0.1, sounds), 1.0, 0.2)


RECIPES = (
    Recipe(
        "ship_horn",
        "ship-horn-ferry",
        ("A ferry sounds its horn as it leaves.", "ship horn, deep, one long blast", "all aboard"),
        partial(_blast, pitches=(110, 139), calls=((0.1, 3.6),), hiss=0.03, wet=0.5),
    ),
    Recipe(
        "ship_horn",
        "fog-horn",
        ("A fog horn moans twice across the bay.", "fog horn, very low, lonely, sea"),
        partial(_blast, pitches=(78,), calls=((0.1, 1.8), (2.9, 1.8)), hiss=0.02, wet=0.6),
    ),
    Recipe(
        "ship_horn",
        "harbour-tug-toots",
        ("A tugboat gives three short toots.", "boat horn, short blasts, harbour"),
        partial(
            _blast, pitches=(185,), calls=((0.1, 0.5), (0.9, 0.5), (1.7, 0.8)), hiss=0.08, wet=0.4
        ),
    ),
    Recipe(
        "train_horn",
        "train-horn-diesel",
        ("A diesel train blows its horn at a crossing.", "train horn, long long short long"),
        partial(
            _blast,
            pitches=(311, 370, 415, 494, 622),
            calls=((0.1, 1.2), (1.7, 1.2), (3.2, 0.4), (3.9, 1.7)),
            hiss=0.04,
            wet=0.4,
        ),
    ),
    Recipe(
        "train_horn",
        "train-horn-two-tone",
        ("A commuter train sounds two tones, high then low.", "railway horn, two tones"),
        partial(_blast, pitches=(370, 466), calls=((0.1, 0.6), (0.75, 0.9)), hiss=0.03, wet=0.35),
    ),
    Recipe(
        "train_whistle",
        "train-whistle-steam-long",
        ("A steam train whistles long and mournfully.", "steam whistle, chord, far away"),
        partial(_steam_whistle, pitches=(440, 523, 659), calls=((0.1, 1.3), (1.7, 2.4))),
    ),
    Recipe(
        "train_whistle",
        "train-whistle-shrill",
        ("A small steam engine gives two shrill peeps.", "steam whistle, peep peep, high"),
        partial(_steam_whistle, pitches=(1180, 1490), calls=((0.1, 0.35), (0.65, 0.6))),
    ),
    Recipe(
        "train_whistle",
        "factory-whistle",
        (
            "A factory whistle ends the shift.",
            "steam whistle, one low note, works",
            "time to go home",
        ),
        partial(_steam_whistle, pitches=(330,), calls=((0.1, 3.5),)),
    ),
    Recipe(
        "whistle_blown",
        "referee-whistle-short",
        ("A referee blows a whistle for a foul.", "whistle, short, shrill, football", "foul"),
        partial(_pea_whistle, hz=2900, calls=((0.1, 0.5),), trill=38),
    ),
    Recipe(
        "whistle_blown",
        "referee-whistle-final",
        ("Three blasts of a whistle end the match.", "whistle, two short one long", "full time"),
        partial(_pea_whistle, hz=3100, calls=((0.1, 0.4), (0.7, 0.4), (1.3, 1.5)), trill=34),
    ),
    Recipe(
        "whistle_blown",
        "lifeguard-whistle",
        ("A lifeguard whistles without a trill.", "plain whistle, loud, steady, beach"),
        partial(_pea_whistle, hz=3600, calls=((0.1, 0.8), (1.15, 0.8)), trill=0),
    ),
    Recipe(
        "air_horn",
        "football-air-horn",
        ("A fan squeezes an air horn.", "air horn, blaring, stadium", "goal"),
        partial(
            _blast,
            pitches=(466, 470),
            calls=((0.1, 0.3), (0.55, 0.3), (1.0, 1.6)),
            hiss=0.1,
            wet=0.3,
        ),
    ),
)
