"""Sounds of breath: sneezing, coughing, sniffing, gargling."""

import numpy as np

from synthetic.sounds.kit import (
    SAMPLE_RATE,
    Recipe,
    Signal,
    add,
    at_random,
    band,
    bump,
    coloured,
    decay,
    in_step,
    level,
    modes,
    noise,
    outdoors,
    room,
    samples,
    scatter,
    silence,
    wander,
)
from synthetic.sounds.voice import call, formants, vowels
from synthetic.sounds.water import bubble


def air(rng: np.random.Generator, long: float, spoken: str, size: float, peak: float) -> Signal:
    """Breath through an open mouth shaped like those vowels."""
    flow = noise(rng, long, 0.5) * bump(long, peak, 0.7) * wander(rng, long, 25, 0.7, 1)
    return formants(flow, vowels(len(flow), spoken, size)) * bump(long, peak, 0.4)


def _sneeze(rng: np.random.Generator, size: float, pitch: float) -> Signal:
    """Ah ... ah ... choo."""
    ground, at = silence(2.6), 0.1
    for _ in range(rng.integers(1, 3)):
        long = rng.uniform(0.25, 0.4)
        gasp = call(rng, [(0, 1.1 * pitch), (long, 1.5 * pitch)], "er a", size, 0.5, 0.7, 0.1, 0.8)
        add(ground, gasp + 0.8 * air(rng, long, "a", size, 0.8)[: len(gasp)], at, 0.3)
        at += long + rng.uniform(0.08, 0.3)
    burst = coloured(rng, 0.4, (150, -14), (700, -4), (2500, 0), (6000, -3), (15_000, -12))
    add(ground, burst * decay(0.4, rng.uniform(0.3, 0.5), 0.02), at, 1.6)
    points = [(0, 1.6 * pitch), (0.08, 1.9 * pitch), (0.35, 0.8 * pitch)]
    add(ground, call(rng, points, "i u er", size, 0.8, 0.6, 0.3, 0.25), at + 0.02, 0.8)
    return ground[: samples(at + 0.7)]


def _sneezing(rng: np.random.Generator, size: float, pitch: float) -> Signal:
    sneeze = _sneeze(rng, size, pitch * rng.uniform(0.9, 1.1))
    return outdoors(rng, room(rng, sneeze, 0.4, 0.12), 0.003)


def _cough(rng: np.random.Generator, size: float, pitch: float, wet: float) -> Signal:
    long = rng.uniform(0.3, 0.45)
    blast = level(band(rng.standard_normal(samples(long)), 300, 7000, 1)) * decay(long, 0.7, 0.008)
    throat = formants(blast, [f * size for f in (650, 1450, 2600, 3500)], (150, 180, 250, 300))
    tail = call(rng, [(0, 1.4 * pitch), (0.6 * long, pitch)], "a er", size, 0.7, 0.5, 0.6, 0.3)
    ground = throat * decay(long, 0.8, 0.008)
    add(ground, tail, rng.uniform(0.05, 0.08), 0.9)
    if wet:
        rattle = np.maximum(
            np.sin(2 * np.pi * np.cumsum(wander(rng, long, 20, 35, 70)) / SAMPLE_RATE), 0
        )
        ground = ground * (1 - wet + 2 * wet * rattle[: len(ground)])
    return ground


def _coughing(rng: np.random.Generator, size: float, pitch: float, fits: int, wet: float) -> Signal:
    ground, at = silence(1.1 * fits + 1.6), 0.15
    for _ in range(fits):
        for index in range(rng.integers(2, 4)):
            add(ground, _cough(rng, size, pitch, wet), at, 0.85**index * rng.uniform(0.7, 1))
            at += rng.uniform(0.26, 0.38)
        at += rng.uniform(0.3, 0.7)
    return outdoors(rng, room(rng, ground[: samples(at + 0.3)], 0.4, 0.1), 0.003)


def _hiccups(rng: np.random.Generator, pitch: float, size: float) -> Signal:
    seconds = rng.uniform(4, 5)
    ground = silence(seconds)
    for at in in_step(rng, seconds - 0.5, rng.uniform(1.2, 1.6), 0.08):
        top = pitch * rng.uniform(0.9, 1.15)
        points = [(0, 0.7 * top), (0.05, 1.3 * top), (0.13, 1.6 * top)]
        add(ground, call(rng, points, "i u", size, 0.8, 0.4, 0.1, 0.45), at)
        add(ground, modes(0.05, (260 * size, 700 * size), 0.04, 0.6), at + 0.12)
        add(ground, air(rng, 0.3, "er", size, 0.2), at + 0.25, 0.1)
    return outdoors(rng, room(rng, ground, 0.35, 0.1), 0.003)


def _sniffing(rng: np.random.Generator, blows: bool) -> Signal:
    seconds = rng.uniform(3.5, 4.5)
    ground = silence(seconds)
    for at in in_step(rng, seconds - 0.9, rng.uniform(0.75, 1.1), 0.15):
        long = rng.uniform(0.18, 0.4)
        sniff = coloured(rng, long, (300, -20), (1500, -3), (4500, 0), (9000, -8), (16_000, -20))
        add(ground, sniff * bump(long, 0.7), at, rng.uniform(0.4, 1))
    if blows:
        long = rng.uniform(0.7, 0.9)
        flaps = np.maximum(
            np.sin(2 * np.pi * np.cumsum(wander(rng, long, 12, 70, 150)) / SAMPLE_RATE), 0
        )
        blow = formants(noise(rng, long, 0.4) * (0.2 + flaps), (500, 1300, 2600, 4200))
        add(ground, blow * bump(long, 0.3, 0.4), seconds - 1, 1.6)
    return outdoors(rng, room(rng, ground, 0.3, 0.08), 0.003)


def _gargle(rng: np.random.Generator) -> Signal:
    seconds, pitch = rng.uniform(3, 4), rng.uniform(130, 220)
    knots = [(t, pitch * rng.uniform(0.9, 1.15)) for t in np.linspace(0, seconds, 7)]
    bubbling = np.maximum(
        np.sin(2 * np.pi * np.cumsum(wander(rng, seconds, 9, 14, 30)) / SAMPLE_RATE), 0
    )
    voice = call(rng, knots, "a o a er a", 1.05, 0.6, 0.4, 0.25, 0.5) * (0.15 + bubbling)
    drops = scatter(
        seconds,
        at_random(rng, seconds - 0.1, 55),
        lambda: rng.lognormal(0, 0.6) * bubble(rng, rng.uniform(400, 1500), 0.04, 0.8),
    )
    return outdoors(rng, room(rng, voice + 0.35 * level(drops), 0.4, 0.15), 0.003)


RECIPES = (
    Recipe(
        "sneezing",
        "man-sneezing",
        (
            "A man sneezes.",
            "sneeze, achoo, man",
            "bless you!",
        ),
        lambda rng: _sneezing(rng, 1.0, 120),
    ),
    Recipe(
        "sneezing",
        "woman-sneezing",
        (
            "A woman sneezes after a short gasp.",
            "sneezing, woman, achoo",
            "she must have caught a cold",
        ),
        lambda rng: _sneezing(rng, 1.17, 220),
    ),
    Recipe(
        "sneezing",
        "child-sneezing-twice",
        (
            "A child sneezes twice in a row.",
            "sneeze, child, two sneezes",
            "the little one has hay fever",
        ),
        lambda rng: np.concatenate([_sneezing(rng, 1.35, 320), _sneezing(rng, 1.35, 320)]),
    ),
    Recipe(
        "coughing",
        "dry-cough",
        (
            "A man coughs drily.",
            "cough, dry, man",
            "somebody is ill with a tickle in the throat",
        ),
        lambda rng: _coughing(rng, 1.0, 140, 2, 0),
    ),
    Recipe(
        "coughing",
        "chesty-cough",
        (
            "Somebody with bronchitis coughs up phlegm.",
            "chesty cough, wet, illness",
            "that cough sounds bad",
        ),
        lambda rng: _coughing(rng, 0.95, 110, 2, 0.7),
    ),
    Recipe(
        "coughing",
        "child-coughing",
        (
            "A child coughs.",
            "coughing, child, cold",
            "the kid should stay home from school",
        ),
        lambda rng: _coughing(rng, 1.3, 290, 2, 0.1),
    ),
    Recipe(
        "hiccup",
        "man-hiccuping",
        (
            "A man has the hiccups.",
            "hiccup, man",
            "hold your breath and count to ten",
        ),
        lambda rng: _hiccups(rng, 190, 1.0),
    ),
    Recipe(
        "hiccup",
        "child-hiccuping",
        (
            "A child hiccups again and again.",
            "hiccups, child, squeak",
            "she drank her lemonade too fast",
        ),
        lambda rng: _hiccups(rng, 380, 1.35),
    ),
    Recipe(
        "sniffing",
        "sniffing-with-a-cold",
        (
            "Somebody with a runny nose sniffs.",
            "sniffle, nose, cold",
            "does anyone have a tissue?",
        ),
        lambda rng: _sniffing(rng, False),
    ),
    Recipe(
        "sniffing",
        "blowing-the-nose",
        (
            "Somebody sniffs and blows their nose into a handkerchief.",
            "blowing nose, handkerchief, trumpet",
            "honking into a hanky",
        ),
        lambda rng: _sniffing(rng, True),
    ),
    Recipe(
        "gargling",
        "gargling",
        (
            "Somebody gargles with mouthwash.",
            "gargling, throat, bathroom",
            "rinsing a sore throat",
        ),
        _gargle,
    ),
)
