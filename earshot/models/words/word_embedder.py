"""Multi-view acoustic word embeddings: spoken and written words in one space (He, Wang & Livescu
2017; Settle et al. 2019; Rhodes & Bains).

Shapes: B batch, S frames of 10 ms or phonemes, S' steps of the acoustic encoder (S / 4), M mel
bands and the pitch after them (earshot.media.audio.pitch), which networks without ``pitch`` do not
look at, P phonemes of the inventory, C width of an encoder, D dimensions of the shared space.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from earshot.models.layers.conformer import LocalLayer
from earshot.models.words.view_encoder import Encoder, Subsampling, ViewConfig, length_mask
from earshot.models.words.word_pitch import PitchInput


@dataclass(frozen=True)
class WordEmbedderConfig:
    """Sizes of the network. acoustic, written: the encoders of the two views. n_phonemes counts the
    padding, number 0. channels: of the convolutions that subsample the frames by 4; where it is 0,
    ``stack`` frames are concatenated instead. mean, std: of the log-mel frames of the training
    words. pitch: whether the pitch is an input with them.
    """

    acoustic: ViewConfig = field(default_factory=lambda: ViewConfig("transformer", 6, 4))
    written: ViewConfig = field(default_factory=lambda: ViewConfig("transformer", 4, 16))
    n_phonemes: int = 76
    width: int = 256
    n_mels: int = 80
    stack: int = 4
    channels: int = 0
    mean: float = -5.0
    std: float = 2.5
    pitch: bool = False


@dataclass(frozen=True)
class PhonemeBottleneckConfig(WordEmbedderConfig):
    """Sizes of the network. local_layers: convolutional layers, of local_width, that predict the
    phonemes.
    """

    local_layers: int = 3
    local_width: int = 256


class MultiViewEmbedder(nn.Module, ABC):
    """The acoustic view f and the written view g, each an encoder, pooling and a projection.

    ``log_scale`` and ``bias`` belong to the contrastive loss: the scale of the cosines, and the
    scaled cosine at which two words may be the same.
    """

    def __init__(self, config: WordEmbedderConfig, frame_width: int) -> None:
        """Make both views. frame_width: C of the frames after subsampling, from which phonemes are
        predicted.
        """
        super().__init__()
        self.config = config
        self.frames = (
            Subsampling(config.n_mels, config.channels, frame_width)
            if config.channels
            else nn.Linear(config.n_mels * config.stack, frame_width)
        )
        self.pitch = PitchInput(frame_width) if config.pitch else None
        self.acoustic = Encoder(config.acoustic)
        self.acoustic_projection = nn.Linear(config.acoustic.width, config.width)
        self.phonemes = nn.Embedding(config.n_phonemes, config.written.width, padding_idx=0)
        self.written = Encoder(config.written)
        self.written_projection = nn.Linear(config.written.width, config.width)
        self.ctc_head = nn.Linear(frame_width, config.n_phonemes)
        self.log_scale = nn.Parameter(torch.tensor(3.0))
        self.bias = nn.Parameter(torch.tensor(8.0))

    @abstractmethod
    def encode(self, mel: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Map frames (B, S, M) of lengths (B,) → unit vectors (B, D), CTC logits (B, S', P) with 0
        the blank, and how many steps of these count (B,)."""

    def predict_phonemes(self, mel: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Map frames (B, S, M) of lengths (B,) → CTC logits (B, S', P) and their lengths (B,)."""
        return self.encode(mel, lengths)[1:]

    def embed_audio(self, mel: Tensor, lengths: Tensor) -> Tensor:
        """Map frames (B, S, M) of lengths (B,) → unit vectors (B, D)."""
        return self.encode(mel, lengths)[0]

    def embed_phonemes(self, phonemes: Tensor, lengths: Tensor) -> Tensor:
        """Map phoneme numbers (B, S) of lengths (B,) → unit vectors (B, D)."""
        pooled, _ = self.written(self.phonemes(phonemes), lengths)
        return _unit(self.written_projection(pooled))

    def _subsample(self, mel: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Subsample frames (B, S, M), normalised, to one step for four of them: (B, S', C), and
        lengths (B,).
        """
        mask = length_mask(lengths, mel.shape[1])
        mel, octaves = mel[..., : self.config.n_mels], mel[..., self.config.n_mels :]
        x = ((mel - self.config.mean) / self.config.std).masked_fill(~mask[..., None], 0.0)
        if isinstance(self.frames, Subsampling):
            x, steps = self.frames(x, lengths)
        else:
            x = F.pad(x, (0, 0, 0, -x.shape[1] % self.config.stack))
            x = self.frames(x.reshape(len(x), -1, self.config.stack * self.config.n_mels))
            steps = -(-lengths // self.config.stack)
        if self.pitch is not None:
            x = x + self.pitch(octaves.squeeze(-1) * mask)
        return x, steps


class WordEmbedder(MultiViewEmbedder):
    """An embedder whose acoustic encoder sees the frames of the whole word; a linear layer on its
    states predicts phonemes (CTC), as an auxiliary task.
    """

    def __init__(self, config: WordEmbedderConfig) -> None:
        super().__init__(config, config.acoustic.width)

    def encode(self, mel: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Encode frames as MultiViewEmbedder.encode says."""
        x, steps = self._subsample(mel, lengths)
        pooled, states = self.acoustic(x, steps)
        return _unit(self.acoustic_projection(pooled)), self.ctc_head(states), steps


class PhonemeBottleneckEmbedder(MultiViewEmbedder):
    """An embedder whose local convolutional layers (0.3 s of context) predict phonemes by CTC; the
    acoustic encoder sees nothing but the phoneme posteriors.

    An encoder that sees whole words can memorise the few words that were recorded; this one has to
    represent any word by its phonemes.
    """

    config: PhonemeBottleneckConfig

    def __init__(self, config: PhonemeBottleneckConfig) -> None:
        super().__init__(config, config.local_width)
        self.local = nn.ModuleList(
            LocalLayer(config.local_width, 4 * config.local_width)
            for _ in range(config.local_layers)
        )
        self.posterior_projection = nn.Linear(config.n_phonemes, config.acoustic.width)

    def encode(self, mel: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Encode frames as MultiViewEmbedder.encode says."""
        logits, steps = self.predict_phonemes(mel, lengths)
        return self.embed_posteriors(logits.float().softmax(dim=-1), steps), logits, steps

    def embed_posteriors(self, posteriors: Tensor, steps: Tensor) -> Tensor:
        """Map posteriors of phonemes (B, S', P) of lengths (B,) → unit vectors (B, D)."""
        pooled, _ = self.acoustic(self.posterior_projection(posteriors), steps)
        return _unit(self.acoustic_projection(pooled))

    def predict_phonemes(self, mel: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Predict phonemes as MultiViewEmbedder.predict_phonemes says; the acoustic encoder is not
        run.
        """
        x, steps = self._subsample(mel, lengths)
        mask = length_mask(steps, x.shape[1])
        for layer in self.local:
            x = layer(x, mask)
        return self.ctc_head(x), steps


def config_from_dict(values: dict[str, Any]) -> WordEmbedderConfig:
    """Read the config that dataclasses.asdict made these values of."""
    views = {name: ViewConfig(**values[name]) for name in ("acoustic", "written")}
    kind = PhonemeBottleneckConfig if "local_layers" in values else WordEmbedderConfig
    return kind(**{**values, **views})


def build_embedder(config: WordEmbedderConfig) -> MultiViewEmbedder:
    """Build an untrained network of the architecture that the config describes."""
    if isinstance(config, PhonemeBottleneckConfig):
        return PhonemeBottleneckEmbedder(config)
    return WordEmbedder(config)


def _unit(x: Tensor) -> Tensor:
    return F.normalize(x.float(), dim=-1)
