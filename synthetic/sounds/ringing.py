"""Bells that call: at the door, on a bicycle, in a school, at a level crossing."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from synthetic.sounds.kit import Recipe, Signal, clock, colour, noise, room
from synthetic.sounds.parts import BAR, CUP, click, gate, sequence, struck, vary


def _bicycle(rng: np.random.Generator, hz: float, rings: Sequence[float], rattle: float) -> Signal:
    """Rings at these times; the little hammers in the cup strike `rattle` times a second."""
    hz, rattle = vary(rng, hz, 0.15), vary(rng, rattle, 0.15)
    strokes = []
    for at in rings:
        for i in range(round(vary(rng, 0.32) * rattle) + 1):
            cup = struck(rng, hz, CUP, 0.9, 1.5, 0.8, 0.004)
            strokes.append((at + i / rattle + 0.004 * rng.uniform(), vary(rng, 1, 0.5) * cup))
        strokes.append((at - 0.03, click(rng, 1500, 8000, 0.03)))
    return sequence(max(rings) + 1.9, strokes)


def _chime(rng: np.random.Generator, notes: Sequence[float], period: float) -> Signal:
    """A door chime: felt hammers on metal bars."""
    gap, tune = vary(rng, period), vary(rng, 1)
    strokes = [
        (0.05 + i * gap, struck(rng, hz * tune, BAR[:4], 3.5, 3, 0.3, 0.001))
        for i, hz in enumerate(notes)
    ]
    return room(rng, sequence(len(notes) * gap + 2.2, strokes), 0.6, 0.2)


def _electric_bell(
    rng: np.random.Generator, hz: float, presses: Sequence[tuple[float, float]], rate: float
) -> Signal:
    """A hammer that hits its gong `rate` times a second, while pressed (from, for)."""
    hz, rate, strokes = vary(rng, hz), vary(rng, rate), []
    for start, held in presses:
        for at in np.arange(start, start + held, 1 / rate):
            gong = struck(rng, hz, CUP, 1.2, 1.5, 0.9, 0.003)
            strokes.append((at + 0.002 * rng.standard_normal(), gong))
            strokes.append((at + 0.3 / rate, 0.4 * click(rng, 800, 6000, 0.02)))
    return room(rng, sequence(sum(presses[-1]) + 1.3, strokes), 0.5, 0.2)


def _buzzer(rng: np.random.Generator, hz: float, presses: Sequence[tuple[float, float]]) -> Signal:
    hz, ground = vary(rng, hz, 0.15), []
    for at, held in presses:
        t = clock(held)
        edge = np.sign(np.sin(2 * np.pi * hz * t) + 0.3 * np.sin(4 * np.pi * hz * t + 1))
        rasp = colour(edge + 0.2 * noise(rng, held), (100, -15), (700, 0), (2500, 0), (12_000, -25))
        ground.append((at, rasp * gate(held, 0.01, 0.03)))
    return room(rng, sequence(sum(presses[-1]) + 0.5, ground), 0.4, 0.2)


RECIPES = (
    Recipe(
        "bicycle_bell",
        "bicycle-bell-twice",
        ("A small bicycle bell is rung twice.", "bike bell, ring ring", "cyclist behind you"),
        partial(_bicycle, hz=2300, rings=(0.1, 0.85), rattle=26),
    ),
    Recipe(
        "bicycle_bell",
        "bicycle-bell-ping",
        ("A single clear ping of a bicycle bell.", "bike bell, ding, single"),
        partial(_bicycle, hz=3100, rings=(0.1,), rattle=1),
    ),
    Recipe(
        "bicycle_bell",
        "bicycle-bell-impatient",
        ("Someone rings an old bicycle bell again and again.", "bicycle bell, impatient, rattling"),
        partial(_bicycle, hz=1700, rings=(0.1, 0.65, 1.15, 1.7, 2.2), rattle=22),
    ),
    Recipe(
        "doorbell",
        "doorbell-ding-dong",
        ("A doorbell chimes ding dong.", "doorbell, two notes, chime", "someone is at the door"),
        partial(_chime, notes=(659, 523), period=0.75),
    ),
    Recipe(
        "doorbell",
        "doorbell-westminster",
        ("A door chime plays four notes.", "doorbell, melody, bars", "visitors have come"),
        partial(_chime, notes=(659, 523, 587, 392), period=0.5),
    ),
    Recipe(
        "doorbell",
        "doorbell-buzzer",
        ("An apartment buzzer buzzes twice.", "door buzzer, harsh, entry", "let me in downstairs"),
        partial(_buzzer, hz=110, presses=((0.1, 0.9), (1.4, 1.3))),
    ),
    Recipe(
        "doorbell",
        "doorbell-electric-bell",
        ("An old electric doorbell rings briefly, twice.", "doorbell, electric bell, ringing"),
        partial(_electric_bell, hz=1450, presses=((0.1, 0.8), (1.3, 1.0)), rate=19),
    ),
    Recipe(
        "school_bell",
        "school-bell-break",
        ("A school bell rings for the end of the lesson.", "school bell, long, loud, corridor"),
        partial(_electric_bell, hz=900, presses=((0.1, 2.6),), rate=16),
    ),
    Recipe(
        "school_bell",
        "fire-bell-alarm",
        ("A fast fire bell rings without a pause.", "fire bell, alarm, ringing", "fire drill"),
        partial(_electric_bell, hz=1150, presses=((0.05, 3.0),), rate=27),
    ),
    Recipe(
        "level_crossing_bell",
        "level-crossing-bell",
        ("The bell of a level crossing warns of a train.", "railway crossing bell, warning"),
        partial(_electric_bell, hz=780, presses=((0.1, 3.6),), rate=2.6),
    ),
    Recipe(
        "level_crossing_bell",
        "level-crossing-bell-fast",
        ("A railroad crossing bell rings fast and bright.", "crossing, gates are closing, ding"),
        partial(_electric_bell, hz=1300, presses=((0.1, 3.2),), rate=4.2),
    ),
)
