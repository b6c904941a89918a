"""Log-mel spectrograms of sounds at 32 kHz (Primus, Koutini & Widmer 2023, section 2.5)."""

import math
from functools import cache
from typing import Final

import numpy as np
from scipy.sparse import csr_array

from earshot.media.audio.spectrum import filterbank, stft

SAMPLE_RATE: Final = 32_000  # Hz
N_FFT: Final = 1024  # samples: 32 ms
HOP_LENGTH: Final = 320  # samples: 10 ms
N_MELS: Final = 128
FLOOR: Final = 1e-6  # power added to each band: at the level of 16-bit quantisation noise
SEGMENT_SECONDS: Final = 10.0
MIN_SECONDS: Final = 1.0  # shorter sounds are padded with silence


def log_mel(waveform: np.ndarray) -> np.ndarray:
    """Take the log of power in mel bands: (T,) or (N, T) → (…, T // HOP_LENGTH, N_MELS)."""
    spectrum = stft(waveform, N_FFT, HOP_LENGTH)[..., : waveform.shape[-1] // HOP_LENGTH, :]
    power = np.square(np.abs(spectrum))
    mel = np.stack([(_mel_filters() @ sound.T).T for sound in power.reshape(-1, *power.shape[-2:])])
    return np.log(mel + FLOOR).reshape(*power.shape[:-1], N_MELS)


def split(waveform: np.ndarray) -> np.ndarray:
    """Cut equal segments of at most SEGMENT_SECONDS that cover the whole sound: (T,) → (N, T').

    The sound is normalised to a peak of 1 first, so that its level does not matter, and padded with
    silence to full segments and to MIN_SECONDS.
    """
    waveform = waveform / max(float(np.abs(waveform).max(initial=0.0)), 1e-4)
    n_segments = max(1, math.ceil(len(waveform) / (SEGMENT_SECONDS * SAMPLE_RATE)))
    hops = math.ceil(len(waveform) / n_segments / HOP_LENGTH)
    length = max(hops * HOP_LENGTH, round(MIN_SECONDS * SAMPLE_RATE))
    padded = np.pad(waveform, (0, n_segments * length - len(waveform)))
    return padded.reshape(n_segments, length).astype(np.float32)


@cache
def _mel_filters() -> csr_array:
    """Make the mel filters, sparse, because BLAS threads would compete with those of torch: a dense
    product makes the network after it take three times as long.
    """
    return csr_array(filterbank(SAMPLE_RATE, N_FFT, N_MELS))
