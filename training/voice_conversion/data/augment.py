"""Disturbances of log mel bands that change the talker and the room but not the words.

They act on the 40 log-power bands below the cepstra, so that every window of every epoch is
disturbed anew at no cost. Shapes: B batch, S frames, M bands.
"""

import math

import torch
from torch import Tensor
from torch.nn import functional as F

NYQUIST = 8000.0  # Hz
TOP_MEL = 15 + math.log(8) / math.log(6.4) * 27  # NYQUIST on Slaney's mel scale
WARP = 0.16  # the vocal tract is shortened or lengthened by up to this share
KNEE = 0.6  # of the Nyquist frequency: above it the warp is undone towards the band edge
TILT = 1.5  # standard deviation of the gain at each of the knots of a random equaliser, nepers
KNOTS = 5
NOISE = (-10.0, -3.5)  # natural log of noise to speech power, quietest and loudest
TELEPHONE = 0.15  # share of windows that lose everything above 4 kHz


def disturb(bands: Tensor, generator: torch.Generator) -> Tensor:
    """Another vocal tract, microphone, line and room for every window: (B, S, M) → (B, S, M)."""
    bands = warp(bands, 1 + WARP * (2 * torch.rand(len(bands), generator=generator) - 1))
    bands = _equalise(bands, generator)
    return _add_noise(bands, generator)


def warp(bands: Tensor, factors: Tensor) -> Tensor:
    """Stretch the frequency axis of each window by its factor (vocal tract length perturbation,
    Jaitly & Hinton 2013), piecewise linearly so that the band edge stays. factors: (B,)."""
    n_bands = bands.shape[-1]
    mel = torch.linspace(0, TOP_MEL, n_bands + 2)[1:-1]  # the centres of the bands
    hz = _mel_to_hz(mel)
    knee = KNEE * NYQUIST / factors.clamp(min=1.0)[:, None]
    low = hz * factors[:, None]
    slope = (NYQUIST - knee * factors[:, None]) / (NYQUIST - knee)
    warped = torch.where(hz < knee, low, NYQUIST - slope * (NYQUIST - hz))
    position = (_hz_to_mel(warped) / mel[0] - 1).clamp(0, n_bands - 1)
    left = position.floor().long().clamp(max=n_bands - 2)
    weight = (position - left)[:, None]
    index = left[:, None].expand_as(bands)
    return bands.gather(2, index) * (1 - weight) + bands.gather(2, index + 1) * weight


def _equalise(bands: Tensor, generator: torch.Generator) -> Tensor:
    knots = TILT * torch.randn(len(bands), 1, KNOTS, generator=generator)
    gain = F.interpolate(knots, bands.shape[-1], mode="linear", align_corners=True)
    return bands + gain


def _add_noise(bands: Tensor, generator: torch.Generator) -> Tensor:
    """Steady noise of a random spectrum, and for some windows a line that ends at 4 kHz."""
    batch, _, n_bands = bands.shape
    speech = bands.flatten(1).quantile(0.95, dim=1)[:, None, None]
    level = torch.empty(batch, 1, 1).uniform_(*NOISE, generator=generator)
    shape = F.interpolate(torch.randn(batch, 1, KNOTS, generator=generator), n_bands, mode="linear")
    grain = torch.rand(bands.shape, generator=generator).clamp(min=1e-3).log()
    noise = speech + level + shape + 0.5 * grain
    edge = int(_hz_to_mel(torch.tensor(4000.0)) / TOP_MEL * n_bands)
    cut = torch.rand(batch, 1, 1, generator=generator) < TELEPHONE
    beyond = torch.arange(n_bands) > edge
    bands = torch.where(cut & beyond, bands - 8.0, bands)
    return torch.logaddexp(bands, noise)


def _hz_to_mel(hz: Tensor) -> Tensor:
    return torch.where(hz < 1000, hz * 3 / 200, 15 + torch.log(hz / 1000) / (math.log(6.4) / 27))


def _mel_to_hz(mel: Tensor) -> Tensor:
    return torch.where(mel < 15, mel * 200 / 3, 1000 * torch.exp((mel - 15) * (math.log(6.4) / 27)))
