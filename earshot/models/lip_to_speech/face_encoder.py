"""The face encoder: the voice embedding and mean F0 that a face suggests.

Shapes: B batch, H side of a portrait, V size of a voice embedding.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F


@dataclass(frozen=True)
class FaceEncoderConfig:
    """Sizes of the network. size: V; pitch: mean log F0 in Hz of the training speakers, around
    which it predicts.
    """

    channels: tuple[int, ...] = (24, 48, 96)
    size: int = 64
    pitch: float = 4.9


class FaceEncoder(nn.Module):
    """Convolutions over a portrait whose colours are normalised, and a global average."""

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
        """Map portraits (B, 3, H, H) from 0 to 1 to voice embeddings of length 1 (B, V) and log F0
        in Hz (B,).
        """
        mean = portraits.mean(dim=(2, 3), keepdim=True)
        std = (portraits - mean).square().mean(dim=(1, 2, 3), keepdim=True).sqrt()
        x = self.layers((portraits - mean) / std.clamp(min=0.02)).mean(dim=(2, 3))
        voice, pitch = self.out(x).float().split([self.config.size, 1], dim=1)
        return F.normalize(voice, dim=1), torch.tanh(pitch[:, 0]) + self.config.pitch
