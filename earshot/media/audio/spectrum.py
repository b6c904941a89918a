"""The short-time Fourier transform and the mel scale of Slaney's Auditory Toolbox (1998), with its
filters, in numpy alone: librosa has all of them, and takes longer to import than a minute of speech
to transform.

The scale is linear up to 1 kHz, where it has 15 mel, and logarithmic above.
"""

import math
from functools import cache
from typing import Final

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

MAX_FRAMES: Final = 2048  # frames that are transformed at once, which limits the memory


def stft(
    waveform: np.ndarray, n_fft: int, hop_length: int, win_length: int | None = None
) -> np.ndarray:
    """Transform waveforms (…, T) to spectra (…, 1 + T // hop_length, 1 + n_fft // 2), complex64.

    Frame t is centred on sample t * hop_length; beyond both ends is silence. A periodic Hann
    window of win_length samples (n_fft unless given) stands in the middle of each frame.
    """
    edges = [(0, 0)] * (waveform.ndim - 1) + [(n_fft // 2, n_fft // 2)]
    frames = sliding_window_view(np.pad(waveform, edges), n_fft, axis=-1)[..., ::hop_length, :]
    window = _window(win_length or n_fft, n_fft)
    spectra = np.empty((*frames.shape[:-1], 1 + n_fft // 2), np.complex64)
    for start in range(0, frames.shape[-2], MAX_FRAMES):
        block = slice(start, start + MAX_FRAMES)
        spectra[..., block, :] = np.fft.rfft(frames[..., block, :] * window, axis=-1)
    return spectra


@cache
def _window(win_length: int, n_fft: int) -> np.ndarray:
    window = 0.5 + 0.5 * np.cos(np.linspace(-np.pi, np.pi, win_length + 1)[:-1])
    before = (n_fft - win_length) // 2
    return np.pad(window, (before, n_fft - win_length - before))


KNEE: Final = 1000.0  # Hz
SLOPE: Final = 3 / 200  # mel per Hz below the knee
KNEE_MEL: Final = KNEE * SLOPE
LOG_STEP: Final = math.log(6.4) / 27  # of log frequency, per mel above the knee


def hz_to_mel(hz: np.ndarray | float) -> np.ndarray:
    """Convert frequencies in Hz to mel, of any shape."""
    hz = np.asarray(hz)
    return np.where(
        hz < KNEE, hz * SLOPE, KNEE_MEL + np.log(np.maximum(hz, KNEE) / KNEE) / LOG_STEP
    )


def mel_to_hz(mel: np.ndarray | float) -> np.ndarray:
    """Convert mel to frequencies in Hz, of any shape."""
    mel = np.asarray(mel)
    above = KNEE * np.exp(LOG_STEP * np.maximum(mel - KNEE_MEL, 0.0))
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
