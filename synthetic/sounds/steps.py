"""Recipes of footsteps."""

from collections.abc import Callable, Sequence

import numpy as np

from synthetic.sounds.kit import (
    Recipe,
    Signal,
    add,
    band,
    bump,
    curve,
    decay,
    high_pass,
    impulses,
    in_step,
    level,
    low_pass,
    modes,
    moving_band,
    outdoors,
    resonate,
    room,
    samples,
    silence,
)
from synthetic.sounds.water import bubble


def _stride(
    rng: np.random.Generator, pace: float, foot: Callable[[], Signal], t60: float, wet: float
) -> Signal:
    """Steps at that many a second, left and right not quite alike."""
    seconds = rng.uniform(4, 5)
    ground, pace = silence(seconds), pace * rng.uniform(0.92, 1.08)
    for index, at in enumerate(in_step(rng, seconds - 0.3, 1 / pace, 0.025)):
        add(ground, foot(), at, rng.uniform(0.8, 1) * (0.88 if index % 2 else 1))
    return outdoors(rng, room(rng, ground, t60, wet), 0.004)


def _thud(rng: np.random.Generator, hz: float, t60: float) -> Signal:
    hit = low_pass(rng.standard_normal(samples(0.2)) * decay(0.2, 0.03), 3 * hz)
    return level(resonate(hit, hz * rng.uniform(0.9, 1.1), t60) + 0.3 * hit) * decay(0.2, 0.35)


def _shoe(rng: np.random.Generator, floor: Sequence[float], hard: float, click: float) -> Signal:
    """A step of a shoe: heel, then sole; floor: Hz of its resonances, hard: how long they ring,
    click: the heel's.
    """
    step = silence(0.35)
    for at, loud in ((0.0, 1.0), (rng.uniform(0.07, 0.11), 0.45)):
        ring = modes(0.2, np.array(floor) * rng.uniform(0.95, 1.05, len(floor)), 0.05 + hard, 1)
        add(step, level(ring), at, 0.5 * loud)
        add(step, _thud(rng, floor[0], 0.06), at, 0.35 * loud)
        tick = high_pass(rng.standard_normal(640), 1200, 1) * decay(0.02, 0.012, 0.0004)
        add(step, tick, at, click * loud)
    scuff = band(rng.standard_normal(samples(0.12)), 800, 6000, 1) * bump(0.12)
    add(step, scuff, 0.08, 0.15)
    return step


def _grit(
    rng: np.random.Generator, low: float, high: float, grains: float, long: float, thud: float
) -> Signal:
    """Loose ground that gives way: many grains, pressed by the heel and then by the toe."""
    step = silence(long + 0.15)
    for at, share in ((0.0, 0.6), (0.4 * long, 0.6)):
        press = bump(share * long, 0.35, 1.2)
        crunch = band(impulses(rng, share * long, grains * press, 0.9), low, high, 1)
        stones = resonate(crunch, rng.uniform(low, high, 6), 0.008, 0.6) + crunch
        add(step, level(stones) * press, at, rng.uniform(0.7, 1))
    add(step, _thud(rng, 85, 0.08), 0, thud)
    return step


def _snow(rng: np.random.Generator) -> Signal:
    """Crystals break and rub: a creak inside the crunch."""
    long = rng.uniform(0.3, 0.42)
    crunch = _grit(rng, 500, 5500, 5000, long, 0.3)
    pitch = curve(long, (0, rng.uniform(500, 800)), (long, rng.uniform(800, 1300)))
    creak = moving_band(impulses(rng, long, 260, 0.4), pitch, 0.5)
    add(crunch, level(creak) * bump(long, 0.5), 0.03, 0.5)
    return crunch


def _puddle(rng: np.random.Generator) -> Signal:
    step = silence(0.45)
    add(step, _thud(rng, 110, 0.06), 0, 0.4)
    spray = band(rng.standard_normal(samples(0.3)), 700, 9000, 1) * bump(0.3, 0.2, 1.5)
    add(step, level(spray) * bump(0.3, 0.2), 0.01, 0.6)
    for _ in range(6):
        drop = bubble(rng, rng.uniform(500, 2500), 0.03, 1)
        add(step, drop, rng.uniform(0.03, 0.3), rng.uniform(0.2, 0.6))
    return step


RECIPES = (
    Recipe(
        "footsteps",
        "footsteps-on-a-wooden-floor",
        (
            "Somebody in shoes walks across a wooden floor.",
            "footsteps, wood, indoors",
            "the upstairs neighbour is walking about",
        ),
        lambda rng: _stride(
            rng, 1.8, lambda: _shoe(rng, (95, 190, 320, 560), 0.04, 1.1), 0.4, 0.15
        ),
    ),
    Recipe(
        "footsteps",
        "high-heels-in-a-corridor",
        (
            "High heels click along a stone corridor.",
            "footsteps, high heels, echo",
            "a lady walking down the hallway",
        ),
        lambda rng: _stride(
            rng, 2.0, lambda: _shoe(rng, (420, 1300, 2300, 3700), 0.01, 1.2), 1.5, 0.35
        ),
    ),
    Recipe(
        "footsteps",
        "running-on-asphalt",
        (
            "A jogger runs along the street.",
            "running, footsteps, asphalt, jogging",
            "somebody is in a hurry",
        ),
        lambda rng: _stride(rng, 2.8, lambda: _shoe(rng, (75, 150, 240), 0.01, 1.5), 0.3, 0.08),
    ),
    Recipe(
        "footsteps",
        "walking-through-puddles",
        (
            "Somebody splashes through puddles.",
            "footsteps, wet, puddles, splash",
            "rubber boots on a rainy day",
        ),
        lambda rng: _stride(rng, 1.6, lambda: _puddle(rng), 0.3, 0.08),
    ),
    Recipe(
        "footsteps",
        "climbing-metal-stairs",
        (
            "Somebody climbs a metal staircase.",
            "footsteps, metal stairs, clang",
            "going up the fire escape",
        ),
        lambda rng: _stride(
            rng, 1.7, lambda: _shoe(rng, (160, 410, 730, 1180, 1900), 0.35, 1.2), 1.2, 0.25
        ),
    ),
    Recipe(
        "footsteps_on_gravel",
        "walking-on-gravel",
        (
            "Somebody walks along a gravel path.",
            "footsteps, gravel, crunching",
            "coming up the drive",
        ),
        lambda rng: _stride(rng, 1.7, lambda: _grit(rng, 1200, 9000, 1600, 0.3, 0.5), 0.3, 0.05),
    ),
    Recipe(
        "footsteps_on_gravel",
        "running-on-gravel",
        (
            "Somebody runs over loose stones.",
            "running, gravel, fast steps",
            "a jogger on the park path",
        ),
        lambda rng: _stride(rng, 2.7, lambda: _grit(rng, 900, 9000, 2600, 0.2, 0.8), 0.3, 0.05),
    ),
    Recipe(
        "footsteps_on_leaves",
        "walking-through-dry-leaves",
        (
            "Somebody walks through dry autumn leaves.",
            "footsteps, leaves, rustling, autumn",
            "a walk in the woods in October",
        ),
        lambda rng: _stride(rng, 1.5, lambda: _grit(rng, 2500, 13000, 900, 0.5, 0.2), 0.3, 0.04),
    ),
    Recipe(
        "footsteps_in_snow",
        "walking-in-crisp-snow",
        (
            "Steps crunch in crisp snow.",
            "footsteps, snow, crunching, winter",
            "a frosty morning walk",
        ),
        lambda rng: _stride(rng, 1.5, lambda: _snow(rng), 0.25, 0.03),
    ),
    Recipe(
        "footsteps_in_snow",
        "trudging-through-deep-snow",
        (
            "Somebody trudges slowly through deep snow.",
            "deep snow, slow steps, creaking",
            "a long way home through the drifts",
        ),
        lambda rng: _stride(rng, 0.9, lambda: low_pass(_snow(rng), 3500, 1), 0.25, 0.03),
    ),
)
