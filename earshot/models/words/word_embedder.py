"""Multi-view acoustic word embeddings: spoken and written words in one space (He, Wang & Livescu
2017; Settle et al. 2019; Rhodes & Bains).

Shapes: B batch, S frames of 10 ms or phonemes, S' steps of the acoustic encoder (S / 4), M mel
bands and the pitch after them (earshot.media.audio.pitch), which networks without ``pitch`` do not
look at, P phonemes of the inventory, C width of an encoder, D dimensions of the shared space.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from earshot.models.layers import ConformerLayer, LocalLayer, sinusoidal_positions

POSITION_BASE: Final = 5000.0  # Rhodes & Bains, Eq. (5)
PITCH_WINDOW: Final = 101  # frames: pitch is relative to its mean over 0.5 s to each side
PITCH_SCALE: Final = 4.0  # of octaves: tones span about half an octave to each side


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


class PitchInput(nn.Module):
    """The input of pitch: log2 of F0 in Hz, 0 where there is no voice → what is added to the
    subsampled frames.

    The output begins at zero, so that a network that was trained without pitch stays what it was.
    """

    CHANNELS: Final = 64
    STRIDE: Final = 4  # frames in a step
    SPAN: Final = 12  # frames that a step sees

    def __init__(self, width: int) -> None:
        """Make the layers. width: C."""
        super().__init__()
        self.contour = nn.Conv1d(
            2, self.CHANNELS, self.SPAN, self.STRIDE, padding=(self.SPAN - self.STRIDE) // 2
        )
        self.out = nn.Linear(self.CHANNELS, width)
        nn.init.zeros_(self.out.weight)
        nn.init.zeros_(self.out.bias)

    def forward(self, octaves: Tensor) -> Tensor:
        """Map pitch (B, S) to (B, S / 4, C), rounded up."""
        contour = F.pad(relative_pitch(octaves), (0, -octaves.shape[1] % self.STRIDE))
        return self.out(F.gelu(self.contour(contour)).transpose(1, 2))


def relative_pitch(octaves: Tensor) -> Tensor:
    """Map voicing, and pitch relative to that of its surroundings: (B, S) → (B, 2, S).

    The mean of a speaker is not in a single word; its own mean comes nearest.
    """
    voiced = (octaves > 0).to(octaves.dtype)
    sums = [
        F.avg_pool1d(x[:, None], PITCH_WINDOW, 1, PITCH_WINDOW // 2)[:, 0]
        for x in (octaves, voiced)
    ]
    mean = sums[0] / sums[1].clamp(min=1 / (2 * PITCH_WINDOW))
    return torch.stack([voiced, PITCH_SCALE * (octaves - mean) * voiced], dim=1)


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
        """Encode frames: see MultiViewEmbedder.encode."""
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
        """Encode frames: see MultiViewEmbedder.encode."""
        logits, steps = self.predict_phonemes(mel, lengths)
        return self.embed_posteriors(logits.float().softmax(dim=-1), steps), logits, steps

    def embed_posteriors(self, posteriors: Tensor, steps: Tensor) -> Tensor:
        """Map posteriors of phonemes (B, S', P) of lengths (B,) → unit vectors (B, D)."""
        pooled, _ = self.acoustic(self.posterior_projection(posteriors), steps)
        return _unit(self.acoustic_projection(pooled))

    def predict_phonemes(self, mel: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Predict phonemes without the acoustic encoder: see
        MultiViewEmbedder.predict_phonemes.
        """
        x, steps = self._subsample(mel, lengths)
        mask = length_mask(steps, x.shape[1])
        for layer in self.local:
            x = layer(x, mask)
        return self.ctc_head(x), steps


def config_from_dict(values: dict[str, Any]) -> WordEmbedderConfig:
    """Read the config that dataclasses.asdict made these values of."""
    views: dict[str, Any] = {name: ViewConfig(**values[name]) for name in ("acoustic", "written")}
    kind = PhonemeBottleneckConfig if "local_layers" in values else WordEmbedderConfig
    return kind(**values | views)


def build_embedder(config: WordEmbedderConfig) -> MultiViewEmbedder:
    """Build an untrained network of the architecture that the config describes."""
    if isinstance(config, PhonemeBottleneckConfig):
        return PhonemeBottleneckEmbedder(config)
    return WordEmbedder(config)


def _unit(x: Tensor) -> Tensor:
    return F.normalize(x.float(), dim=-1)
