"""A residual network on log-mel spectrograms: the default trunk, and the transformer's teacher.

Shapes: B batch, S frames of 10 ms, M mel bands, C channels;
S' and M' are S and M divided by 4, and by 2 more for each stage after the first, rounded up.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F


@dataclass(frozen=True)
class SoundCNNConfig:
    """Sizes of the network. channels and blocks: of each stage; multiples of 32 channels run
    fastest.
    """

    channels: tuple[int, ...] = (32, 64, 160, 320)
    blocks: tuple[int, ...] = (1, 2, 2, 2)
    dropout: float = 0.2


class SoundCNN(nn.Module):
    """Two strided convolutions, then stages of residual blocks; each halves the resolution."""

    def __init__(self, config: SoundCNNConfig) -> None:
        super().__init__()
        first = config.channels[0]
        self.stem = nn.Sequential(
            _convolution(1, first // 2, stride=2), nn.ReLU(), _convolution(first // 2, first, 2)
        )
        layers: list[nn.Module] = []
        before = first
        for stage, (channels, blocks) in enumerate(
            zip(config.channels, config.blocks, strict=True)
        ):
            for block in range(blocks):
                layers.append(_Block(before, channels, 2 if stage and not block else 1))
                before = channels
        self.blocks = nn.Sequential(*layers)
        self.dropout = nn.Dropout(config.dropout)
        self.width = before
        self.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # fast on CPUs

    def forward(self, mel: Tensor) -> Tensor:
        """Map a normalised log-mel spectrogram (B, S, M) to features averaged over frequency (B,
        S', C).
        """
        return self.dropout(self.maps(mel).mean(dim=3).transpose(1, 2))

    def maps(self, mel: Tensor) -> Tensor:
        """Map a normalised log-mel spectrogram (B, S, M) to features in time and frequency (B, C,
        S', M').
        """
        image = mel[:, None].contiguous(memory_format=torch.channels_last)
        return self.blocks(F.relu(self.stem(image)))


class _Block(nn.Module):
    """ReLU(x + conv(conv(x))) (He et al. 2016); with a stride, the shortcut averages."""

    def __init__(self, before: int, channels: int, stride: int) -> None:
        super().__init__()
        self.branch = nn.Sequential(
            _convolution(before, channels, stride), nn.ReLU(), _convolution(channels, channels)
        )
        self.shortcut = nn.Sequential()
        if stride > 1 or before != channels:
            self.shortcut = nn.Sequential(
                nn.AvgPool2d(stride, ceil_mode=True),
                nn.Conv2d(before, channels, 1, bias=False),
                nn.BatchNorm2d(channels),
            )

    def forward(self, x: Tensor) -> Tensor:
        """Map (B, C, S, M) to (B, C', S / stride, M / stride), rounded up."""
        return F.relu(self.branch(x) + self.shortcut(x))


def _convolution(before: int, channels: int, stride: int = 1) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(before, channels, 3, stride, padding=1, bias=False), nn.BatchNorm2d(channels)
    )
