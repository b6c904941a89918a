"""Differentiable losses after STOI, ESTOI and wide-band PESQ, of mel frames or of waveforms, and
the vocoder as a loss, which compares how predicted frames will sound.

The constants of PESQ are those of torch-pesq (Schmidt, MIT licence).

Shapes: B batch, S mel frames of 10 ms (of PESQ: 16 ms), M mel bands, T samples at 16 kHz, K
third-octave or Bark bands, N windows of about 384 ms.
"""

import math
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from earshot.media.constants import HOP_LENGTH, SAMPLE_RATE
from earshot.models.lip_to_speech import Prediction
from earshot.models.vocoder import Vocoder, VocoderConfig
from training.common.spectral_loss import SpectralLoss
from training.lip_to_speech.batches import Batch

BANDS: Final = 15  # third-octave bands
FIRST_CENTRE: Final = 150.0  # Hz: of the first band
WINDOW: Final = 38  # frames of 10 ms: 380 ms, where STOI has 384 ms
STEP: Final = 4  # frames between windows
RANGE: Final = 4.6  # nepers, 40 dB: quieter frames are removed as silent
SPECTRUM: Final = 410  # samples: 25.6 ms, as in STOI
N_FFT: Final = 512
TINY: Final = 1e-5
# Of PESQ.
PESQ_HOP: Final = N_FFT // 2
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
# Of the vocoder as a loss.
PESQ_WEIGHT: Final = 0.2
PITCHES: Final = (60.0, 500.0)  # Hz: limits, as predictions early in training may be anything


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
    estimated, observed = (_pesq_power(sound.float()) for sound in (estimate, reference))
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
    return 0.1 * _over_spans(symmetric / weight) + 0.0309 * _over_spans(asymmetric / weight)


def _over_spans(frames: Tensor) -> Tensor:
    """Average frames (B, S) to (B,): the sixth norm within each span, the second over spans."""
    spans = (MAX_DISTURBANCE * (frames / MAX_DISTURBANCE).tanh() + 1e-4).unfold(1, SPAN, SPAN // 2)
    return (spans**6).mean(dim=-1).pow(1 / 6).square().mean(dim=1).sqrt()


def _pesq_power(waveform: Tensor) -> Tensor:
    """Compute the power spectrum of a waveform: (B, T) → (B, S, bins)."""
    window = torch.hann_window(N_FFT, device=waveform.device)
    spectrum = torch.stft(
        waveform, N_FFT, PESQ_HOP, window=window, center=False, return_complex=True
    )
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


class VocoderLoss(nn.Module):
    """A frozen, trained vocoder, with losses on its output."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        saved = torch.load(path, weights_only=True, map_location="cpu")
        self.vocoder = Vocoder(VocoderConfig(**saved["config"]))
        self.vocoder.load_state_dict(saved["network"])
        self.spectra = spectral_loss()
        self.eval().requires_grad_(False)

    def forward(self, predicted: Prediction, batch: Batch) -> Tensor:
        """Add up two losses, a scalar: the STOI loss between the vocoded prediction and the
        reference frames, and the PESQ loss between the vocoded prediction and the vocoded
        reference.
        """
        waveform = self.vocode(predicted, batch)
        with torch.no_grad():
            reference = self.vocoder(batch.log_mel, batch.pitch)
        with torch.autocast(waveform.device.type, enabled=False):
            log_mel = self.spectra.log_mel(waveform).transpose(1, 2)
            pesq = pesq_loss(waveform, reference).mean()
        frames = predicted.log_mel.shape[1]
        return stoi_loss_mel(log_mel[:, :frames], batch.log_mel) + PESQ_WEIGHT * pesq

    def vocode(self, predicted: Prediction, batch: Batch) -> Tensor:
        """Vocode the predicted frames as a waveform (B, T), at the predicted log-F0 contour around
        the reference's mean log F0.
        """
        pitch = (predicted.log_f0 + batch.mean_log_pitch).exp().clamp(*PITCHES).detach()
        return self.vocoder(predicted.log_mel, pitch * (predicted.voicing > 0))


def spectral_loss() -> SpectralLoss:
    """Make the spectral loss of the vocoder, with the mel filters of its spectrograms."""
    from earshot.media.audio import features  # late: training of other stages needs no librosa

    filters = features.mel_filters(features.N_FFT, features.N_MELS)
    return SpectralLoss(torch.from_numpy(filters))
