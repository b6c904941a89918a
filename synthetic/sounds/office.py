"""Office machines: typewriters, printers, cameras, staplers, scissors."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from synthetic.sounds.desk import snap
from synthetic.sounds.kit import (
    Recipe,
    Signal,
    add,
    band,
    bump,
    colour,
    curve,
    impulses,
    level,
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
from synthetic.sounds.parts import click, firings, gate, sequence, struck, vary


def _typewriter(rng: np.random.Generator, rate: float) -> Signal:
    """Type bars that strike the platen, the bell before the margin, the carriage return."""
    seconds, parts, at, hit = 6.5, [], 0.1, silence(0.12)
    platen = np.array([310, 720, 1350, 2400, 3900, 6100]) * vary(rng, 1)
    while at < 3.9:
        hit = modes(0.12, platen * vary(rng, 1, 0.04), (0.09, 0.08, 0.05, 0.04, 0.03, 0.02), 0.4)
        gain = vary(rng, 0.9, 0.3)
        parts += [(at, gain * mix(hit, 1.2 * click(rng, 900, 13_000, 0.02)))]
        parts += [(at - 0.04, 0.25 * click(rng, 600, 5000, 0.015))]
        parts += [(at + 0.06, 0.3 * click(rng, 1500, 8000, 0.012))]
        at += rng.gamma(8, 1 / (8 * rate)) + 0.3 * (rng.random() < 0.12)
    parts += [(at - 0.3, 0.6 * struck(rng, vary(rng, 2600), (1, 1.5, 2.7, 4.1), 0.9, 1.2, 0.8))]
    ratchet = firings(rng, curve(0.7, (0, 30), (0.2, 75), (0.7, 60)), (1,), 0.03)
    slide = resonate(ratchet, platen[1:], 0.02) * gate(0.7, 0.03, 0.02)
    parts += [
        (at + 0.6, 0.5 * level(slide)),
        (at + 1.3, 1.6 * mix(click(rng, 150, 6000, 0.06), hit)),
    ]
    return outdoors(rng, room(rng, sequence(seconds, parts), 0.35, 0.15), 0.002)


def _dot_matrix(rng: np.random.Generator) -> Signal:
    """A head of needles goes to and fro; the paper is fed after every line."""
    ground, at, hz = silence(4.4), 0.1, vary(rng, 1150)
    while at < 3.6:
        held = rng.uniform(0.5, 1.1)
        needles = firings(
            rng, np.full(round(held * 32_000), hz), rng.integers(0, 2, 90).tolist(), 0.05
        )
        buzz = resonate(needles, (1700, 2600, 3900, 5600, 8300), 0.006) + 0.2 * needles
        head = tone(np.full(len(buzz), hz / 6), (1, 0.6, 0.4, 0.3))
        add(ground, (level(buzz) + 0.3 * head) * gate(held, 0.01, 0.01), at)
        feed = tone(np.full(2400, vary(rng, 190, 0.02)), (1, 0.7, 0.5, 0.5, 0.3)) * gate(0.075)
        add(ground, 0.8 * level(feed), at + held + 0.03)
        at += held + 0.15
    return outdoors(rng, room(rng, ground, 0.3, 0.15), 0.003)


def _inkjet(rng: np.random.Generator) -> Signal:
    """A carriage swishes to and fro; then the page comes out."""
    seconds, sweep = 6.5, vary(rng, 0.62)
    ground = 0.05 * colour(noise(rng, seconds), (100, 0), (600, 0), (4000, -14), (15_000, -30))
    for i, at in enumerate(np.arange(0.2, 4.6, sweep)):
        speed = vary(rng, 620 + 60 * (i % 2), 0.01) * (0.4 + 0.6 * bump(sweep * 0.9, 0.5, 0.3))
        whine = tone(speed, (1, 0.5, 0.3, 0.2, 0.1)) * bump(sweep * 0.9, 0.5, 0.4)
        spray = band(noise(rng, sweep * 0.9), 2000, 9000, 1) * bump(sweep * 0.9, 0.5, 0.5)
        add(ground, level(whine) + 0.8 * level(spray), at, 0.12)
        add(ground, click(rng, 400, 5000, 0.02), at + 0.93 * sweep, 0.4)
    rollers = tone(np.full(38_400, vary(rng, 155)), (1, 0.8, 0.6, 0.5, 0.5, 0.4, 0.3, 0.2))
    rustle = level(band(impulses(rng, 1.2, 900), 1500, 12_000)) * wander(rng, 1.2, 9, 0, 1)
    add(ground, (0.12 * level(rollers) + 0.1 * rustle) * gate(1.2, 0.05, 0.1), 4.9)
    return outdoors(rng, room(rng, ground, 0.3, 0.12), 0.002)


def _shutter(rng: np.random.Generator, shots: Sequence[float], open_for: float) -> Signal:
    """A mirror slaps up, curtains run, the mirror falls back, and a motor winds on."""
    parts = []
    for at in shots:
        mirror = modes(0.1, vary(rng, 420) * np.array([1, 1.9, 3.3, 5.2]), 0.05, 0.4)
        parts += [
            (at, mix(click(rng, 700, 12_000, 0.02), mirror)),
            (at + 0.02, 0.5 * snap(rng, 2900)),
        ]
        close = at + 0.03 + open_for
        parts += [(close, 0.9 * click(rng, 1200, 13_000, 0.03)), (close + 0.025, 0.8 * mirror)]
        wind = tone(np.full(2900, vary(rng, 900, 0.05)), (1, 0.7, 0.6, 0.4, 0.3)) * gate(
            2900 / 32_000
        )
        parts += [(close + 0.04, 0.07 * wind)]
    return outdoors(rng, room(rng, sequence(max(shots) + open_for + 0.6, parts), 0.3, 0.12), 0.002)


def _stapler(rng: np.random.Generator) -> Signal:
    parts = []
    for at in (0.15, 1.15, 1.9):
        at = vary(rng, at)
        spring = modes(0.15, vary(rng, 1300) * np.array([1, 1.6, 2.7, 4.2]), 0.09, 0.3)
        parts += [(at, 0.5 * click(rng, 500, 7000, 0.03)), (at + 0.07, mix(spring, snap(rng, 900)))]
        parts += [(at + 0.09, 1.2 * click(rng, 250, 5000, 0.04)), (at + 0.3, 0.4 * snap(rng, 1800))]
    return outdoors(rng, room(rng, sequence(2.8, parts), 0.3, 0.15), 0.002)


def _scissors(rng: np.random.Generator) -> Signal:
    """Blades slide along each other through paper and meet."""
    ground = silence(4.2)
    for at in np.arange(0.15, 3.6, vary(rng, 0.55)):
        held = rng.uniform(0.2, 0.3)
        blades = level(band(noise(rng, held), 3500, 13_000)) + level(
            resonate(noise(rng, held), rng.uniform(4000, 9000, 4), 0.04)
        )
        paper = level(band(impulses(rng, held, vary(rng, 900, 0.3)), 1200, 9000))
        add(ground, (0.5 * blades + 0.5 * paper) * bump(held, 0.8), vary(rng, at, 0.02), 0.2)
        add(ground, snap(rng, 3300), at + held, 0.7)
    return outdoors(rng, ground, 0.003)


RECIPES = (
    Recipe(
        "typewriter",
        "typewriter-with-bell",
        ("A typewriter clatters, rings and returns.", "typewriter, bell, carriage return"),
        partial(_typewriter, rate=6),
    ),
    Recipe(
        "typewriter",
        "typewriter-slow",
        ("An author hits a typewriter's keys one by one.", "mechanical typing, slow", "old novel"),
        partial(_typewriter, rate=2.5),
    ),
    Recipe(
        "printer",
        "dot-matrix-printer",
        ("A dot matrix printer screeches line by line.", "needle printer, buzzing", "old office"),
        _dot_matrix,
    ),
    Recipe(
        "printer",
        "inkjet-printer",
        ("An inkjet printer prints a page.", "printer, carriage, back and forth, paper"),
        _inkjet,
    ),
    Recipe(
        "camera_shutter",
        "camera-single-shot",
        ("A camera takes a picture.", "camera, shutter, click", "say cheese"),
        partial(_shutter, shots=(0.15,), open_for=0.06),
    ),
    Recipe(
        "camera_shutter",
        "camera-burst",
        ("A photographer fires a burst of shots.", "camera shutter, rapid, paparazzi"),
        partial(_shutter, shots=tuple(0.1 + 0.17 * i for i in range(11)), open_for=0.03),
    ),
    Recipe(
        "camera_shutter",
        "camera-long-exposure",
        ("A camera opens, waits a second and closes.", "slow shutter, mirror slap, two clicks"),
        partial(_shutter, shots=(0.15,), open_for=1.1),
    ),
    Recipe(
        "stapler",
        "stapler",
        ("Someone staples papers three times.", "stapler, crunch, click, office"),
        _stapler,
    ),
    Recipe(
        "scissors",
        "scissors-cutting-paper",
        ("Scissors cut through paper.", "scissors, snip snip", "cutting out a picture"),
        _scissors,
    ),
)
