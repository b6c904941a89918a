"""Log-mel features of the evaluation networks, and the distortions that they are trained with.

Apart from ``media.audio.features`` on purpose: the judges share nothing with what they judge.
"""

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

SAMPLE_RATE = 16_000
HOP = 160
N_FFT = 512
N_BANDS = 40
FLOOR = 1e-5  # of the power in a band, about 50 dB below speech
WARPS = torch.linspace(0.8, 1.25, 19)  # frequency factors of vocal tract perturbation
NO_WARP = int((WARPS - 1.0).abs().argmin())


class LogMel(nn.Module):
    """Log power in 40 mel bands up to 7.6 kHz every 10 ms, frequencies scaled by a warp."""

    filters: Tensor
    window: Tensor

    def __init__(self) -> None:
        super().__init__()
        filters = np.stack([_mel_filters(float(warp)) for warp in WARPS])
        self.register_buffer("filters", torch.from_numpy(filters), persistent=False)
        self.register_buffer("window", torch.hann_window(400), persistent=False)

    def forward(
        self, waveform: Tensor, warp: Tensor | None = None, cutoff: Tensor | None = None
    ) -> Tensor:
        """(B, T) → (B, T // 160 + 1, 40).

        warp: (B,) numbers into WARPS; cutoff: (B,) Hz above which nothing is left.
        """
        spectrum = torch.stft(
            waveform, N_FFT, HOP, 400, self.window, pad_mode="constant", return_complex=True
        )
        power = spectrum.abs().square().transpose(1, 2)
        if cutoff is not None:
            hertz = torch.arange(power.shape[-1]) * SAMPLE_RATE / N_FFT
            power = power * (hertz[None] <= cutoff[:, None]).float()[:, None]
        warps = torch.full((len(waveform),), NO_WARP) if warp is None else warp
        return torch.log(power @ self.filters[warps] + FLOOR)


def normalize(features: Tensor, lengths: Tensor) -> Tensor:
    """Each band's mean removed and the whole brought to unit variance, over the first frames.

    features (B, S, 40), lengths (B,) frames → (B, S, 40), zero past each length.
    """
    mask = (torch.arange(features.shape[1]) < lengths[:, None]).float()[..., None]
    count = lengths[:, None, None].clamp(min=1)
    centred = (features - (features * mask).sum(1, keepdim=True) / count) * mask
    variance = centred.square().sum((1, 2), keepdim=True) / (count * N_BANDS)
    return centred / (variance.sqrt() + 1e-3)


def change_speed(waveform: np.ndarray, factor: float) -> np.ndarray:
    """The waveform played ``factor`` times as fast: tempo, pitch and formants change together."""
    tensor = torch.from_numpy(waveform)[None, None]
    size = max(int(len(waveform) / factor), 1)
    return F.interpolate(tensor, size=size, mode="linear")[0, 0].numpy()


def add_noise(waveform: np.ndarray, snr: float, rng: np.random.Generator) -> np.ndarray:
    """The waveform with noise between white and red at ``snr`` dB below its mean power."""
    noise = rng.standard_normal(len(waveform)).astype(np.float32)
    tilt = rng.uniform(0.0, 0.9)
    noise[1:] += tilt * noise[:-1]
    power = float(np.mean(waveform**2)) / max(float(np.mean(noise**2)), 1e-9)
    return waveform + noise * np.float32(np.sqrt(power * 10 ** (-snr / 10)))


def mask_bands_and_times(features: Tensor, rng: np.random.Generator) -> Tensor:
    """SpecAugment (Park et al. 2019): bands and short stretches of normalised features zeroed."""
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
    """Waveforms of any lengths as one batch: (B, T) zero-padded, and (B,) frames in each."""
    lengths = torch.tensor([len(waveform) // HOP + 1 for waveform in waveforms])
    batch = np.zeros((len(waveforms), max(map(len, waveforms))), np.float32)
    for row, waveform in zip(batch, waveforms, strict=True):
        row[: len(waveform)] = waveform
    return torch.from_numpy(batch), lengths


def _mel_filters(warp: float) -> np.ndarray:
    """Triangles evenly spaced in mel from 60 to 7600 Hz, read at frequencies warped: (257, 40)."""
    mel = np.linspace(_mel(60.0), _mel(7600.0), N_BANDS + 2)
    edges = 700.0 * (10 ** (mel / 2595.0) - 1) * warp
    hertz = np.arange(N_FFT // 2 + 1)[:, None] * SAMPLE_RATE / N_FFT
    rise = (hertz - edges[:-2]) / np.diff(edges)[:-1]
    fall = (edges[2:] - hertz) / np.diff(edges)[1:]
    return np.maximum(np.minimum(rise, fall), 0.0).astype(np.float32)


def _mel(hertz: float) -> float:
    return 2595.0 * float(np.log10(1 + hertz / 700.0))
