"""Lips in, speech out: p(S_t | S_<t, F) of Lip2Speech, and all of S at once given F.

Shapes: B batch, F frames of 40 ms, H side of a crop, L points of the lips, C width, S mel frames of
10 ms, M mel bands, W words and the blank (0) of CTC, V size of a voice.
"""

from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models.conformer import ConformerLayer
from models.mel_decoder import AutoregressiveDecoder, ParallelDecoder

SEEN: Final = 5  # frames that the first convolution sees at once


@dataclass(frozen=True)
class LipReaderConfig:
    """points: whether the places of the lips are a second input; voices: V; n_words: W.

    decoder: all frames at once, or one after the other; dropout: of what layers are given, and
    inner_dropout: within them.
    """

    side: int = 64
    channels: tuple[int, ...] = (16, 32, 64, 128)
    points: int = 40
    width: int = 192
    inner: int = 512
    layers: int = 4
    heads: int = 4
    decoder: Literal["parallel", "autoregressive"] = "parallel"
    n_words: int = 52
    n_mels: int = 80
    voice: int = 64
    mean: float = -5.5  # of the log-mel frames
    deviation: float = 2.5
    dropout: float = 0.1
    inner_dropout: float = 0.0


class Drawn(NamedTuple):
    """log_mel (B, S, M); voicing (B, S), a logit; melody (B, S): log of pitch over the voice's
    own."""

    log_mel: Tensor
    voicing: Tensor
    melody: Tensor


class LipReader(nn.Module):
    """Frames are seen one by one, then in their order; words are read (CTC), and speech drawn."""

    def __init__(self, config: LipReaderConfig) -> None:
        super().__init__()
        self.config = config
        self.eye: nn.Module = Eye(config.channels)
        seen = config.channels[-1] + (128 if config.points else 0)
        self.points = nn.Linear(4 * config.points, 128) if config.points else None
        self.entry = nn.Sequential(nn.LayerNorm(seen), nn.Linear(seen, config.width))
        self.layers = nn.ModuleList(
            ConformerLayer(config.width, config.heads, config.inner, config.inner_dropout)
            for _ in range(config.layers)
        )
        self.reading = nn.Linear(config.width, config.n_words)
        self.read = nn.Linear(config.n_words, config.width)
        self.voice = nn.Linear(config.voice, config.width)
        sizes = (config.width, config.heads, config.inner, config.n_mels)
        if config.decoder == "parallel":
            self.decoder = ParallelDecoder(*sizes, dropout=config.inner_dropout)
        else:
            self.decoder = AutoregressiveDecoder(*sizes)

    def watch(self, crops: Tensor, points: Tensor) -> tuple[Tensor, Tensor]:
        """Crops (B, F, H, H) from 0 to 1 and points (B, F, L, 2) → states (B, F, C) and logits of
        words (B, F, W)."""
        x = self.eye(crops)
        if self.points is not None:
            x = torch.cat([x, self.points(_motion(points))], dim=-1)
        x = F.dropout(self.entry(x), self.config.dropout, self.training)
        real = torch.ones(x.shape[:2], dtype=torch.bool, device=x.device)
        for layer in self.layers:
            x = layer(x, real)
        return x, self.reading(x)

    def draw(
        self, states: Tensor, words: Tensor, voice: Tensor, frames: int, said: Tensor | None = None
    ) -> Drawn:
        """States (B, F, C), logits of words (B, F, W) and voice (B, V) → so many mel frames.

        said: the real log-mel frames (B, S, M), in training of the decoder that goes step by step.
        """
        guide = self.read(words.float().softmax(dim=-1).to(states.dtype))
        x = F.dropout(states + guide, self.config.dropout, self.training)
        x = x + self.voice(voice)[:, None]
        mean, deviation = self.config.mean, self.config.deviation
        if isinstance(self.decoder, ParallelDecoder):
            drawn = self.decoder(x, frames)
        else:
            drawn = self.decoder(x, frames, None if said is None else (said - mean) / deviation)
        log_mel, voicing, melody = drawn.float().split([self.config.n_mels, 1, 1], dim=-1)
        return Drawn(log_mel * deviation + mean, voicing[..., 0], melody[..., 0])


class Eye(nn.Module):
    """Each frame with the two before and after it (a 3-D convolution, written as one over
    frames as channels), then a small residual network a frame."""

    def __init__(self, channels: tuple[int, ...]) -> None:
        super().__init__()
        self.first = nn.Conv2d(SEEN, channels[0], 5, stride=2, padding=2, bias=False)
        self.norm = nn.BatchNorm2d(channels[0])
        self.blocks = nn.Sequential(
            *(Residual(a, b) for a, b in zip(channels[:-1], channels[1:], strict=True))
        )

    def forward(self, crops: Tensor) -> Tensor:
        """(B, F, H, H) from 0 to 1 → (B, F, channels[-1])."""
        batch, frames, side, _ = crops.shape
        crops = _normalized(crops)
        # The first and last frame stand still.
        still = F.pad(crops.flatten(2).transpose(1, 2), (SEEN // 2,) * 2, mode="replicate")
        windows = still.unfold(2, SEEN, 1).transpose(1, 2)  # (B, F, H * H, SEEN)
        x = windows.reshape(batch * frames, side, side, SEEN).permute(0, 3, 1, 2)
        x = self.blocks(F.relu(self.norm(self.first(x))))
        return x.mean(dim=(2, 3)).view(batch, frames, -1)


class Residual(nn.Module):
    """Two convolutions, the first of which halves the picture."""

    def __init__(self, channels: int, wider: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, wider, 3, stride=2, padding=1, bias=False)
        self.first_norm = nn.BatchNorm2d(wider)
        self.second = nn.Conv2d(wider, wider, 3, padding=1, bias=False)
        self.second_norm = nn.BatchNorm2d(wider)
        self.past = nn.Conv2d(channels, wider, 1, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """(N, channels, H, H) → (N, wider, H / 2, H / 2)."""
        y = F.relu(self.first_norm(self.first(x)))
        y = self.second_norm(self.second(y))
        return F.relu(y + self.past(F.avg_pool2d(x, 2)))


def _normalized(crops: Tensor) -> Tensor:
    """Without the light and the contrast of the film: what is left is the same in any room."""
    mean = crops.mean(dim=(1, 2, 3), keepdim=True)
    deviation = (crops - mean).square().mean(dim=(1, 2, 3), keepdim=True).sqrt()
    return (crops - mean) / deviation.clamp(min=0.02)


def _motion(points: Tensor) -> Tensor:
    """Points (B, F, L, 2), less their mean over time, with the change from frame to frame:
    (B, F, 4 L)."""
    flat = points.flatten(2)
    flat = flat - flat.mean(dim=1, keepdim=True)
    change = torch.diff(flat, dim=1, prepend=flat[:, :1])
    return torch.cat([4 * flat, 10 * change], dim=-1)  # about as large as the features of the eye
