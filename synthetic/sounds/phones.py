"""Telephones and messages: ringing, tones, keys, Morse, modems."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from synthetic.sounds.kit import (
    Point,
    Recipe,
    Signal,
    add,
    band,
    clock,
    level,
    modes,
    noise,
    outdoors,
    resonate,
    room,
    silence,
    tone,
)
from synthetic.sounds.parts import CUP, click, firings, gate, sequence, struck, vary

ROWS, COLUMNS = (697, 770, 852, 941), (1209, 1336, 1477, 1633)  # Hz
RINGTONE = (76, 74, 66, 68, 73, 71, 62, 64)


def line(rng: np.random.Generator, sound: Signal, loudness: float = 0.004) -> Signal:
    """Filter a sound as a receiver does, with the hum and hiss of the line."""
    narrow = band(sound / np.max(np.abs(sound)), 280, 3600, 3)
    return narrow + loudness * noise(rng, len(sound) / 32_000, 0.5)


def _bell_phone(rng: np.random.Generator, rings: Sequence[Point], hz: float) -> Signal:
    """A clapper between two gongs at 20 to 25 strokes a second; they ring on in the case."""
    hz, rate, strokes = vary(rng, hz), vary(rng, 23), []
    for at, held in rings:
        for i in range(int(held * rate)):
            gong = struck(rng, hz * (1, 1.22)[i % 2], CUP, 1.1, 1.1, 0.8, 0.003)
            strokes += [(at + i / rate, vary(rng, 1, 0.1) * gong)]
            strokes += [(at + i / rate, 0.6 * click(rng, 700, 8000, 0.015))]
    return outdoors(rng, room(rng, sequence(sum(rings[-1]) + 1, strokes), 0.4, 0.15), 0.002)


def _warbling(rng: np.random.Generator, low: float, high: float, rate: float) -> Signal:
    """An electronic ringer that swaps two tones."""
    ground, low = silence(4.2), vary(rng, low)
    for at in (0.1, 2.2):
        t = clock(1.5)
        pitch = np.where((t * rate).astype(int) % 2, high * low / 1000, low)
        add(ground, tone(pitch, (1, 0.1, 0.5, 0.05, 0.3, 0, 0.15)) * gate(1.5), at)
    return outdoors(rng, room(rng, ground, 0.4, 0.12), 0.001)


def _mobile(rng: np.random.Generator, square: float) -> Signal:
    """A ringing melody, twice, from a very small loudspeaker."""
    key, ground, step = vary(rng, 1, 0.2), silence(4.6), vary(rng, 0.14)
    for i in range(16):
        hz = 2 * key * 440 * 2 ** ((RINGTONE[i % 8] - 69) / 12)
        held = 1.8 * step if i % 8 in (2, 3, 6, 7) else step
        note = tone(np.full(len(clock(held)), hz), (1, 0.2, 0.5 * square, 0.1, 0.3 * square))
        at = (
            0.1
            + (i // 8) * 14 * step
            + sum(1.9 if j in (2, 3, 6, 7) else 1 for j in range(i % 8)) * step
        )
        add(ground, note * gate(held, 0.004, 0.03), at)
    return outdoors(rng, room(rng, ground, 0.35, 0.1), 0.001)


def _vibrating(rng: np.random.Generator) -> Signal:
    """A telephone buzzes on a table top."""
    ground, hz = silence(4.2), vary(rng, 165)
    for at in (0.15, 1.55, 2.95):
        motor = tone(np.full(len(clock(0.9)), hz), (1, 0.5, 0.4, 0.3, 0.2))
        rattle = firings(rng, np.full(len(motor), hz), (1, 0.4), 0.08)
        table = resonate(rattle, (240, 510, 1150, 2400, 4300), 0.02)
        add(ground, (0.6 * level(motor) + level(table)) * gate(0.9, 0.06, 0.1), at)
    return outdoors(rng, room(rng, ground, 0.3, 0.12), 0.002)


def _tones(rng: np.random.Generator, pitches: Sequence[float], calls: Sequence[Point]) -> Signal:
    """Steady tones of an exchange."""
    ground, tune = silence(sum(calls[-1]) + 0.3), vary(rng, 1, 0.05)
    for at, held in calls:
        add(
            ground,
            sum(tone(np.full(len(clock(held)), tune * hz)) for hz in pitches) * gate(held),
            at,
        )
    return line(rng, ground, vary(rng, 0.01, 0.5))


def _keypad(rng: np.random.Generator, count: int, pace: float) -> Signal:
    """A number is dialled on a push-button telephone: two tones a key."""
    ground, pace = silence(0.4 + count * 1.2 * pace), vary(rng, pace)
    for i, key in enumerate(rng.integers(0, 16, count)):
        key = key if key % 4 < 3 else key - 1
        held = 0.55 * pace
        pair = tone(np.full(len(clock(held)), float(ROWS[key // 4])))
        pair += tone(np.full(len(clock(held)), float(COLUMNS[key % 4])))
        add(ground, pair * gate(held, 0.004, 0.006), vary(rng, 0.1 + i * pace, 0.01))
        add(ground, click(rng, 600, 3500, 0.01), 0.08 + i * pace, 0.4)
    return line(rng, ground)


def _rotary(rng: np.random.Generator) -> Signal:
    """A dial is wound up and whirs back, clicking once for each pulse."""
    ground, at = silence(5.2), 0.15
    for digit in rng.integers(3, 10, 3):
        wind = 0.05 * digit + 0.15
        drag = resonate(
            firings(rng, np.full(round(wind * 32_000), 60.0), (1,), 0.1), (900, 2300), 0.02
        )
        add(ground, 0.3 * level(drag), at)
        at += wind + 0.05
        add(ground, click(rng, 300, 5000, 0.03), at, 1.5)
        for _ in range(digit):
            add(ground, modes(0.06, (1700, 2900, 4400), 0.03, 0.4) * 1.2, at)
            at += 0.1
        add(ground, click(rng, 200, 4000, 0.04), at, 1.6)
        at += 0.2
    whir = 0.04 * band(noise(rng, 5.2), 800, 5000)
    return outdoors(rng, room(rng, ground + whir, 0.3, 0.1), 0.002)


RECIPES = (
    Recipe(
        "telephone_ring",
        "telephone-old-bell",
        ("An old telephone rings.", "telephone, bell, ring ring", "someone answer the phone"),
        partial(_bell_phone, rings=((0.1, 0.4), (0.7, 0.4), (2.6, 0.4), (3.2, 0.4)), hz=1150),
    ),
    Recipe(
        "telephone_ring",
        "telephone-one-long-ring",
        ("A telephone in an office rings once, for long.", "phone bell, long ring, desk phone"),
        partial(_bell_phone, rings=((0.1, 1.9),), hz=1450),
    ),
    Recipe(
        "telephone_ring",
        "telephone-electronic-warble",
        ("An office phone warbles electronically.", "phone, trill, two tones", "call centre"),
        partial(_warbling, low=1050, high=1270, rate=20),
    ),
    Recipe(
        "telephone_ring",
        "mobile-phone-melody",
        ("A mobile phone plays its ringtone.", "cell phone, ringtone, tune", "sorry, that's mine"),
        partial(_mobile, square=0.8),
    ),
    Recipe(
        "phone_vibrating",
        "phone-vibrating-on-table",
        ("A phone vibrates on a table.", "vibration, buzzing, muted phone", "a silent call"),
        _vibrating,
    ),
    Recipe(
        "dial_tone",
        "dial-tone-american",
        ("The dial tone of a telephone line.", "dial tone, steady hum", "you may dial now"),
        partial(_tones, pitches=(350, 440), calls=((0.05, 3.0),)),
    ),
    Recipe(
        "dial_tone",
        "dial-tone-european",
        ("A European dial tone hums at one pitch.", "telephone line, single tone, steady"),
        partial(_tones, pitches=(425,), calls=((0.05, 3.0),)),
    ),
    Recipe(
        "dial_tone",
        "busy-signal",
        ("The line is busy.", "busy tone, beeping, engaged", "they are on another call"),
        partial(_tones, pitches=(480, 620), calls=tuple((0.1 + i, 0.5) for i in range(4))),
    ),
    Recipe(
        "phone_keypad",
        "phone-number-dialled",
        ("A number is dialled on a push-button phone.", "touch tones, keypad, dialling"),
        partial(_keypad, count=8, pace=0.3),
    ),
    Recipe(
        "phone_keypad",
        "phone-speed-dial",
        ("A machine dials a number very fast.", "touch tones, rapid, automatic dialler"),
        partial(_keypad, count=11, pace=0.14),
    ),
    Recipe(
        "rotary_dial",
        "rotary-phone-dialled",
        ("Someone dials on an old rotary phone.", "rotary dial, whirring back, clicks"),
        _rotary,
    ),
)
