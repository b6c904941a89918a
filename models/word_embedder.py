"""Spoken words and phonemes in one space (He, Wang & Livescu 2017; Settle et al. 2019).

Shapes: B batch, S frames of 10 ms or phonemes, S' steps of an encoder, C its width, M mel bands,
D the shared space.
"""

from dataclasses import dataclass, field
from typing import Any, Final, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models.conformer import ConformerLayer
from models.near import NearLayer
from models.transformer import sinusoidal_positions

POSITION_BASE: Final = 5000.0  # Rhodes & Bains, equation 5


@dataclass(frozen=True)
class ViewConfig:
    """The encoder of one view.

    kind: the transformer of Rhodes & Bains, the bidirectional LSTM of Settle et al., or a
    conformer. pooling: the mean over steps, the first step, or that of a [CLS] put before them.
    """

    kind: Literal["transformer", "lstm", "conformer"]
    layers: int
    heads: int = 4
    width: int = 256
    inner: int = 1024
    dropout: float = 0.1
    pooling: Literal["mean", "first", "cls"] = "mean"


@dataclass(frozen=True)
class WordEmbedderConfig:
    """stack: frames put side by side as one step, where no convolution takes every fourth.

    n_phonemes counts the padding, number 0. near: layers that hear only what is near, before the
    acoustic view, to which they pass on nothing but the phonemes that they read: a view that hears
    whole words learns by heart those that it is given often.
    """

    acoustic: ViewConfig = field(default_factory=lambda: ViewConfig("transformer", 6, 4))
    written: ViewConfig = field(default_factory=lambda: ViewConfig("transformer", 4, 16))
    n_phonemes: int = 76
    width: int = 256
    n_mels: int = 80
    stack: int = 4
    near: int = 0
    near_width: int = 256
    channels: int = 0  # of the convolutions before the acoustic view; 0 stacks frames instead
    mean: float = -5.0  # of the log-mel frames of the training words
    deviation: float = 2.5

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "WordEmbedderConfig":
        """The config that asdict made these values of."""
        views = {name: ViewConfig(**values[name]) for name in ("acoustic", "written")}
        return cls(**{**values, **views})


class WordEmbedder(nn.Module):
    """Two encoders that meet: f of sound and g of phonemes, each pooled over its steps.

    From the steps of the acoustic view a linear layer also reads phonemes (CTC), 0 the blank.
    """

    def __init__(self, config: WordEmbedderConfig) -> None:
        super().__init__()
        self.config = config
        width = config.near_width if config.near else config.acoustic.width
        self.frames = (
            Subsampling(config.n_mels, config.channels, width)
            if config.channels
            else nn.Linear(config.n_mels * config.stack, width)
        )
        self.near = nn.ModuleList(NearLayer(width, 4 * width) for _ in range(config.near))
        if config.near:
            self.heard = nn.Linear(config.n_phonemes, config.acoustic.width)
        self.acoustic = Encoder(config.acoustic)
        self.acoustic_projection = nn.Linear(config.acoustic.width, config.width)
        self.phonemes = nn.Embedding(config.n_phonemes, config.written.width, padding_idx=0)
        self.written = Encoder(config.written)
        self.written_projection = nn.Linear(config.written.width, config.width)
        self.reading = nn.Linear(width, config.n_phonemes)
        self.log_scale = nn.Parameter(torch.tensor(3.0))  # of cosines in the loss
        self.bias = nn.Parameter(torch.tensor(8.0))  # scaled cosine at which words may be one

    def embed_audio(self, mel: Tensor, lengths: Tensor) -> Tensor:
        """Log-mel frames (B, S, M), of which lengths (B,) count → unit vectors (B, D)."""
        return self.hear(mel, lengths)[0]

    def hear(self, mel: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Log-mel (B, S, M) → unit vectors (B, D), phoneme logits (B, S', n_phonemes) and how
        many steps count (B,)."""
        if self.near:
            reading, steps = self.read(mel, lengths)
            pooled, _ = self.acoustic(self.heard(reading.float().softmax(dim=-1)), steps)
        else:
            x, steps = self._steps(mel, lengths)
            pooled, states = self.acoustic(x, steps)
            reading = self.reading(states)
        return _unit(self.acoustic_projection(pooled)), reading, steps

    def read(self, mel: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Log-mel (B, S, M) → phoneme logits (B, S', n_phonemes), of which so many count (B,)."""
        if not self.near:
            return self.hear(mel, lengths)[1:]
        x, steps = self._steps(mel, lengths)
        real = _counted(steps, x.shape[1])
        for layer in self.near:
            x = layer(x, real)
        return self.reading(x), steps

    def _steps(self, mel: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Log-mel (B, S, M) → every fourth frame (B, S', C), and how many count (B,)."""
        real = _counted(lengths, mel.shape[1])
        x = ((mel - self.config.mean) / self.config.deviation).masked_fill(~real[..., None], 0.0)
        if isinstance(self.frames, Subsampling):
            return self.frames(x, lengths)
        x = F.pad(x, (0, 0, 0, -x.shape[1] % self.config.stack))
        x = self.frames(x.reshape(len(x), -1, self.config.stack * self.config.n_mels))
        return x, -(-lengths // self.config.stack)

    def embed_phonemes(self, phonemes: Tensor, lengths: Tensor) -> Tensor:
        """Phoneme numbers (B, S), of which lengths (B,) count → unit vectors (B, D)."""
        pooled, _ = self.written(self.phonemes(phonemes), lengths)
        return _unit(self.written_projection(pooled))


class Encoder(nn.Module):
    """Steps in, their states and one vector out."""

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
        """(B, S, C), of which lengths (B,) count → pooled (B, C), states (B, S, C).

        A [CLS] is the first state, and counts.
        """
        if self.config.pooling == "cls":
            x = torch.cat([self.cls.expand(len(x), 1, -1).to(x.dtype), x], dim=1)
            lengths = lengths + 1
        real = _counted(lengths, x.shape[1])
        states = self._states(x, real, lengths)
        if self.config.pooling == "mean":
            counted = states * real[..., None]
            return counted.sum(dim=1) / lengths[:, None], states
        return states[:, 0], states

    def _states(self, x: Tensor, real: Tensor, lengths: Tensor) -> Tensor:
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
            return self.layers(x + positions, src_key_padding_mask=~real)
        for layer in self.layers:
            x = layer(x, real)
        return x


class Subsampling(nn.Module):
    """Two convolutions over time and frequency that take every second of each, then a projection.
    What is beyond a word counts as zero in both, so that padding does not matter."""

    def __init__(self, n_mels: int, channels: int, width: int) -> None:
        super().__init__()
        # Channels last: twice as fast on CPUs.
        self.first = nn.Conv2d(1, channels, 3, stride=2, padding=1)
        self.second = nn.Conv2d(channels, channels, 3, stride=2, padding=1)
        self.out = nn.Linear(channels * (n_mels // 4), width)

    def forward(self, x: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """(B, S, M), of which lengths (B,) count → (B, S / 4, C), of which so many count (B,)."""
        half = -(-lengths // 2)
        x = F.gelu(self.first(x[:, None].to(memory_format=torch.channels_last)))
        x = x * _counted(half, x.shape[2])[:, None, :, None]
        x = F.gelu(self.second(x))  # (B, channels, S / 4, M / 4)
        return self.out(x.transpose(1, 2).flatten(2)), -(-half // 2)


def _counted(lengths: Tensor, steps: int) -> Tensor:
    """Which of so many steps count: (B,) → (B, steps)."""
    return torch.arange(steps, device=lengths.device)[None] < lengths[:, None]


def _unit(x: Tensor) -> Tensor:
    return F.normalize(x.float(), dim=-1)
