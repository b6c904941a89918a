"""A rough guess of the voice that belongs to a face.

Shapes: B batch, H side of a portrait, V size of a voice.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F


@dataclass(frozen=True)
class FaceEncoderConfig:
    """size: V; pitch: the mean log of pitch in Hz, from which a face's is told."""

    channels: tuple[int, ...] = (24, 48, 96)
    size: int = 64
    pitch: float = 4.9


class FaceEncoder(nn.Module):
    """Convolutions over a portrait, without its colours' mean and contrast."""

    def __init__(self, config: FaceEncoderConfig) -> None:
        super().__init__()
        self.config = config
        inputs = (3, *config.channels[:-1])
        self.layers = nn.Sequential(
            *(
                nn.Sequential(
                    nn.Conv2d(a, b, 3, stride=2, padding=1), nn.GroupNorm(4, b), nn.ReLU()
                )
                for a, b in zip(inputs, config.channels, strict=True)
            )
        )
        self.out = nn.Linear(config.channels[-1], config.size + 1)

    def forward(self, portraits: Tensor) -> tuple[Tensor, Tensor]:
        """(B, 3, H, H) from 0 to 1 → unit vectors (B, V) and log of pitch in Hz (B,)."""
        mean = portraits.mean(dim=(2, 3), keepdim=True)
        deviation = (portraits - mean).square().mean(dim=(1, 2, 3), keepdim=True).sqrt()
        x = self.layers((portraits - mean) / deviation.clamp(min=0.02)).mean(dim=(2, 3))
        voice, pitch = self.out(x).float().split([self.config.size, 1], dim=1)
        return F.normalize(voice, dim=1), torch.tanh(pitch[:, 0]) + self.config.pitch
