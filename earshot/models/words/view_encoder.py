"""The encoder of one view: transformer, bidirectional LSTM or conformer, with pooling over time.

Shapes: B batch, S frames of 10 ms or phonemes, M mel bands, C width of the encoder.
"""

from dataclasses import dataclass
from typing import Final, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from earshot.models.layers.conformer import ConformerLayer
from earshot.models.layers.positions import sinusoidal_positions

POSITION_BASE: Final = 5000.0  # Rhodes & Bains, Eq. (5)


@dataclass(frozen=True)
class ViewConfig:
    """Sizes of the encoder of one view.

    kind: the transformer of Rhodes & Bains, the bidirectional LSTM of Settle et al. (2019), or a
    conformer. pooling: the mean over time, the first state, or the state of a [CLS] token that is
    prepended.
    """

    kind: Literal["transformer", "lstm", "conformer"]
    layers: int
    heads: int = 4
    width: int = 256
    inner: int = 1024
    dropout: float = 0.1
    pooling: Literal["mean", "first", "cls"] = "mean"


class Encoder(nn.Module):
    """An encoder of a sequence, to its states and one pooled vector."""

    def __init__(self, config: ViewConfig) -> None:
        super().__init__()
        self.config = config
        self.cls = nn.Parameter(torch.randn(config.width) * config.width**-0.5)
        self.cls.requires_grad_(config.pooling == "cls")
        if config.kind == "lstm":
            self.layers = nn.LSTM(
                config.width,
                config.width // 2,
                config.layers,
                batch_first=True,
                dropout=config.dropout,
                bidirectional=True,
            )
        elif config.kind == "transformer":
            layer = nn.TransformerEncoderLayer(
                config.width, config.heads, config.inner, config.dropout, batch_first=True
            )
            self.layers = nn.TransformerEncoder(layer, config.layers, enable_nested_tensor=False)
        else:
            self.layers = nn.ModuleList(
                ConformerLayer(config.width, config.heads, config.inner, config.dropout)
                for _ in range(config.layers)
            )

    def forward(self, x: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Map inputs (B, S, C) of lengths (B,) → pooled (B, C), states (B, S, C).

        With "cls" pooling the states begin with that of the [CLS] token: (B, S + 1, C).
        """
        if self.config.pooling == "cls":
            x = torch.cat([self.cls.expand(len(x), 1, -1).to(x.dtype), x], dim=1)
            lengths = lengths + 1
        mask = length_mask(lengths, x.shape[1])
        states = self._states(x, mask, lengths)
        if self.config.pooling == "mean":
            return (states * mask[..., None]).sum(dim=1) / lengths[:, None], states
        return states[:, 0], states

    def _states(self, x: Tensor, mask: Tensor, lengths: Tensor) -> Tensor:
        if isinstance(self.layers, nn.LSTM):
            packed = nn.utils.rnn.pack_padded_sequence(
                x, lengths.cpu(), batch_first=True, enforce_sorted=False
            )
            states, _ = self.layers(packed)
            return nn.utils.rnn.pad_packed_sequence(
                states, batch_first=True, total_length=x.shape[1]
            )[0]
        if isinstance(self.layers, nn.TransformerEncoder):
            positions = sinusoidal_positions(x.shape[1], x.shape[2], x.device, POSITION_BASE)
            return self.layers(x + positions, src_key_padding_mask=~mask)
        for layer in self.layers:
            x = layer(x, mask)
        return x


class Subsampling(nn.Module):
    """Two convolutions of stride 2 over time and frequency, then a projection.

    Padding is set to zero before each convolution, so that it does not change a word's output.
    """

    def __init__(self, n_mels: int, channels: int, width: int) -> None:
        super().__init__()
        # Channels last: twice as fast on CPUs.
        self.first = nn.Conv2d(1, channels, 3, stride=2, padding=1)
        self.second = nn.Conv2d(channels, channels, 3, stride=2, padding=1)
        self.out = nn.Linear(channels * (n_mels // 4), width)

    def forward(self, x: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Map log-mel (B, S, M) of lengths (B,) → (B, S / 4, C) and its lengths (B,), rounded
        up."""
        half = -(-lengths // 2)
        x = F.gelu(self.first(x[:, None].to(memory_format=torch.channels_last)))
        x = x * length_mask(half, x.shape[2])[:, None, :, None]
        x = F.gelu(self.second(x))  # (B, channels, S / 4, M / 4)
        return self.out(x.transpose(1, 2).flatten(2)), -(-half // 2)


def length_mask(lengths: Tensor, steps: int) -> Tensor:
    """Mark what is within each length (B,) as true, padding as false: (B, steps)."""
    return torch.arange(steps, device=lengths.device)[None] < lengths[:, None]
