"""Sounds of a mouth: brushing, drinking, eating, kissing."""

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
    modes,
    moving_band,
    noise,
    outdoors,
    resonate,
    room,
    samples,
    scatter,
    silence,
    tone,
    wander,
)
from synthetic.sounds.voice import call, formants
from synthetic.sounds.water import bubble


def _brushing(rng: np.random.Generator, rate: float) -> Signal:
    """Bristles to and fro; the hollow of the mouth changes as the brush wanders."""
    seconds = rng.uniform(4.5, 5.5)
    pace = rate * wander(rng, seconds, 1, 0.85, 1.15)
    turn = np.pi * np.cumsum(pace) / SAMPLE_RATE
    stroke = np.abs(np.sin(turn)) ** 0.6 * (1 + 0.25 * np.sign(np.sin(2 * turn)))
    bristles = coloured(rng, seconds, (200, -22), (1200, -4), (3500, 0), (8000, -3), (16_000, -12))
    hollow = moving_band(noise(rng, seconds), wander(rng, seconds, 0.8, 650, 1700), 0.5)
    foam = level(band(impulses(rng, seconds, 500, 0.8), 1500, 9000, 1))
    scrub = (bristles + 0.8 * level(hollow)) * stroke + 0.25 * foam
    return outdoors(rng, room(rng, scrub, 0.5, 0.2), 0.004)


def _electric_brush(rng: np.random.Generator) -> Signal:
    seconds, hz = rng.uniform(4.5, 5.5), rng.uniform(180, 260)
    motor = tone(
        np.full(samples(seconds), hz) * wander(rng, seconds, 2, 0.97, 1.01),
        (1, 0.6, 0.8, 0.5, 0.4, 0.3, 0.25, 0.2, 0.15, 0.1),
    )
    hollow = formants(
        motor, [wander(rng, seconds, 1, 450, 950), wander(rng, seconds, 1, 1300, 2300), 3200]
    )
    bristles = high_pass(noise(rng, seconds, 0.3), 2000, 1) * (
        1 + 0.8 * np.sin(2 * np.pi * hz * clock(seconds))
    )
    return outdoors(
        rng, room(rng, hollow + 0.4 * bristles * wander(rng, seconds, 2, 0.3, 1), 0.5, 0.2), 0.004
    )


def _gulp(rng: np.random.Generator) -> Signal:
    """A swallow: the throat opens, a bubble passes, it shuts."""
    ground = silence(0.4)
    add(ground, modes(0.06, (180, 420, 900), 0.04, (1, 0.6, 0.3)), 0, 0.5)
    add(ground, bubble(rng, rng.uniform(230, 380), 0.11, 1.2), rng.uniform(0.03, 0.06))
    add(ground, bubble(rng, rng.uniform(450, 800), 0.05, 0.8), rng.uniform(0.12, 0.17), 0.4)
    add(ground, band(rng.standard_normal(960), 700, 4000, 1) * decay(0.03, 0.02), 0.2, 0.12)
    return ground


def _sip(rng: np.random.Generator, long: float) -> Signal:
    """Air and hot liquid drawn in through tight lips."""
    flow = bump(long, 0.7, 0.8) * wander(rng, long, 30, 0.4, 1)
    air = coloured(rng, long, (300, -18), (1500, 0), (4500, 0), (9000, -6), (16_000, -16)) * flow
    rattle = scatter(
        long,
        at_random(rng, long, 90),
        lambda: rng.lognormal(0, 0.6) * bubble(rng, rng.uniform(700, 3000), 0.02, 1),
    )
    return air + 0.6 * level(rattle) * flow


def _sipping(rng: np.random.Generator) -> Signal:
    ground, at = silence(6), 0.2
    for _ in range(rng.integers(2, 4)):
        long = rng.uniform(0.35, 0.7)
        add(ground, _sip(rng, long), at, 0.5)
        add(ground, _gulp(rng), at + long + 0.25, 0.7)
        at += long + rng.uniform(0.9, 1.2)
    relief = call(rng, [(0, 150), (0.5, 115)], "a a", 1.0, 0.1, 0.5, 0, 0.2)
    add(ground, relief, at - 0.2, 0.4)
    return outdoors(rng, room(rng, ground[: samples(min(at + 0.4, 6))], 0.35, 0.1), 0.003)


def _gulping(rng: np.random.Generator) -> Signal:
    seconds = rng.uniform(3.8, 4.6)
    ground = silence(seconds)
    for at in in_step(rng, seconds - 0.7, rng.uniform(0.55, 0.7), 0.06):
        add(ground, _gulp(rng), at, rng.uniform(0.8, 1))
        for _ in range(3):
            glug = bubble(rng, rng.uniform(300, 700), 0.08, 0.6)
            add(ground, glug, at + rng.uniform(0.2, 0.4), 0.25)
    return outdoors(rng, room(rng, ground, 0.35, 0.1), 0.003)


def _slurping(rng: np.random.Generator) -> Signal:
    """The last of a drink through a straw: air, drops and the tube."""
    seconds = rng.uniform(3.5, 4.5)
    ground = silence(seconds)
    at = 0.15
    while at < seconds - 0.7:
        long = min(rng.uniform(0.6, 1.3), seconds - at - 0.1)
        gate = bump(long, 0.5, 0.3) * (0.2 + (wander(rng, long, 28, 0, 1) > 0.45))
        tube = resonate(
            impulses(rng, long, 900, 0.8), (820, 1700, 2600, 4300), 0.012, (1, 0.9, 0.6, 0.4)
        )
        add(ground, (level(tube) + 0.5 * _sip(rng, long)[: len(tube)]) * gate, at)
        at += long + rng.uniform(0.15, 0.4)
    return outdoors(rng, room(rng, ground, 0.35, 0.1), 0.003)


def _bite(rng: np.random.Generator, crisp: float, long: float) -> Signal:
    """A bite. crisp: bursts a second while the teeth close."""
    press = bump(long, 0.4, 1)
    cracks = impulses(rng, long, crisp * press, 1.1)
    jaw = resonate(cracks, (380, 900, 1900, 3600), (0.02, 0.015, 0.01, 0.008), (0.7, 1, 0.8, 0.6))
    return level(jaw + 0.8 * high_pass(cracks, 2500, 1)) * press


def _eating(rng: np.random.Generator, crisp: float, chewing: float, first: float) -> Signal:
    seconds = rng.uniform(4, 5)
    ground = silence(seconds)
    add(ground, _bite(rng, crisp, first), 0.15, 1.4)
    for at in np.arange(0.4 + first, seconds - 0.3, rng.uniform(0.42, 0.55)):
        wet = band(noise(rng, 0.2, 0.5), 300, 3500, 1) * bump(0.2)
        crumbs = max(0.25, 1 - at / seconds)
        add(ground, _bite(rng, crisp * crumbs, rng.uniform(0.12, 0.2)), at, crumbs * chewing)
        add(ground, level(wet) * bump(0.2), at + 0.2, 0.12)
    return outdoors(rng, room(rng, ground, 0.3, 0.08), 0.003)


def _kisses(rng: np.random.Generator) -> Signal:
    seconds = rng.uniform(2.5, 3.5)
    ground = silence(seconds)
    for at in in_step(rng, seconds - 0.4, rng.uniform(0.6, 0.9), 0.15):
        long = rng.uniform(0.1, 0.2)
        pitch = curve(long, (0, rng.uniform(1500, 2200)), (long, rng.uniform(2600, 3800)))
        suck = moving_band(impulses(rng, long, 2500, 0.6), pitch, 0.6)
        add(ground, level(suck) * bump(long, 0.85), at, 0.7)
        smack = modes(0.06, rng.uniform(900, 1300) * np.array([1, 1.9, 3.1]), 0.018, (1, 0.7, 0.4))
        add(ground, smack, at + long, 1.2)
    return outdoors(rng, room(rng, ground, 0.35, 0.1), 0.003)


RECIPES = (
    Recipe(
        "brushing_teeth",
        "brushing-teeth",
        (
            "Somebody brushes their teeth.",
            "toothbrush, brushing, bathroom",
            "two minutes every morning and evening",
        ),
        lambda rng: _brushing(rng, rng.uniform(6.5, 8.5)),
    ),
    Recipe(
        "brushing_teeth",
        "brushing-teeth-slowly",
        (
            "Teeth are brushed with slow, thorough strokes.",
            "brushing teeth, slow strokes, foam",
            "getting the molars clean",
        ),
        lambda rng: _brushing(rng, rng.uniform(3.5, 4.5)),
    ),
    Recipe(
        "brushing_teeth",
        "electric-toothbrush",
        (
            "An electric toothbrush buzzes in somebody's mouth.",
            "electric toothbrush, hum, dental care",
            "what the dentist told me to buy",
        ),
        _electric_brush,
    ),
    Recipe(
        "drinking_sipping",
        "sipping-hot-tea",
        (
            "Somebody sips hot tea and swallows.",
            "sipping, slurp, swallow, hot drink",
            "careful, the tea is still hot",
        ),
        _sipping,
    ),
    Recipe(
        "drinking_sipping",
        "gulping-from-a-bottle",
        (
            "Somebody drinks thirstily from a bottle.",
            "drinking, gulps, swallowing",
            "glug glug glug",
        ),
        _gulping,
    ),
    Recipe(
        "drinking_sipping",
        "slurping-through-a-straw",
        (
            "The last of a drink is slurped through a straw.",
            "slurp, straw, empty cup",
            "that annoying noise at the end of a milkshake",
        ),
        _slurping,
    ),
    Recipe(
        "eating",
        "biting-an-apple",
        (
            "Somebody bites into an apple and chews.",
            "eating, apple, crunch, chewing",
            "an apple a day keeps the doctor away",
        ),
        lambda rng: _eating(rng, 900, 0.5, 0.35),
    ),
    Recipe(
        "eating",
        "crunching-crisps",
        (
            "Somebody munches potato crisps.",
            "eating, crisps, chips, crunching",
            "snacking in front of the telly",
        ),
        lambda rng: _eating(rng, 420, 0.9, 0.2),
    ),
    Recipe(
        "kissing",
        "kisses",
        (
            "Somebody gives a few loud kisses.",
            "kiss, smooch, lips",
            "a goodnight kiss from grandma",
        ),
        _kisses,
    ),
)
