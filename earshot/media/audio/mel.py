"""The mel scale of Slaney's Auditory Toolbox (1998), and its filters, with numpy alone.

It is linear up to 1 kHz, where it has 15 mel, and logarithmic above. librosa has both too, and
takes a second to import.
"""

import math
from typing import Final

import numpy as np

KNEE: Final = 1000.0  # Hz
SLOPE: Final = 3 / 200  # mel per Hz below the knee
KNEE_MEL: Final = KNEE * SLOPE
STEP: Final = math.log(6.4) / 27  # of the natural logarithm of frequency, per mel above the knee


def hz_to_mel(hz: np.ndarray | float) -> np.ndarray:
    """Convert frequencies in Hz to mel, of any shape."""
    hz = np.asarray(hz)
    return np.where(hz < KNEE, hz * SLOPE, KNEE_MEL + np.log(np.maximum(hz, KNEE) / KNEE) / STEP)


def mel_to_hz(mel: np.ndarray | float) -> np.ndarray:
    """Convert mel to frequencies in Hz, of any shape."""
    mel = np.asarray(mel)
    above = KNEE * np.exp(STEP * np.maximum(mel - KNEE_MEL, 0.0))
    return np.where(mel < KNEE_MEL, mel / SLOPE, above)


def centres(n_mels: int, nyquist: float) -> np.ndarray:
    """List the centres in Hz of so many bands, equally far apart in mel: (n_mels,)."""
    return _edges(n_mels, nyquist)[1:-1]


def filterbank(sample_rate: int, n_fft: int, n_mels: int) -> np.ndarray:
    """Build triangular filters of equal area up to the Nyquist frequency: (n_mels, 1 + n_fft // 2),
    float32.
    """
    nyquist = sample_rate / 2
    bins = np.linspace(0.0, nyquist, 1 + n_fft // 2)
    edges = _edges(n_mels, nyquist)[:, None]
    low, centre, high = edges[:-2], edges[1:-1], edges[2:]
    triangles = np.minimum((bins - low) / (centre - low), (high - bins) / (high - centre))
    return (np.maximum(triangles, 0.0) * 2 / (high - low)).astype(np.float32)


def _edges(n_mels: int, nyquist: float) -> np.ndarray:
    return mel_to_hz(np.linspace(0.0, hz_to_mel(nyquist), n_mels + 2))
