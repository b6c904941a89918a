"""Water and laundry: washing machines, toilets, sewing machines."""

from functools import partial

import numpy as np

from synthetic.sounds.household import motor
from synthetic.sounds.kit import (
    Recipe,
    Signal,
    at_random,
    band,
    clock,
    colour,
    coloured,
    curve,
    high_pass,
    level,
    low_pass,
    modes,
    noise,
    outdoors,
    room,
    scatter,
    tone,
    wander,
)
from synthetic.sounds.parts import click, exhaust, firings, sequence, vary
from synthetic.sounds.water import bubble


def _washing(rng: np.random.Generator, turn: float, water: float) -> Signal:
    """A drum that turns one way and the other, with wet clothes falling and water about."""
    seconds = 5.5
    run = np.clip(wander(rng, seconds, 0.35, -0.3, 1.6), 0, 1)
    speed = 24 * run + 1
    machine = motor(rng, speed, 0.3, (40, 3), (150, 2), (600, -10), (4000, -25), (15_000, -40))
    whir = low_pass(tone(320 * run + 30, (1, 0.6, 0.4, 0.3, 0.2)), 2500) * run
    thumps = [
        (at, 2.2 * modes(0.3, rng.uniform(50, 75) * np.array([1, 1.8, 2.9]), 0.25, (1, 0.5, 0.3)))
        for at in np.arange(rng.uniform(0, 0.4), 5, 1 / vary(rng, turn))
    ]
    thumps += [(at, vary(rng, 1.2, 0.4) * click(rng, 120, 2500, 0.12)) for at, _ in thumps]

    def gulp() -> Signal:
        hz = np.exp(rng.uniform(5.6, 7.2))
        return rng.lognormal(-0.6, 0.5) * bubble(rng, hz, 14 / hz, 0.7)

    slosh = water * np.clip(np.sin(2 * np.pi * turn * clock(seconds)), 0, 1)
    gulps = scatter(seconds, at_random(rng, seconds, 90 * slosh + 1), gulp)
    wash = level(band(noise(rng, seconds, 0.7), 400, 5000, 1)) * slosh
    ground = machine + 0.4 * whir + sequence(seconds, thumps) + gulps + 0.25 * wash
    return room(rng, ground, 0.4, 0.2)[: 32_000 * 5] + 0.01 * noise(rng, 5, 0.7)


def _spinning(rng: np.random.Generator) -> Signal:
    """A washing machine that spins up, out of balance, until the floor hums."""
    seconds, top = 5.5, vary(rng, 19)
    speed = curve(seconds, (0, 0.25 * top), (3.8, top), (seconds, 1.05 * top))
    knock = exhaust(
        firings(rng, speed, (1, 0.7), 0.02), (62, 145, 330, 610), (0.12, 0.1, 0.05, 0.03)
    )
    whine = tone(speed * 42, (1, 0.5, 0.25, 0.1)) + tone(speed * 97, (0.4, 0.1))
    air = coloured(rng, seconds, (60, 3), (400, 0), (2500, -8), (15_000, -24))
    swing = 1 + 0.4 * np.sin(2 * np.pi * np.cumsum(speed) / 32_000)
    share = (speed / np.max(speed)) ** 1.5
    return level(knock) * (1.2 - 0.6 * share) + share * (0.3 * level(whine) + 0.8 * air) * swing


def _flush(rng: np.random.Generator, fill: float, handle: float) -> Signal:
    """The handle, the rush, the swallow, and the cistern that fills again (its loudness)."""
    seconds = 5.6
    gone = vary(rng, 2.8)
    rush = curve(seconds, (0.35, 0), (0.6, 1), (1.8, 0.9), (gone, 0.35), (gone + 1, 0.02))
    water = colour(
        noise(rng, seconds, 0.6), (60, -3), (300, 4), (1200, 0), (5000, -8), (15_000, -22)
    )
    water *= wander(rng, seconds, 16, 0.55, 1.15)

    def gulp() -> Signal:
        hz = np.exp(rng.uniform(4.8, 6.9))
        return (150 / hz) ** 0.3 * bubble(rng, hz, 14 / hz, 0.5)

    swallow = 220 * curve(
        seconds, (0.5, 0), (1, 0.6), (gone - 0.5, 1), (gone + 0.6, 0.3), (gone + 1, 0)
    )
    gurgle = level(scatter(seconds, at_random(rng, seconds, swallow), gulp))
    refill = high_pass(noise(rng, seconds, 0.3), 1800, 1) * curve(
        seconds, (gone, 0), (gone + 0.4, 1)
    )
    clunk = [(at, handle * click(rng, 300, 4000, 0.04)) for at in (0.1, 0.32)]
    ground = water * rush + 0.5 * gurgle + fill * refill + sequence(seconds, clunk)
    return room(rng, ground * curve(seconds, (5.1, 1), (5.6, 0)), 0.5, 0.25)


def _sewing(rng: np.random.Generator, bursts: float, pauses: float, rate: float) -> Signal:
    """A needle that stitches in bursts, as the foot presses."""
    seconds = 4.4
    foot = np.clip(wander(rng, seconds, bursts, -pauses, 1.6), 0, 1)
    speed = vary(rng, rate) * foot + 0.3
    stitch = firings(rng, speed, (1,), 0.03)
    back = firings(rng, speed, (0.6,), 0.03)
    needle = exhaust(stitch, (900, 1700, 3200, 5100, 7600), (0.03, 0.02, 0.02, 0.012, 0.01))
    arm = exhaust(back, (210, 480, 1100, 2300), (0.06, 0.05, 0.03, 0.02))
    hum = tone(speed * 9, (1, 0.6, 0.5, 0.3, 0.3, 0.2)) * foot
    hiss = 0.4 * coloured(rng, seconds, (200, -10), (2000, 0), (9000, -6)) * foot
    sound = (level(needle) + 0.9 * level(arm)) * (foot > 0.03) + 0.25 * (level(hum) + hiss)
    return outdoors(rng, room(rng, sound, 0.3, 0.15), 0.003)


RECIPES = (
    Recipe(
        "washing_machine",
        "washing-machine-tumbling",
        (
            "A washing machine tumbles wet clothes.",
            "washing machine, sloshing, drum",
            "laundry day",
        ),
        partial(_washing, turn=0.9, water=1),
    ),
    Recipe(
        "washing_machine",
        "tumble-dryer",
        ("Clothes thump around in a dryer.", "tumble dryer, thumping, turning drum"),
        partial(_washing, turn=1.6, water=0.05),
    ),
    Recipe(
        "washing_machine",
        "washing-machine-spinning",
        ("A washing machine spins faster and faster.", "spin cycle, whine, shaking", "laundry"),
        _spinning,
    ),
    Recipe(
        "toilet_flush",
        "toilet-flush",
        ("A toilet is flushed and the tank refills.", "toilet, flush, water, bathroom"),
        partial(_flush, fill=0.12, handle=0.8),
    ),
    Recipe(
        "toilet_flush",
        "toilet-flush-old-cistern",
        ("An old cistern is flushed with a clank and hisses.", "lavatory, chain, gushing", "loo"),
        partial(_flush, fill=0.35, handle=2),
    ),
    Recipe(
        "sewing_machine",
        "sewing-machine-bursts",
        ("A sewing machine stitches in short bursts.", "sewing machine, needle, start and stop"),
        partial(_sewing, bursts=1.4, pauses=1.2, rate=15),
    ),
    Recipe(
        "sewing_machine",
        "sewing-machine-treadle",
        ("An old treadle sewing machine clatters along.", "slow sewing machine, clacking, tailor"),
        partial(_sewing, bursts=0.6, pauses=-0.2, rate=7),
    ),
)
