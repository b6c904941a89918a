"""Instruments with air in them: flute, trumpet, organ, accordion, harmonica, whistled tunes."""

from functools import partial

import numpy as np

from synthetic.sounds.kit import (
    Recipe,
    Signal,
    add,
    clock,
    colour,
    curve,
    high_pass,
    level,
    low_pass,
    moving_band,
    noise,
    room,
    tone,
    wander,
)
from synthetic.sounds.parts import click, gate, melody, vary
from synthetic.sounds.strings import CHORDS, SCALE, TUNE, Notes, shifted

FANFARE: Notes = (
    (0, 60, 0.4),
    (0.5, 60, 0.4),
    (1, 60, 0.4),
    (1.5, 64, 1.2),
    (3, 60, 0.4),
    (3.5, 67, 2),
)
RANKS = {  # strengths of stops at multiples of the pitch
    "church": {0.5: 0.5, 1: 1, 2: 0.8, 3: 0.4, 4: 0.5, 6: 0.25, 8: 0.3, 12: 0.12},
    "rock": {0.5: 0.8, 1: 1, 1.5: 0.8, 2: 0.5, 3: 0.2, 8: 0.25},
}


def _flute(rng: np.random.Generator, notes: Notes, pace: float, breath: float) -> Signal:
    def play(hz: float, held: float) -> Signal:
        t = clock(held)
        vibrato = 1 + 0.004 * np.sin(2 * np.pi * vary(rng, 5) * t) * np.minimum(t / 0.3, 1)
        pitch = hz * vibrato * curve(held, (0, 0.985), (0.05, 1))
        pipe = tone(pitch, (1, 0.35, 0.16, 0.06, 0.04, 0.02))
        air = moving_band(noise(rng, held), pitch, 0.6) + 0.2 * high_pass(noise(rng, held), 2500)
        chiff = click(rng, 800, 6000, 0.05)
        sound = pipe * wander(rng, held, 6, 0.85, 1) + breath * air
        add(sound, chiff, 0, 0.5 * breath)
        return sound * gate(held, 0.05, 0.06)

    return room(rng, melody(rng, notes, play, pace), 1.3, 0.25)


def _brass(rng: np.random.Generator, notes: Notes, pace: float, mute: float) -> Signal:
    """A brass instrument, brighter where it is louder: high harmonics come later and go earlier;
    mute: how nasal.
    """

    def play(hz: float, held: float) -> Signal:
        t = clock(held)
        pitch = hz * (1 - 0.03 * np.exp(-t / 0.02)) * (1 + 0.003 * wander(rng, held, 8, -1, 1))
        swell = gate(held, 0.06, 0.08) * (0.8 + 0.2 * np.exp(-t / 0.12))
        harmonics = [tone(pitch * k) * swell ** (0.6 + 0.35 * k) * k**-0.45 for k in range(1, 17)]
        return np.sum(harmonics, axis=0) + 0.02 * noise(rng, held) * swell

    bell = ((150, -8), (700, 0), (1500, 3 + 6 * mute), (3000, 0), (6000, -8), (15_000, -20))
    tube = colour(melody(rng, notes, play, pace), *bell)
    return room(rng, high_pass(tube, 900 * mute + 60, 1), 1.3, 0.22)


def _organ(rng: np.random.Generator, notes: Notes, pace: float, kind: str) -> Signal:
    """Pipes in a church, or drawbars through a turning loudspeaker."""

    def play(hz: float, held: float) -> Signal:
        t = clock(held)
        pipes = np.zeros(len(t))
        for multiple, gain in RANKS[kind].items():
            drift = 1 + 0.0008 * rng.standard_normal()
            pipes += gain * tone(hz * multiple * drift + 0 * t, (1, 0.25, 0.12, 0.06))
        add(pipes, click(rng, 1000, 8000, 0.015), 0, 0.5 if kind == "rock" else 0.1)
        return pipes * gate(held, 0.03 if kind == "church" else 0.005, 0.08)

    keys = melody(rng, notes, play, pace)
    if kind == "church":
        wind = 0.01 * low_pass(noise(rng, len(keys) / 32_000, 0.5), 3000)
        return room(rng, keys / np.max(keys) + wind, 3.0, 0.45)[: 32_000 * 8]
    t = clock(len(keys) / 32_000)[: len(keys)]
    turns = 2 * np.pi * 6.4 * t
    turned = np.interp(t + 0.0006 * np.sin(turns), t, keys) * (1 + 0.3 * np.sin(turns + 1))
    return room(rng, turned, 0.7, 0.15)


def _reeds(
    rng: np.random.Generator, notes: Notes, pace: float, beat: float, hands: float
) -> Signal:
    """Free reeds in pairs that beat (Hz); hands: how much a player's hands cup the sound."""

    def play(hz: float, held: float) -> Signal:
        bend = curve(held, (0, 0.98 if hands else 1), (0.12, 1))
        reed = tone(hz * bend, [k**-0.8 for k in range(1, 22)])
        reed += tone((hz + beat) * bend, [k**-0.8 for k in range(1, 22)])
        waving = 1 + 0.35 * hands * np.sin(2 * np.pi * 5.5 * clock(held))
        return (
            (level(reed) + 0.04 * high_pass(noise(rng, held), 2000))
            * waving
            * gate(held, 0.04, 0.05)
        )

    box = ((150, -10), (500, 0), (1200, 4), (2800, 2), (6000, -10), (15_000, -24))
    return room(rng, colour(melody(rng, notes, play, pace), *box), 0.7, 0.15)


RECIPES = (
    Recipe(
        "flute",
        "flute-melody",
        ("A flute plays a gentle melody.", "flute, breathy, woodwind, soft"),
        partial(_flute, notes=shifted(TUNE, 12), pace=0.7, breath=0.25),
    ),
    Recipe(
        "flute",
        "recorder-scale",
        ("A child practises a scale on a recorder.", "recorder, scale, beginner", "music class"),
        partial(_flute, notes=shifted(SCALE, 19), pace=0.75, breath=0.08),
    ),
    Recipe(
        "flute",
        "pan-pipes",
        ("Pan pipes play a breathy tune.", "panpipe, airy, Andes, folk music"),
        partial(_flute, notes=shifted(TUNE, 7), pace=0.65, breath=0.8),
    ),
    Recipe(
        "trumpet",
        "trumpet-fanfare",
        ("A trumpet plays a fanfare.", "trumpet, brass, royal, announcing", "the king arrives"),
        partial(_brass, notes=shifted(FANFARE, 7), pace=0.55, mute=0),
    ),
    Recipe(
        "trumpet",
        "muted-trumpet-jazz",
        ("A muted trumpet plays a lazy jazz phrase.", "trumpet with a mute, nasal, jazz club"),
        partial(_brass, notes=shifted(TUNE, 5), pace=0.7, mute=1),
    ),
    Recipe(
        "trumpet",
        "trombone-low-notes",
        ("A trombone plays slow low notes.", "trombone, brass, deep, marching band"),
        partial(_brass, notes=shifted(FANFARE, -14), pace=0.7, mute=0),
    ),
    Recipe(
        "organ",
        "church-organ-chords",
        (
            "A church organ fills the nave with chords.",
            "pipe organ, church, solemn",
            "a wedding mass",
        ),
        partial(_organ, notes=CHORDS, pace=0.95, kind="church"),
    ),
    Recipe(
        "organ",
        "rock-organ",
        (
            "An electric organ plays with a rotating speaker.",
            "hammond, rock organ, chords, vibrato",
        ),
        partial(_organ, notes=shifted(CHORDS, 5), pace=0.7, kind="rock"),
    ),
    Recipe(
        "accordion",
        "accordion-tune",
        ("An accordion plays a tune.", "accordion, reeds, musette", "a café in Paris"),
        partial(_reeds, notes=(*TUNE, *shifted(CHORDS, 0)[:4]), pace=0.6, beat=3.5, hands=0),
    ),
    Recipe(
        "harmonica",
        "harmonica-blues",
        ("A harmonica plays a lonesome tune.", "mouth organ, blues, wailing", "cowboy by the fire"),
        partial(_reeds, notes=shifted(TUNE, 5), pace=0.75, beat=1, hands=1),
    ),
)
