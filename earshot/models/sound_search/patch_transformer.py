"""A small PaSST: an audio spectrogram transformer with structured patchout (Koutini et al. 2022).

Shapes: B batch, S frames of 10 ms, M mel bands, F × T patches (frequency, time), D width.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from earshot.models.layers.transformer import TransformerLayer
from earshot.models.sound_search.sound_cnn import SoundCNN, SoundCNNConfig


@dataclass(frozen=True)
class PatchTransformerConfig:
    """Sizes of the network. stride: 16 as in PaSST-N, or 10 for the overlapping patches of PaSST-S.
    patchout: rows of frequency and columns of time left out of each batch in training.
    stem_channels, stem_blocks: of the SoundCNN stages that replace raw patches, if any. longest:
    frames that have a position.
    """

    width: int = 256
    layers: int = 5
    heads: int = 4
    inner: int = 1024
    patch: int = 16
    stride: int = 16
    stem_channels: tuple[int, ...] = ()
    stem_blocks: tuple[int, ...] = ()
    n_mels: int = 128
    longest: int = 1001
    patchout: tuple[int, int] = (2, 7)
    dropout: float = 0.1


class PatchTransformer(nn.Module):
    """Patches + separate encodings of time and frequency → transformer (section 2.1)."""

    def __init__(self, config: PatchTransformerConfig) -> None:
        super().__init__()
        self.config = config
        self.width = config.width
        self.stem, channels, patch, stride = None, 1, config.patch, config.stride
        if config.stem_channels:
            stages = SoundCNNConfig(tuple(config.stem_channels), tuple(config.stem_blocks), 0.0)
            self.stem = SoundCNN(stages)
            channels, patch, stride = self.stem.width, 1, 1
        self.embed = nn.Conv2d(channels, config.width, patch, stride)
        rows, columns = (self._positions(n) for n in (config.n_mels, config.longest))
        self.frequency = nn.Parameter(0.02 * torch.randn(1, rows, 1, config.width))
        self.time = nn.Parameter(0.02 * torch.randn(1, 1, columns, config.width))
        self.layers = nn.ModuleList(
            TransformerLayer(config.width, config.heads, config.inner, config.dropout, rotary=False)
            for _ in range(config.layers)
        )
        self.norm = nn.LayerNorm(config.width)

    def _positions(self, length: int) -> int:
        """Count the positions of the grid along an axis of this length, in bands or frames."""
        if self.stem:
            return -(-length // self.config.stride)
        return (max(length, self.config.patch) - self.config.patch) // self.config.stride + 1

    def forward(self, mel: Tensor) -> Tensor:
        """Map a normalised log-mel spectrogram (B, S, M) to outputs averaged over frequency (B, T,
        D).

        Raises ValueError for more frames than there are positions.
        """
        if mel.shape[1] > self.config.longest:
            raise ValueError(f"{mel.shape[1]} frames; {self.config.longest} is the most.")
        image = self.stem.maps(mel) if self.stem else mel[:, None]
        grid = self.embed(image).permute(0, 3, 2, 1)  # (B, F, T, D)
        grid = grid + self.frequency[:, : grid.shape[1]] + self.time[:, :, : grid.shape[2]]
        if self.training:
            grid = self._patchout(grid)
        batch, rows, columns, width = grid.shape
        tokens = grid.reshape(batch, rows * columns, width)
        for layer in self.layers:
            tokens = layer(tokens)
        return self.norm(tokens).view(batch, rows, columns, width).mean(dim=1)

    def _patchout(self, grid: Tensor) -> Tensor:
        """Drop whole rows and columns of the grid: structured patchout (section 2.2)."""
        rows, columns = (
            torch.randperm(length)[: max(1, length - out)].sort().values.to(grid.device)
            for length, out in zip(grid.shape[1:3], self.config.patchout, strict=True)
        )
        return grid[:, rows][:, :, columns]
