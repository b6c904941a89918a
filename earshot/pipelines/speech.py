"""Speech, as pipelines give it."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Speech:
    """A waveform with its spectrogram.

    waveform: float32 (T,); sample_rate in Hz; log_mel: (S, 80), natural logarithm of mel
    magnitude, 10 ms a frame; compute_seconds: the time that making it took.
    """

    waveform: np.ndarray
    sample_rate: int
    log_mel: np.ndarray
    compute_seconds: float
