"""STOI and ESTOI as differentiable losses, of mel frames or of waveforms.

Shapes: B batch, S frames, M mel bands, T samples at 16 kHz, K third-octave bands, N windows of
about 384 ms.
"""

from functools import cache
from typing import Final

import numpy as np
import torch
from torch import Tensor

from earshot.media.constants import HOP_LENGTH, SAMPLE_RATE

BANDS: Final = 15  # third-octave bands
FIRST_CENTRE: Final = 150.0  # Hz: of the first band
WINDOW: Final = 38  # frames of 10 ms: 380 ms, where STOI has 384 ms
STEP: Final = 4  # frames between windows
RANGE: Final = 4.6  # nepers, 40 dB: quieter frames are removed as silent
SPECTRUM: Final = 410  # samples: 25.6 ms, as in STOI
N_FFT: Final = 512
TINY: Final = 1e-5


def stoi_loss_mel(estimate: Tensor, reference: Tensor) -> Tensor:
    """Compute 1 − (STOI + ESTOI) / 2 of log-mel frames (B, S, M): a scalar."""
    with torch.autocast(estimate.device.type, enabled=False):
        squared = _mel_widths().to(estimate.device).square()
        estimate, reference = ((2 * mel.float()).exp() * squared for mel in (estimate, reference))
        return _stoi_loss(estimate, reference, _mel_thirds().to(estimate.device))


def stoi_loss_wave(estimate: Tensor, reference: Tensor) -> Tensor:
    """Compute 1 − (STOI + ESTOI) / 2 of waveforms (B, T): a scalar."""
    with torch.autocast(estimate.device.type, enabled=False):
        estimate, reference = (_power(sound.float()) for sound in (estimate, reference))
        return _stoi_loss(estimate, reference, _bin_thirds().to(estimate.device))


def _stoi_loss(estimate: Tensor, reference: Tensor, thirds: Tensor) -> Tensor:
    """Compute 1 − (STOI + ESTOI) / 2 of powers (B, S, bands), which ``thirds`` (bands, K) sums to
    third octaves: STOI (Taal et al. 2011, Eq. (5), without clipping), ESTOI (Jensen and Taal 2016,
    Eq. (8)). As there, silent frames are removed first.
    """
    loudness = 0.5 * (reference.sum(dim=-1) + TINY**2).log()
    active = loudness > loudness.amax(dim=1, keepdim=True) - RANGE
    x, y = (
        torch.cat([_windows(one[rows] @ thirds) for one, rows in zip(power, active, strict=True)])
        for power in (estimate, reference)
    )
    if not len(x):
        return estimate.sum() * 0.0
    x, y = _normalized(x, -1), _normalized(y, -1)
    plain = (x * y).sum(dim=-1).mean()
    extended = (_normalized(x, -2) * _normalized(y, -2)).sum(dim=-2).mean()
    return 1 - 0.5 * (plain + extended)


def _windows(power: Tensor) -> Tensor:
    """Cut amplitudes (S, K) into windows (N, K, WINDOW); N is 0 where too few frames are active."""
    if len(power) < WINDOW:
        return power.new_zeros(0, power.shape[1], WINDOW)
    return (power + TINY**2).sqrt().unfold(0, WINDOW, STEP)


def _power(waveform: Tensor) -> Tensor:
    """Compute the power spectrum of a waveform: (B, T) → (B, S, N_FFT // 2 + 1)."""
    window = torch.hann_window(SPECTRUM, device=waveform.device)
    spectrum = torch.stft(waveform, N_FFT, HOP_LENGTH, SPECTRUM, window=window, return_complex=True)
    return (spectrum.real.square() + spectrum.imag.square()).transpose(1, 2)


def _normalized(values: Tensor, dim: int) -> Tensor:
    values = values - values.mean(dim=dim, keepdim=True)
    return values / (values.square().sum(dim=dim, keepdim=True) + TINY**2).sqrt()


@cache
@torch.inference_mode(False)  # or no gradient passes through it later
def _mel_thirds() -> Tensor:
    """Compute the share of each mel band in each third octave: (M, K)."""
    from earshot.media.audio.features import mel_bands  # late: librosa need not be installed

    centres, widths = mel_bands()
    return torch.from_numpy(_shared(centres, widths) / widths[:, None]).float()


@cache
@torch.inference_mode(False)  # or no gradient passes through it later
def _mel_widths() -> Tensor:
    """Compute the widths of the mel bands in Hz (M,). Slaney-style filters have unit area, so that
    amplitudes are proportional to width.
    """
    from earshot.media.audio.features import mel_bands  # late, as above

    return torch.from_numpy(mel_bands()[1]).float()


@cache
@torch.inference_mode(False)  # or no gradient passes through it later
def _bin_thirds() -> Tensor:
    """Compute the share of each bin in each third octave: (N_FFT // 2 + 1, K)."""
    width = SAMPLE_RATE / N_FFT
    bins = width * np.arange(N_FFT // 2 + 1)
    return torch.from_numpy(_shared(bins, np.full_like(bins, width)) / width).float()


def _shared(centres: np.ndarray, widths: np.ndarray) -> np.ndarray:
    """Measure the overlap in Hz of bands with each third octave: (bands, K)."""
    edges = FIRST_CENTRE * 2.0 ** ((np.arange(BANDS + 1) - 0.5) / 3)
    low, high = (centres - widths / 2)[:, None], (centres + widths / 2)[:, None]
    return np.maximum(np.minimum(high, edges[1:]) - np.maximum(low, edges[:-1]), 0.0)
