"""Water close by: drops, bubbles, pouring, splashes."""

import numpy as np

from synthetic.sounds.kit import (
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
    high_pass,
    impulses,
    in_step,
    level,
    low_pass,
    modes,
    moving_band,
    noise,
    outdoors,
    room,
    scatter,
    silence,
    wander,
)


def bubble(rng: np.random.Generator, hz: float, t60: float, rise: float = 1.0) -> Signal:
    """A bubble of air that closes under water: a sine that dies away while its pitch rises.

    rise: how many times its pitch it gains in one T60.
    """
    seconds = 1.2 * t60
    pitch = hz * (1 + rise * rng.uniform(0.1, 1) * clock(seconds) / t60)
    return np.sin(2 * np.pi * np.cumsum(pitch) / SAMPLE_RATE) * decay(seconds, t60, 0.1 * t60)


def bubbles(
    rng: np.random.Generator, seconds: float, rate: float | Signal, low: float, high: float
) -> Signal:
    """Many bubbles; large ones sound deep and long."""

    def one() -> Signal:
        hz = np.exp(rng.uniform(np.log(low), np.log(high)))
        return rng.lognormal(0, 0.8) * bubble(rng, hz, min(28 / hz, 0.15), 0.6)

    return level(scatter(seconds, at_random(rng, seconds, rate), one))


def _drop(rng: np.random.Generator, hz: float) -> Signal:
    """A drop falls into water: a tick, and the bubble that it makes a moment later."""
    ground = silence(0.3)
    add(ground, band(rng.standard_normal(320), 2000, 11_000, 1) * decay(0.01, 0.006), 0, 0.25)
    add(ground, bubble(rng, hz, rng.uniform(0.04, 0.09), 0.8), rng.uniform(0.01, 0.05))
    if rng.random() < 0.5:
        later = rng.uniform(0.08, 0.16)
        add(ground, bubble(rng, 1.6 * hz * rng.uniform(0.8, 1.3), 0.04), later, 0.35)
    return ground


def _dripping(rng: np.random.Generator, period: float, hz: float, hall: float) -> Signal:
    seconds = rng.uniform(4.2, 5.6)
    pitch = hz * rng.uniform(0.8, 1.25)
    drops = scatter(
        seconds,
        in_step(rng, seconds - 0.4, period * rng.uniform(0.85, 1.15), 0.06),
        lambda: rng.uniform(0.6, 1) * _drop(rng, pitch * rng.uniform(0.92, 1.1)),
    )
    return outdoors(rng, room(rng, drops, hall, 0.3), 0.002)


def _drip_on_metal(rng: np.random.Generator) -> Signal:
    seconds = rng.uniform(4, 5.5)
    hz = rng.uniform(400, 900) * np.array([1, 1.59, 2.31, 3.6, 5.2, 7.4])
    drops = scatter(
        seconds,
        in_step(rng, seconds - 0.3, rng.uniform(0.35, 0.7), 0.08),
        lambda: rng.uniform(0.6, 1) * modes(0.5, hz * rng.uniform(0.995, 1.005), 0.25, 1 / hz**0.3),
    )
    return outdoors(rng, room(rng, drops, 0.4, 0.15), 0.002)


def _pouring(
    rng: np.random.Generator, low: float, high: float, stops: float, ring: float = 0
) -> Signal:
    """Water fills a vessel, whose air resonates from low to high Hz as it gets shorter."""
    seconds = rng.uniform(4, 5.5)
    end = seconds * stops
    flow = curve(seconds, (0.1, 0), (0.3, 1), (end - 0.2, 1), (end, 0)) * wander(
        rng, seconds, 7, 0.6, 1
    )
    height = np.linspace(0, 1, len(flow)) ** 1.5
    pitch = (low + (high - low) * height) * rng.uniform(0.85, 1.2)
    hiss = coloured(rng, seconds, (200, -6), (900, 0), (3500, -2), (8000, -8), (16_000, -18))
    column = level(moving_band(noise(rng, seconds), pitch, 0.35))
    gurgle = bubbles(rng, seconds, 240.0, 500, 4500)
    total = 0.35 * hiss * wander(rng, seconds, 25, 0.3, 1) + 0.7 * column + gurgle
    if ring:
        total = total + ring * level(moving_band(impulses(rng, seconds, 300), 3.1 * pitch, 0.2))
    return total * flow + 0.003 * noise(rng, seconds, 1)


def _underwater(rng: np.random.Generator, rate: float, low: float, high: float) -> Signal:
    """Gulps of air rise through water: trains of bubbles, each higher than the one before."""
    seconds = rng.uniform(4, 5.5)
    ground = 0.02 * low_pass(noise(rng, seconds, 1), 600)
    for at in at_random(rng, seconds - 0.5, rate):
        hz = np.exp(rng.uniform(np.log(low), np.log(high)))
        for step in range(rng.integers(2, 7)):
            later = at + step * rng.uniform(0.03, 0.07)
            add(
                ground, bubble(rng, hz * 1.09**step, rng.uniform(0.04, 0.1), 0.7), later, 0.85**step
            )
    return ground


def _splash(rng: np.random.Generator, size: float) -> Signal:
    """Something falls into water: a slap, a cavity that closes, spray that rains back."""
    seconds = 1.2 + 1.6 * size
    slap = band(rng.standard_normal(len(clock(seconds))), 150, 6000, 1) * decay(
        seconds, 0.25 + 0.3 * size, 0.008
    )
    spray = level(high_pass(impulses(rng, seconds, 3000 * bump(seconds, 0.25)), 1200, 1))
    ground = level(slap) + 0.5 * spray * bump(seconds, 0.25, 1.5)
    for at in 0.06 + rng.exponential(0.12 + 0.1 * size, 6):
        hz = rng.uniform(130, 420) / (0.6 + size)
        add(ground, bubble(rng, hz, rng.uniform(0.1, 0.22), 0.5), at, rng.uniform(0.8, 2))
    return ground + 0.8 * bubbles(rng, seconds, 90 * bump(seconds, 0.35), 400, 3000) * bump(
        seconds, 0.3, 1.5
    )


def _stones_into_water(rng: np.random.Generator) -> Signal:
    seconds = rng.uniform(4.5, 6)
    times = in_step(rng, seconds - 1, rng.uniform(1.2, 1.8), 0.15)
    plops = scatter(seconds, times, lambda: rng.uniform(0.5, 1) * _splash(rng, 0.1))
    return outdoors(rng, plops, 0.006)


def _splashing(rng: np.random.Generator) -> Signal:
    seconds = rng.uniform(4.5, 6)
    times = at_random(rng, seconds - 0.5, rng.uniform(2, 3.2))
    return scatter(seconds, times, lambda: rng.uniform(0.3, 1) * _splash(rng, rng.uniform(0, 0.5)))


RECIPES = (
    Recipe(
        "water_drops",
        "dripping-tap",
        (
            "A tap drips steadily into a sink full of water.",
            "water drops, leaking faucet, plink",
            "that tap is leaking again",
        ),
        lambda rng: _dripping(rng, 0.75, 1300, 0.35),
    ),
    Recipe(
        "water_drops",
        "drops-in-a-cave",
        (
            "Drops fall into a pool in a cave, with a long echo.",
            "dripping water, cave, reverberation",
            "exploring a dripstone cave",
        ),
        lambda rng: _dripping(rng, 1.4, 800, 2.2),
    ),
    Recipe(
        "water_drops",
        "roof-leak-into-a-bucket",
        (
            "Water drips from a leaking roof into an empty metal bucket.",
            "dripping, tin bucket, leak",
            "the roof leaks and someone put a pail under it",
        ),
        _drip_on_metal,
    ),
    Recipe(
        "pouring_water",
        "pouring-a-glass-of-water",
        (
            "Water is poured into a glass until it is full.",
            "pouring water, glass, filling",
            "pouring myself a drink",
        ),
        lambda rng: _pouring(rng, 700, 2600, 0.9),
    ),
    Recipe(
        "pouring_water",
        "filling-a-bucket",
        (
            "A bucket is filled with water from a hose.",
            "water, bucket, filling, splashing",
            "fetching a pail of water",
        ),
        lambda rng: _pouring(rng, 220, 700, 1.0),
    ),
    Recipe(
        "pouring_water",
        "pouring-tea-from-a-pot",
        (
            "Tea is poured from a pot into a small china cup.",
            "pouring, tea, cup, trickle",
            "serving the tea",
        ),
        lambda rng: _pouring(rng, 1100, 3000, 0.65, 0.3),
    ),
    Recipe(
        "bubbles",
        "bubbles-rising-under-water",
        (
            "Air bubbles rise under water.",
            "bubbles, underwater, gurgling",
            "somebody diving",
        ),
        lambda rng: _underwater(rng, 5, 180, 700),
    ),
    Recipe(
        "bubbles",
        "blowing-bubbles-through-a-straw",
        (
            "A child blows bubbles into a drink through a straw.",
            "bubbling, straw, glass",
            "playing with the straw in a milkshake",
        ),
        lambda rng: _underwater(rng, 14, 350, 1100),
    ),
    Recipe(
        "bubbles",
        "aquarium-pump",
        (
            "An aquarium bubbles evenly.",
            "fish tank, air pump, bubbles",
            "the fish tank in the waiting room",
        ),
        lambda rng: _underwater(rng, 32, 700, 2400),
    ),
    Recipe(
        "splash",
        "jump-into-the-pool",
        (
            "Somebody jumps into a swimming pool with a big splash.",
            "splash, dive, swimming pool",
            "cannonball!",
        ),
        lambda rng: room(rng, _splash(rng, rng.uniform(0.8, 1.2)), 1.2, 0.2),
    ),
    Recipe(
        "splash",
        "stones-thrown-into-a-pond",
        (
            "Stones plop into a pond one after the other.",
            "plop, splash, stones, pond",
            "throwing pebbles into the lake",
        ),
        _stones_into_water,
    ),
    Recipe(
        "splash",
        "children-splashing-in-the-bath",
        (
            "Hands splash about in a bathtub.",
            "splashing, bath, water play",
            "playing in the tub",
        ),
        lambda rng: room(rng, _splashing(rng), 0.5, 0.2),
    ),
)
