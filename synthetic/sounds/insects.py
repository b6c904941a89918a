"""Insects, on the wing and in the grass."""

import numpy as np

from synthetic.sounds.kit import (
    SAMPLE_RATE,
    Recipe,
    Signal,
    add,
    band,
    bump,
    clock,
    curve,
    high_pass,
    impulses,
    in_step,
    level,
    modes,
    noise,
    outdoors,
    resonate,
    room,
    samples,
    silence,
    tone,
    wander,
)


def _wingbeat(rng: np.random.Generator, pitch: Signal, rough: float) -> Signal:
    """The beat of wings: a tone rich in harmonics, never quite steady."""
    seconds = len(pitch) / SAMPLE_RATE
    pitch = pitch * (1 + rough * wander(rng, seconds, 30, -0.06, 0.06))
    partials = np.arange(1, int(0.47 * SAMPLE_RATE / np.max(pitch)))
    spectrum = 1j * rng.uniform(0.4, 1, len(partials)) / partials**1.15
    beat = np.fft.irfft(np.append(0, spectrum), 2048)
    turn = np.cumsum(pitch) / SAMPLE_RATE % 1
    hum = np.interp(turn, np.arange(2048) / 2048, beat)
    return level(hum) * wander(rng, seconds, 40, 1 - 0.4 * rough, 1)


def _passing(rng: np.random.Generator, seconds: float, restless: float) -> tuple[Signal, Signal]:
    """The (loudness, pitch factor) of something that flies about the listener."""
    near = wander(rng, seconds, restless, 0.05, 1) ** 2
    return near, 1 + 0.06 * wander(rng, seconds, 2 * restless, -1, 1) + 0.05 * near


def _flying(
    rng: np.random.Generator, hz: float, rough: float, restless: float, thin: float = 0
) -> Signal:
    """An insect that flies about the listener. thin: Hz below which the small body does not
    sound.
    """
    seconds = rng.uniform(4, 5.5)
    near, factor = _passing(rng, seconds, restless)
    wings = _wingbeat(rng, hz * rng.uniform(0.92, 1.08) * factor, rough)
    if thin:
        wings = high_pass(wings, thin, 1)
    return outdoors(rng, wings * (0.04 + near), 0.006)


def _fly_at_window(rng: np.random.Generator) -> Signal:
    """Buzzing in bursts, each ended by the pane."""
    seconds = rng.uniform(4, 5)
    ground, at = silence(seconds), 0.1
    while at < seconds - 0.2:
        long = rng.uniform(0.08, 0.7)
        hz = rng.uniform(170, 230)
        pitch = curve(long, (0, 0.85 * hz), (0.2 * long, hz), (long, 1.08 * hz))
        add(ground, _wingbeat(rng, pitch, 1) * bump(long, 0.4, 0.3), at, rng.uniform(0.3, 1))
        at += long
        add(ground, modes(0.05, rng.uniform(700, 2500, 4), 0.03, 0.7), at)
        at += rng.choice([0.02, 0.05, rng.uniform(0.1, 0.6)])
    return outdoors(rng, ground, 0.006)


def _swarm(rng: np.random.Generator, hz: float, insects: int) -> Signal:
    seconds = rng.uniform(4.5, 5.5)
    ground = silence(seconds)
    for _ in range(insects):
        near, factor = _passing(rng, seconds, rng.uniform(0.4, 1.5))
        ground += _wingbeat(rng, hz * rng.uniform(0.8, 1.2) * factor, 0.6) * (0.1 + near)
    return outdoors(rng, ground, 0.01)


def _chirps(
    rng: np.random.Generator, hz: float, pulses: int, pulse: float, period: float, insects: int
) -> Signal:
    """Crickets: every chirp is a few pulses of an almost pure tone, drawn from the wings."""
    seconds = rng.uniform(4.5, 5.5)
    ground = silence(seconds)
    for insect in range(insects):
        own, near = hz * rng.uniform(0.93, 1.07), 1 if insect == 0 else rng.uniform(0.08, 0.6)
        own_pulse = pulse * rng.uniform(0.9, 1.1)
        for at in in_step(rng, seconds, period * rng.uniform(0.85, 1.2), 0.02):
            for index in range(pulses):
                pitch = curve(0.75 * own_pulse, (0, own), (0.75 * own_pulse, 0.97 * own))
                drawn = tone(pitch, (1, 0.12, 0.06)) * bump(0.75 * own_pulse, 0.5, 0.5)
                add(ground, drawn, at + index * own_pulse, near * (0.6 + 0.4 * index / pulses))
    return outdoors(rng, room(rng, ground, 0.5, 0.12), 0.01)


def _cicadas(rng: np.random.Generator, hz: float, beat: float, insects: int) -> Signal:
    seconds = rng.uniform(4.5, 5.5)
    ground = silence(seconds)
    for _ in range(insects):
        own, pace = hz * rng.uniform(0.88, 1.12), beat * rng.uniform(0.9, 1.1)
        clicks = silence(seconds)
        for at in in_step(rng, seconds, 1 / pace, 0.05):
            clicks[min(samples(at), len(clicks) - 1)] = rng.uniform(0.6, 1)
        buzz = resonate(clicks, own * np.array([0.86, 1, 1.13, 1.6]), 0.012, (0.6, 1, 0.7, 0.3))
        ground += level(buzz) * wander(rng, seconds, 1.2, 0.25, 1) * rng.uniform(0.3, 1)
    return outdoors(rng, ground + 0.05 * high_pass(noise(rng, seconds), 4000), 0.012)


def _grasshopper(rng: np.random.Generator, insects: int) -> Signal:
    """A rasp of many tiny ticks, far up."""
    seconds = rng.uniform(4, 5)
    ground = silence(seconds)
    for insect in range(insects):
        near, at = 0.5**insect, rng.uniform(0.1, 0.5)
        while at < seconds - 0.4:
            long = rng.uniform(0.5, 1.1)
            strokes = np.maximum(np.sin(2 * np.pi * rng.uniform(16, 24) * clock(long)), 0)
            rasp = band(impulses(rng, long, 2500, 0.5), 6500, 14_500) * strokes * bump(long, 0.6)
            add(ground, level(rasp), at, near)
            at += long + rng.uniform(0.2, 0.6)
    return outdoors(rng, ground, 0.012)


RECIPES = (
    Recipe(
        "insects",
        "fly-buzzing-around",
        (
            "A fly buzzes around the room.",
            "fly, buzz, insect",
            "that fly is getting on my nerves",
        ),
        lambda rng: _flying(rng, 195, 1, 1.3),
    ),
    Recipe(
        "insects",
        "fly-at-the-window",
        (
            "A fly buzzes and bumps against the window pane.",
            "fly, window, buzzing, trapped insect",
            "a bluebottle that wants to get out",
        ),
        _fly_at_window,
    ),
    Recipe(
        "insects",
        "swarm-of-flies",
        (
            "A swarm of flies buzzes about a compost heap.",
            "flies, swarm, buzzing",
            "flies all over the rubbish",
        ),
        lambda rng: _swarm(rng, 200, 12),
    ),
    Recipe(
        "insects",
        "grasshopper-in-a-meadow",
        (
            "A grasshopper rasps in a meadow.",
            "grasshopper, stridulation, summer",
            "hot afternoon in the tall grass",
        ),
        lambda rng: _grasshopper(rng, 2),
    ),
    Recipe(
        "crickets",
        "cricket-chirping",
        (
            "A single cricket chirps at night.",
            "cricket, chirp, night",
            "a cricket on the hearth",
        ),
        lambda rng: _chirps(rng, 4600, 3, 0.034, 0.45, 1),
    ),
    Recipe(
        "crickets",
        "crickets-on-a-summer-night",
        (
            "Many crickets chirp on a warm night.",
            "crickets, chorus, night",
            "camping on a summer night",
        ),
        lambda rng: _chirps(rng, 4300, 3, 0.03, 0.4, 9),
    ),
    Recipe(
        "crickets",
        "tree-crickets-trilling",
        (
            "Tree crickets trill without a pause.",
            "tree crickets, continuous trill",
            "an endless high trill from the bushes",
        ),
        lambda rng: _chirps(rng, 3000, 12, 0.022, 0.27, 4),
    ),
    Recipe(
        "bee",
        "bumblebee-among-flowers",
        (
            "A bumblebee hums from flower to flower.",
            "bumblebee, hum, deep buzz",
            "a fat furry bee in the lavender",
        ),
        lambda rng: _flying(rng, 150, 0.6, 0.7),
    ),
    Recipe(
        "bee",
        "bee-passing-by",
        (
            "A bee flies past.",
            "honeybee, buzz, flying",
            "careful, a bee",
        ),
        lambda rng: _flying(rng, 235, 0.5, 1.1),
    ),
    Recipe(
        "bee",
        "beehive",
        (
            "Hundreds of bees hum around the hive.",
            "bees, hive, swarm, humming",
            "visiting the beekeeper",
        ),
        lambda rng: _swarm(rng, 235, 18),
    ),
    Recipe(
        "mosquito",
        "mosquito-at-the-ear",
        (
            "A mosquito whines right at the ear.",
            "mosquito, whine, high buzz",
            "something is about to bite me tonight",
        ),
        lambda rng: _flying(rng, 560, 0.3, 1.2, 900),
    ),
    Recipe(
        "mosquito",
        "mosquitoes-in-the-bedroom",
        (
            "Several mosquitoes whine in the dark.",
            "mosquitoes, gnats, thin whine",
            "can't sleep because of the gnats",
        ),
        lambda rng: high_pass(_swarm(rng, 620, 4), 900, 1),
    ),
    Recipe(
        "cicadas",
        "cicadas-in-the-south",
        (
            "Cicadas buzz in the midday heat.",
            "cicadas, loud buzzing, mediterranean",
            "a hot day under the pine trees",
        ),
        lambda rng: _cicadas(rng, 6500, 160, 6),
    ),
    Recipe(
        "cicadas",
        "single-cicada",
        (
            "One cicada rattles in a tree.",
            "cicada, rattle, rasping insect",
            "a noisy insect in the olive tree",
        ),
        lambda rng: _cicadas(rng, 4800, 75, 1),
    ),
)
