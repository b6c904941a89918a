"""Rain, wind, thunder, hail."""

import numpy as np

from assets.make_sounds.kit import (
    SAMPLE_RATE,
    Recipe,
    Signal,
    add,
    at_random,
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
    modes,
    moving_band,
    noise,
    resonate,
    scatter,
    silence,
    wander,
)
from assets.make_sounds.water import bubble


def _shower(rng: np.random.Generator, seconds: float, tilt: float, unrest: float) -> Signal:
    """The far, even part of rain: drops too many to be told apart."""
    far = coloured(
        rng, seconds, (60, 9), (400, 5), (2500, 0), (6000, -4), (16_000, -11 + tilt)
    ) * wander(rng, seconds, 2, 1 - unrest, 1 + unrest)
    return far + 0.5 * level(band(impulses(rng, seconds, 3000, 1.2), 1500, 13_000))


def _rain_on_tin(rng: np.random.Generator, rate: float) -> Signal:
    seconds = rng.uniform(4.5, 6)
    hz = np.sort(np.exp(rng.uniform(np.log(350), np.log(7500), 28)))
    sheet = resonate(
        impulses(rng, seconds, rate, 1.1), hz, rng.uniform(0.03, 0.12, 28), rng.uniform(0.2, 1, 28)
    )
    return level(sheet) + 0.35 * _shower(rng, seconds, 2, 0.1)


def _rain_on_leaves(rng: np.random.Generator) -> Signal:
    seconds = rng.uniform(4.5, 6)
    taps = scatter(
        seconds,
        at_random(rng, seconds, rng.uniform(35, 70)),
        lambda: (
            rng.lognormal(0, 0.8)
            * decay(0.03, rng.uniform(0.01, 0.03))
            * band(rng.standard_normal(960), rng.uniform(700, 1800), rng.uniform(3000, 9000), 1)
        ),
    )
    return level(taps) + rng.uniform(0.25, 0.4) * _shower(rng, seconds, -4, 0.15)


def _downpour(rng: np.random.Generator) -> Signal:
    seconds = rng.uniform(4.5, 6)
    splashes = scatter(
        seconds,
        at_random(rng, seconds, 160),
        lambda: rng.lognormal(0, 0.6) * bubble(rng, np.exp(rng.uniform(7.2, 8.6)), 0.02),
    )
    return _shower(rng, seconds, 4, 0.2) + 0.3 * level(splashes)


def _rain_on_window(rng: np.random.Generator) -> Signal:
    seconds = rng.uniform(4.5, 6)
    pane = rng.uniform(500, 4000, 12)
    taps = resonate(impulses(rng, seconds, rng.uniform(14, 30), 0.7), pane, 0.03, 1)
    splat = band(impulses(rng, seconds, 40, 0.7), 2000, 12_000, 1)
    outside = low_pass(_shower(rng, seconds, -6, 0.2), 1200, 1)
    return level(taps) + 0.6 * level(splat) + 0.3 * outside


def _rain_on_umbrella(rng: np.random.Generator) -> Signal:
    seconds = rng.uniform(4.5, 6)
    cloth = rng.uniform(180, 1100, 8)
    hits = impulses(rng, seconds, rng.uniform(45, 90), 0.7)
    drum = resonate(hits, cloth, rng.uniform(0.015, 0.04, 8), 1)
    return (
        level(drum) + 0.5 * level(band(hits, 2500, 9000, 1)) + 0.2 * _shower(rng, seconds, 0, 0.1)
    )


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
    return ground + rain * _shower(rng, seconds, 0, 0.1)


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


def _hail(rng: np.random.Generator, body: tuple[float, float], ring: float) -> Signal:
    """Ice on a body with resonances in the range."""
    seconds = rng.uniform(4, 5.5)
    thick = curve(seconds, (0, rng.uniform(30, 60)), (seconds, rng.uniform(60, 130)))
    hz = np.exp(rng.uniform(np.log(body[0]), np.log(body[1]), 16))

    def stone() -> Signal:
        near = rng.lognormal(0, 0.9)
        own = rng.uniform(3500, 9000, 3)
        struck = modes(0.08, rng.permutation(hz)[:5], ring * rng.uniform(0.6, 1.4), 0.5)
        return near * (struck + modes(0.08, own, 0.012, 0.8))

    stones = scatter(seconds, at_random(rng, seconds, thick), stone)
    return level(stones) + 0.12 * _shower(rng, seconds, 3, 0.1)


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
        "rain",
        "heavy-rain-on-a-tin-roof",
        (
            "Heavy rain drums on a tin roof.",
            "rain, metal roof, downpour",
            "pouring rain hammering on corrugated iron",
        ),
        lambda rng: _rain_on_tin(rng, rng.uniform(500, 900)),
    ),
    Recipe(
        "rain",
        "first-drops-on-a-tin-roof",
        (
            "The first raindrops tap on a metal roof.",
            "rain starting, sparse drops, tin",
            "it is beginning to rain on the shed",
        ),
        lambda rng: _rain_on_tin(rng, rng.uniform(25, 60)),
    ),
    Recipe(
        "rain",
        "light-rain-on-leaves",
        (
            "Light rain patters on the leaves of a garden.",
            "gentle rain, leaves, drizzle",
            "soft rain in the woods",
        ),
        _rain_on_leaves,
    ),
    Recipe(
        "rain",
        "downpour-on-the-street",
        (
            "A cloudburst pours down on the street and splashes in the puddles.",
            "heavy rain, downpour, puddles",
            "it is raining cats and dogs",
        ),
        _downpour,
    ),
    Recipe(
        "rain",
        "rain-against-a-window",
        (
            "Raindrops patter against a window pane, heard from inside.",
            "rain, window, indoors",
            "a rainy day at home",
        ),
        _rain_on_window,
    ),
    Recipe(
        "rain",
        "rain-on-an-umbrella",
        (
            "Rain falls on an open umbrella.",
            "rain, umbrella, drumming drops",
            "walking under an umbrella in the rain",
        ),
        _rain_on_umbrella,
    ),
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
    Recipe(
        "hail",
        "hail-on-a-car-roof",
        (
            "Hailstones clatter on the roof of a car.",
            "hail, car, metal, clatter",
            "sitting in the car while it hails",
        ),
        lambda rng: _hail(rng, (250, 2500), 0.07),
    ),
    Recipe(
        "hail",
        "hail-on-a-glass-roof",
        (
            "Hail rattles on the glass of a greenhouse.",
            "hailstorm, glass, ice pellets",
            "ice pellets bouncing off the conservatory",
        ),
        lambda rng: _hail(rng, (1800, 7500), 0.04),
    ),
)
