"""F0 contours by pYIN (Mauch & Dixon 2014): those from which the networks over MFCC and the lip
reader learn. The app, and the networks over states, track with earshot.media.audio.pitch.
"""

from typing import Final

import librosa
import numpy as np

from earshot.media.constants import HOP_LENGTH, SAMPLE_RATE

MIN_PITCH, MAX_PITCH = 65.0, 450.0  # Hz
WINDOW: Final = 1024  # samples: 64 ms
RESOLUTION: Final = 0.2  # semitones


def pyin(waveform: np.ndarray) -> np.ndarray:
    """Track the fundamental frequency in Hz, 0 where unvoiced: (T,) → (S,)."""
    f0, voiced, _ = librosa.pyin(
        waveform,
        fmin=MIN_PITCH,
        fmax=MAX_PITCH,
        sr=SAMPLE_RATE,
        frame_length=WINDOW,
        hop_length=HOP_LENGTH,
        resolution=RESOLUTION,
    )
    return np.where(voiced, f0, 0.0).astype(np.float32)[: len(waveform) // HOP_LENGTH]
