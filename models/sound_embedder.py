"""Sounds and sentences in one space: an audio trunk, a sentence adapter, a projection each.

Shapes: B batch, S frames of 10 ms, M mel bands, S' steps of the trunk, C its width, D the space.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models.patch_transformer import PatchTransformer, PatchTransformerConfig
from models.sound_cnn import SoundCNN, SoundCNNConfig


@dataclass(frozen=True)
class SoundEmbedderConfig:
    trunk: SoundCNNConfig | PatchTransformerConfig
    sentence_width: int = 384
    width: int = 256
    adapter: int = 512
    mean: float = -7.0  # of the log-mel spectrograms of the training clips
    deviation: float = 5.0

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "SoundEmbedderConfig":
        """The config that asdict made these values of."""
        trunk = SoundCNNConfig if "channels" in values["trunk"] else PatchTransformerConfig
        return cls(**{**values, "trunk": trunk(**values["trunk"])})


class SoundEmbedder(nn.Module):
    """Primus et al. 2023, section 2.3, on small trunks of our own."""

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
        self.log_scale = nn.Parameter(torch.tensor(2.7))  # of NT-Xent: its inverse temperature

    def embed_audio(self, mel: Tensor) -> Tensor:
        """Log-mel spectrograms (B, S, M) → unit vectors (B, D)."""
        return self._project(self.steps(mel))

    def embed_parts(self, mel: Tensor, frames: int) -> tuple[Tensor, Tensor]:
        """Log-mel (B, S, M) → unit vectors of the whole (B, D), and of parts of so many frames
        (B, parts, D), the last of which may be shorter."""
        steps = self.steps(mel)
        per_frame = steps.shape[1] / mel.shape[1]
        starts = [int(first * per_frame) for first in range(0, mel.shape[1], frames)]
        ends = [*starts[1:], steps.shape[1]]
        local = [
            self._project(steps[:, a : max(a + 1, b)]) for a, b in zip(starts, ends, strict=True)
        ]
        return self._project(steps), torch.stack(local, dim=1)

    def embed_sentences(self, sentences: Tensor) -> Tensor:
        """Sentence vectors (B, sentence_width) → unit vectors (B, D)."""
        adapted = sentences + self.adapter(sentences)
        return F.normalize(self.sentence_projection(adapted).float(), dim=-1)

    def steps(self, mel: Tensor) -> Tensor:
        """Log-mel (B, S, M) → features of the trunk over time (B, S', C)."""
        return self.trunk((mel - self.config.mean) / self.config.deviation)

    def _project(self, steps: Tensor) -> Tensor:
        # The mean hears textures, the maximum hears single events among silence.
        pooled = steps.mean(dim=1) + steps.amax(dim=1)
        return F.normalize(self.audio_projection(pooled).float(), dim=-1)
