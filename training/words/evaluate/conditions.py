"""Recordings under worse conditions: everyday noise, and a microphone at the far end of a room."""

import csv
from pathlib import Path
from typing import Final

import numpy as np
from scipy.signal import fftconvolve

from media.audio.features import SAMPLE_RATE
from media.audio.load import load

NOISE_CORPUS: Final = "esc50_16k"
NOISE_FOLD: Final = 4  # which no model of words has heard
REVERBERATION: Final = 0.5  # s in which the sound of the room falls by 60 dB
TAIL: Final = 0.25  # s after the word that a cut still holds: the room has fallen by 30 dB
PRE_DELAY: Final = 0.005  # s from the direct sound to the room's
DIGITAL_SILENCE: Final = 1e-4


def noises(data: Path) -> list[np.ndarray]:
    """The sounds of ESC-50's fold 4, or of all its folds there are, each (T,) at 16 kHz.

    None where there are no sounds. Digital silence at either end is left out.
    """
    manifest = data / "sounds" / "manifest.csv"
    if not manifest.exists():
        return []
    with manifest.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["set"] == NOISE_CORPUS]
    chosen = [row for row in rows if int(float(row["fold"])) == NOISE_FOLD] or rows
    clips = (load(manifest.parent / row["path"], SAMPLE_RATE).waveform for row in chosen)
    return [clip for clip in map(_audible, clips) if len(clip)]


def in_noise(waveform: np.ndarray, noise: np.ndarray, snr_db: float, start: float) -> np.ndarray:
    """The waveform (T,) with noise at this ratio of powers over the whole word.

    noise (T',) is repeated as often as needed, from its part ``start``, from 0 to 1, onwards.
    """
    noise = np.resize(np.roll(noise, -int(start * len(noise))), len(waveform))
    ratio = _power(waveform) / max(_power(noise), 1e-12)
    mixed = waveform + np.sqrt(ratio / 10 ** (snr_db / 10)) * noise
    return _within_full_scale(mixed)


def far(waveform: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The waveform (T,) as a far microphone hears it: (T + TAIL,).

    The room is white noise that decays exponentially, as strong in all as the direct sound.
    """
    time = np.arange(round(REVERBERATION * SAMPLE_RATE)) / SAMPLE_RATE
    room = rng.normal(size=len(time)) * 10 ** (-3 * time / REVERBERATION)
    room *= time >= PRE_DELAY
    room /= np.sqrt((room**2).sum())
    room[0] = 1.0  # the direct sound: a direct-to-reverberant ratio of 0 dB
    heard = fftconvolve(waveform, room)[: len(waveform) + round(TAIL * SAMPLE_RATE)]
    return _within_full_scale(heard)


def _audible(clip: np.ndarray) -> np.ndarray:
    heard = np.flatnonzero(np.abs(clip) > DIGITAL_SILENCE)
    return clip[heard[0] : heard[-1] + 1] if len(heard) else clip[:0]


def _power(waveform: np.ndarray) -> float:
    return float(np.mean(np.square(waveform, dtype=np.float64)))


def _within_full_scale(waveform: np.ndarray) -> np.ndarray:
    return (waveform / max(1.0, float(np.abs(waveform).max()))).astype(np.float32)
