"""Voices to speak in: those of a checkpoint, and the encoder of others from some of their speech.

Shapes: B batch, S frames of 10 ms, M mel bands, V width of a voice vector, N voices.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

FLOOR = 1e-4


@dataclass(frozen=True)
class ReferenceConfig:
    """Sizes of the network."""

    n_mels: int = 80
    width: int = 160
    voice_width: int = 128


class ReferenceEncoder(nn.Module):
    """Strided convolutions, then mean and standard deviation over time (Snyder et al. 2018)."""

    def __init__(self, config: ReferenceConfig) -> None:
        super().__init__()
        self.config = config
        widths = (config.n_mels, config.width, config.width, config.width)
        self.convolutions = nn.ModuleList(
            nn.Conv1d(a, b, 5, stride=2, padding=2)
            for a, b in zip(widths[:-1], widths[1:], strict=True)
        )
        self.norms = nn.ModuleList(nn.LayerNorm(config.width) for _ in self.convolutions)
        self.output = nn.Linear(2 * config.width, config.voice_width)

    def forward(self, mel: Tensor) -> Tensor:
        """Map a normalised log-mel spectrogram (B, S, M) to voice vectors (B, V) of mean 0,
        variance 1.
        """
        x = mel
        for convolution, norm in zip(self.convolutions, self.norms, strict=True):
            x = F.gelu(norm(convolution(x.transpose(1, 2)).transpose(1, 2)))
        spread = (x.var(dim=1, unbiased=False) + FLOOR).sqrt()
        vector = self.output(torch.cat([x.mean(dim=1), spread], dim=-1))
        return F.layer_norm(vector, vector.shape[-1:])


@dataclass(frozen=True)
class Voices:
    """The voices to speak in: vector (B, V), and the mean and standard deviation of log-F0 (B,)."""

    vector: Tensor
    pitch_mean: Tensor
    pitch_std: Tensor

    def __getitem__(self, rows: Tensor | slice) -> "Voices":
        return Voices(self.vector[rows], self.pitch_mean[rows], self.pitch_std[rows])


class VoiceTable(nn.Module):
    """A table of N voices that travels with a checkpoint: vectors (N, V), and mean and standard
    deviation of log-F0 (N,).
    """

    vector: Tensor
    pitch_mean: Tensor
    pitch_std: Tensor

    def __init__(self, n_voices: int, voice_width: int) -> None:
        super().__init__()
        self.register_buffer("vector", torch.zeros(n_voices, voice_width))
        self.register_buffer("pitch_mean", torch.zeros(n_voices))
        self.register_buffer("pitch_std", torch.ones(n_voices))
