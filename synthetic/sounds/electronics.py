"""Electricity and electronics: hum, sparks, static, synthesizers, games, instruments that beep."""

from functools import partial

import numpy as np

from synthetic.sounds.kit import (
    Recipe,
    Signal,
    add,
    at_random,
    band,
    bump,
    clock,
    coloured,
    curve,
    decay,
    fm,
    high_pass,
    impulses,
    level,
    modes,
    moving_band,
    noise,
    outdoors,
    room,
    scatter,
    silence,
    tone,
    wander,
)
from synthetic.sounds.parts import firings, gate, melody, vary
from synthetic.sounds.strings import CHORDS, Notes, shifted

BUZZ = (0.3, 1, 0.25, 0.8, 0.2, 0.6, 0.2, 0.45, 0.15, 0.4, 0.1, 0.3, 0.1, 0.25, 0.08, 0.2)
SAW = [1 / k for k in range(1, 40)]
ARPEGGIO: Notes = tuple(
    (0.25 * i, (45, 57, 60, 64, 69, 64, 60, 57)[i % 8], 0.25) for i in range(20)
)


def _hum(rng: np.random.Generator, mains: float, buzz: float, crackle: float) -> Signal:
    """A transformer or a bad cable: even harmonics of the mains."""
    seconds = 3.6
    pitch = np.full(len(clock(seconds)), vary(rng, mains, 0.03))
    gains = np.array(BUZZ) * rng.uniform(0.6, 1.4, 16) * np.arange(1.0, 17) ** (buzz - 1)
    sound = level(tone(pitch, gains.tolist())) + 0.15 * buzz * level(
        high_pass(firings(rng, 2 * pitch), 1500)
    )
    sparks = high_pass(impulses(rng, seconds, 30 * crackle, 1), 800)
    return sound * wander(rng, seconds, 2, 0.9, 1) + 0.02 * noise(rng, seconds, 0.5) + 0.5 * sparks


def _arc(rng: np.random.Generator) -> Signal:
    """Sparks jump in bursts that buzz at twice the mains."""
    seconds = 4.0
    bursts = np.clip(wander(rng, seconds, 5, -1.2, 1.3), 0, 1)
    jumps = firings(rng, np.full(len(bursts), 100.0), (1, 0.8), 0.06) * 6
    snaps = impulses(rng, seconds, 900 * bursts + 1, 1)
    sound = level(high_pass(jumps * bursts, 300)) + 0.8 * level(band(snaps, 1200, 14_000, 1))
    return outdoors(rng, sound * (0.05 + bursts), 0.004)


def _laser(rng: np.random.Generator, shots: int, high: float, low: float, held: float) -> Signal:
    ground, gap = silence(shots * (held + 0.12) + 0.5), vary(rng, held + 0.08)
    for i in range(shots):
        top = vary(rng, high, 0.1)
        pitch = low + (top - low) * np.exp(-clock(held) / (0.22 * held))
        zap = fm(pitch, 1.5, 1.5) + 0.4 * tone(pitch, SAW[:12])
        add(ground, zap * decay(held, 1.4 * held, 0.002), 0.1 + i * gap)
    return room(rng, ground, 0.8, 0.2)


def _static(rng: np.random.Generator, tuning: bool, crackle: float) -> Signal:
    """Between the stations; tuning: whistles and scraps of music slide by."""
    seconds = 4.5
    hiss = coloured(rng, seconds, (150, -10), (700, 0), (3500, 0), (6000, -14), (15_000, -30))
    crackles = band(impulses(rng, seconds, 70 * crackle, 1.2), 300, 5000, 1)
    sound = hiss * wander(rng, seconds, 4, 0.5, 1) + crackle * level(crackles)
    if tuning:
        for at in rng.uniform(0, seconds - 1.2, 4):
            held = rng.uniform(0.6, 1.2)
            slide = np.abs(
                curve(held, (0, rng.uniform(1500, 3500)), (held, -rng.uniform(1500, 3500)))
            )
            add(sound, tone(slide + 30) * bump(held), at, 0.9)
            song = tone(rng.choice([262, 330, 392, 523]) * wander(rng, held, 5, 0.9, 1.2), SAW[:8])
            add(sound, level(song) * bump(held, 0.5, 2), at, 0.5)
    return band(sound, 180, 7000)


def _geiger(rng: np.random.Generator, slow: float, fast: float) -> Signal:
    seconds = 4.5
    rate = slow * (fast / slow) ** curve(seconds, (0.4, 0), (3.6, 1))
    tick = modes(0.012, (1900, 3300, 5400), 0.008, (1, 0.6, 0.4))
    clicks = scatter(seconds, at_random(rng, seconds, rate), lambda: tick)
    return clicks + 0.002 * noise(rng, seconds, 1)


def _synth(
    rng: np.random.Generator, notes: Notes, pace: float, sweep: float, attack: float
) -> Signal:
    """Two saws, a little apart, through a filter that opens (sweep, octaves) and closes."""

    def play(hz: float, held: float) -> Signal:
        pitch = np.full(len(clock(held)), hz)
        saws = tone(pitch * 1.004, SAW) + tone(pitch * 0.996, SAW)
        cut = 3 * hz * 2 ** (sweep * bump(held, 0.25))
        return moving_band(saws, cut, 3) * gate(held, attack, 0.03 + 0.5 * attack)

    return room(rng, melody(rng, notes, play, pace), 1.2, 0.2)


def _theremin(rng: np.random.Generator) -> Signal:
    """A wavering voice of one gliding sine."""
    seconds = 5.0
    glide = 2 ** wander(rng, seconds, 1.4, -0.7, 0.9)
    vibrato = 1 + 0.02 * np.sin(2 * np.pi * 6 * clock(seconds))
    voice = tone(vary(rng, 480) * glide * vibrato, (1, 0.3, 0.15, 0.05))
    return room(rng, voice * gate(seconds, 0.4, 0.6), 1.5, 0.3)


RECIPES = (
    Recipe(
        "electric_hum",
        "transformer-hum",
        ("A transformer hums.", "electric hum, low, steady", "next to the substation"),
        partial(_hum, mains=50, buzz=0, crackle=0),
    ),
    Recipe(
        "electric_hum",
        "loose-cable-buzz",
        ("A loose guitar cable buzzes and crackles.", "ground hum, buzz, amplifier", "bad contact"),
        partial(_hum, mains=60, buzz=0.9, crackle=1),
    ),
    Recipe(
        "electric_sparks",
        "electric-arc",
        ("Electricity arcs and sparks.", "electric sparks, zapping, high voltage", "short circuit"),
        _arc,
    ),
    Recipe(
        "laser",
        "laser-gun-shots",
        ("A toy laser gun fires.", "pew pew, science fiction, zap", "space battle"),
        partial(_laser, shots=6, high=3200, low=180, held=0.3),
    ),
    Recipe(
        "laser",
        "laser-cannon",
        ("A heavy laser cannon fires slowly.", "blaster, deep, falling pitch, film effect"),
        partial(_laser, shots=3, high=1500, low=60, held=0.9),
    ),
    Recipe(
        "radio_static",
        "radio-static",
        ("A radio between stations gives only static.", "white noise, hiss, no signal"),
        partial(_static, tuning=False, crackle=0.5),
    ),
    Recipe(
        "radio_static",
        "radio-tuning",
        ("Someone turns the dial of an old radio.", "tuning, whistles, scraps of music, static"),
        partial(_static, tuning=True, crackle=0.3),
    ),
    Recipe(
        "geiger_counter",
        "geiger-counter-slow",
        ("A Geiger counter clicks now and then.", "geiger counter, single clicks, background"),
        partial(_geiger, slow=5, fast=9),
    ),
    Recipe(
        "geiger_counter",
        "geiger-counter-alarming",
        ("A Geiger counter clicks faster and faster.", "radiation, crackling, rising", "run away"),
        partial(_geiger, slow=8, fast=220),
    ),
    Recipe(
        "synthesizer",
        "synthesizer-arpeggio",
        ("A synthesizer plays a fast arpeggio.", "synth, electronic music, eighties"),
        partial(_synth, notes=ARPEGGIO, pace=0.6, sweep=2.5, attack=0.005),
    ),
    Recipe(
        "synthesizer",
        "synthesizer-pad",
        ("A warm synthesizer pad swells.", "ambient, soft chords, floating", "music for spas"),
        partial(_synth, notes=shifted(CHORDS[:4], 5), pace=2, sweep=1.5, attack=0.8),
    ),
    Recipe(
        "synthesizer",
        "theremin",
        ("A theremin wails eerily.", "theremin, gliding, wavering", "a flying saucer lands"),
        _theremin,
    ),
)
