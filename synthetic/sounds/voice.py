"""Voices: a source like vocal folds, formants that shape it, and espeak-ng for sentences."""

import subprocess
import tempfile
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
import soundfile
import soxr
from scipy import signal

from synthetic.sounds.kit import (
    SAMPLE_RATE,
    Point,
    Signal,
    band,
    bump,
    curve,
    high_pass,
    level,
    noise,
    wander,
)

BLOCK = 256  # samples over which formants stand still

# Hz of the first five formants of a man; a woman's lie about 1.17, a child's 1.35 times as high.
VOWELS = {
    "a": (730, 1200, 2500, 3400, 4300),
    "ae": (660, 1720, 2410, 3500, 4300),
    "e": (480, 1950, 2600, 3500, 4300),
    "i": (280, 2250, 2950, 3600, 4400),
    "o": (480, 850, 2450, 3300, 4200),
    "u": (310, 820, 2300, 3300, 4200),
    "er": (500, 1400, 2300, 3400, 4300),
    "m": (250, 1050, 2100, 3000, 4000),
}
WIDTHS = (70, 90, 130, 200, 300)  # Hz
HEIGHTS = (10, 9, 6, 4, 3)  # of the peaks, as ratios


def glottis(
    rng: np.random.Generator, pitch: Signal, tension: float = 0.6, breath: float = 0.05
) -> Signal:
    """Make pulses of vocal folds along a curve of pitch (Hz), with the unrest that voices have.

    tension: from 0 (soft, dark) to 1 (pressed, bright); breath: share of noise in the flow.
    """
    seconds = len(pitch) / SAMPLE_RATE
    unrest = 1 + 0.01 * wander(rng, seconds, 40, -1, 1) + 0.01 * wander(rng, seconds, 5, -1, 1)
    phase = np.cumsum(pitch * unrest) / SAMPLE_RATE % 1
    rise, close = 0.45 - 0.15 * tension, 0.22 - 0.17 * tension
    flow = np.where(
        phase < rise,
        0.5 - 0.5 * np.cos(np.pi * phase / rise),
        np.cos(0.5 * np.pi * np.clip((phase - rise) / close, 0, 1)),
    )
    air = high_pass(noise(rng, seconds, 0.8), 1000, 1) * (0.3 + flow)
    pulses = np.diff(flow, prepend=flow[0])
    return level(pulses) * wander(rng, seconds, 30, 0.9, 1.1) + breath * air


def formants(
    source: Signal, tracks: Sequence[Signal | float], widths: Sequence[float] = WIDTHS
) -> Signal:
    """Filter the source through one resonator after another; a track is a curve in Hz, or one
    value.
    """
    sound = source
    for track, width, height in zip(tracks, widths, HEIGHTS, strict=False):
        sound = _resonator(sound, np.broadcast_to(track, len(source))[::BLOCK], width, height)
    return level(sound)


def _resonator(sound: Signal, centres: Signal, width: float, height: float) -> Signal:
    """Filter by one formant: a peak whose centre (Hz) moves from block to block.

    What lies far from it passes as it is, for a throat has more formants than we model.
    """
    out, state = np.empty(len(sound)), np.zeros(2)
    pole = np.exp(-np.pi * width / SAMPLE_RATE)
    zero = pole**height
    for i, hz in enumerate(centres):
        turn = -2 * np.cos(2 * np.pi * hz / SAMPLE_RATE)
        part = slice(i * BLOCK, (i + 1) * BLOCK)
        out[part], state = signal.lfilter(
            [1, zero * turn, zero**2], [1, pole * turn, pole**2], sound[part], zi=state
        )
    return out


def vowels(length: int, spoken: str, size: float = 1.0) -> list[Signal]:
    """Draw formant tracks gliding evenly through vowels such as "a o u"; size 1 is a man, 1.35 a
    child.

    length: of the tracks, in samples.
    """
    stations = np.array([VOWELS[vowel] for vowel in spoken.split()]) * size
    places = np.linspace(0, length, len(stations)) if len(stations) > 1 else [0]
    return [np.interp(np.arange(length), places, track) for track in stations.T]


def call(
    rng: np.random.Generator,
    pitch: Sequence[Point],
    spoken: str,
    size: float = 1.0,
    tension: float = 0.7,
    breath: float = 0.1,
    rough: float = 0.0,
    peak: float = 0.35,
) -> Signal:
    """Make one call of an animal or a person, as long as the last of the (time, Hz) points of
    pitch.

    spoken, size: see `vowels`; tension, breath: see `glottis`; rough: from 0 to about 1, how
    unsteadily the folds swing; peak: where in the call it is loudest.
    """
    seconds = pitch[-1][0]
    unrest = rough * wander(rng, seconds, 90, -1, 1)
    source = glottis(rng, curve(seconds, *pitch) * (1 + 0.25 * unrest), tension, breath)
    voiced = formants(source * (1 + unrest), vowels(len(source), spoken, size))
    return voiced * bump(seconds, peak, 0.6)


@lru_cache(maxsize=256)
def say(text: str, voice: str = "en-gb", pitch: int = 50, speed: int = 165) -> Signal:
    """Speak the text by espeak-ng, at unit level; pitch 0 to 99, speed in words a minute.

    espeak-ng speaks at 22 kHz: what hisses is carried on above its band.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "speech.wav"
        options = ["-v", voice, "-p", str(pitch), "-s", str(speed), "-w", path]
        subprocess.run(["espeak-ng", *options, text], check=True)
        speech, rate = soundfile.read(path)
    speech = level(soxr.resample(speech, rate, SAMPLE_RATE))
    hiss = np.abs(signal.hilbert(band(speech, 6_000, 10_000, 4)))
    seeded = np.random.default_rng(len(speech)).standard_normal(len(speech))
    speech += 0.6 * hiss * high_pass(seeded, 10_000, 6)
    speech.setflags(write=False)
    return speech
