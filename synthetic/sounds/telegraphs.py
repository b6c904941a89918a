"""Messages in tones and clicks: Morse, telegraphs, modems."""

from functools import partial

import numpy as np

from synthetic.sounds.kit import (
    Recipe,
    Signal,
    clock,
    colour,
    decay,
    modes,
    noise,
    outdoors,
    room,
    tone,
)
from synthetic.sounds.parts import click, gate, sequence, vary
from synthetic.sounds.phones import COLUMNS, ROWS, line

MORSE = {"S": "...", "O": "---", "C": "-.-.", "Q": "--.-", "D": "-..", "E": ".", "P": ".--."}
MORSE |= {"A": ".-", "R": ".-.", "I": "..", "N": "-."}


def _morse(rng: np.random.Generator, text: str, hz: float, speed: float, static: float) -> Signal:
    """Dots and dashes, each a tone; static: noise of the short wave."""
    hz, unit, at, parts = vary(rng, hz), vary(rng, 1.2 / speed), 0.15, []
    for letter in text:
        for mark in MORSE.get(letter, ""):
            held = unit * (3 if mark == "-" else 1) * vary(rng, 1, 0.04)
            beep = tone(np.full(len(clock(held)), hz), (1, 0.05, 0.03))
            parts.append((at, beep * gate(held, 0.005, 0.006)))
            at += held + unit
        at += 2 * unit
    ground = sequence(at + 0.1, parts)
    fade = colour(noise(rng, len(ground) / 32_000), (250, -20), (900, 0), (2500, -6), (8000, -30))
    return ground + static * fade


def _telegraph(rng: np.random.Generator, text: str) -> Signal:
    """An old sounder clicks down and clacks up for each mark."""
    unit, at, parts = vary(rng, 0.085), 0.15, []
    brass = vary(rng, 1900) * np.array([1, 1.6, 2.7, 3.9])
    for letter in text:
        for mark in MORSE[letter]:
            for pitch, later in ((1.0, 0.0), (0.82, unit * (3 if mark == "-" else 1))):
                hit = modes(0.08, pitch * brass, 0.05, 0.4)
                parts += [(at + later, hit), (at + later, click(rng, 900, 9000, 0.012))]
            at += unit * (4.5 if mark == "-" else 2.5)
        at += 2 * unit
    return outdoors(rng, room(rng, sequence(at, parts), 0.4, 0.15), 0.002)


def _modem(rng: np.random.Generator) -> Signal:
    """The handshake of two modems: tones, answer tones, and then a noise that means something."""
    parts, at = [], 0.1
    for key in rng.integers(0, 3, 5):
        pair = tone(np.full(2560, float(ROWS[key]))) + tone(np.full(2560, float(COLUMNS[key])))
        parts.append((at, 0.7 * pair))
        at += 0.12
    answer = tone(np.full(len(clock(0.7)), 2100.0)) * gate(0.7)
    bits = np.repeat(rng.integers(0, 2, 240), 107)
    chirps = tone(np.where(bits, 1270.0, 1070.0)) + tone(np.where(bits[::-1], 2225.0, 2025.0))
    probe = sum(tone(np.full(16_000, float(hz))) for hz in range(300, 3400, 300)) * 0.3
    scramble = colour(noise(rng, 1.3), (250, -25), (600, 0), (3000, 2), (3700, -30))
    for sound, held in ((answer, 0.85), (chirps, 0.85), (probe, 0.55), (1.2 * scramble, 1.3)):
        parts.append((at + 0.25, sound))
        at += held
    return line(rng, sequence(at + 0.3, parts) * decay(at + 0.3, 60))


RECIPES = (
    Recipe(
        "morse_code",
        "morse-sos",
        ("An SOS in Morse code.", "morse, beeps, dots and dashes", "a ship in distress"),
        partial(_morse, text="SOS", hz=750, speed=11, static=0.02),
    ),
    Recipe(
        "morse_code",
        "morse-short-wave",
        ("Fast Morse code in short-wave noise.", "morse, radio amateur, static"),
        partial(_morse, text="CQCQ DE PARIS", hz=620, speed=24, static=0.35),
    ),
    Recipe(
        "morse_code",
        "telegraph-clicking",
        ("A telegraph clicks out a message.", "telegraph sounder, clicking, Wild West"),
        partial(_telegraph, text="PARIS"),
    ),
    Recipe(
        "modem",
        "modem-connecting",
        ("A modem dials and connects.", "dial-up, screeching, internet of the nineties"),
        _modem,
    ),
)
