"""Augmentations of log mel bands: another vocal tract, microphone and room, the same words.

They act on the 40 log-power bands below the cepstra, so that every window of every epoch is
augmented anew at little cost. Shapes: B batch, S frames, M bands.
"""

import math

import torch
from torch import Tensor
from torch.nn import functional as F

from training.voice_conversion.data.augment import vtlp

VTLP = 0.18  # the vocal tract is shortened or lengthened by up to this share
TILT = 0.8  # standard deviation of the gain at the knots of a random equaliser, nepers of power
KNOTS = 6
CLEAN = 0.5  # share of windows without noise
NOISE = (-13.0, -6.0)  # natural log of noise to speech power, quietest and loudest
TELEPHONE = 0.06  # share of windows that lose everything above 4 kHz
NYQUIST_BANDS = 28 / 40  # share of the bands that lie below 4 kHz
REVERBERATION = 0.12  # share of windows in a room
DECAY = (0.55, 0.85)  # of power from frame to frame, in the shortest and longest room


def augment(bands: Tensor, generator: torch.Generator) -> Tensor:
    """Another vocal tract, line, room and noise for every window: (B, S, M) → (B, S, M)."""
    factors = 1 + VTLP * (2 * torch.rand(len(bands), generator=generator) - 1)
    bands = _equalise(vtlp(bands, factors), generator)
    return _add_noise(_reverberate(bands, generator), generator)


def _equalise(bands: Tensor, generator: torch.Generator) -> Tensor:
    knots = TILT * torch.randn(len(bands), 1, KNOTS, generator=generator)
    return bands + F.interpolate(knots, bands.shape[-1], mode="linear", align_corners=True)


def _reverberate(bands: Tensor, generator: torch.Generator) -> Tensor:
    """Power that lingers and fades exponentially, in some windows."""
    chosen = torch.rand(len(bands), generator=generator) < REVERBERATION
    if not chosen.any():
        return bands
    some = bands[chosen]
    decay = torch.empty(len(some), 1).uniform_(*DECAY, generator=generator)
    taps = (decay ** torch.arange(24)).flip(1)
    power = F.pad(some.exp().transpose(1, 2), (23, 0))  # (B', M, S + 23)
    batch, n_bands, frames = power.shape
    kernel = taps.repeat_interleave(n_bands, dim=0)[:, None]
    wet = F.conv1d(power.reshape(1, batch * n_bands, frames), kernel, groups=batch * n_bands)
    mixed = wet.reshape(batch, n_bands, -1).transpose(1, 2)
    result = bands.clone()
    result[chosen] = torch.logaddexp(some, mixed.clamp(min=1e-9).log() - 1.5)
    return result


def _add_noise(bands: Tensor, generator: torch.Generator) -> Tensor:
    """Steady noise of a random spectrum, and for some windows a line that ends at 4 kHz."""
    batch, _, n_bands = bands.shape
    speech = bands.flatten(1).quantile(0.95, dim=1)[:, None, None]
    level = torch.empty(batch, 1, 1).uniform_(*NOISE, generator=generator)
    clean = torch.rand(batch, 1, 1, generator=generator) < CLEAN
    knots = torch.randn(batch, 1, KNOTS, generator=generator)
    shape = F.interpolate(knots, n_bands, mode="linear", align_corners=True)
    grain = torch.rand(bands.shape, generator=generator).clamp(min=1e-3).log()
    noise = speech + torch.where(clean, -math.inf, level) + shape + 0.5 * grain
    cut = torch.rand(batch, 1, 1, generator=generator) < TELEPHONE
    beyond = torch.arange(n_bands) > NYQUIST_BANDS * n_bands
    return torch.logaddexp(torch.where(cut & beyond, bands - 8.0, bands), noise)
