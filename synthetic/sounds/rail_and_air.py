"""Trains and aircraft."""

from functools import partial

import numpy as np
from scipy import signal

from synthetic.sounds.engines import FOUR, engine
from synthetic.sounds.kit import (
    Recipe,
    Signal,
    add,
    clock,
    colour,
    coloured,
    curve,
    decay,
    impulses,
    level,
    low_pass,
    mix,
    modes,
    noise,
    outdoors,
    resonate,
    room,
    silence,
    tone,
    wander,
)
from synthetic.sounds.parts import HORN, click, exhaust, firings, passing, vary


def _train(rng: np.random.Generator, speed: float, inside: bool, flange: float) -> Signal:
    """Wheels over rail joints, two axles at a time, roaring; inside: heard from a seat."""
    seconds = 5.4
    roar = coloured(rng, seconds, (40, 4), (200, 2), (800, 0), (2500, -8), (15_000, -28))
    roar *= wander(rng, seconds, 3, 0.7, 1.1)
    hit = mix(modes(0.2, (85, 190, 420, 950, 1700), (0.15, 0.12, 0.08, 0.05, 0.04), 0.6))
    hit = mix(hit, 0.8 * click(rng, 300, 5000, 0.05))
    joints = silence(seconds)
    for at in np.arange(rng.uniform(0, 0.3), seconds, 18 / speed):
        for axle in (0, 2.4 / speed, 7 / speed, 9.4 / speed):
            add(joints, vary(rng, 1, 0.3) * hit, at + axle)
    rail = vary(rng, 1500) * np.array([1, 1.63, 2.4, 3.7])
    singing = level(resonate(impulses(rng, seconds, 2500, 0.6), rail, 0.15))
    shriek = tone(2.2 * rail[0] * wander(rng, seconds, 3, 0.97, 1.03), (1, 0.3, 0.15))
    sound = (
        roar + 2.2 * joints + flange * (singing + shriek * wander(rng, seconds, 1.5, -1, 1).clip(0))
    )
    if inside:
        return low_pass(sound, 1400, 1) + 0.15 * noise(rng, seconds, 1)
    coming = curve(seconds, (0, 0.1), (1.2, 1), (4.2, 1), (seconds, 0.08))
    return outdoors(rng, coming * sound, 0.01)


def _steam_train(rng: np.random.Generator) -> Signal:
    """Four chuffs a turn of the wheels, gathering speed."""
    seconds = 6.0
    rate = curve(seconds, (0, 2.2), (seconds, vary(rng, 6.5)))
    beats = firings(rng, rate, (1, 0.75, 0.9, 0.7), 0.02)
    envelope = signal.fftconvolve(beats, decay(0.3, 0.28, 0.03))[: len(beats)].clip(0)
    jet = colour(noise(rng, seconds), (70, 0), (350, 3), (1800, -2), (6000, -9), (15_000, -22))
    hiss = coloured(rng, seconds, (600, -15), (4000, 0), (12_000, -3))
    clank = exhaust(firings(rng, rate / 4, (1,), 0.02), (620, 1350, 2700, 4100), 0.12)
    return outdoors(rng, jet * envelope + 0.05 * hiss + 0.12 * level(clank), 0.01)


def _helicopter(rng: np.random.Generator, blades: float, slap: float, flies: float) -> Signal:
    """Blades that slap the air, the turbine's whine, the small tail rotor."""
    seconds = 4.8
    rate = np.full(round(seconds * 32_000), vary(rng, blades))
    thump = exhaust(firings(rng, rate, (1, 0.93), 0.01), (32, 65, 120, 210, 380, 700), 0.05)
    beat = np.cumsum(rate) / 32_000
    chop = np.exp(2.5 * (np.cos(2 * np.pi * beat) - 1))
    air = colour(noise(rng, seconds), (60, 3), (300, 2), (1200, 0), (5000, -9), (15_000, -22))
    tail = tone(rate * 5.3, (1, 0.8, 0.6, 0.5, 0.3, 0.2))
    turbine = tone(np.full(len(rate), vary(rng, 3100)), (1, 0.1)) * wander(rng, seconds, 1, 0.3, 1)
    sound = slap * level(thump) + air * (0.25 + 1.6 * chop) + 0.2 * level(tail) + 0.06 * turbine
    if flies:
        sound = passing(sound, rng.uniform(2, 3), flies, 60)
    return outdoors(rng, sound, 0.006)


def _jet(rng: np.random.Generator, near: float) -> Signal:
    """A jet overhead: a roar whose comb of reflections sweeps down, and a whine ahead of it."""
    seconds, over = 6.0, vary(rng, near)
    roar = coloured(rng, seconds, (40, 2), (250, 3), (1200, 0), (4000, -6), (15_000, -18))
    echo = np.interp(
        clock(seconds) - 0.004 * np.abs(clock(seconds) - over) / 4 - 0.0006, clock(seconds), roar
    )
    pitch = curve(seconds, (over - 2, 3400), (over + 1.5, 1900)) * vary(rng, 1)
    whine = tone(pitch, (1, 0.4, 0.2)) + 0.6 * tone(1.27 * pitch, (1, 0.3))
    loud = np.exp(-(((clock(seconds) - over - 0.5) / 2.4) ** 2))
    ahead = np.exp(-(((clock(seconds) - over + 0.9) / 1.3) ** 2))
    dull = low_pass(roar + 0.6 * echo, 900, 1)
    sound = ahead * (roar + 0.6 * echo) + (1 - ahead) * dull
    return outdoors(rng, loud * sound + 0.25 * ahead * loud * whine, 0.01)


def _propeller(rng: np.random.Generator, rate: float, flies: float) -> Signal:
    """A small plane: blades and cylinders in one drone."""
    seconds = 5.8
    turn = vary(rng, rate) * wander(rng, seconds, 0.7, 0.985, 1.01)
    drone = engine(rng, turn, FOUR, vary(rng, 110), 0.7, 0.1)
    blades = level(tone(turn, HORN)) + 0.5 * coloured(rng, seconds, (80, 0), (600, 0), (4000, -14))
    sound = passing(drone + blades, rng.uniform(2.4, 3.4), flies, 90)
    return outdoors(rng, room(rng, sound, 0.8, 0.15)[: 32_000 * 6], 0.01)


def _cabin(rng: np.random.Generator) -> Signal:
    """Inside a jet: steady rush, a hum of engines out of step."""
    seconds, hz = 3.6, vary(rng, 88)
    rush = coloured(rng, seconds, (40, 4), (200, 3), (900, 0), (3500, -10), (15_000, -28))
    t = clock(seconds)
    hum = (
        np.sin(2 * np.pi * hz * t)
        + np.sin(2 * np.pi * (hz + 1.3) * t)
        + 0.4 * tone(0 * t + 2.9 * hz)
    )
    return rush * wander(rng, seconds, 1, 0.9, 1.05) + 0.4 * hum


RECIPES = (
    Recipe(
        "train",
        "freight-train-passing",
        (
            "A freight train rumbles past.",
            "train, wheels, clatter, long",
            "waiting at the crossing",
        ),
        partial(_train, speed=17, inside=False, flange=0.12),
    ),
    Recipe(
        "train",
        "inside-a-train",
        ("The wheels clack under a passenger train.", "inside a railway carriage, clickety-clack"),
        partial(_train, speed=24, inside=True, flange=0),
    ),
    Recipe(
        "train",
        "subway-squealing-in-curve",
        ("A subway train squeals around a bend.", "metro, tram, rail squeal, grinding"),
        partial(_train, speed=11, inside=False, flange=0.7),
    ),
    Recipe(
        "train",
        "steam-train-departing",
        ("A steam train puffs away from the station.", "steam engine, chuffing, accelerating"),
        _steam_train,
    ),
    Recipe(
        "helicopter",
        "helicopter-hovering",
        ("A helicopter hovers overhead.", "helicopter, rotor, chopping", "air rescue above us"),
        partial(_helicopter, blades=13, slap=0.8, flies=0),
    ),
    Recipe(
        "helicopter",
        "helicopter-flying-past",
        ("A helicopter flies past.", "chopper, passing, thumping blades"),
        partial(_helicopter, blades=11, slap=1.5, flies=45),
    ),
    Recipe(
        "helicopter",
        "small-helicopter",
        ("A light helicopter whirs with fast blades.", "small helicopter, flutter, buzzing"),
        partial(_helicopter, blades=23, slap=0.6, flies=0),
    ),
    Recipe(
        "airplane",
        "jet-overhead",
        ("A jet plane roars overhead.", "airplane, jet, flyover", "living near the airport"),
        partial(_jet, near=2.6),
    ),
    Recipe(
        "airplane",
        "propeller-plane-passing",
        ("A small propeller plane drones across the sky.", "light aircraft, drone, passing"),
        partial(_propeller, rate=82, flies=55),
    ),
    Recipe(
        "airplane",
        "old-fighter-plane",
        ("A vintage fighter plane roars by low.", "propeller plane, fast, loud", "an air show"),
        partial(_propeller, rate=125, flies=110),
    ),
    Recipe(
        "airplane",
        "airliner-cabin",
        (
            "The cabin of an airliner in flight.",
            "inside an aeroplane, steady rush",
            "flying on holiday",
        ),
        _cabin,
    ),
)
