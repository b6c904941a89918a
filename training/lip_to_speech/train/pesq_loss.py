"""How much the difference of two sounds disturbs a listener, after PESQ (ITU-T P.862, P.862.2), as
a loss that gradients can follow. Its constants were read in torch-pesq (Schmidt, MIT licence).

Shapes: B batch, T samples at 16 kHz, S frames of 16 ms, K Bark bands.
"""

import math
from functools import cache
from typing import Final, NamedTuple

import torch
from torch import Tensor

from media.audio.features import SAMPLE_RATE

N_FFT: Final = 512
HOP: Final = N_FFT // 2
# Bins of each Bark band.
BINS: Final = (
    *(*[1] * 8, 2, *[1] * 5, 2, 1, 1, *[2] * 8, *[3] * 4, 4, 3, 4, 5, 4, 5, 6, 6, 7),
    *(8, 9, 9, 12, 12, 15, 16, 18, 21, 25, 20),
)
WINDOWED: Final = N_FFT * 0.375 * N_FFT  # power of a bin, of the sum of squares of a Hann window
POWER: Final = 1e7  # of speech, in the band that tells how loud it is
SPEECH: Final = (325.0, 3250.0)  # Hz: that band
SCALE: Final = 4.84e-4  # from the power of a bin to that of the ear
SONE: Final = 0.1867
MOST: Final = 45.0  # disturbance of a frame, which is neared and not cut off, for the gradient
SPAN: Final = 20  # frames, 320 ms, of which the worst tell most


class _Hearing(NamedTuple):
    bands: Tensor  # (K, bins)
    widths: Tensor  # of the bands in Bark: (K,)
    thresholds: Tensor  # power that is just heard: (K,)
    exponents: Tensor  # of loudness: (K,)
    speech: Tensor  # 1 for bins in SPEECH: (bins,)


def disturbance(made: Tensor, real: Tensor) -> Tensor:
    """The disturbance of what was made beside what was real, (B, T) each: (B,), roughly 4.5 less
    the raw PESQ score.

    Unlike there, neither the level of all nor that of any band is aligned first: the shortest way
    to a good score would be a hum that misleads the alignment. Frames that disturb most count
    less, too: of strongly smoothed speech it thinks too well, by 0.8.
    """
    hearing = _hearing(made.device)
    ours, theirs = (_power(sound.float()) for sound in (made, real))
    level = 2 * (theirs * hearing.speech).sum(dim=-1).mean(dim=1) / WINDOWED
    scale = (POWER / (level + 1e-12))[:, None, None]
    ours, theirs = (scale * power @ hearing.bands.t() for power in (ours, theirs))
    # How loud a moment is disturbs little.
    total, target = ((power * (power > hearing.thresholds)).sum(dim=-1) for power in (ours, theirs))
    gain = (target + 5e3) / (total + 5e3)
    gain = torch.cat([gain[:, :1], 0.8 * gain[:, 1:] + 0.2 * gain[:, :-1]], dim=1)
    ours = ours * gain.clamp(3e-4, 5)[..., None]
    loud, right = _loudness(ours, hearing), _loudness(theirs, hearing)
    away = loud - right
    away = away.sign() * (away.abs() - 0.25 * torch.minimum(loud, right)).clamp(min=0)
    # What is added disturbs more than what is missing.
    added = ((ours + 50) / (theirs + 50)) ** 1.2
    added = torch.where(added < 3, torch.zeros_like(added), added.clamp(max=12))
    widths = hearing.widths[1:]
    both = ((away[..., 1:] * widths).square().sum(dim=-1) * widths.sum() + 1e-8).sqrt()
    more = ((away * added)[..., 1:].abs() * widths).sum(dim=-1)
    weight = ((target + 1e5) / POWER) ** 0.04
    return 0.1 * _over_time(both / weight) + 0.0309 * _over_time(more / weight)


def _over_time(frames: Tensor) -> Tensor:
    """(B, S) → (B,): of each span the sixth norm, of these the second."""
    spans = (MOST * (frames / MOST).tanh() + 1e-4).unfold(1, SPAN, SPAN // 2)
    return (spans**6).mean(dim=-1).pow(1 / 6).square().mean(dim=1).sqrt()


def _power(sound: Tensor) -> Tensor:
    """(B, T) → (B, S, bins)."""
    window = torch.hann_window(N_FFT, device=sound.device)
    spectrum = torch.stft(sound, N_FFT, HOP, window=window, center=False, return_complex=True)
    return (spectrum.real.square() + spectrum.imag.square()).transpose(1, 2)


def _loudness(power: Tensor, hearing: _Hearing) -> Tensor:
    """In sone a Bark: (B, S, K), by Zwicker's law."""
    over = (0.5 + 0.5 * power / hearing.thresholds).clamp(min=1)
    return SONE * (2 * hearing.thresholds) ** hearing.exponents * (over**hearing.exponents - 1)


@cache
def _hearing(device: torch.device) -> _Hearing:
    count = torch.tensor(BINS)
    last = count.cumsum(0)
    hz = torch.arange(N_FFT // 2 + 1) * SAMPLE_RATE / N_FFT
    bins = torch.arange(len(hz))
    bands = (bins >= (last - count)[:, None]) & (bins < last[:, None]) & (bins > 0)
    # What headphones let through: a second-order high-pass filter.
    z = torch.exp(2j * math.pi * bins / N_FFT)
    filtered = 2.740826 * (1 - 2 / z + 1 / z**2) / (1 - 1.9444777 / z + 0.94597794 / z**2)
    centres = (last - count / 2 - 0.5) * SAMPLE_RATE / N_FFT
    widths = 0.315 + 0.0056 * torch.arange(len(BINS))
    widths[0] /= 2
    barks = widths.cumsum(0) - widths / 2
    # A fit of the standard's table within a few dB.
    quiet = (37 * (96 / centres.clamp(min=8)) ** 1.15 - 5).clamp(max=75)
    parts = _Hearing(
        bands * SCALE * filtered.abs().square().float(),
        widths,
        10 ** (quiet / 10),
        0.23 * (6 / (barks + 2)).clamp(1, 2) ** 0.15,
        ((hz > SPEECH[0]) & (hz < SPEECH[1])).float(),
    )
    return _Hearing(*(part.to(device) for part in parts))
