"""Augmentation of log-mel spectrograms: speed, shift, level, filters, noise, SpecAugment.

Shapes: B batch, S frames of 10 ms, M mel bands.
"""

import math

import torch
from torch import Tensor
from torch.nn import functional as F

FLOOR = math.log(1e-6)  # as earshot.media.audio.sound_features
LAST_BAND_8KHZ = 105  # bands above it are above 8 kHz


def window(mel: Tensor, frames: int, generator: torch.Generator) -> Tensor:
    """Cut a random window (frames, M) of a clip (S, M), at 0.8 to 1.25 times its speed, with its
    bands shifted by up to 4 (a smaller or larger source); short clips are padded with silence.
    """
    speed = math.exp(_uniform(math.log(0.8), math.log(1.25), generator))
    shift = _integer(-4, 4, generator)
    taken = math.ceil(frames * speed)
    if len(mel) > taken:
        start = _integer(0, len(mel) - taken, generator)
        mel = mel[start : start + taken]
    mel = F.interpolate(mel.float().t()[None], size=max(1, round(len(mel) / speed)), mode="linear")
    mel = mel[0].t()[:frames].roll(shift, dims=1)
    if shift > 0:
        mel[:, :shift] = mel[:, shift : shift + 1]
    elif shift < 0:
        mel[:, shift:] = FLOOR
    missing = frames - len(mel)
    before = _integer(0, missing, generator)
    padded = F.pad(mel, (0, 0, before, missing - before), value=FLOOR)
    return padded.roll(_integer(0, frames - 1, generator), dims=0) if missing == 0 else padded


def mix(a: Tensor, b: Tensor, generator: torch.Generator) -> Tensor:
    """Add up two sounds (S, M) in power; the level of b is within 6 dB of that of a."""
    loudness = [sound.exp().sum(dim=1).mean().clamp_min(1e-5).log() for sound in (a, b)]
    gain = loudness[0] - loudness[1] + _uniform(-6, 6, generator) * math.log(10) / 10
    return torch.logaddexp(a, b + gain)


def augment(mel: Tensor, generator: torch.Generator) -> Tensor:
    """Change level, tilt and bandwidth at random, add noise, and mask by SpecAugment (Park et al.
    2019): (B, S, M).
    """
    batch, frames, bands = mel.shape
    rand = torch.rand(batch, 6, 1, 1, generator=generator)
    places = torch.linspace(-1, 1, bands)
    gain = -4 + 5 * rand[:, 0]
    tilt = (3 * rand[:, 1] - 1.5) * places
    bend = (2 * rand[:, 2] - 1) * torch.cos(math.pi * (places * (1 + rand[:, 3])))
    mel = mel + gain + tilt + bend
    # Most real clips have no energy above 8 kHz: that must not identify the others.
    top = 60 + (bands - 60) * rand[:, 4]
    top = torch.where(rand[:, 5] < 0.5, torch.tensor(float(LAST_BAND_8KHZ)), top)
    cut = torch.arange(bands) > top
    mel = torch.where(cut, torch.tensor(FLOOR), mel)
    noise = -16 + 10 * torch.rand(batch, 1, 1, generator=generator).square()
    mel = torch.logaddexp(mel, noise + 0.3 * torch.randn(mel.shape, generator=generator))
    return _mask(_mask(mel, 1, frames // 8, generator), 2, bands // 8, generator)


def _mask(mel: Tensor, axis: int, longest: int, generator: torch.Generator) -> Tensor:
    """Replace two random stripes of up to `longest` along the axis by the clip's mean."""
    length = mel.shape[axis]
    places = torch.arange(length).view((1, -1, 1) if axis == 1 else (1, 1, -1))
    for _ in range(2):
        rand = torch.rand(2, len(mel), 1, 1, generator=generator)
        start = rand[0] * length
        stripe = (places >= start) & (places < start + rand[1] * longest)
        mel = torch.where(stripe, mel.mean(dim=(1, 2), keepdim=True), mel)
    return mel


def _uniform(low: float, high: float, generator: torch.Generator) -> float:
    return low + (high - low) * torch.rand((), generator=generator).item()


def _integer(low: int, high: int, generator: torch.Generator) -> int:
    return int(torch.randint(low, high + 1, (), generator=generator).item())
