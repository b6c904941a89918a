"""Doors: knocked on, creaking, slammed, locked."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from synthetic.sounds.kit import (
    Recipe,
    Signal,
    add,
    bump,
    clock,
    colour,
    curve,
    level,
    low_pass,
    mix,
    modes,
    noise,
    outdoors,
    resonate,
    room,
    samples,
    silence,
    wander,
)
from synthetic.sounds.parts import click, firings, gate, sequence, vary


def panel(rng: np.random.Generator, hz: float, bright: float, seconds: float = 0.3) -> Signal:
    """One blow on a wooden panel: dense low modes, and the knuckle."""
    ratios = np.array([1, 1.47, 2.09, 2.56, 3.39, 4.08, 5.3, 6.9, 8.8, 11])
    falls = 0.16 * ratios**-0.6 * rng.uniform(0.7, 1.2, 10)
    body = modes(
        seconds, hz * ratios * rng.uniform(0.97, 1.03, 10), falls, ratios ** (bright - 1.4)
    )
    add(body, click(rng, 500, 5000 + 6000 * bright, 0.015), 0, 0.5 * bright)
    return body * np.minimum(clock(seconds) / 0.002, 1)


def _knock(
    rng: np.random.Generator, hz: float, times: Sequence[float], bright: float, t60: float
) -> Signal:
    hz = vary(rng, hz, 0.15)
    blows = [
        (at + 0.015 * rng.standard_normal(), vary(rng, 0.8, 0.3) * panel(rng, hz, bright))
        for at in np.array(times) * vary(rng, 1, 0.12) + 0.1
    ]
    ground = sequence(max(times) * 1.13 + 0.5, blows)
    return outdoors(rng, room(rng, ground, t60, 0.25), 0.002)


def _creak(
    rng: np.random.Generator,
    low: float,
    high: float,
    body: Sequence[float],
    swings: int,
    dry: float,
) -> Signal:
    """Stick and slip: a train of jerks whose rate rises and falls, heard in the wood.

    dry: from 0 (a squeal of even jerks) to 1 (single cracks).
    """
    parts, at = [], 0.1
    for _ in range(swings):
        held = rng.uniform(0.7, 1.6)
        turn = curve(
            held, (0, low), (vary(rng, 0.4 * held), vary(rng, high, 0.2)), (held, 1.3 * low)
        )
        rate = turn * wander(rng, held, 9, 1 - 0.4 * dry, 1 + 0.4 * dry)
        jerks = firings(rng, rate, (1,), 0.14 * dry)
        wood = np.array(body) * vary(rng, 1, 0.15)
        sound = resonate(jerks, wood, np.where(wood < 1000, 0.03, 0.012), wood**-0.2)
        bare = colour(jerks, (200, -6), (1500, 0), (5000, -4), (14_000, -16))
        rough = level(sound) + (1 - 0.9 * dry) * bare
        parts.append((at, rough * gate(held, 0.06, 0.12) * wander(rng, held, 14, 0.3, 1)))
        at += held + rng.uniform(0.05, 0.5)
    return outdoors(rng, room(rng, sequence(at + 0.2, parts), 0.5, 0.2), 0.003)


def latch(rng: np.random.Generator, hz: float) -> Signal:
    """Small metal parts snap into each other."""
    part = modes(0.12, hz * np.array([1, 1.61, 2.4, 3.7]), (0.07, 0.05, 0.04, 0.03), 0.3)
    return part + np.pad(click(rng, 1500, 12_000, 0.015), (0, len(part) - samples(0.023)))


def _slam(rng: np.random.Generator, hz: float, swing: float, rattle: float, t60: float) -> Signal:
    """A door swings (seconds), slams into its frame, and what hangs on it rattles."""
    at, seconds = 0.1 + swing, swing + 1.3
    ground = silence(seconds)
    air = low_pass(noise(rng, swing + 0.05, 1), 900) * bump(swing + 0.05, 0.9)
    add(ground, level(air), 0.1, 0.03)
    ratios = np.array([1, 1.4, 1.93, 2.5, 3.2, 4.4, 6, 8.3])
    boom = modes(0.5, vary(rng, hz) * ratios, 0.35 * ratios**-0.5, ratios**-0.7)
    add(ground, boom * np.minimum(clock(0.5) / 0.002, 1), at)
    add(ground, click(rng, 80, 4500, 0.12), at, 1.6)
    for later in 0.01 + np.sort(rng.exponential(0.06, 6)):
        add(ground, latch(rng, rng.uniform(900, 2800)), at + later, rattle * rng.uniform(0.1, 0.5))
    return outdoors(rng, room(rng, ground, t60, 0.3), 0.001)


def _gate(rng: np.random.Generator) -> Signal:
    """An iron gate squeals on its hinge and clangs shut."""
    squeal = _creak(rng, 350, 900, (1400, 2300, 3700, 5200, 7900), 1, 0.1)
    bars = vary(rng, 240) * np.array([1, 1.52, 2.76, 3.8, 5.4, 7.1, 8.9, 12.3])
    clang = modes(1.8, bars, 1.5 * np.arange(1, 9) ** -0.5, rng.uniform(0.4, 1, 8))
    clang = mix(clang / np.max(clang), 0.7 * click(rng, 300, 9000, 0.05))
    at = len(squeal) / 32_000 - 0.7
    return outdoors(rng, sequence(at + 2, [(0, 0.5 * squeal / np.max(squeal)), (at, clang)]), 0.004)


RECIPES = (
    Recipe(
        "door_wood_knock",
        "knock-three-polite",
        ("Someone knocks politely on a wooden door.", "knock, three times, door", "may I come in"),
        partial(_knock, hz=210, times=(0, 0.35, 0.7), bright=0.4, t60=0.4),
    ),
    Recipe(
        "door_wood_knock",
        "knock-urgent-pounding",
        ("A fist pounds on a heavy door.", "banging on a door, loud, urgent", "open up, police"),
        partial(_knock, hz=85, times=(0, 0.2, 0.4, 0.6, 0.8, 1.4, 1.6, 1.8), bright=0.2, t60=0.8),
    ),
    Recipe(
        "door_wood_knock",
        "knock-shave-and-a-haircut",
        ("A playful rhythm is knocked on a door.", "knock, rhythm, friendly, wood"),
        partial(_knock, hz=290, times=(0, 0.36, 0.54, 0.72, 1.08, 1.8, 2.16), bright=0.5, t60=0.4),
    ),
    Recipe(
        "door_wood_knock",
        "knock-light-on-cupboard",
        ("Light taps on a thin wooden panel.", "tapping, knuckles, thin wood, hollow"),
        partial(_knock, hz=420, times=(0, 0.16, 0.32, 0.48), bright=0.7, t60=0.25),
    ),
    Recipe(
        "door_wood_creaks",
        "door-creaks-open-slowly",
        ("An old door creaks open slowly.", "creaking hinge, wood, spooky", "haunted house door"),
        partial(_creak, low=22, high=95, body=(420, 900, 1500, 2300, 3600), swings=2, dry=0.5),
    ),
    Recipe(
        "door_wood_creaks",
        "door-hinge-squeals",
        ("A dry hinge squeals as the door swings.", "squeaky door, high squeal", "needs some oil"),
        partial(_creak, low=260, high=620, body=(800, 1700, 2600, 3900, 6100), swings=3, dry=0.05),
    ),
    Recipe(
        "door_wood_creaks",
        "floorboard-creaks",
        ("A floorboard creaks under a careful step.", "creaking wood, floor, single cracks"),
        partial(_creak, low=9, high=34, body=(190, 420, 800, 1400, 2500), swings=3, dry=1),
    ),
    Recipe(
        "door_slam",
        "door-slammed",
        ("A wooden door is slammed shut.", "door slam, bang, house", "she left in anger"),
        partial(_slam, hz=75, swing=0.3, rattle=1, t60=0.6),
    ),
    Recipe(
        "door_slam",
        "car-door-shut",
        ("A car door is shut.", "car door, thud, closing, dull", "getting into the car"),
        partial(_slam, hz=58, swing=0.1, rattle=0.35, t60=0.15),
    ),
    Recipe(
        "door_slam",
        "heavy-door-in-a-hall",
        ("A heavy door booms shut in a stone hall.", "big door, echo, reverberant, boom"),
        partial(_slam, hz=45, swing=0.6, rattle=0.5, t60=2.5),
    ),
    Recipe(
        "metal_gate",
        "iron-gate-clangs-shut",
        ("An iron gate squeals and clangs shut.", "metal gate, hinge, clang", "prison gate"),
        _gate,
    ),
)
