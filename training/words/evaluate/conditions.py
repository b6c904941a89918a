"""Adverse conditions: additive environmental noise, and a far microphone in a reverberant room."""

from collections.abc import Collection
from pathlib import Path
from typing import Final

import numpy as np
from scipy.signal import fftconvolve

from earshot.media.audio.load import load
from earshot.media.constants import SAMPLE_RATE
from training.common.sounds import ESC50, manifest_of, sound_files

NOISE_FOLDS: Final = frozenset({4})  # not used in training
REVERBERATION: Final = 0.5  # s, the T60 of the room
TAIL: Final = 0.25  # s kept after the word: the reverberation has fallen by 30 dB
PRE_DELAY: Final = 0.005  # s from the direct sound to the reverberation
DIGITAL_SILENCE: Final = 1e-4


def noises(data: Path, folds: Collection[int] = NOISE_FOLDS) -> list[np.ndarray]:
    """Load the sounds of these folds of ESC-50, or of every fold if there are none: (T,) each at 16
    kHz.

    Empty where the data has no sounds. Digital silence at either end is trimmed.
    """
    if not manifest_of(data).exists():
        return []
    files = [file for file in sound_files(data) if file.corpus == ESC50]
    chosen = [file for file in files if file.fold in folds] or files
    clips = (load(file.path, SAMPLE_RATE).waveform for file in chosen)
    return [clip for clip in map(_audible, clips) if len(clip)]


def in_noise(waveform: np.ndarray, noise: np.ndarray, snr_db: float, start: float) -> np.ndarray:
    """Add noise to a waveform (T,) at a signal-to-noise ratio in dB over the whole word.

    noise (T',) is repeated as needed, from the share ``start`` of its length, from 0 to 1, on.
    """
    noise = np.resize(np.roll(noise, -int(start * len(noise))), len(waveform))
    ratio = _power(waveform) / max(_power(noise), 1e-12)
    mixed = waveform + np.sqrt(ratio / 10 ** (snr_db / 10)) * noise
    return _within_full_scale(mixed)


def far(waveform: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Move a waveform (T,) to a far microphone: (T + TAIL,).

    The room's impulse response is exponentially decaying white noise, with a direct-to-reverberant
    ratio of 0 dB.
    """
    time = np.arange(round(REVERBERATION * SAMPLE_RATE)) / SAMPLE_RATE
    room = rng.normal(size=len(time)) * 10 ** (-3 * time / REVERBERATION)
    room *= time >= PRE_DELAY
    room /= np.sqrt((room**2).sum())
    room[0] = 1.0  # the direct sound
    reverberant = fftconvolve(waveform, room)[: len(waveform) + round(TAIL * SAMPLE_RATE)]
    return _within_full_scale(reverberant)


def _audible(clip: np.ndarray) -> np.ndarray:
    audible = np.flatnonzero(np.abs(clip) > DIGITAL_SILENCE)
    return clip[audible[0] : audible[-1] + 1] if len(audible) else clip[:0]


def _power(waveform: np.ndarray) -> float:
    return float(np.mean(np.square(waveform, dtype=np.float64)))


def _within_full_scale(waveform: np.ndarray) -> np.ndarray:
    return (waveform / max(1.0, float(np.abs(waveform).max()))).astype(np.float32)
