"""Parts that several families of made things share: strikes, gates, engines, things that pass
by.
"""

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy import signal

from synthetic.sounds.kit import (
    SAMPLE_RATE,
    Signal,
    add,
    band,
    clock,
    decay,
    low_pass,
    modes,
    samples,
    silence,
)

SPEED_OF_SOUND = 343.0  # metres a second
BAR = (1.0, 2.756, 5.404, 8.933, 13.34)  # partials of a bar or tube free at both ends
HORN = (0.5, 0.9, 1, 0.8, 0.75, 0.55, 0.5, 0.4, 0.3, 0.25, 0.2, 0.15, 0.12, 0.1, 0.08, 0.06)
CUP = (1.0, 1.52, 2.71, 3.9, 5.0, 6.6)  # of a small bell


def vary(rng: np.random.Generator, value: float, share: float = 0.1) -> float:
    """Change the value by at most that share, up or down: another rendition is another object."""
    return value * np.exp(rng.uniform(-share, share))


def gate(seconds: float, attack: float = 0.01, release: float = 0.02) -> Signal:
    """Rise rounded to 1, hold, and fall rounded."""
    t = clock(seconds)
    inside = np.minimum(t / attack, (seconds - t) / release)
    return 0.5 - 0.5 * np.cos(np.pi * np.clip(inside, 0, 1))


def click(rng: np.random.Generator, low: float, high: float, t60: float) -> Signal:
    """Make a burst of noise between two frequencies that dies at once, at a peak of 1."""
    seconds = 1.2 * t60 + 0.005
    burst = band(rng.standard_normal(samples(seconds)), low, high) * decay(seconds, t60, 0.0004)
    return burst / np.max(np.abs(burst))


def struck(
    rng: np.random.Generator,
    hz: float,
    ratios: ArrayLike,
    t60: float,
    seconds: float,
    hardness: float = 0.5,
    split: float = 0.0,
) -> Signal:
    """Strike a body once: partials at these ratios to hz, the higher the weaker and the shorter.

    t60: of the lowest; hardness: 0 (felt) to 1 (steel); split: share by which every partial is
    doubled, so that it beats.
    """
    ratios = np.asarray(ratios, float)
    ratios = ratios * (1 + 0.004 * rng.standard_normal(len(ratios)))
    gains = ratios ** (-2 + 1.8 * hardness) * rng.uniform(0.5, 1, len(ratios))
    falls = t60 * (ratios / ratios.min()) ** -0.8
    body = modes(seconds, hz * ratios, falls, gains)
    if split:
        twins = 1 + split * rng.uniform(0.3, 1, len(ratios))
        body += modes(seconds, hz * ratios * twins, falls, 0.6 * gains)
    body *= np.minimum(clock(seconds) / 0.0008, 1)
    add(body, click(rng, 2 * hz, 14_000, 0.03), 0, 0.25 * hardness * np.max(np.abs(body)))
    return body


def firings(
    rng: np.random.Generator, rate: Signal, strengths: Sequence[float] = (1.0,), jitter: float = 0.0
) -> Signal:
    """Put single samples wherever the rate (Hz, a curve) has turned once more, of these strengths.

    jitter: share of a period, and of the strength, by which they differ.
    """
    turns = np.cumsum(rate) / SAMPLE_RATE + rng.uniform()
    places = np.flatnonzero(np.diff(np.floor(turns)) > 0)
    shifts = jitter * rng.standard_normal(len(places)) * SAMPLE_RATE / rate[places]
    moved = np.clip(places + shifts.astype(int), 0, len(rate) - 1)
    uneven = np.resize(strengths, len(places)) * (1 + 2 * jitter * rng.standard_normal(len(places)))
    train = np.zeros(len(rate))
    np.add.at(train, moved, uneven)
    return train


def exhaust(train: Signal, hz: ArrayLike, t60: ArrayLike, gain: ArrayLike = 1.0) -> Signal:
    """Let every firing of a train sound in pipes and panels of these resonances."""
    pulse = modes(float(np.max(t60)), hz, t60, gain)
    pulse *= np.minimum(clock(float(np.max(t60))) / 0.0005, 1)
    return signal.fftconvolve(train, pulse)[: len(train)]


def passing(sound: Signal, nearest: float, speed: float, distance: float) -> Signal:
    """Let the sound drive by: pitch falls, level and brightness rise and fall.

    nearest: second of the closest approach; speed: metres a second; distance: of the road, metres.
    """
    t = clock(len(sound) / SAMPLE_RATE)
    away = np.hypot(speed * (t - nearest), distance)
    received = np.interp(t - (away - away.max()) / SPEED_OF_SOUND, t, sound, period=t[-1])
    near = distance / away
    return near * (near * received + (1 - near) * low_pass(received, 1200, 1))


def sequence(seconds: float, sounds: Iterable[tuple[float, Signal]]) -> Signal:
    """Put sounds at their times (seconds)."""
    ground = silence(seconds)
    for at, sound in sounds:
        add(ground, sound, at)
    return ground


def melody(
    rng: np.random.Generator,
    notes: Iterable[tuple[float, int, float]],
    play: Callable[[float, float], Signal],
    pace: float = 1.0,
) -> Signal:
    """Play notes (beat, MIDI number, beats) at some pace (seconds a beat) in some key.

    play: gives a note of a pitch (Hz) and length (seconds); what it adds rings on.
    """
    key, pace, sounds = 2 ** (rng.integers(-3, 4) / 12), vary(rng, pace, 0.12), []
    for beat, number, beats in notes:
        hz = 440 * key * 2 ** ((number - 69) / 12)
        at = 0.05 + pace * beat + 0.008 * abs(rng.standard_normal())
        sounds.append((at, vary(rng, 0.8, 0.2) * play(hz, beats * pace)))
    return sequence(max(at + len(sound) / SAMPLE_RATE for at, sound in sounds), sounds)
