"""The voice encoder: a speaker embedding of length 1 for an utterance.

Shapes: B batch, S frames of 10 ms, M mel bands, V size of a voice embedding.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F


@dataclass(frozen=True)
class VoiceEncoderConfig:
    """Sizes and statistics of the network. size: V; mean and std: of the log-mel frames."""

    n_mels: int = 80
    width: int = 192
    size: int = 64
    mean: float = -5.5
    std: float = 2.5


class VoiceEncoder(nn.Module):
    """Dilated convolutions, then statistics pooling (mean and std) over the frames with speech."""

    SILENCE = 5.0  # nepers below the loudest band of the loudest frame

    def __init__(self, config: VoiceEncoderConfig) -> None:
        super().__init__()
        self.config = config
        self.entry = nn.Conv1d(config.n_mels, config.width, 5, padding=2)
        self.blocks = nn.ModuleList(
            nn.Sequential(
                nn.BatchNorm1d(config.width),
                nn.ReLU(),
                nn.Conv1d(config.width, config.width, 3, padding=dilation, dilation=dilation),
            )
            for dilation in (1, 2, 3)
        )
        self.norm = nn.BatchNorm1d(config.width)
        self.exit = nn.Linear(2 * config.width, config.size)

    def forward(self, log_mel: Tensor) -> Tensor:
        """Map log-mel frames (B, S, M) to embeddings of length 1 (B, V)."""
        loudness = log_mel.amax(dim=2)  # (B, S)
        speech = (loudness > loudness.amax(dim=1, keepdim=True) - self.SILENCE)[:, None]
        x = (log_mel - self.config.mean) / self.config.std
        x = self.entry(x.transpose(1, 2))
        for block in self.blocks:
            x = x + block(x)
        x = F.relu(self.norm(x)).float() * speech
        count = speech.sum(dim=2)
        mean = x.sum(dim=2) / count
        std = (x.square().sum(dim=2) / count - mean.square()).clamp(min=1e-6).sqrt()
        return F.normalize(self.exit(torch.cat([mean, std], dim=1)).float(), dim=1)
