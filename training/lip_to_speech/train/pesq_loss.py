"""A differentiable loss after wide-band PESQ (ITU-T P.862, P.862.2). Its constants are those of
torch-pesq (Schmidt, MIT licence).

Shapes: B batch, T samples at 16 kHz, S frames of 16 ms, K Bark bands.
"""

import math
from functools import cache
from typing import Final, NamedTuple

import torch
from torch import Tensor

from earshot.media.constants import SAMPLE_RATE

N_FFT: Final = 512
HOP: Final = N_FFT // 2
# Number of bins in each Bark band.
BINS: Final = (
    *(*[1] * 8, 2, *[1] * 5, 2, 1, 1, *[2] * 8, *[3] * 4, 4, 3, 4, 5, 4, 5, 6, 6, 7),
    *(8, 9, 9, 12, 12, 15, 16, 18, 21, 25, 20),
)
WINDOWED: Final = N_FFT * 0.375 * N_FFT  # power of a bin / energy of a Hann window
TARGET_POWER: Final = 1e7  # of the reference in SPEECH_BAND, to which levels are normalised
SPEECH_BAND: Final = (325.0, 3250.0)  # Hz
SCALE: Final = 4.84e-4  # from the power of a bin to perceived power
LOUDNESS_SCALE: Final = 0.1867  # sone
MAX_DISTURBANCE: Final = 45.0  # of a frame: a soft limit, so that there is a gradient
SPAN: Final = 20  # frames, 320 ms, whose worst dominate


class _Psychoacoustics(NamedTuple):
    bands: Tensor  # (K, bins)
    widths: Tensor  # of the bands in Bark: (K,)
    thresholds: Tensor  # power at the threshold of hearing: (K,)
    exponents: Tensor  # of Zwicker's law: (K,)
    speech: Tensor  # 1 for bins in SPEECH_BAND: (bins,)


def pesq_loss(estimate: Tensor, reference: Tensor) -> Tensor:
    """Measure the disturbance of an estimate (B, T), given its reference (B, T): (B,), about 4.5 −
    the raw PESQ score.

    Unlike there, neither the level of all nor that of any band is aligned first: the shortest way
    to a good score would be a hum that misleads the alignment. Frames that augment most count
    less, too: of strongly smoothed speech it thinks too well, by 0.8.
    """
    model = _psychoacoustics(estimate.device)
    estimated, observed = (_power(sound.float()) for sound in (estimate, reference))
    level = 2 * (observed * model.speech).sum(dim=-1).mean(dim=1) / WINDOWED
    scale = (TARGET_POWER / (level + 1e-12))[:, None, None]
    estimated, observed = (scale * power @ model.bands.t() for power in (estimated, observed))
    # The level of a frame is partly compensated.
    total, target = (
        (power * (power > model.thresholds)).sum(dim=-1) for power in (estimated, observed)
    )
    gain = (target + 5e3) / (total + 5e3)
    gain = torch.cat([gain[:, :1], 0.8 * gain[:, 1:] + 0.2 * gain[:, :-1]], dim=1)
    estimated = estimated * gain.clamp(3e-4, 5)[..., None]
    loudness, target_loudness = _loudness(estimated, model), _loudness(observed, model)
    difference = loudness - target_loudness
    masked = 0.25 * torch.minimum(loudness, target_loudness)
    difference = difference.sign() * (difference.abs() - masked).clamp(min=0)
    # Asymmetry: additive disturbance counts more than missing energy.
    added = ((estimated + 50) / (observed + 50)) ** 1.2
    added = torch.where(added < 3, torch.zeros_like(added), added.clamp(max=12))
    widths = model.widths[1:]
    symmetric = ((difference[..., 1:] * widths).square().sum(dim=-1) * widths.sum() + 1e-8).sqrt()
    asymmetric = ((difference * added)[..., 1:].abs() * widths).sum(dim=-1)
    weight = ((target + 1e5) / TARGET_POWER) ** 0.04
    return 0.1 * _over_time(symmetric / weight) + 0.0309 * _over_time(asymmetric / weight)


def _over_time(frames: Tensor) -> Tensor:
    """Average frames (B, S) to (B,): the sixth norm within each span, the second over spans."""
    spans = (MAX_DISTURBANCE * (frames / MAX_DISTURBANCE).tanh() + 1e-4).unfold(1, SPAN, SPAN // 2)
    return (spans**6).mean(dim=-1).pow(1 / 6).square().mean(dim=1).sqrt()


def _power(waveform: Tensor) -> Tensor:
    """Compute the power spectrum of a waveform: (B, T) → (B, S, bins)."""
    window = torch.hann_window(N_FFT, device=waveform.device)
    spectrum = torch.stft(waveform, N_FFT, HOP, window=window, center=False, return_complex=True)
    return (spectrum.real.square() + spectrum.imag.square()).transpose(1, 2)


def _loudness(power: Tensor, model: _Psychoacoustics) -> Tensor:
    """Compute the loudness density in sone per Bark, by Zwicker's law: (B, S, K)."""
    over = (0.5 + 0.5 * power / model.thresholds).clamp(min=1)
    return LOUDNESS_SCALE * (2 * model.thresholds) ** model.exponents * (over**model.exponents - 1)


@cache
@torch.inference_mode(False)  # or no gradient passes through it later
def _psychoacoustics(device: torch.device) -> _Psychoacoustics:
    count = torch.tensor(BINS)
    last = count.cumsum(0)
    hz = torch.arange(N_FFT // 2 + 1) * SAMPLE_RATE / N_FFT
    bins = torch.arange(len(hz))
    bands = (bins >= (last - count)[:, None]) & (bins < last[:, None]) & (bins > 0)
    # The frequency response of headphones: a second-order high-pass filter.
    z = torch.exp(2j * math.pi * bins / N_FFT)
    filtered = 2.740826 * (1 - 2 / z + 1 / z**2) / (1 - 1.9444777 / z + 0.94597794 / z**2)
    centres = (last - count / 2 - 0.5) * SAMPLE_RATE / N_FFT
    widths = 0.315 + 0.0056 * torch.arange(len(BINS))
    widths[0] /= 2
    barks = widths.cumsum(0) - widths / 2
    # A fit to the standard's table of thresholds, within a few dB.
    quiet = (37 * (96 / centres.clamp(min=8)) ** 1.15 - 5).clamp(max=75)
    parts = _Psychoacoustics(
        bands * SCALE * filtered.abs().square().float(),
        widths,
        10 ** (quiet / 10),
        0.23 * (6 / (barks + 2)).clamp(1, 2) ** 0.15,
        ((hz > SPEECH_BAND[0]) & (hz < SPEECH_BAND[1])).float(),
    )
    return _Psychoacoustics(*(part.to(device) for part in parts))
