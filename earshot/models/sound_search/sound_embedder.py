"""Sounds and sentences in one space: an audio trunk, a sentence adapter, a projection for each.

The trunk is a residual network, or a small PaSST: an audio spectrogram transformer with structured
patchout (Koutini et al. 2022), whose teacher the former is.

Shapes: B batch, S frames of 10 ms, M mel bands, S' steps of the trunk, C its width or channels, K
kinds of sound, W width of sentence vectors, D dimensions of the vectors that are compared or width
of the transformer, F × T patches (frequency, time). Of the residual network S' and M' are S and M
divided by 4, and by 2 more for each stage after the first, rounded up.
"""

import math
from dataclasses import dataclass
from typing import Any, Final

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from earshot.models.layers import TransformerLayer


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


ATTENTION_SCALE: Final = 30.0  # inverse temperature of a sentence's attention to kinds
PROJECTION_WEIGHT: Final = 0.3  # of the sentence projection, relative to the attended kinds
KINDS_SHARE: Final = 0.4  # of a score: how far sound and sentence agree on the kinds
FAMILIAR_LIKENESS: Final = 0.3  # likeness to a key at which a sentence is half about a known kind
FAMILIAR_SCALE: Final = 20.0  # how steeply that changes
CODED: Final = 8  # dimensions that a large index codes together


# Names in the config.json of shipped checkpoints → fields of SoundEmbedderConfig.
STORED_NAMES: Final = {"deviation": "std"}


@dataclass(frozen=True)
class SoundEmbedderConfig:
    """Sizes of the network. n_kinds: kinds of sound that sentences attend to; with 0 there is the
    projection only.

    posterior_scale: inverse temperature of the kinds that a sound is taken for; with 0, vectors
    hold no kinds. mean, std: of the log-mel spectrograms of the training clips.
    """

    trunk: SoundCNNConfig | PatchTransformerConfig
    n_kinds: int = 0
    posterior_scale: float = 0.0
    sentence_width: int = 384
    width: int = 256
    adapter: int = 512
    mean: float = -7.0
    std: float = 5.0

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "SoundEmbedderConfig":
        """Read the config that ``asdict`` or a checkpoint's config.json gave."""
        values = {STORED_NAMES.get(name, name): value for name, value in values.items()}
        trunk = SoundCNNConfig if "channels" in values["trunk"] else PatchTransformerConfig
        return cls(**values | {"trunk": trunk(**values["trunk"])})

    @property
    def holds_kinds(self) -> bool:
        """Whether vectors hold the probabilities of the kinds."""
        return bool(self.n_kinds and self.posterior_scale)

    @property
    def dimension(self) -> int:
        """Compute D of the vectors: with kinds a multiple of CODED, if the width is one."""
        return self.width + self.holds_kinds * math.ceil(self.n_kinds / CODED) * CODED


class SoundEmbedder(nn.Module):
    """The network of Primus et al. 2023, section 2.3, on small trunks of our own, with two
    additions.

    From few clips a projection of sentences generalises poorly. So a sentence also attends to the
    kinds of sound in the training data: each has a key in the space of sentences, and as its value
    the mean audio vector of its clips. And the vectors of both hold, next to their place in the
    shared space, the probabilities of the kinds (semantic matching, Rasiwasia et al. 2010): the
    mean of the kinds that an indirect query attends to is about as near to all sounds.
    """

    def __init__(self, config: SoundEmbedderConfig) -> None:
        super().__init__()
        self.config = config
        if isinstance(config.trunk, SoundCNNConfig):
            self.trunk = SoundCNN(config.trunk)
        else:
            self.trunk = PatchTransformer(config.trunk)
        self.audio_projection = nn.Linear(self.trunk.width, config.width)
        self.adapter = nn.Sequential(
            nn.Dropout(0.1),
            nn.Linear(config.sentence_width, config.adapter),
            nn.GELU(),
            nn.Dropout(0.2),
            nn.Linear(config.adapter, config.sentence_width),
        )
        self.sentence_projection = nn.Linear(config.sentence_width, config.width)
        self.kind_keys = nn.Parameter(torch.zeros(config.n_kinds, config.sentence_width))
        self.kind_values = nn.Parameter(torch.zeros(config.n_kinds, config.width))
        self.log_scale = nn.Parameter(torch.tensor(2.7))  # log of NT-Xent's inverse temperature

    def embed_audio(self, mel: Tensor) -> Tensor:
        """Embed log-mel spectrograms (B, S, M) as unit vectors (B, D)."""
        return self._project(self.steps(mel))

    def embed_parts(self, mel: Tensor, frames: int) -> tuple[Tensor, Tensor]:
        """Embed log-mel spectrograms (B, S, M) as unit vectors of the whole (B, D), and of
        consecutive parts of ``frames`` frames (B, parts, D), the last of which may be shorter.
        """
        steps = self.steps(mel)
        per_frame = steps.shape[1] / mel.shape[1]
        starts = [int(first * per_frame) for first in range(0, mel.shape[1], frames)]
        ends = [*starts[1:], steps.shape[1]]
        local = [
            self._project(steps[:, a : max(a + 1, b)]) for a, b in zip(starts, ends, strict=True)
        ]
        return self._project(steps), torch.stack(local, dim=1)

    def embed_sentences(self, sentences: Tensor) -> Tensor:
        """Map unit vectors of sentences (B, W) to unit vectors (B, D)."""
        adapted = sentences + self.adapter(sentences)
        projected = F.normalize(self.sentence_projection(adapted).float(), dim=-1)
        if not self.config.n_kinds:
            return projected
        attention = kind_logits(sentences, self.kind_keys).softmax(dim=-1)
        attended = F.normalize(attention @ self.kind_values, dim=-1)
        vectors = F.normalize(attended + PROJECTION_WEIGHT * projected, dim=-1)
        return _with_kinds(vectors, attention) if self.config.holds_kinds else vectors

    def familiarity(self, sentences: Tensor) -> Tensor:
        """Compute how far sentences (B, W) are about kinds of the training: from 0 to 1, (B, 1)."""
        return familiarity(sentences, self.kind_keys)

    def steps(self, mel: Tensor) -> Tensor:
        """Map log-mel spectrograms (B, S, M) to features of the trunk over time (B, S', C)."""
        return self.trunk((mel - self.config.mean) / self.config.std)

    def _project(self, steps: Tensor) -> Tensor:
        # The mean represents textures, the maximum single events between silence.
        pooled = steps.mean(dim=1) + steps.amax(dim=1)
        vectors = F.normalize(self.audio_projection(pooled).float(), dim=-1)
        if not self.config.holds_kinds:
            return vectors
        likeness = self.config.posterior_scale * vectors @ self.kind_values.t()
        return _with_kinds(vectors, likeness.softmax(dim=-1))


def kind_logits(sentences: Tensor, keys: Tensor) -> Tensor:
    """Compute attention logits of unit vectors of sentences (B, W) to the keys of kinds (K, W): (B,
    K).
    """
    return ATTENTION_SCALE * sentences @ F.normalize(keys, dim=-1).t()


def familiarity(sentences: Tensor, keys: Tensor) -> Tensor:
    """Compute how far unit vectors of sentences (B, W) are like any of the keys of kinds (K, W):
    from 0 to 1, (B, 1); 1 without keys.
    """
    if not len(keys):
        return torch.ones_like(sentences[:, :1])
    likeness = (sentences @ F.normalize(keys, dim=-1).t()).amax(dim=-1, keepdim=True)
    return torch.sigmoid(FAMILIAR_SCALE * (likeness - FAMILIAR_LIKENESS))


def _with_kinds(vectors: Tensor, kinds: Tensor) -> Tensor:
    """Join unit vectors (…, width), and probabilities of the kinds (…, K), to unit vectors (…,
    D).
    """
    parts = (1 - KINDS_SHARE) ** 0.5 * vectors, KINDS_SHARE**0.5 * F.normalize(kinds, dim=-1)
    return F.pad(torch.cat(parts, dim=-1), (0, -kinds.shape[-1] % CODED))
