"""Log-mel features of the evaluation networks, and the distortions that they are trained with.

Separate from ``media.audio.features`` on purpose: evaluation shares no features with what it
evaluates.
"""

import librosa
import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from earshot.media.constants import HOP_LENGTH, SAMPLE_RATE

WINDOW = 400  # samples: 25 ms
N_FFT = 512  # samples
N_BANDS = 40
FLOOR = 1e-5  # of the power in a band, about 50 dB below speech
VTLP_FACTORS = torch.linspace(0.8, 1.25, 19)  # of frequency
NO_VTLP = int((VTLP_FACTORS - 1.0).abs().argmin())


class LogMel(nn.Module):
    """Log power in 40 mel bands up to 7.6 kHz every 10 ms, with optional VTLP."""

    filters: Tensor
    window: Tensor

    def __init__(self) -> None:
        super().__init__()
        filters = np.stack([_mel_filters(float(factor)) for factor in VTLP_FACTORS])
        self.register_buffer("filters", torch.from_numpy(filters), persistent=False)
        self.register_buffer("window", torch.hann_window(WINDOW), persistent=False)

    def forward(
        self, waveform: Tensor, vtlp: Tensor | None = None, cutoff: Tensor | None = None
    ) -> Tensor:
        """Map waveforms (B, T) to log-mel features (B, T // HOP_LENGTH + 1, 40).

        vtlp: (B,), indices into VTLP_FACTORS; cutoff: (B,), Hz of an ideal low-pass filter.
        """
        spectrum = torch.stft(
            waveform,
            N_FFT,
            HOP_LENGTH,
            WINDOW,
            self.window,
            pad_mode="constant",
            return_complex=True,
        )
        power = spectrum.abs().square().transpose(1, 2)
        if cutoff is not None:
            hertz = torch.arange(power.shape[-1]) * SAMPLE_RATE / N_FFT
            power = power * (hertz[None] <= cutoff[:, None]).float()[:, None]
        factors = torch.full((len(waveform),), NO_VTLP) if vtlp is None else vtlp
        return torch.log(power @ self.filters[factors] + FLOOR)


def normalize(features: Tensor, lengths: Tensor) -> Tensor:
    """Remove each band's mean, and scale all bands to unit variance, over the valid frames.

    features (B, S, 40), lengths (B,) frames → (B, S, 40), zero past each length.
    """
    mask = (torch.arange(features.shape[1]) < lengths[:, None]).float()[..., None]
    count = lengths[:, None, None].clamp(min=1)
    centred = (features - (features * mask).sum(1, keepdim=True) / count) * mask
    variance = centred.square().sum((1, 2), keepdim=True) / (count * N_BANDS)
    return centred / (variance.sqrt() + 1e-3)


def change_speed(waveform: np.ndarray, factor: float) -> np.ndarray:
    """Play a waveform ``factor`` times as fast: tempo, pitch and formants change together."""
    tensor = torch.from_numpy(waveform)[None, None]
    size = max(int(len(waveform) / factor), 1)
    return F.interpolate(tensor, size=size, mode="linear")[0, 0].numpy()


def add_noise(waveform: np.ndarray, snr: float, rng: np.random.Generator) -> np.ndarray:
    """Add noise between white and red to a waveform, at ``snr`` dB below its mean power."""
    noise = rng.standard_normal(len(waveform)).astype(np.float32)
    tilt = rng.uniform(0.0, 0.9)
    noise[1:] += tilt * noise[:-1]
    power = float(np.mean(waveform**2)) / max(float(np.mean(noise**2)), 1e-9)
    return waveform + noise * np.float32(np.sqrt(power * 10 ** (-snr / 10)))


def mask_bands_and_times(features: Tensor, rng: np.random.Generator) -> Tensor:
    """Zero bands and short stretches of normalised features: SpecAugment (Park et al. 2019)."""
    features = features.clone()
    for row in features:
        for _ in range(2):
            width = rng.integers(0, 7)
            start = rng.integers(0, N_BANDS - width)
            row[:, start : start + width] = 0.0
            length = rng.integers(0, 7)
            begin = rng.integers(0, max(len(row) - length, 1))
            row[begin : begin + length] = 0.0
    return features


def pad(waveforms: list[np.ndarray]) -> tuple[Tensor, Tensor]:
    """Stack waveforms of any lengths into one batch: (B, T) zero-padded, and (B,) frames in
    each.
    """
    lengths = torch.tensor([len(waveform) // HOP_LENGTH + 1 for waveform in waveforms])
    batch = np.zeros((len(waveforms), max(map(len, waveforms))), np.float32)
    for row, waveform in zip(batch, waveforms, strict=True):
        row[: len(waveform)] = waveform
    return torch.from_numpy(batch), lengths


def _mel_filters(factor: float) -> np.ndarray:
    """Make triangular filters from 60 to 7600 Hz, their frequencies times the factor: (257, 40)."""
    edges = librosa.mel_frequencies(N_BANDS + 2, fmin=60.0, fmax=7600.0, htk=True) * factor
    hertz = np.arange(N_FFT // 2 + 1)[:, None] * SAMPLE_RATE / N_FFT
    rise = (hertz - edges[:-2]) / np.diff(edges)[:-1]
    fall = (edges[2:] - hertz) / np.diff(edges)[1:]
    return np.maximum(np.minimum(rise, fall), 0.0).astype(np.float32)
