"""A small neural vocoder after Vocos (Siuzdak 2023): ConvNeXt blocks and an inverse-STFT head.

Shapes: B batch, S frames of 10 ms, T = S * hop_length samples.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class VocoderConfig:
    """Sizes of the network; the spectrogram is that of media.features.log_mel."""

    n_mels: int = 80
    width: int = 256
    inner: int = 768
    layers: int = 6
    n_fft: int = 640
    hop_length: int = 160


class Vocoder(nn.Module):
    """Log-mel spectrogram → waveform, all at the rate of frames until the inverse STFT."""

    LOUDEST = 1e2  # the magnitude that a bin may reach

    window: Tensor

    def __init__(self, config: VocoderConfig) -> None:
        super().__init__()
        self.config = config
        self.input = nn.Conv1d(config.n_mels, config.width, 7, padding=3)
        self.input_norm = nn.LayerNorm(config.width)
        self.blocks = nn.Sequential(*(ConvNeXtBlock(config) for _ in range(config.layers)))
        self.output_norm = nn.LayerNorm(config.width)
        self.output = nn.Linear(config.width, config.n_fft + 2)
        self.register_buffer("window", torch.hann_window(config.n_fft))

    def forward(self, log_mel: Tensor) -> Tensor:
        """(B, S, n_mels) → (B, T)."""
        # One more frame, so that the windows cover the last hop.
        mel = torch.cat([log_mel, log_mel[:, -1:]], dim=1).transpose(1, 2)
        x = self.input_norm(self.input(mel).transpose(1, 2))
        x = self.output_norm(self.blocks(x))
        magnitude, phase = self.output(x).float().transpose(1, 2).chunk(2, dim=1)
        spectrum = torch.polar(magnitude.exp().clamp(max=self.LOUDEST), phase)
        return torch.istft(spectrum, self.config.n_fft, self.config.hop_length, window=self.window)


class ConvNeXtBlock(nn.Module):
    """Depthwise convolution, layer norm, two projections (Liu et al. 2022)."""

    def __init__(self, config: VocoderConfig) -> None:
        super().__init__()
        self.depthwise = nn.Conv1d(config.width, config.width, 7, padding=3, groups=config.width)
        self.norm = nn.LayerNorm(config.width)
        self.inner = nn.Sequential(
            nn.Linear(config.width, config.inner), nn.GELU(), nn.Linear(config.inner, config.width)
        )
        self.scale = nn.Parameter(torch.full((config.width,), 1 / config.layers))

    def forward(self, x: Tensor) -> Tensor:
        """(B, S, width) → (B, S, width)."""
        y = self.depthwise(x.transpose(1, 2)).transpose(1, 2)
        return x + self.scale * self.inner(self.norm(y))
