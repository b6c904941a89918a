"""Lip2Speech: mouth crops in, words or speech frames out, in the voice that a face suggests.

A reader of words has a CTC head. A reader that speaks has a decoder too, which predicts all frames
at once given the encoder states, or one after the other, p(S_t | S_<t, states).

Shapes: B batch, N frames of 40 ms, H side of a crop or a portrait, C width, S mel frames of 10 ms,
M mel bands, W words and the blank (0) of CTC, V size of a voice embedding; an output frame of a
decoder is M bands, a voicing logit and the log-F0 contour.
"""

from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from earshot.models.layers import ConformerLayer

CONTEXT: Final = 5  # frames in the window of the first convolution


@dataclass(frozen=True)
class WordReaderConfig:
    """Sizes of a reader of words. side: H; width: C; n_words: W.

    clip_share: of the clip's own statistics in batch normalisation, once the network is trained;
    dropout: of the inputs of encoder (and decoder); inner_dropout: within their layers.
    """

    side: int = 64
    channels: tuple[int, ...] = (16, 32, 64, 128)
    width: int = 192
    inner: int = 512
    layers: int = 4
    heads: int = 4
    n_words: int = 52
    clip_share: float = 0.0
    dropout: float = 0.1
    inner_dropout: float = 0.0


@dataclass(frozen=True)
class LipReaderConfig(WordReaderConfig):
    """Sizes of a reader that speaks. n_mels: M; voice: V.

    decoder: all frames at once, or one after the other; mean and std: of the log-mel frames, which
    the decoder predicts normalised.
    """

    decoder: Literal["parallel", "autoregressive"] = "parallel"
    n_mels: int = 80
    voice: int = 64
    mean: float = -5.5
    std: float = 2.5


class Prediction(NamedTuple):
    """The predicted speech. log_mel (B, S, M); voicing (B, S), a logit; log_f0 (B, S): the log-F0
    contour, relative to the mean log F0 of the voice.
    """

    log_mel: Tensor
    voicing: Tensor
    log_f0: Tensor


class WordReader(nn.Module):
    """A convolutional front-end per frame, a conformer over the frames, and a CTC head."""

    def __init__(self, config: WordReaderConfig) -> None:
        super().__init__()
        self.dropout = config.dropout
        self.frontend: nn.Module = VisualFrontend(config.channels, config.clip_share)
        features = config.channels[-1]
        self.entry = nn.Sequential(nn.LayerNorm(features), nn.Linear(features, config.width))
        self.layers = nn.ModuleList(
            ConformerLayer(config.width, config.heads, config.inner, config.inner_dropout)
            for _ in range(config.layers)
        )
        self.ctc_head = nn.Linear(config.width, config.n_words)

    def encode(self, crops: Tensor) -> tuple[Tensor, Tensor]:
        """Encode crops (B, N, H, H) from 0 to 1 → states (B, N, C) and CTC logits (B, N, W).

        With a clip_share, a trained network is given windows of one clip alone.
        """
        x = F.dropout(self.entry(self.frontend(crops)), self.dropout, self.training)
        mask = torch.ones(x.shape[:2], dtype=torch.bool, device=x.device)
        for layer in self.layers:
            x = layer(x, mask)
        return x, self.ctc_head(x)


class LipReader(WordReader):
    """A reader of words with a decoder that predicts mel frames given the states, the CTC
    posteriors and a voice embedding."""

    def __init__(self, config: LipReaderConfig) -> None:
        super().__init__(config)
        self.config = config
        self.ctc_embedding = nn.Linear(config.n_words, config.width)
        self.voice = nn.Linear(config.voice, config.width)
        sizes = (config.width, config.heads, config.inner, config.n_mels)
        if config.decoder == "parallel":
            self.decoder = ParallelDecoder(*sizes, dropout=config.inner_dropout)
        else:
            self.decoder = AutoregressiveDecoder(*sizes)

    def decode(
        self,
        states: Tensor,
        ctc_logits: Tensor,
        voice: Tensor,
        frames: int,
        reference: Tensor | None = None,
    ) -> Prediction:
        """Decode states (B, N, C), CTC logits (B, N, W) and voice (B, V) → so many mel frames.

        reference: log-mel frames (B, S, M) for teacher forcing of the autoregressive decoder.
        """
        words = self.ctc_embedding(ctc_logits.float().softmax(dim=-1).to(states.dtype))
        x = F.dropout(states + words, self.dropout, self.training)
        x = x + self.voice(voice)[:, None]
        mean, std = self.config.mean, self.config.std
        if isinstance(self.decoder, ParallelDecoder):
            predicted = self.decoder(x, frames)
        else:
            teacher = None if reference is None else (reference - mean) / std
            predicted = self.decoder(x, frames, teacher)
        log_mel, voicing, log_f0 = predicted.float().split([self.config.n_mels, 1, 1], dim=-1)
        return Prediction(log_mel * std + mean, voicing[..., 0], log_f0[..., 0])


class VisualFrontend(nn.Module):
    """A 3-D convolution over CONTEXT frames, written as a 2-D one with frames as channels, then a
    small residual network per frame and a global average."""

    def __init__(self, channels: tuple[int, ...], clip_share: float = 0.0) -> None:
        super().__init__()
        self.first = nn.Conv2d(CONTEXT, channels[0], 5, stride=2, padding=2, bias=False)
        self.norm = ClipNorm(channels[0], clip_share)
        self.blocks = nn.Sequential(
            *(
                ResidualBlock(a, b, clip_share)
                for a, b in zip(channels[:-1], channels[1:], strict=True)
            )
        )

    def forward(self, crops: Tensor) -> Tensor:
        """Map crops (B, N, H, H) from 0 to 1 to features (B, N, channels[-1])."""
        batch, frames, side, _ = crops.shape
        crops = _normalized(crops)
        # The first and the last frame are repeated at the edges.
        padded = F.pad(crops.flatten(2).transpose(1, 2), (CONTEXT // 2,) * 2, mode="replicate")
        windows = padded.unfold(2, CONTEXT, 1).transpose(1, 2)  # (B, N, H * H, CONTEXT)
        x = windows.reshape(batch * frames, side, side, CONTEXT).permute(0, 3, 1, 2)
        x = self.blocks(F.relu(self.norm(self.first(x))))
        return x.mean(dim=(2, 3)).view(batch, frames, -1)


class ResidualBlock(nn.Module):
    """Two convolutions, the first of which halves the resolution, and a shortcut."""

    def __init__(self, channels: int, wider: int, clip_share: float = 0.0) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, wider, 3, stride=2, padding=1, bias=False)
        self.first_norm = ClipNorm(wider, clip_share)
        self.second = nn.Conv2d(wider, wider, 3, padding=1, bias=False)
        self.second_norm = ClipNorm(wider, clip_share)
        self.shortcut = nn.Conv2d(channels, wider, 1, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Map (N, channels, H, H) to (N, wider, H / 2, H / 2)."""
        y = F.relu(self.first_norm(self.first(x)))
        y = self.second_norm(self.second(y))
        return F.relu(y + self.shortcut(F.avg_pool2d(x, 2)))


class ClipNorm(nn.BatchNorm2d):
    """Batch normalisation whose statistics, once the network is trained, move by a share towards
    those of what is given, which is one clip: another face is seen more like those of training
    (Schneider et al. 2020, Improving robustness against common corruptions by covariate shift
    adaptation)."""

    def __init__(self, channels: int, clip_share: float) -> None:
        super().__init__(channels)
        self.clip_share = clip_share

    def forward(self, input: Tensor) -> Tensor:
        """Normalise (N, channels, H, H)."""
        if self.training or not self.clip_share:
            return super().forward(input)
        assert self.running_mean is not None and self.running_var is not None
        var, mean = torch.var_mean(input.detach().float(), dim=(0, 2, 3))
        mean = torch.lerp(self.running_mean, mean, self.clip_share)
        var = torch.lerp(self.running_var, var, self.clip_share)
        return F.batch_norm(input, mean, var, self.weight, self.bias, eps=self.eps)


def _normalized(crops: Tensor) -> Tensor:
    """Normalise a whole clip to mean 0 and standard deviation 1, so that room light does not
    matter.
    """
    mean = crops.mean(dim=(1, 2, 3), keepdim=True)
    std = (crops - mean).square().mean(dim=(1, 2, 3), keepdim=True).sqrt()
    return (crops - mean) / std.clamp(min=0.02)


GROUP: Final = 2  # frames per decoding step
PRENET_DROPOUT: Final = 0.5  # in training: without it, the decoder ignores the encoder states


class ParallelDecoder(nn.Module):
    """States interpolated to the mel frame rate, then conformer layers."""

    LAYERS: Final = 2

    def __init__(self, width: int, heads: int, inner: int, n_mels: int, dropout: float) -> None:
        super().__init__()
        self.phase = nn.Linear(2, width)
        self.layers = nn.ModuleList(
            ConformerLayer(width, heads, inner, dropout) for _ in range(self.LAYERS)
        )
        self.out = nn.Linear(width, n_mels + 2)

    def forward(self, states: Tensor, frames: int) -> Tensor:
        """Map states (B, N, C) to (B, S, M + 2), for any N and S."""
        x = F.interpolate(states.transpose(1, 2), size=frames, mode="linear").transpose(1, 2)
        # The position of a mel frame between two states.
        phase = torch.arange(frames, device=x.device) * (states.shape[1] / frames) * 2 * torch.pi
        x = x + self.phase(torch.stack([phase.sin(), phase.cos()], dim=-1).to(x.dtype))
        mask = torch.ones(x.shape[:2], dtype=torch.bool, device=x.device)
        for layer in self.layers:
            x = layer(x, mask)
        return self.out(x)


class AutoregressiveDecoder(nn.Module):
    """A decoder of GROUP frames per step, from the previous frames and from attention over the
    states.

    Attention is by content, with a Gaussian bias towards the states of the same moment whose width
    is learned: N and S need not match.
    """

    def __init__(self, width: int, heads: int, inner: int, n_mels: int) -> None:
        super().__init__()
        self.n_mels = n_mels
        self.prenet = nn.Sequential(nn.Linear(n_mels, 128), nn.ReLU())
        self.second_prenet = nn.Sequential(nn.Linear(128, 128), nn.ReLU())
        self.memory = nn.GRUCell(128 + width, inner)
        self.query = nn.Linear(inner, width)
        self.key = nn.Linear(width, width)
        self.log_std = nn.Parameter(torch.tensor(0.7))  # log width of the attention bias, in states
        self.out = nn.Linear(inner + width, GROUP * (n_mels + 2))

    def forward(self, states: Tensor, frames: int, teacher: Tensor | None) -> Tensor:
        """Map states (B, N, C) to (B, S, M + 2); teacher (B, S, M): frames to condition on, else
        its own.
        """
        batch, count, width = states.shape
        keys = self.key(states)
        positions = torch.arange(count, device=states.device)
        memory = states.new_zeros(batch, self.memory.hidden_size)
        context = states[:, 0]
        last = states.new_zeros(batch, self.n_mels)
        predicted: list[Tensor] = []
        for first in range(0, frames, GROUP):
            x = F.dropout(self.prenet(last), PRENET_DROPOUT, self.training)
            x = F.dropout(self.second_prenet(x), PRENET_DROPOUT, self.training)
            memory = self.memory(torch.cat([x, context], dim=-1), memory).to(states.dtype)
            distance = (positions - first * count / frames) / self.log_std.exp()
            scores = (keys @ self.query(memory)[..., None])[..., 0] * width**-0.5
            weights = (scores - 0.5 * distance.square()).softmax(dim=-1).to(states.dtype)
            context = (weights[:, None] @ states)[:, 0]
            group = self.out(torch.cat([memory, context], dim=-1))
            predicted.append(group.view(batch, GROUP, self.n_mels + 2))
            last = predicted[-1][:, -1, : self.n_mels]
            if teacher is not None:
                last = teacher[:, min(first + GROUP, frames) - 1].to(states.dtype)
        return torch.cat(predicted, dim=1)[:, :frames]


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

    MAX_RANGE = 5.0  # nepers below the loudest band of the loudest frame

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
        speech = (loudness > loudness.amax(dim=1, keepdim=True) - self.MAX_RANGE)[:, None]
        x = (log_mel - self.config.mean) / self.config.std
        x = self.entry(x.transpose(1, 2))
        for block in self.blocks:
            x = x + block(x)
        x = F.relu(self.norm(x)).float() * speech
        count = speech.sum(dim=2)
        mean = x.sum(dim=2) / count
        std = (x.square().sum(dim=2) / count - mean.square()).clamp(min=1e-6).sqrt()
        return F.normalize(self.exit(torch.cat([mean, std], dim=1)).float(), dim=1)


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
