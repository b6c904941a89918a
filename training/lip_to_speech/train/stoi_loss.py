"""Intelligibility as a loss: STOI and ESTOI of mel frames or of sound, that gradients can follow.

Shapes: B batch, S frames, M mel bands, T samples at 16 kHz, K third-octave bands, N windows of
about 384 ms.
"""

from functools import cache
from typing import Final

import numpy as np
import torch
from torch import Tensor

from media.audio.features import HOP_LENGTH, SAMPLE_RATE, mel_bands

BANDS: Final = 15  # third-octave bands
LOWEST: Final = 150.0  # Hz: the centre of the first
WINDOW: Final = 38  # frames of 10 ms: 380 ms, STOI's 384
STEP: Final = 4  # frames from window to window
RANGE: Final = 4.6  # nepers, 40 dB: frames this far under the loudest are not heard
SPECTRUM: Final = 410  # samples: 25.6 ms, as STOI hears
N_FFT: Final = 512
TINY: Final = 1e-5


def frames_apart(made: Tensor, real: Tensor) -> Tensor:
    """One less the mean of STOI and ESTOI, of log-mel frames (B, S, M)."""
    with torch.autocast(made.device.type, enabled=False):
        widths = _widths_of_mels().to(made.device)
        made, real = ((2 * frames.float()).exp() * widths.square() for frames in (made, real))
        return _apart(made, real, _thirds_of_mels().to(made.device))


def sounds_apart(made: Tensor, real: Tensor) -> Tensor:
    """The same of waveforms (B, T)."""
    with torch.autocast(made.device.type, enabled=False):
        made, real = (_power(sound.float()) for sound in (made, real))
        return _apart(made, real, _thirds_of_bins().to(made.device))


def _apart(made: Tensor, real: Tensor, thirds: Tensor) -> Tensor:
    """One less the mean of STOI (Taal et al. 2011, eq. 5, unclipped) and ESTOI (Jensen and Taal
    2016, eq. 8) of powers (B, S, bands), of which thirds (bands, K) make thirds of octaves. As
    there, what is silent is cut out first: the edges of speech would be too easy."""
    loudness = 0.5 * (real.sum(dim=-1) + TINY**2).log()
    heard = loudness > loudness.amax(dim=1, keepdim=True) - RANGE
    x, y = (
        torch.cat([_windows(one[rows] @ thirds) for one, rows in zip(power, heard, strict=True)])
        for power in (made, real)
    )
    if not len(x):
        return made.sum() * 0.0
    x, y = _normalized(x, -1), _normalized(y, -1)
    plain = (x * y).sum(dim=-1).mean()
    extended = (_normalized(x, -2) * _normalized(y, -2)).sum(dim=-2).mean()
    return 1 - 0.5 * (plain + extended)


def _windows(power: Tensor) -> Tensor:
    """Amplitudes (S, K) → (N, K, WINDOW); N is 0 where too little is heard."""
    if len(power) < WINDOW:
        return power.new_zeros(0, power.shape[1], WINDOW)
    return (power + TINY**2).sqrt().unfold(0, WINDOW, STEP)


def _power(sound: Tensor) -> Tensor:
    """(B, T) → (B, S, N_FFT // 2 + 1)."""
    window = torch.hann_window(SPECTRUM, device=sound.device)
    spectrum = torch.stft(sound, N_FFT, HOP_LENGTH, SPECTRUM, window=window, return_complex=True)
    return (spectrum.real.square() + spectrum.imag.square()).transpose(1, 2)


def _normalized(values: Tensor, dim: int) -> Tensor:
    values = values - values.mean(dim=dim, keepdim=True)
    return values / (values.square().sum(dim=dim, keepdim=True) + TINY**2).sqrt()


@cache
def _thirds_of_mels() -> Tensor:
    """Which mel bands make up each third of an octave: (M, K)."""
    centres, widths = mel_bands()
    return torch.from_numpy(_shared(centres, widths) / widths[:, None]).float()


@cache
def _widths_of_mels() -> Tensor:
    """In Hz (M,). Mel filters of Slaney's kind have unit area: their amplitudes grow with it."""
    return torch.from_numpy(mel_bands()[1]).float()


@cache
def _thirds_of_bins() -> Tensor:
    """Which bins do: (N_FFT // 2 + 1, K)."""
    width = SAMPLE_RATE / N_FFT
    bins = width * np.arange(N_FFT // 2 + 1)
    return torch.from_numpy(_shared(bins, np.full_like(bins, width)) / width).float()


def _shared(centres: np.ndarray, widths: np.ndarray) -> np.ndarray:
    """The Hz that bands share with each third of an octave: (bands, K)."""
    edges = LOWEST * 2.0 ** ((np.arange(BANDS + 1) - 0.5) / 3)
    low, high = (centres - widths / 2)[:, None], (centres + widths / 2)[:, None]
    return np.maximum(np.minimum(high, edges[1:]) - np.maximum(low, edges[:-1]), 0.0)
