"""Spectral features of speech at 16 kHz, every one on the same 10 ms frames.

Frame t of every feature is centred on sample ``t * HOP_LENGTH``; a waveform of T samples has
``T // HOP_LENGTH`` frames, so features of one waveform can be stacked without alignment.
"""

from functools import cache
from typing import Final

import librosa
import numpy as np
from scipy.fft import dct

from earshot.media.audio.spectrum import centres, filterbank, stft
from earshot.media.constants import (
    DELTA_WIDTH,
    HOP_LENGTH,
    MFCC_BANDS,
    MFCC_FLOOR,
    MFCC_N_FFT,
    MFCC_WINDOW,
    N_CEPSTRA,
    N_FFT,
    N_MELS,
    NYQUIST,
    SAMPLE_RATE,
)

LOG_FLOOR: Final = 1e-5  # magnitude under which the log-mel spectrogram is flat
MATCH_ROUNDS: Final = 6
MAX_LOG_GAIN: Final = 2.3  # nepers in a round: 20 dB
SMOOTHING_STD: Final = 0.85  # in fundamental frequencies


def n_frames(n_samples: int) -> int:
    """Count the frames in a waveform of ``n_samples`` samples."""
    return n_samples // HOP_LENGTH


def linear_magnitude(waveform: np.ndarray) -> np.ndarray:
    """Compute the magnitude of the short-time Fourier transform: (T,) → (S, N_FFT // 2 + 1)."""
    return _magnitude(waveform, N_FFT, N_FFT)


def log_mel(waveform: np.ndarray) -> np.ndarray:
    """Take the natural logarithm of the mel magnitude spectrogram: (T,) → (S, N_MELS)."""
    return _log_mel(linear_magnitude(waveform))


def log_bands(waveform: np.ndarray) -> np.ndarray:
    """Compute the log power in the mel bands below the cepstra: (T,) → (S, MFCC_BANDS)."""
    power = _magnitude(waveform, MFCC_N_FFT, MFCC_WINDOW) ** 2
    bands = power @ mel_filters(MFCC_N_FFT, MFCC_BANDS).T
    return np.log(bands + MFCC_FLOOR).astype(np.float32)


def mfcc(waveform: np.ndarray) -> np.ndarray:
    """Compute the MFCC, 13 cepstra with Δ and ΔΔ (25 ms window, 10 ms hop): (T,) → (S, 39).

    Raises ValueError for a waveform of fewer than DELTA_WIDTH frames.
    """
    cepstra = log_bands(waveform) @ dct_matrix().T
    deltas = [librosa.feature.delta(cepstra, order=k, axis=0, width=DELTA_WIDTH) for k in (1, 2)]
    return np.concatenate([cepstra, *deltas], axis=1).astype(np.float32)


def linear_from_log_mel(mel: np.ndarray) -> np.ndarray:
    """Estimate the linear magnitude of a log-mel spectrogram: (S, N_MELS) → (S, bins)."""
    return np.maximum(np.exp(mel) @ _inverse_mel_filters().T, 0.0)


def griffin_lim(magnitude: np.ndarray, n_iter: int = 32) -> np.ndarray:
    """Find a waveform whose spectrogram has this magnitude (Griffin & Lim 1984, fast variant).

    magnitude: (S, N_FFT // 2 + 1). Returns (S * HOP_LENGTH,), the same for the same input.
    """
    # A frame past the end is needed to cover the last hop.
    padded = np.concatenate([magnitude, magnitude[-1:]])
    return librosa.griffinlim(
        padded.T.astype(np.float32),
        n_iter=n_iter,
        hop_length=HOP_LENGTH,
        length=len(magnitude) * HOP_LENGTH,
        random_state=0,
    )


def filtered(waveform: np.ndarray, mel: np.ndarray, pitch: np.ndarray) -> np.ndarray:
    """Filter the waveform, frame by frame, towards a given log-mel spectrogram.

    waveform: (T,); mel: (T // HOP_LENGTH, N_MELS); pitch: (T // HOP_LENGTH,) in Hz of the waveform,
    0 where unvoiced. In voiced frames only spectral envelopes, smoothed over the harmonics, are
    matched: the harmonics stay those of the waveform even where mel has another speaker's. Frames
    overlap, so the filters are found in MATCH_ROUNDS iterations, as Griffin and Lim (1984) find
    phases. Returns (T,).
    """
    voiced = pitch > 0
    smooth = (
        _harmonic_smoothing(float(np.median(pitch[voiced]))) if voiced.any() else np.eye(N_MELS)
    )

    def envelope(mel: np.ndarray) -> np.ndarray:
        power = np.exp(2 * mel) @ smooth.T
        return np.where(voiced[:, None], 0.5 * np.log(power + LOG_FLOOR**2), mel)

    target = envelope(mel)
    for _ in range(MATCH_ROUNDS):
        spectrum = librosa.stft(waveform, n_fft=N_FFT, hop_length=HOP_LENGTH)
        difference = target - envelope(_log_mel(np.abs(spectrum).T[: len(mel)]))
        gains = np.exp(difference.clip(-MAX_LOG_GAIN, MAX_LOG_GAIN) @ _band_shares()).T
        # The frame past the last hop goes with the last one.
        spectrum *= np.pad(gains, ((0, 0), (0, spectrum.shape[1] - len(mel))), mode="edge")
        waveform = librosa.istft(spectrum, hop_length=HOP_LENGTH, length=len(waveform))
    return waveform.astype(np.float32)


@cache
def mel_filters(n_fft: int, n_mels: int) -> np.ndarray:
    """Build Slaney's mel filterbank up to the Nyquist frequency: (n_mels, n_fft // 2 + 1)."""
    return filterbank(SAMPLE_RATE, n_fft, n_mels)


@cache
def mel_bands() -> tuple[np.ndarray, np.ndarray]:
    """List the centres and widths in Hz of the bands of log_mel: (N_MELS,) each."""
    in_hz = centres(N_MELS, NYQUIST)
    return in_hz, np.gradient(in_hz)


def _harmonic_smoothing(hertz: float) -> np.ndarray:
    """Compute Gaussian weights over mel bands, about as wide as the fundamental: (N_MELS,
    N_MELS).
    """
    bands, widths = mel_bands()
    distance = (bands[:, None] - bands) / (SMOOTHING_STD * hertz)
    weights = np.exp(-0.5 * distance**2) * widths
    return weights / weights.sum(axis=1, keepdims=True)


@cache
def _band_shares() -> np.ndarray:
    """Compute each bin's weights over mel bands, summing to 1: (N_MELS, bins)."""
    filters = mel_filters(N_FFT, N_MELS)
    return filters / np.maximum(filters.sum(axis=0), 1e-8)


@cache
def dct_matrix() -> np.ndarray:
    """Build the orthonormal DCT-II from log bands to cepstra: (N_CEPSTRA, MFCC_BANDS)."""
    return np.asarray(dct(np.eye(MFCC_BANDS, dtype=np.float32), norm="ortho", axis=0))[:N_CEPSTRA]


@cache
def _inverse_mel_filters() -> np.ndarray:
    return np.linalg.pinv(mel_filters(N_FFT, N_MELS))


def _log_mel(magnitude: np.ndarray) -> np.ndarray:
    """Map a magnitude (S, bins) to its log-mel spectrogram (S, N_MELS)."""
    mel = magnitude @ mel_filters(N_FFT, N_MELS).T
    return np.log(np.maximum(mel, LOG_FLOOR)).astype(np.float32)


def _magnitude(waveform: np.ndarray, n_fft: int, win_length: int) -> np.ndarray:
    if len(waveform) < HOP_LENGTH:
        raise ValueError(f"at least {HOP_LENGTH} samples are needed, not {len(waveform)}")
    spectrum = stft(waveform, n_fft, HOP_LENGTH, win_length)
    return np.abs(spectrum)[: n_frames(len(waveform))]
