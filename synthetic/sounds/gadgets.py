"""Machines that answer with tones: games, monitors, sonar, tills."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from synthetic.sounds.electronics import SAW
from synthetic.sounds.kit import (
    Recipe,
    Signal,
    add,
    band,
    bump,
    clock,
    curve,
    decay,
    drive,
    fm,
    level,
    low_pass,
    modes,
    noise,
    outdoors,
    room,
    scatter,
    silence,
    tone,
)
from synthetic.sounds.parts import click, gate, sequence, struck, vary


def _game(rng: np.random.Generator, steps: Sequence[float], held: float, ends: float) -> Signal:
    """A game of square waves: pitches (shares of one) in turn, the last one longer."""
    base, parts = vary(rng, 620, 0.2), []
    square = [1 / k if k % 2 else 0 for k in range(1, 30)]
    for i, share in enumerate(steps):
        long = ends if i == len(steps) - 1 else held
        note = tone(np.full(len(clock(long)), base * share), square) * decay(long, 3 * long, 0.002)
        parts.append((0.05 + i * held, note))
    return sequence(0.15 + held * len(steps) + ends, parts)


def _wrong(rng: np.random.Generator) -> Signal:
    """The buzzer of a quiz show."""
    pitch = np.full(len(clock(1.1)), vary(rng, 98))
    rasp = drive(tone(pitch, SAW) + tone(1.06 * pitch, SAW), 4) * gate(1.1, 0.01, 0.05)
    return room(rng, sequence(1.6, [(0.1, rasp)]), 0.6, 0.15)


def _heart(rng: np.random.Generator, rate: float, stops: bool) -> Signal:
    """A patient monitor; stops: one tone without an end."""
    ground, hz = silence(4.8), vary(rng, 950)
    beats = np.arange(0.2, 2.6 if stops else 4.5, 60 / vary(rng, rate))
    calls = [(at, 0.1) for at in beats] + ([(beats[-1] + 0.8, 1.6)] if stops else [])
    for at, held in calls:
        add(ground, tone(np.full(len(clock(held)), hz), (1, 0.2, 0.1)) * gate(held, 0.008), at)
    return outdoors(rng, room(rng, ground, 0.5, 0.15), 0.002)


def _sonar(rng: np.random.Generator) -> Signal:
    """A ping, and its echoes from the deep."""
    ping = tone(np.full(len(clock(0.4)), vary(rng, 1250)), (1, 0.05)) * decay(0.4, 0.6, 0.01)
    pings = [(at + 0.55 * i, ping * 0.4**i) for at in (0.1, 2.5) for i in range(4)]
    deep = 0.02 * low_pass(noise(rng, 5, 1.3), 300)
    return room(rng, sequence(5, pings) + deep, 3.0, 0.5)[: 32_000 * 6]


def _register(rng: np.random.Generator) -> Signal:
    """An old cash register: keys, bell, and the drawer flies open."""
    parts = [(at, 0.6 * click(rng, 500, 7000, 0.03)) for at in (0.1, 0.28, 0.45)]
    bell = struck(rng, vary(rng, 2200), (1, 1.52, 2.71, 3.9), 1.6, 1.6, 0.8, 0.003)
    coins = scatter(
        0.8,
        rng.uniform(0, 0.4, 12),
        lambda: rng.uniform(0.1, 0.3) * modes(0.1, rng.uniform(3500, 8000, 4), 0.08, 0.5),
    )
    slide = band(noise(rng, 0.25), 300, 5000, 1) * bump(0.25, 0.8)
    parts += [(0.7, bell), (0.75, level(slide) * 0.3), (1.0, 2 * click(rng, 120, 3000, 0.08))]
    return room(rng, sequence(2.8, [*parts, (1.0, coins)]), 0.4, 0.15)


def _robot(rng: np.random.Generator) -> Signal:
    """Old computers of films: quick beeps at random."""
    parts = []
    for i in range(26):
        held, hz = rng.choice([0.06, 0.12]), vary(rng, 1400, 1.0)
        beep = fm(
            np.full(len(clock(held)), hz) * curve(held, (0, 1), (held, rng.uniform(0.8, 1.3))),
            2,
            0.6,
        )
        parts.append((0.05 + 0.14 * i, beep * gate(held, 0.004, 0.01) * (rng.random() < 0.75)))
    return room(rng, sequence(3.9, parts), 0.4, 0.1)


RECIPES = (
    Recipe(
        "video_game",
        "game-coin",
        ("A coin is collected in a video game.", "8-bit, bling, arcade"),
        partial(_game, steps=(1.5, 2.0), held=0.08, ends=0.7),
    ),
    Recipe(
        "video_game",
        "game-over",
        ("A video game is lost with a sad falling tune.", "8-bit, game over, descending"),
        partial(_game, steps=(1, 0.94, 0.89, 0.84, 0.79, 0.6), held=0.22, ends=0.9),
    ),
    Recipe(
        "buzzer",
        "quiz-buzzer-wrong",
        (
            "A quiz show buzzer says the answer is wrong.",
            "buzzer, harsh, game show",
            "wrong answer",
        ),
        _wrong,
    ),
    Recipe(
        "heart_monitor",
        "heart-monitor",
        ("A heart monitor beeps in a hospital.", "patient monitor, steady beeps", "intensive care"),
        partial(_heart, rate=72, stops=False),
    ),
    Recipe(
        "heart_monitor",
        "heart-monitor-flatline",
        ("A heart monitor beeps, then goes flat.", "flatline, long tone, hospital", "we lost him"),
        partial(_heart, rate=85, stops=True),
    ),
    Recipe(
        "sonar",
        "sonar-ping",
        ("A submarine's sonar pings and echoes.", "sonar, ping, underwater", "a submarine hunts"),
        _sonar,
    ),
    Recipe(
        "cash_register",
        "cash-register",
        ("An old cash register rings and opens.", "ka-ching, till, bell, drawer", "a sale"),
        _register,
    ),
    Recipe(
        "computer_beeps",
        "science-fiction-computer",
        ("A computer of an old film bleeps busily.", "bleeps, robot, control room"),
        _robot,
    ),
)
