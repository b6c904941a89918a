"""Sounds and sentences in one space: an audio trunk, a sentence adapter, a projection for each.

Shapes: B batch, S frames of 10 ms, M mel bands, S' steps of the trunk, C its width, K kinds of
sound, W width of sentence vectors, D dimensions of the vectors that are compared.
"""

import math
from dataclasses import dataclass
from typing import Any, Final

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from earshot.models.sound_search.patch_transformer import PatchTransformer, PatchTransformerConfig
from earshot.models.sound_search.sound_cnn import SoundCNN, SoundCNNConfig

ATTENTION_SCALE: Final = 30.0  # inverse temperature of a sentence's attention to kinds
PROJECTION_WEIGHT: Final = 0.3  # of the sentence projection, relative to the attended kinds
KINDS_SHARE: Final = 0.4  # of a score: how far sound and sentence agree on the kinds
FAMILIAR: Final = 0.3  # likeness to a key at which a sentence is half about a known kind
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
        return cls(**{**values, "trunk": trunk(**values["trunk"])})

    @property
    def holds_kinds(self) -> bool:
        """Say whether vectors hold the probabilities of the kinds."""
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
        """Say how far sentences (B, W) are about a kind of the training: from 0 to 1, (B, 1)."""
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
    return torch.sigmoid(FAMILIAR_SCALE * (likeness - FAMILIAR))


def _with_kinds(vectors: Tensor, kinds: Tensor) -> Tensor:
    """Join unit vectors (…, width), and probabilities of the kinds (…, K), to unit vectors (…,
    D).
    """
    parts = (1 - KINDS_SHARE) ** 0.5 * vectors, KINDS_SHARE**0.5 * F.normalize(kinds, dim=-1)
    return F.pad(torch.cat(parts, dim=-1), (0, -kinds.shape[-1] % CODED))
