"""Waveforms before and after the networks: their level, where they are silent, their spectrogram.

Shapes: T samples, U units.
"""

import time
from typing import Final

import numpy as np

from earshot.media.audio.features import log_mel
from earshot.media.audio.load import match_loudness
from earshot.media.audio.speech import Speech
from earshot.media.constants import FRAMES_PER_SECOND, HOP_LENGTH, SAMPLE_RATE

LEVEL: Final = -23.0  # LUFS of the networks' input
GATE: Final = -60.0  # dBFS: quieter is silence, and becomes silence
# Of the levels of 10 ms of speech, the 10th percentile is its pauses and what is heard in them.
PAUSES, PEAKS = 10, 95  # percentiles
MIN_RISE: Final = 13.0  # dB of PEAKS over PAUSES, below which noise covers the words
MIN_SECONDS: Final = 1.0  # in which there are pauses
COVERED: Final = (
    "Noise covers the words of this recording, and some or most of them are lost. Go closer to the "
    "microphone, or where it is quieter."
)


def prepared(waveform: np.ndarray, unit_samples: int) -> np.ndarray:
    """Bring a waveform to the level of the networks' input, with silence up to whole units:
    (T,).
    """
    waveform = np.pad(waveform, (0, -len(waveform) % unit_samples))
    if 20 * np.log10(np.abs(waveform).max() + 1e-12) < GATE:
        return np.zeros_like(waveform)
    return match_loudness(waveform, SAMPLE_RATE, LEVEL)


def is_covered(waveform: np.ndarray) -> bool:
    """Tell whether noise covers the words of speech (T,), as by people who talk all around.

    Speech pauses and noise does not, or people in a crowd not all at once: the less speech rises
    above its own pauses, the more noise there is in them.
    """
    frames = waveform[: len(waveform) // HOP_LENGTH * HOP_LENGTH].reshape(-1, HOP_LENGTH)
    if len(frames) < MIN_SECONDS * FRAMES_PER_SECOND or not waveform.any():
        return False
    levels = 10 * np.log10(np.square(frames).mean(axis=1) + 1e-10)
    return bool(np.percentile(levels, PEAKS) - np.percentile(levels, PAUSES) < MIN_RISE)


def silent_units(waveform: np.ndarray, n_units: int) -> np.ndarray:
    """Say whether each unit and its neighbours are below the gate: (U,)."""
    power = np.square(waveform.reshape(n_units, -1)).mean(axis=1)
    loudest = np.max([np.roll(power, -1), power, np.roll(power, 1)], axis=0)
    return loudest < 10 ** (GATE / 10)


def speech(waveform: np.ndarray, began: float) -> Speech:
    """Wrap a waveform (T,) with its spectrogram; began: time.perf_counter() before it was made."""
    return Speech(waveform, SAMPLE_RATE, log_mel(waveform), time.perf_counter() - began)
