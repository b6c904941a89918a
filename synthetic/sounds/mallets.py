"""Bars that are struck, and small things that keep time."""

from functools import partial

import numpy as np

from synthetic.sounds.kit import (
    Recipe,
    Signal,
    add,
    band,
    decay,
    impulses,
    level,
    modes,
    room,
    silence,
)
from synthetic.sounds.parts import BAR, click, melody, sequence, struck, vary
from synthetic.sounds.strings import SCALE, TUNE, Notes, shifted


def _bars(
    rng: np.random.Generator, notes: Notes, pace: float, t60: float, hard: float, tube: float
) -> Signal:
    """Wooden or metal bars over tubes that help the fundamental."""
    ratios = (1, 3.93, 9.24) if tube else BAR[:4]

    def play(hz: float, held: float) -> Signal:
        length = t60 * (500 / hz) ** 0.5
        bar = struck(rng, hz, ratios, length, min(1.1 * length, 2.5), hard)
        add(bar, click(rng, 500, 5000, 0.02), 0, 0.2 * float(np.max(bar)))
        return bar / np.max(np.abs(bar)) * min(1, 0.5 + held)

    return room(rng, melody(rng, notes, play, pace), 0.8, 0.15)


def _tick(rng: np.random.Generator, case: Signal) -> Signal:
    """A tick in a small wooden case of these modes (Hz)."""
    tick = modes(0.1, case, 0.06, 0.5)
    add(tick, click(rng, 1500, 9000, 0.01), 0)
    return tick


def _metronome(rng: np.random.Generator, tempo: float) -> Signal:
    case = vary(rng, 1050) * np.array([1, 1.9, 2.8, 4.1])
    beats = [
        (at, _tick(rng, case * (1.25 if i % 4 == 0 else 1)))
        for i, at in enumerate(np.arange(0.1, 5, 60 / vary(rng, tempo)))
    ]
    return room(rng, sequence(5.3, beats), 0.4, 0.15)


def _shaker(rng: np.random.Generator) -> Signal:
    """Maracas: seeds thrown to and fro."""
    ground, step = silence(4.2), vary(rng, 0.16)
    for i, at in enumerate(np.arange(0.1, 3.9, step)):
        seeds = band(impulses(rng, 0.12, 2500, 0.6), 2500, 12_000, 1) * decay(0.12, 0.1, 0.02)
        add(ground, level(seeds), at, 1 if i % 2 else 0.5)
    return ground


RECIPES = (
    Recipe(
        "xylophone",
        "xylophone-scale",
        ("A scale is played on a xylophone.", "xylophone, wooden bars, scale", "skeleton dance"),
        partial(_bars, notes=shifted(SCALE, 12), pace=0.45, t60=0.5, hard=0.45, tube=1),
    ),
    Recipe(
        "xylophone",
        "glockenspiel-melody",
        ("A glockenspiel plays a bright little melody.", "glockenspiel, metal bars, Christmas"),
        partial(_bars, notes=shifted(TUNE, 24), pace=0.5, t60=2.5, hard=0.6, tube=0),
    ),
    Recipe(
        "xylophone",
        "marimba-soft",
        ("A marimba plays mellow low notes.", "marimba, warm, rosewood, mallets"),
        partial(_bars, notes=TUNE, pace=0.5, t60=0.9, hard=0.15, tube=1),
    ),
    Recipe(
        "metronome",
        "metronome",
        ("A metronome ticks the time.", "metronome, tick, steady beat", "practising an instrument"),
        partial(_metronome, tempo=112),
    ),
    Recipe(
        "maracas",
        "maracas",
        ("Maracas are shaken in rhythm.", "shaker, seeds, rhythm, salsa"),
        _shaker,
    ),
)
