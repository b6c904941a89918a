"""Speech, as pipelines give it."""

from dataclasses import dataclass

import numpy as np

from earshot.media.constants import SAMPLE_RATE


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


def muted(waveform: np.ndarray, silent: np.ndarray) -> np.ndarray:
    """Silence the silent units (U,) of a waveform (T,), fading over 5 ms at their edges."""
    gain = np.repeat(1.0 - silent, len(waveform) // len(silent))
    fade = np.hanning(round(0.01 * SAMPLE_RATE))
    gain = np.minimum(gain, np.convolve(gain, fade / fade.sum(), mode="same"))
    return (waveform * gain).astype(np.float32)
