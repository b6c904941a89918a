"""The short-time Fourier transform, as librosa has it, whose import takes longer than a minute of
speech.
"""

from functools import cache
from typing import Final

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

BLOCK: Final = 2048  # frames that are transformed at once, which limits the memory


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
    for start in range(0, frames.shape[-2], BLOCK):
        block = slice(start, start + BLOCK)
        spectra[..., block, :] = np.fft.rfft(frames[..., block, :] * window, axis=-1)
    return spectra


@cache
def _window(win_length: int, n_fft: int) -> np.ndarray:
    window = 0.5 + 0.5 * np.cos(np.linspace(-np.pi, np.pi, win_length + 1)[:-1])
    before = (n_fft - win_length) // 2
    return np.pad(window, (before, n_fft - win_length - before))
