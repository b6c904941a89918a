"""Thunder and wind."""

import numpy as np

from synthetic.sounds.kit import (
    SAMPLE_RATE,
    Recipe,
    Signal,
    add,
    band,
    bump,
    clock,
    coloured,
    curve,
    decay,
    impulses,
    level,
    low_pass,
    mix,
    moving_band,
    noise,
    silence,
    wander,
)
from synthetic.sounds.rain import shower


def _rumble(rng: np.random.Generator, seconds: float, top: float, rolls: int) -> Signal:
    """Thunder far off: rolls of deep noise, each duller than the one before."""
    ground = silence(seconds)
    for at in np.sort(rng.uniform(0, 0.5 * seconds, rolls)):
        length = rng.uniform(0.35, 0.6) * seconds
        roll = noise(rng, length, 1.6) * bump(length, 0.15) * wander(rng, length, 14, 0.2, 1)
        dull = moving_band(roll, curve(length, (0, top), (length, 0.25 * top)), 4.5)
        add(ground, low_pass(level(dull), 3 * top, 1), at, rng.uniform(0.4, 1) / (1 + at))
    return ground


def _thunder_far(rng: np.random.Generator) -> Signal:
    seconds = rng.uniform(6, 7.5)
    thunder = _rumble(rng, seconds, rng.uniform(90, 180), int(rng.integers(3, 6)))
    return level(thunder) + 0.02 * noise(rng, seconds, 1)


def _thunder_near(rng: np.random.Generator, rain: float) -> Signal:
    seconds = rng.uniform(5.5, 7)
    at = rng.uniform(0.3, 0.9)
    ground = silence(seconds)
    for delay in np.append(0, np.sort(rng.exponential(0.12, rng.integers(5, 12)))):
        crack = rng.standard_normal(16_000) * decay(0.5, rng.uniform(0.08, 0.4))
        add(ground, band(crack, 60, rng.uniform(2500, 9000), 1), at + delay, rng.uniform(0.4, 1.3))
    add(ground, level(_rumble(rng, seconds, rng.uniform(140, 260), 5)), at, 0.9)
    return ground + rain * shower(rng, seconds, 0, 0.1)


def _gusts(rng: np.random.Generator, seconds: float) -> Signal:
    return wander(rng, seconds, rng.uniform(0.6, 1.2), 0.1, 1) ** 1.5


def _wind_howling(rng: np.random.Generator) -> Signal:
    seconds = rng.uniform(6, 7.5)
    gust = _gusts(rng, seconds)
    howl = silence(seconds)
    for base in rng.uniform(250, 900, 3):
        pitch = base * (0.75 + 0.6 * gust) * wander(rng, seconds, 3, 0.95, 1.05)
        howl = howl + moving_band(noise(rng, seconds), pitch, 0.16) * wander(rng, seconds, 1, 0, 1)
    return level(howl) * gust + 0.25 * gust * noise(rng, seconds, 1.5)


def _wind_blustery(rng: np.random.Generator) -> Signal:
    seconds = rng.uniform(5, 7)
    gust = _gusts(rng, seconds)
    deep = low_pass(noise(rng, seconds, 1.4), 500, 1) * wander(rng, seconds, 9, 0.2, 1)
    return level(deep) * gust + 0.35 * gust**2 * noise(rng, seconds, 1)


def _wind_in_trees(rng: np.random.Generator) -> Signal:
    seconds = rng.uniform(5, 7)
    gust = _gusts(rng, seconds)
    rustle = level(band(impulses(rng, seconds, 200 + 2500 * gust, 1), 1800, 9000, 1))
    crown = coloured(rng, seconds, (80, 0), (500, 2), (1800, 0), (5000, -8), (16_000, -22))
    return (crown + 0.5 * rustle) * (0.15 + gust)


def _wind_whistling(rng: np.random.Generator) -> Signal:
    seconds = rng.uniform(5, 7)
    gust = _gusts(rng, seconds)
    pitch = rng.uniform(900, 1500) * (0.8 + 0.5 * gust)
    gap = level(moving_band(noise(rng, seconds), pitch, 0.06)) + 0.4 * level(
        moving_band(noise(rng, seconds), 2.02 * pitch, 0.06)
    )
    return gap * gust**1.5 + 0.2 * (0.3 + gust) * noise(rng, seconds, 1.4)


def _blizzard(rng: np.random.Generator) -> Signal:
    seconds = rng.uniform(6, 7.5)
    gust = _gusts(rng, seconds)
    ice = level(band(impulses(rng, seconds, 300 + 5000 * gust, 0.8), 5000, 14_000))
    swing = np.sin(2 * np.pi * rng.uniform(0.2, 0.4) * clock(seconds))
    howl = moving_band(noise(rng, seconds), 420 + 150 * swing + 300 * gust, 0.3)
    return mix(level(howl) * gust, 0.35 * noise(rng, seconds, 1.2) * gust, 0.2 * ice * gust)[
        : round(seconds * SAMPLE_RATE)
    ]


RECIPES = (
    Recipe(
        "thunderstorm",
        "thunder-rolling-far-away",
        (
            "Thunder rumbles in the distance.",
            "thunder, distant, low rumble",
            "a storm is coming, far away",
        ),
        _thunder_far,
    ),
    Recipe(
        "thunderstorm",
        "thunder-clap-close-by",
        (
            "A sharp clap of thunder close by rolls away slowly.",
            "thunder, lightning strike, loud crack",
            "lightning just struck next door",
        ),
        lambda rng: _thunder_near(rng, 0.02),
    ),
    Recipe(
        "thunderstorm",
        "thunderstorm-with-heavy-rain",
        (
            "Thunder crashes while heavy rain pours down.",
            "thunderstorm, rain, lightning",
            "a summer storm right overhead",
        ),
        lambda rng: _thunder_near(rng, rng.uniform(0.15, 0.25)),
    ),
    Recipe(
        "wind",
        "wind-howling-round-the-house",
        (
            "Wind howls around the corners of a house.",
            "howling wind, storm, eerie",
            "a stormy night with the wind moaning outside",
        ),
        _wind_howling,
    ),
    Recipe(
        "wind",
        "gusty-wind-in-a-field",
        (
            "Strong gusts of wind blow across an open field.",
            "wind, gusts, blustery, rumbling",
            "really windy outside",
        ),
        _wind_blustery,
    ),
    Recipe(
        "wind",
        "wind-in-the-trees",
        (
            "Wind rustles the leaves of tall trees.",
            "wind, rustling leaves, forest",
            "a breeze going through the treetops",
        ),
        _wind_in_trees,
    ),
    Recipe(
        "wind",
        "wind-whistling-through-a-gap",
        (
            "Wind whistles through a gap under the door.",
            "draught, whistling wind, window gap",
            "the draughty old window is whistling",
        ),
        _wind_whistling,
    ),
    Recipe(
        "wind",
        "blizzard",
        (
            "A blizzard drives fine ice through the air.",
            "snowstorm, howling wind, ice crystals",
            "caught in a snow storm in the mountains",
        ),
        _blizzard,
    ),
)
