"""Clocks: ticking, chiming, waking."""

from functools import partial

import numpy as np

from synthetic.sounds.kit import (
    Recipe,
    Signal,
    clock,
    colour,
    curve,
    high_pass,
    mix,
    modes,
    noise,
    outdoors,
    resonate,
    room,
    tone,
)
from synthetic.sounds.parts import CUP, click, gate, sequence, struck, vary

QUARTERS = (415.3, 370.0, 329.6, 246.9)  # the four notes of Westminster


def _ticking(
    rng: np.random.Generator, rate: float, case: float, bright: float, seconds: float = 3.5
) -> Signal:
    """An escapement in a case that resonates at `case` Hz; ticks and tocks differ."""
    rate, case, beats = vary(rng, rate, 0.04), vary(rng, case, 0.2), []
    voices = [(vary(rng, 1, 0.15), vary(rng, 1, 0.4)) for _ in range(2)]
    ratios = (1, 1.7, 2.9, 4.3, 6.1)
    for i, at in enumerate(np.arange(rng.uniform(0.05, 0.3), seconds - 0.1, 1 / rate)):
        pitch, gain = voices[i % 2]
        for delay, part in ((0, 1.0), (0.012 * vary(rng, 1, 0.1), 0.5), (0.03, 0.25)):
            tick = click(rng, 900 * bright, 4500 * bright, 0.02)
            body = modes(0.08, case * pitch * np.array(ratios), 0.05, (1, 0.7, 0.5, 0.3, 0.2))
            beats += [(at + delay, gain * part * tick), (at + delay, 0.35 * gain * part * body)]
    return outdoors(rng, room(rng, sequence(seconds, beats), 0.3, 0.12), 0.0006)


def _wound_alarm(rng: np.random.Generator, hz: float, rate: float, wound: float) -> Signal:
    """Two bells with a hammer between; it slows down as the spring runs out (wound seconds)."""
    hz, at, strokes, i = vary(rng, hz, 0.15), 0.05, [], 0
    while at < wound:
        bell = struck(rng, hz * (1, 1.13)[i % 2], CUP, 0.7, 0.9, 0.95, 0.004)
        strokes += [(at, vary(rng, 1, 0.2) * bell), (at, 0.8 * click(rng, 2000, 12_000, 0.02))]
        at += (1 + 0.7 * (at / wound) ** 4) / vary(rng, rate, 0.04)
        i += 1
    return room(rng, sequence(wound + 1, strokes), 0.3, 0.15)


def _beeping(
    rng: np.random.Generator, hz: float, group: int, period: float, repeats: int, square: float
) -> Signal:
    """Groups of short beeps from a piezo disc; square is how much of the odd harmonics it has."""
    hz, period = vary(rng, hz), vary(rng, period, 0.05)
    length = 0.6 * period / (group + 1) if group > 1 else 0.5 * period
    harmonics = (1, 0.1 * square, 0.5 * square, 0.05, 0.35 * square, 0, 0.2 * square)
    beep = tone(np.full(len(clock(length)), hz), harmonics) * gate(length, 0.003, 0.004)
    beeps = [
        (0.05 + period * k + 1.5 * length * i, beep) for k in range(repeats) for i in range(group)
    ]
    return outdoors(rng, room(rng, sequence(period * repeats + 0.1, beeps), 0.25, 0.1), 0.0006)


def _radio_alarm(rng: np.random.Generator) -> Signal:
    """The rasping buzzer of a clock radio, on and off."""
    hz, rasps = vary(rng, 430, 0.2), []
    for at in np.arange(0.05, 4, vary(rng, 0.9)):
        t = clock(0.5)
        edge = np.sign(np.sin(2 * np.pi * hz * t)) * (1 + 0.6 * np.sign(np.sin(200 * np.pi * t)))
        rasps.append(
            (at, colour(edge, (200, -20), (1500, 0), (5000, -3), (12_000, -20)) * gate(0.5))
        )
    return room(rng, sequence(4.6, rasps), 0.3, 0.1)


def _strike_hours(rng: np.random.Generator, hz: float, hours: int, period: float) -> Signal:
    """A coil gong strikes the hours in its wooden case."""
    hz, period = vary(rng, hz), vary(rng, period)
    ratios = (1, 2.1, 3.4, 5.1, 7.2, 9.6)
    strokes = [
        (0.1 + i * period, struck(rng, hz, ratios, 4, 3.5, 0.5, 0.003)) for i in range(hours)
    ]
    chime = room(rng, sequence(hours * period + 2, strokes), 0.7, 0.2)
    return mix(chime / np.max(chime), 0.06 * _ticking(rng, 2, 500, 0.8, hours * period + 2))


def _westminster(rng: np.random.Generator) -> Signal:
    tune = vary(rng, 1, 0.2)
    strokes = [
        (0.1 + 0.85 * i, struck(rng, tune * QUARTERS[note], (1, 2, 2.76, 4.2, 5.4), 3.5, 3, 0.35))
        for i, note in enumerate((2, 1, 0, 3, 2, 0, 1, 3))
    ]
    return room(rng, sequence(7.4, strokes), 0.6, 0.2)


def _cuckoo(rng: np.random.Generator, hours: int) -> Signal:
    """A bird of two bellows and two pipes, with its little gong."""
    high, calls = vary(rng, 660), []
    for i in range(hours):
        for hz, at, held in ((high, 0.0, 0.22), (high * 0.79, 0.36, 0.38)):
            glide = hz * curve(held, (0, 0.97), (0.05, 1), (held, 0.985))
            air = high_pass(noise(rng, held, 1), 500)
            breath = resonate(air, (hz, 3 * hz), 0.05, 1)
            pipe = tone(glide, (1, 0.12, 0.18, 0.03, 0.05)) + 0.15 * breath / np.max(breath)
            calls.append((0.1 + 1.25 * i + at, (pipe + 0.05 * air) * gate(held, 0.03, 0.06)))
        coil = struck(rng, 1.9 * high, (1, 1.6, 2.9, 4.4), 1.5, 1.2, 0.6)
        calls += [(0.1 + 1.25 * i, 0.3 * coil), (0.05 + 1.25 * i, click(rng, 500, 4000, 0.03))]
    return room(rng, sequence(1.25 * hours + 0.5, calls), 0.4, 0.2)


def _kitchen_timer(rng: np.random.Generator) -> Signal:
    """A kitchen timer: fast ticking, then the bell."""
    tick = _ticking(rng, 7, 900, 1.6, 2.6)
    bell = _wound_alarm(rng, 2600, 24, 0.7)
    return sequence(4.4, [(0, 0.5 * tick / np.max(tick)), (2.6, bell / np.max(bell))])


RECIPES = (
    Recipe(
        "clock_tick",
        "clock-wall",
        ("A wall clock ticks once a second.", "clock, ticking, quiet room", "waiting, tick tock"),
        partial(_ticking, rate=1, case=420, bright=0.9, seconds=4.4),
    ),
    Recipe(
        "clock_tick",
        "clock-grandfather-ticking",
        ("A grandfather clock ticks slowly in its case.", "tick tock, wooden, slow, pendulum"),
        partial(_ticking, rate=1.6, case=190, bright=0.5, seconds=4.4),
    ),
    Recipe(
        "clock_tick",
        "pocket-watch",
        ("A pocket watch ticks fast close to the ear.", "watch, ticking, fast, fine"),
        partial(_ticking, rate=5, case=2100, bright=1.8),
    ),
    Recipe(
        "clock_tick",
        "alarm-clock-ticking",
        ("A cheap alarm clock ticks loudly at night.", "loud tick, metal clock, sleepless"),
        partial(_ticking, rate=2.5, case=900, bright=1.3),
    ),
    Recipe(
        "kitchen_timer",
        "kitchen-timer",
        ("A kitchen timer ticks and then rings.", "egg timer, ticking, bell", "the eggs are done"),
        _kitchen_timer,
    ),
    Recipe(
        "clock_alarm",
        "alarm-clock-twin-bell",
        ("An old alarm clock with two bells rings.", "alarm clock, ringing, mechanical", "get up"),
        partial(_wound_alarm, hz=1900, rate=22, wound=2.8),
    ),
    Recipe(
        "clock_alarm",
        "alarm-clock-digital",
        ("A digital alarm clock beeps four at a time.", "beep beep beep beep, alarm, morning"),
        partial(_beeping, hz=2000, group=4, period=1.0, repeats=5, square=0.8),
    ),
    Recipe(
        "clock_alarm",
        "travel-alarm",
        ("A travel alarm chirps in pairs.", "small alarm clock, high beeps, wake up"),
        partial(_beeping, hz=4050, group=2, period=0.6, repeats=7, square=0.3),
    ),
    Recipe(
        "clock_alarm",
        "clock-radio-buzzer",
        ("The buzzer of a clock radio goes off.", "alarm, harsh buzz, on and off", "too early"),
        _radio_alarm,
    ),
    Recipe(
        "clock_chime",
        "clock-strikes-three",
        ("A grandfather clock strikes three.", "clock, chime, three strokes, gong"),
        partial(_strike_hours, hz=330, hours=3, period=1.6),
    ),
    Recipe(
        "clock_chime",
        "clock-westminster-quarters",
        ("A mantel clock plays the Westminster chime.", "clock chimes, melody, half past"),
        _westminster,
    ),
    Recipe(
        "clock_chime",
        "cuckoo-clock",
        ("A cuckoo clock calls three times.", "cuckoo clock, toy bird, gong", "three o'clock"),
        partial(_cuckoo, hours=3),
    ),
)
