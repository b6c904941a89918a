"""Sounds and sentences in one space, over aiSFX, a pretrained encoder of sound effects with its
classifiers of categories (Ma and Lerch, Representation Learning for the Automatic Indexing of Sound
Effects Libraries, ISMIR 2022; the convolutions are those of Kong et al. 2018, DCASE baseline
systems).

Shapes: B batch, S frames of 23 ms, M mel bands, S' steps of eight frames, C = 512 channels, N
blocks of a sound, O outputs of all classifiers, K kinds of sound, V groups of clips (a kind has one
of recordings, one of rendered sounds, or both), G categories of sound effects, P phrases, W width
of sentence vectors, D dimensions of the vectors.
"""

import math
from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from earshot.models.sound_search.sound_embedder import (
    CODED,
    KINDS_SHARE,
    familiarity,
    kind_logits,
)

CHANNELS: Final = (64, 128, 256, 512)
# The classifiers of categories of sound effects: of which training library, outputs. Others that
# the file holds are of libraries with categories of their own.
CLASSIFIERS: Final = {"prosfx": 78, "soundlyTrain": 79, "ucsMixed": 69}
N_OUTPUTS: Final = sum(CLASSIFIERS.values())
STEP: Final = 8  # frames
BLOCK: Final = 12  # steps, 2.2 s: what a classifier was given at once in training
BLOCK_HOP: Final = 6  # steps from block to block, at most
N_CATEGORIES: Final = 82  # of the Universal Category System
GROUP_SCALE: Final = 16.0  # inverse temperature of the groups that a sound is taken for
CATEGORY_SHARE: Final = 0.2  # of the vector of a sound
CATEGORY_SCALE: Final = 1.5  # inverse temperature of the standardised outputs
PHRASE_SCALE: Final = 20.0  # inverse temperature of a sentence's likeness to phrases
MIN_PROBABILITY: Final = 1e-6


class EffectsCNN(nn.Module):
    """Four blocks of two convolutions each, and a classifier for each library. Batch normalisation
    is part of the convolutions.
    """

    def __init__(self) -> None:
        super().__init__()
        self.convolutions = nn.ModuleList()
        before = 1
        for channels in CHANNELS:
            for first in (before, channels):
                self.convolutions.append(nn.Conv2d(first, channels, 3, padding=1))
            before = channels
        self.classifiers = nn.ModuleList(_classifier(n) for n in CLASSIFIERS.values())
        self.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # fast on CPUs

    def forward(self, mel: Tensor) -> Tensor:
        """Map spectrograms (B, S, M) to steps (B, S', C), of which there is at least one."""
        short = max(STEP - mel.shape[1], 0)
        image = F.pad(mel, (0, 0, 0, short))[:, None]
        x = image.contiguous(memory_format=torch.channels_last)
        for number, convolution in enumerate(self.convolutions):
            x = F.relu_(convolution(x))
            if number in (1, 3, 5):
                x = F.max_pool2d(x, 2)
        return x.mean(dim=3).transpose(1, 2)

    def classify(self, blocks: Tensor) -> Tensor:
        """Map blocks (…, C) to the probabilities of each classifier, one after the other: (…,
        O)."""
        return torch.cat([c(blocks).float().softmax(dim=-1) for c in self.classifiers], dim=-1)


def blocks_of(steps: Tensor) -> Tensor:
    """Take the maximum over each block of BLOCK steps: (B, S', C) → (B, N, C). The blocks are
    evenly spaced and cover everything; a shorter sound is one block.
    """
    last = max(steps.shape[1] - BLOCK, 0)
    count = -(-last // BLOCK_HOP) + 1
    starts = torch.linspace(0, last, count).round().long().tolist()
    return torch.stack([steps[:, a : a + BLOCK].amax(dim=1) for a in starts], dim=1)


def blocks_around(steps: Tensor, places: list[float]) -> Tensor:
    """Take the maximum over the block around each place, in steps: (B, S', C) → (B, places, C)."""
    last = max(steps.shape[1] - BLOCK, 0)
    starts = [min(max(round(place - BLOCK / 2), 0), last) for place in places]
    return torch.stack([steps[:, a : a + BLOCK].amax(dim=1) for a in starts], dim=1)


def _classifier(outputs: int) -> nn.Sequential:
    width = CHANNELS[-1]
    return nn.Sequential(
        nn.Linear(width, width // 2),
        nn.ReLU(),
        nn.Linear(width // 2, width // 4),
        nn.ReLU(),
        nn.Linear(width // 4, outputs),
    )


@dataclass(frozen=True)
class EffectsEmbedderConfig:
    """Sizes of the network: kinds, groups of clips, phrases that describe categories, and widths of
    the shared space and of sentence vectors.
    """

    n_kinds: int
    n_groups: int
    n_phrases: int
    width: int
    sentence_width: int = 384

    @property
    def dimension(self) -> int:
        """Compute D of the vectors, a multiple of CODED."""
        return math.ceil((self.width + self.n_kinds + N_CATEGORIES) / CODED) * CODED


class EffectsEmbedder(nn.Module):
    """Linear maps of the outputs of the frozen encoder, and what sentences attend to.

    A vector has three parts: the place in a space that separates kinds of sound (linear
    discriminant analysis), the probabilities of the kinds (semantic matching, Rasiwasia et al.
    2010), and those of the categories by which professional libraries are sorted, which the
    encoder's own classifiers know. A sentence attends to kinds as in SoundEmbedder, and to
    categories by phrases; which of both counts depends on whether any kind is like it. So sounds
    of kinds that nobody recorded for us are found by their category.
    """

    def __init__(self, config: EffectsEmbedderConfig) -> None:
        super().__init__()
        self.config = config
        width = 2 * CHANNELS[-1]
        self.centre = nn.Buffer(torch.zeros(width))
        self.projection = nn.Linear(width, config.width, bias=False)
        self.kind_keys = nn.Parameter(torch.zeros(config.n_kinds, config.sentence_width))
        self.group_values = nn.Parameter(torch.zeros(config.n_groups, config.width))
        self.group_kinds = nn.Buffer(torch.zeros(config.n_groups, dtype=torch.long))
        self.output_mean = nn.Buffer(torch.zeros(N_OUTPUTS))
        self.output_std = nn.Buffer(torch.ones(N_OUTPUTS))
        self.output_categories = nn.Buffer(torch.zeros(N_OUTPUTS, dtype=torch.long))
        self.phrases = nn.Parameter(torch.zeros(config.n_phrases, config.sentence_width))
        self.phrase_categories = nn.Buffer(torch.zeros(config.n_phrases, dtype=torch.long))

    def embed_blocks(self, blocks: Tensor, probabilities: Tensor) -> Tensor:
        """Embed sounds, each by its blocks (B, N, C) and the probabilities of their outputs (B, N,
        O), as unit vectors (B, D).
        """
        return self.embed_pooled(pooled(blocks), mean_log(probabilities))

    def embed_pooled(self, pooled: Tensor, logs: Tensor) -> Tensor:
        """Embed pooled blocks (B, 2 C) and mean logarithms (B, O) as unit vectors (B, D)."""
        place = F.normalize(self.projection(pooled - self.centre).float(), dim=-1)
        groups = (GROUP_SCALE * place @ self.group_values.t()).softmax(dim=-1)
        kinds = groups.new_zeros(len(groups), self.config.n_kinds)
        kinds.index_add_(1, self.group_kinds, groups)
        categories = self._categories(logs)
        return self._joined(place, kinds, categories, torch.tensor(CATEGORY_SHARE))

    def embed_sentences(self, sentences: Tensor) -> Tensor:
        """Map unit vectors of sentences (B, W) to unit vectors (B, D). The less a sentence is like
        any kind, the larger is the share of its categories.
        """
        attention = kind_logits(sentences, self.kind_keys).softmax(dim=-1)
        place = F.normalize(attention @ self._kind_values(), dim=-1)
        phrases = (PHRASE_SCALE * sentences @ self.phrases.t()).softmax(dim=-1)
        categories = phrases.new_zeros(len(phrases), N_CATEGORIES)
        categories.index_add_(1, self.phrase_categories, phrases)
        unfamiliar = 1 - familiarity(sentences, self.kind_keys)
        return self._joined(place, attention, categories, unfamiliar)

    def familiarity(self, sentences: Tensor) -> Tensor:
        """Return ones (B, 1): any sentence (B, W) is familiar, by kinds or by categories."""
        return torch.ones_like(sentences[:, :1])

    def _kind_values(self) -> Tensor:
        """Add up the values of the groups of each kind: (K, width), of unit length."""
        values = self.group_values.new_zeros(self.config.n_kinds, self.config.width)
        values.index_add_(0, self.group_kinds, self.group_values)
        return F.normalize(values, dim=-1)

    def _categories(self, logs: Tensor) -> Tensor:
        """Average the categories of the classifiers (B, G), each a softmax of logarithms of its
        probabilities (B, O), relative to those of the training clips: the classifiers put most
        clips of another origin than their libraries into a few categories.
        """
        outputs = CATEGORY_SCALE * (logs - self.output_mean) / self.output_std
        shares = [part.softmax(dim=-1) for part in outputs.split([*CLASSIFIERS.values()], dim=-1)]
        categories = logs.new_zeros(len(logs), N_CATEGORIES)
        return categories.index_add_(1, self.output_categories, torch.cat(shares, dim=-1))

    def _joined(self, place: Tensor, kinds: Tensor, categories: Tensor, share: Tensor) -> Tensor:
        """Join three parts to unit vectors (B, D), of which the categories have this share."""
        parts = (1 - KINDS_SHARE) ** 0.5 * place, KINDS_SHARE**0.5 * F.normalize(kinds, dim=-1)
        joined = torch.cat(
            [
                (1 - share).sqrt() * torch.cat(parts, dim=-1),
                share.sqrt() * F.normalize(categories, dim=-1),
            ],
            dim=-1,
        )
        return F.pad(joined, (0, self.config.dimension - joined.shape[-1]))


def pooled(blocks: Tensor) -> Tensor:
    """Join the mean over the blocks, for textures, and the maximum, for single events: (B, N, C) →
    (B, 2 C).
    """
    return torch.cat([blocks.mean(dim=1), blocks.amax(dim=1)], dim=-1)


def mean_log(probabilities: Tensor) -> Tensor:
    """Take logarithms of the mean over the blocks: (B, N, O) → (B, O)."""
    return probabilities.mean(dim=1).clamp(min=MIN_PROBABILITY).log()
