"""Hands and hearts."""

import numpy as np

from synthetic.sounds.kit import (
    Recipe,
    Signal,
    add,
    band,
    bump,
    clock,
    decay,
    high_pass,
    in_step,
    level,
    low_pass,
    modes,
    noise,
    outdoors,
    resonate,
    room,
    samples,
    scatter,
    silence,
    wander,
)


def _clap(rng: np.random.Generator, cup: float) -> Signal:
    """Two hands that clap; cup: Hz of the hollow between them."""
    long = 0.12
    slap = rng.standard_normal(samples(long)) * decay(long, rng.uniform(0.03, 0.06), 0.0008)
    hollow = resonate(slap, cup * rng.uniform(0.8, 1.2, 4) * (1, 1.3, 1.8, 2.6), 0.009, 1)
    return level(hollow) * decay(long, 0.07) + 0.5 * high_pass(slap, 2500, 1)


def _clapping(rng: np.random.Generator, rate: float) -> Signal:
    seconds, cup = rng.uniform(3.5, 4.5), rng.uniform(700, 1400)
    times = in_step(rng, seconds - 0.2, 1 / rate, 0.04)
    claps = scatter(seconds, times, lambda: rng.uniform(0.75, 1) * _clap(rng, cup))
    return outdoors(rng, room(rng, claps, 0.6, 0.2), 0.003)


def _applause(rng: np.random.Generator, people: int, hall: float, together: bool) -> Signal:
    seconds = rng.uniform(4.5, 5.5)
    ground, beat = silence(seconds), rng.uniform(0.42, 0.5)
    for _ in range(people):
        clap, near = _clap(rng, rng.uniform(600, 1700)), rng.lognormal(-0.7, 0.7)
        times = in_step(rng, seconds, rng.uniform(0.19, 0.33), 0.1)
        if together:
            times = np.arange(0.2, seconds, beat) + rng.normal(
                0, 0.028, len(np.arange(0.2, seconds, beat))
            )
        for at in times:
            add(ground, clap, at, near * rng.uniform(0.6, 1))
    return outdoors(rng, room(rng, ground, hall, 0.3), 0.005)


def _finger_snaps(rng: np.random.Generator) -> Signal:
    seconds, hz = rng.uniform(3, 4), rng.uniform(1700, 2500)

    def snap() -> Signal:
        pop = modes(
            0.08, hz * rng.uniform(0.96, 1.04) * np.array([1, 1.6, 2.7]), 0.022, (1, 0.5, 0.3)
        )
        slip = band(rng.standard_normal(samples(0.05)), 2500, 9000, 1) * bump(0.05, 0.8)
        ground = silence(0.15)
        add(ground, slip, 0, 0.05)
        add(
            ground,
            pop + 0.3 * high_pass(rng.standard_normal(len(pop)), 3000) * decay(0.08, 0.01),
            0.05,
        )
        return rng.uniform(0.7, 1) * ground

    times = in_step(rng, seconds - 0.2, rng.uniform(0.4, 0.6), 0.02)
    return outdoors(rng, room(rng, scatter(seconds, times, snap), 0.6, 0.2), 0.002)


def _heartbeat(rng: np.random.Generator, rate: float, breath: float) -> Signal:
    """A heartbeat, as through a stethoscope; rate in beats a minute."""
    seconds, period = rng.uniform(4, 5), 60 / rate
    ground = silence(seconds)
    for at in in_step(rng, seconds, period, 0.015):
        for later, hz, loud in ((0.0, 55, 1.0), (0.34 * period**0.5, 72, 0.7)):
            beat = modes(
                0.25, hz * rng.uniform(0.95, 1.05, 3) * (1, 1.6, 2.4), 0.13, (1, 0.7, 0.35)
            )
            add(ground, beat * np.minimum(clock(0.25) / 0.012, 1), at + later, loud)
    rub = low_pass(noise(rng, seconds, 1), 500) * (0.4 + wander(rng, seconds, 0.6, 0, 1))
    return ground + breath * level(rub)


RECIPES = (
    Recipe(
        "clapping",
        "one-person-clapping",
        (
            "One person claps their hands.",
            "clapping, hands, solo",
            "clap clap clap",
        ),
        lambda rng: _clapping(rng, 3.6),
    ),
    Recipe(
        "clapping",
        "slow-clap",
        (
            "Somebody claps slowly.",
            "slow clap, ironic applause",
            "well done, very funny",
        ),
        lambda rng: _clapping(rng, 1.4),
    ),
    Recipe(
        "clapping",
        "applause-in-a-concert-hall",
        (
            "A large audience applauds in a concert hall.",
            "applause, audience, concert",
            "the crowd loved the show",
        ),
        lambda rng: _applause(rng, 90, 2.0, False),
    ),
    Recipe(
        "clapping",
        "small-group-applauding",
        (
            "A handful of people applaud in a room.",
            "applause, few people, polite",
            "thank you for your talk",
        ),
        lambda rng: _applause(rng, 9, 0.5, False),
    ),
    Recipe(
        "clapping",
        "audience-clapping-in-time",
        (
            "An audience claps in time.",
            "rhythmic clapping, encore, crowd",
            "they want one more song",
        ),
        lambda rng: _applause(rng, 40, 1.2, True),
    ),
    Recipe(
        "finger_snapping",
        "snapping-fingers",
        (
            "Somebody snaps their fingers in time.",
            "finger snap, click, rhythm",
            "cool cats at the jazz club",
        ),
        _finger_snaps,
    ),
    Recipe(
        "heartbeat",
        "calm-heartbeat",
        (
            "A heart beats calmly, heard through a stethoscope.",
            "heartbeat, slow, lub-dub",
            "at the doctor's",
        ),
        lambda rng: _heartbeat(rng, rng.uniform(55, 68), 0.015),
    ),
    Recipe(
        "heartbeat",
        "racing-heart",
        (
            "A heart beats fast with excitement.",
            "heartbeat, fast, pounding",
            "my heart is racing",
        ),
        lambda rng: _heartbeat(rng, rng.uniform(115, 145), 0.02),
    ),
)
