"""Augmentation of log-mel bands, and the MFCC of them: it changes speaker, channel and room but not
the words.

It acts on the 40 log-power bands that the cepstra are computed from, so that each window is
augmented anew in every step, at little cost. Shapes: B batch, S frames, M bands.
"""

from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from earshot.media.audio.spectrum import hz_to_mel, mel_to_hz
from earshot.media.constants import DELTA_WIDTH, NYQUIST

TOP_MEL = float(hz_to_mel(NYQUIST))
VTLP_RANGE = 0.16  # frequencies are scaled by 1 ± this
KNEE = 0.6  # of the Nyquist frequency: above it the scaling returns to 1 at the band edge
GAIN_STD = 1.5  # nepers, at each knot of a random equaliser
KNOTS = 5
NOISE = (-10.0, -3.5)  # natural log of the noise-to-speech power ratio: least and most
NARROW = 4000.0  # Hz
NARROW_BAND = 0.15  # share of windows that are low-passed there


def augment(bands: Tensor, generator: torch.Generator) -> Tensor:
    """Change every window by VTLP, a random equaliser, noise and bandwidth: (B, S, M) → (B, S,
    M).
    """
    bands = vtlp(bands, 1 + VTLP_RANGE * (2 * torch.rand(len(bands), generator=generator) - 1))
    bands = _equalise(bands, generator)
    return _add_noise(bands, generator)


def vtlp(bands: Tensor, factors: Tensor) -> Tensor:
    """Apply vocal tract length perturbation (Jaitly & Hinton 2013): (B, S, M) → (B, S, M).

    factors: (B,), by which each window's frequency axis is scaled, piecewise linearly so that the
    band edge stays.
    """
    n_bands = bands.shape[-1]
    mel = np.linspace(0, TOP_MEL, n_bands + 2)[1:-1]  # the centres of the bands
    hz = torch.from_numpy(mel_to_hz(mel)).float()
    knee = KNEE * NYQUIST / factors.clamp(min=1.0)[:, None]
    low = hz * factors[:, None]
    slope = (NYQUIST - knee * factors[:, None]) / (NYQUIST - knee)
    warped = torch.where(hz < knee, low, NYQUIST - slope * (NYQUIST - hz))
    warped_mel = torch.from_numpy(hz_to_mel(warped.numpy()))
    position = (warped_mel.float() / mel[0] - 1).clamp(0, n_bands - 1)
    left = position.floor().long().clamp(max=n_bands - 2)
    weight = (position - left)[:, None]
    index = left[:, None].expand_as(bands)
    return bands.gather(2, index) * (1 - weight) + bands.gather(2, index + 1) * weight


def _equalise(bands: Tensor, generator: torch.Generator) -> Tensor:
    knots = GAIN_STD * torch.randn(len(bands), 1, KNOTS, generator=generator)
    gain = F.interpolate(knots, bands.shape[-1], mode="linear", align_corners=True)
    return bands + gain


def _add_noise(bands: Tensor, generator: torch.Generator) -> Tensor:
    """Add stationary noise of a random spectrum; for some windows, a low-pass at 4 kHz."""
    batch, _, n_bands = bands.shape
    speech = bands.flatten(1).quantile(0.95, dim=1)[:, None, None]
    level = torch.empty(batch, 1, 1).uniform_(*NOISE, generator=generator)
    shape = F.interpolate(torch.randn(batch, 1, KNOTS, generator=generator), n_bands, mode="linear")
    grain = torch.rand(bands.shape, generator=generator).clamp(min=1e-3).log()
    noise = speech + level + shape + 0.5 * grain
    edge = int(hz_to_mel(NARROW) / TOP_MEL * n_bands)
    cut = torch.rand(batch, 1, 1, generator=generator) < NARROW_BAND
    beyond = torch.arange(n_bands) > edge
    bands = torch.where(cut & beyond, bands - 8.0, bands)
    return torch.logaddexp(bands, noise)


class Cepstra:
    """MFCC with Δ and ΔΔ of log bands, as earshot.media.audio.features makes them, on any
    device.
    """

    def __init__(self, constants: Path) -> None:
        with np.load(constants) as file:
            self.dct = torch.from_numpy(file["dct"])
        # Savitzky-Golay derivatives of a parabola fitted to DELTA_WIDTH frames.
        offsets = np.arange(DELTA_WIDTH) - DELTA_WIDTH // 2
        line = np.linalg.pinv(np.stack([offsets**0, offsets], axis=1))[1]
        parabola = np.linalg.pinv(np.stack([offsets**0, offsets, offsets**2], axis=1))[2]
        self.kernels = torch.tensor(np.stack([line, 2 * parabola]), dtype=torch.float32)[:, None]

    def __call__(self, bands: Tensor) -> Tensor:
        """Map log bands (B, S, 40) to MFCC with derivatives (B, S, 39)."""
        cepstra = bands @ self.dct.T.to(bands)
        batch, frames, n = cepstra.shape
        flat = cepstra.transpose(1, 2).reshape(batch * n, 1, frames)
        padded = F.pad(flat, (DELTA_WIDTH // 2,) * 2, mode="replicate")
        deltas = F.conv1d(padded, self.kernels.to(bands))  # (batch * n, 2, frames)
        deltas = deltas.view(batch, n, 2, frames).permute(0, 3, 2, 1)
        return torch.cat([cepstra, deltas.flatten(2)], dim=2)
