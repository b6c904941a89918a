"""Pretrain the content encoder: it predicts what it is not allowed to hear.

As HuBERT does first (Hsu et al. 2021, section II): frames of the clean cepstra are quantised by
k-means; the encoder hears augmented speech, of which spans are masked, and predicts the clusters
there. Shapes: B batch, S frames of 10 ms, U = S / 2 steps, D features.
"""

from pathlib import Path
from typing import Final

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models.conversion.content import STRIDE, ContentEncoder
from models.vqvae import Codebook
from training.common.loop import device
from training.voice_conversion.any_voice.augment import augment
from training.voice_conversion.any_voice.conversion import WINDOW, new_system
from training.voice_conversion.any_voice.data import Corpus
from training.voice_conversion.any_voice.loop import train
from training.voice_conversion.data.batches import Cepstra
from training.voice_conversion.train.front_end import fit_centroids

BATCH: Final = 16
VALIDATED: Final = 64  # windows
CLUSTERED: Final = 400  # windows
CLUSTERS: Final = 200
SPAN: Final = 10  # steps that are masked together
BEGINS: Final = 0.06  # share of the steps where a span does: near half of all are masked
LEARNING_RATE: Final = 1e-3


class Pretraining(nn.Module):
    """The content encoder, and what predicts clusters from its states."""

    def __init__(self, cepstra: Cepstra, content: ContentEncoder) -> None:
        super().__init__()
        self.cepstra, self.content = cepstra, content
        self.mask = nn.Parameter(torch.zeros(content.config.n_features))
        self.clusters = nn.Linear(content.config.width, CLUSTERS)
        self.codebook = Codebook(CLUSTERS, content.config.n_features)

    def steps(self, bands: Tensor) -> Tensor:
        """Normalised cepstra, averaged over each step: log bands (B, S, M) → (B, U, D)."""
        frames = self.content.normalize(self.cepstra(bands))
        return frames.unflatten(1, (-1, STRIDE)).mean(dim=2)

    def loss(self, bands: Tensor, heard: Tensor, masked: Tensor) -> Tensor:
        """Cross-entropy of the clusters of bands where the augmented bands, heard, are masked.

        bands, heard: (B, S, M); masked: (B, U), true where nothing may be heard.
        """
        clusters = self.codebook.nearest(self.steps(bands))
        frames = self.content.normalize(self.cepstra(heard))
        hidden = masked.repeat_interleave(STRIDE, dim=1)[..., None]
        states = self.content.states(torch.where(hidden, self.mask, frames))
        return F.cross_entropy(self.clusters(states[masked]), clusters[masked])


def train_content(run: Path, name: str, steps: int) -> None:
    """Train on the arrays of ``prepare`` in ``run`` up to step ``steps``: run/name.state."""
    cepstra = Cepstra(run / "constants.npz")
    corpus, val = Corpus(run / "train", WINDOW), Corpus(run / "val", WINDOW)
    network = Pretraining(cepstra, new_system(corpus, cepstra).content)
    draw = torch.Generator().manual_seed(1)
    some = network.steps(corpus.read("log_bands", corpus.draw(CLUSTERED, draw)))
    fit_centroids(network.codebook, some.flatten(0, 1), draw)
    network.to(device())
    bands = val.read("log_bands", val.draw(VALIDATED, draw))
    held_out = _batch(bands, draw)

    def step_losses(step: int, generator: torch.Generator) -> dict[str, Tensor]:
        bands = corpus.read("log_bands", corpus.draw(BATCH, generator))
        return {"masked": network.loss(*_batch(bands, generator))}

    @torch.no_grad()
    def validate(average: nn.Module) -> dict[str, float]:
        assert isinstance(average, Pretraining)
        return {"masked": average.loss(*held_out).item()}

    train(network, step_losses, validate, run, name, steps, LEARNING_RATE)


def _batch(bands: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
    """What loss is given, on the device."""
    masked = spans(len(bands), bands.shape[1] // STRIDE, generator)
    heard = augment(bands, generator)
    return bands.to(device()), heard.to(device()), masked.to(device())


def spans(rows: int, steps: int, generator: torch.Generator) -> Tensor:
    """Random spans of SPAN steps, which may overlap: (rows, steps), true within one."""
    begins = (torch.rand(rows, 1, steps, generator=generator) < BEGINS).float()
    return F.max_pool1d(F.pad(begins, (SPAN - 1, 0)), SPAN, stride=1)[:, 0] > 0
