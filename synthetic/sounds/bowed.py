"""Strings that are bowed or plucked in an orchestra: violin, cello, harp."""

from functools import partial

import numpy as np

from synthetic.sounds.kit import (
    Recipe,
    Signal,
    clock,
    colour,
    high_pass,
    level,
    noise,
    resonate,
    room,
    tone,
    wander,
)
from synthetic.sounds.parts import gate, melody, vary
from synthetic.sounds.strings import BASS, SCALE, TUNE, Notes, pluck, shifted


def _violin(rng: np.random.Generator, notes: Notes, pace: float, tremolo: float) -> Signal:
    """A bowed string: a sawtooth with vibrato in a body; tremolo: bow strokes a second."""

    def play(hz: float, held: float) -> Signal:
        seconds = held + 0.15
        t = clock(seconds)
        swing = 0.006 * np.sin(2 * np.pi * vary(rng, 5.6) * t) * np.minimum(t / 0.35, 1)
        pitch = hz * (1 + swing + 0.002 * wander(rng, seconds, 20, -1, 1))
        string = tone(pitch, [1 / k for k in range(1, 26)])
        bow = 0.07 * high_pass(noise(rng, seconds), 1500) * (1 + 0.5 * np.sin(2 * np.pi * hz * t))
        sound = (level(string) + bow) * wander(rng, seconds, 10, 0.8, 1)
        if tremolo:
            sound *= np.abs(np.sin(np.pi * tremolo * t)) ** 0.6
        return sound * gate(seconds, 0.09, 0.12)

    bridge = ((150, -14), (280, 2), (460, 3), (900, -3), (2500, 4), (4500, -4), (12_000, -22))
    return room(rng, colour(melody(rng, notes, play, pace), *bridge), 1.2, 0.25)


def _pizzicato(rng: np.random.Generator, notes: Notes, pace: float) -> Signal:
    def play(hz: float, held: float) -> Signal:
        string = pluck(rng, hz, held + 0.4, 0.6, 0.6)
        return string + 0.4 * resonate(string, (280, 460, 900), 0.06, 0.02)

    return room(rng, melody(rng, notes, play, pace), 1.0, 0.25)


def _harp(rng: np.random.Generator) -> Signal:
    """A glissando up and down again over all strings."""
    scale = [36 + 12 * octave + step for octave in range(5) for step in (0, 2, 4, 7, 9)]
    up = [(0.09 * i, n, 3.0) for i, n in enumerate(scale)]
    down = [(2.6 + 0.08 * i, n, 3.0) for i, n in enumerate(scale[::-1])]

    def play(hz: float, held: float) -> Signal:
        return pluck(rng, hz, held, 3 * (150 / hz) ** 0.4, 0.75)

    return room(rng, melody(rng, (*up, *down), play)[: 32_000 * 6], 1.5, 0.25)


RECIPES = (
    Recipe(
        "violin",
        "violin-melody",
        ("A violin plays a slow melody.", "violin, bowed, vibrato", "a busker in the square"),
        partial(_violin, notes=shifted(TUNE, 9), pace=0.75, tremolo=0),
    ),
    Recipe(
        "violin",
        "cello-long-notes",
        ("A cello draws long deep notes.", "cello, bowed, low, warm", "a melancholy tune"),
        partial(_violin, notes=shifted(BASS, 9), pace=0.9, tremolo=0),
    ),
    Recipe(
        "violin",
        "strings-tremolo",
        ("Strings play a nervous tremolo.", "violins, tremolo, suspense", "horror film music"),
        partial(_violin, notes=((0, 69, 4), (0, 75, 4), (0, 81, 4)), pace=1, tremolo=11),
    ),
    Recipe(
        "violin",
        "violin-pizzicato",
        ("Violin strings are plucked.", "pizzicato, plucked, short notes, playful"),
        partial(_pizzicato, notes=shifted(SCALE, 7), pace=0.5),
    ),
    Recipe(
        "harp",
        "harp-glissando",
        ("A harp sweeps up and down its strings.", "harp, glissando, dreamy", "and then I woke up"),
        _harp,
    ),
)
