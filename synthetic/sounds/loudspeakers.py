"""Voices in a crowd and through loudspeakers."""

from collections.abc import Sequence

import numpy as np

from synthetic.sounds.kit import (
    SAMPLE_RATE,
    Recipe,
    Signal,
    add,
    band,
    bump,
    drive,
    impulses,
    level,
    modes,
    noise,
    outdoors,
    room,
    samples,
    silence,
    wander,
)
from synthetic.sounds.speech import CHILDISH, ENGLISH, MEN, WOMEN, pick, talk

ANNOUNCEMENTS = (
    "Attention please. The train on platform four is delayed by ten minutes.",
    "Ladies and gentlemen, the museum will close in a quarter of an hour.",
    "Would the owner of a blue car please come to the information desk.",
)


def _crowd(
    rng: np.random.Generator, texts: Sequence[str], people: int, pitch: float, hall: float
) -> Signal:
    """A crowd in which everybody talks at once, none to be understood."""
    seconds = rng.uniform(4.5, 5.3)
    ground = silence(seconds)
    for _ in range(people):
        variant = pick(rng, WOMEN + MEN)
        speech = talk(rng, texts, "en-gb" + variant, pitch + 12 * ("f" in variant), 175)
        add(ground, speech, rng.uniform(-2.5, seconds - 1.5), rng.uniform(0.25, 1))
    return outdoors(rng, room(rng, ground, hall, 0.4), 0.01)


def _announcement(rng: np.random.Generator) -> Signal:
    """Two chimes, then a voice from loudspeakers in a large hall."""
    root = rng.uniform(480, 620)
    ground = silence(8)
    for index, ratio in enumerate((1.26, 1.0)):
        partials = root * ratio * np.array([1, 2, 3, 4.2])
        add(
            ground,
            modes(1.6, partials, (1.6, 0.9, 0.6, 0.3), (1, 0.3, 0.12, 0.05)),
            0.1 + 0.5 * index,
            0.7,
        )
    speech = talk(rng, ANNOUNCEMENTS, "en-gb" + pick(rng, WOMEN), 50, 165)
    add(ground, drive(band(speech, 350, 5500, 1), 2), 1.6, 1.5)
    ground = ground[: samples(min(1.8 + len(speech) / SAMPLE_RATE, 6.4))]
    return outdoors(rng, room(rng, ground, 1.8, 0.4), 0.008)


def _telephone(rng: np.random.Generator) -> Signal:
    speech = talk(rng, ENGLISH, "en-us" + pick(rng, WOMEN + MEN), 45, 175)
    line = band(drive(band(speech, 300, 3400, 4), 3), 300, 3400, 4)
    hiss = band(noise(rng, len(speech) / SAMPLE_RATE), 300, 3400)
    return line + 0.01 * hiss + 0.004 * level(impulses(rng, len(speech) / SAMPLE_RATE, 20))


def _radio(rng: np.random.Generator) -> Signal:
    """Two-way radio: a click, a torn voice in noise, a burst of hiss at the end."""
    speech = talk(rng, ENGLISH, "en-us" + pick(rng, MEN), 40, 195)
    seconds = len(speech) / SAMPLE_RATE
    ground = silence(seconds + 0.7)
    add(ground, band(drive(band(speech, 500, 2800, 4), 12), 400, 3500), 0.15)
    static = band(noise(rng, seconds + 0.35), 600, 5000) * wander(rng, seconds + 0.35, 9, 0.3, 1)
    add(ground, static, 0.1, 0.2)
    add(ground, band(noise(rng, 0.22), 800, 7000) * bump(0.22, 0.2, 0.3), seconds + 0.42, 0.8)
    return ground


def _robot(rng: np.random.Generator) -> Signal:
    """A voice multiplied by a tone and echoed by a short tube."""
    speech = talk(rng, ENGLISH, "en-us+m3", 30, 150)
    ring = np.sign(np.sin(2 * np.pi * rng.uniform(45, 75) * np.arange(len(speech)) / SAMPLE_RATE))
    metal = speech * (0.35 + 0.65 * ring)
    delay = samples(rng.uniform(0.006, 0.011))
    for gain in (0.6, 0.4, 0.25):
        metal = metal + gain * np.pad(metal, (delay, 0))[: len(metal)]
    return outdoors(rng, metal, 0.003)


RECIPES = (
    Recipe(
        "crowd_talking",
        "crowded-restaurant",
        (
            "Many people talk at once in a restaurant.",
            "crowd, babble, chatter, restaurant",
            "can't hear myself think in here",
        ),
        lambda rng: _crowd(rng, ENGLISH, 26, 42, 0.9),
    ),
    Recipe(
        "crowd_talking",
        "people-waiting-in-a-large-hall",
        (
            "A crowd murmurs in a large, echoing hall.",
            "crowd murmur, hall, reverberation",
            "waiting for the concert to begin",
        ),
        lambda rng: _crowd(rng, ENGLISH, 34, 35, 2.6),
    ),
    Recipe(
        "crowd_talking",
        "schoolyard-full-of-children",
        (
            "Children chatter and shout on a schoolyard.",
            "children, schoolyard, voices, break time",
            "kids at playtime",
        ),
        lambda rng: _crowd(rng, CHILDISH, 24, 84, 0.5),
    ),
    Recipe(
        "announcement",
        "station-announcement",
        (
            "After two chimes, a voice makes an announcement over loudspeakers.",
            "public address, station, chime, loudspeaker",
            "my train is late again",
        ),
        _announcement,
    ),
    Recipe(
        "voice_over_line",
        "voice-on-the-telephone",
        (
            "Somebody talks on the telephone; the voice is thin.",
            "phone call, telephone voice, narrow band",
            "a voicemail message",
        ),
        _telephone,
    ),
    Recipe(
        "voice_over_line",
        "walkie-talkie",
        (
            "A distorted voice comes over a two-way radio.",
            "walkie-talkie, radio, static, squelch",
            "roger, over and out",
        ),
        _radio,
    ),
    Recipe(
        "robot_voice",
        "robot-speaking",
        (
            "A robot speaks in a metallic voice.",
            "robot, synthetic voice, metallic",
            "take me to your leader",
        ),
        _robot,
    ),
)
