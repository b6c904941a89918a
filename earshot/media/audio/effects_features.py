"""The spectrograms on which aiSFX was trained by others (Ma and Lerch, ISMIR 2022), of sounds at 32
kHz: bands and frames lie where they lie at 44.1 kHz, and bands above 16 kHz are silent.
"""

from functools import cache
from typing import Final

import numpy as np
from scipy.sparse import csr_array

from earshot.media.audio.sound_features import SAMPLE_RATE
from earshot.media.audio.spectrum import stft

THEIR_RATE: Final = 44_100  # Hz
THEIR_N_FFT: Final = 2048  # samples; half of it is the hop length
N_FFT: Final = 2 * round(THEIR_N_FFT / 2 * SAMPLE_RATE / THEIR_RATE)  # samples: as long in seconds
HOP_LENGTH: Final = N_FFT // 2  # samples: 23 ms
N_MELS: Final = 96
COMPRESSION: Final = 1e4  # of the power, before the logarithm
MAX_LEVEL: Final = 9.457798957824707  # of their training sounds


def log_mel(waveforms: np.ndarray) -> np.ndarray:
    """Take the compressed power in mel bands of waveforms (N, T) with a peak of 1: (N, 1 + T //
    HOP_LENGTH, N_MELS), float32, from 0 to about 1.
    """
    spectrum = stft(waveforms, N_FFT, HOP_LENGTH) * np.float32(THEIR_N_FFT / N_FFT)
    power = np.square(np.abs(spectrum))
    mel = np.stack([(_mel_filters() @ sound.T).T for sound in power])
    return np.log10(COMPRESSION * mel + 1) / np.float32(MAX_LEVEL)


@cache
def _mel_filters() -> csr_array:
    """Make the triangular filters whose weights sum to one, on the scale of HTK (1 mel is
    2595 log10(1 + f / 700)), for the bins below our Nyquist frequency.

    Sparse, because BLAS threads would compete with those of torch.
    """
    bins = np.arange(1 + THEIR_N_FFT // 2) * THEIR_RATE / THEIR_N_FFT
    highest = np.log10(1 + THEIR_RATE / 2 / 700)
    edges = 700 * (10 ** np.linspace(0, highest, N_MELS + 2) - 1)[:, None]
    low, centre, high = edges[:-2], edges[1:-1], edges[2:]
    triangles = np.minimum((bins - low) / (centre - low), (high - bins) / (high - centre))
    filters = np.maximum(triangles, 0.0)
    filters /= filters.sum(axis=1, keepdims=True).clip(1e-9)
    return csr_array(filters[:, : 1 + N_FFT // 2].astype(np.float32))
