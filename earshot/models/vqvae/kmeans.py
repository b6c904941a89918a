"""Units by k-means over the frames of a front end, as HuBERT's own are made (Hsu et al. 2021,
arXiv:2106.07447): the nearest centroid of each step.

Shapes: B batch, S frames of 10 ms, U units (U = S / stride), D width of a frame.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from earshot.models.layers.codebook import Codebook


@dataclass(frozen=True)
class KMeansConfig:
    """The size of k-means units. stride: frames of 10 ms in a unit."""

    codebook_size: int = 512
    n_features: int = 768
    stride: int = 2

    @property
    def code_width(self) -> int:
        """Return the width of a centroid: that of a frame."""
        return self.n_features


class KMeans(nn.Module):
    """A stand-in for a VQVAE: normalize, then an encoder, which averages over a unit."""

    feature_mean: Tensor
    feature_std: Tensor

    def __init__(self, config: KMeansConfig) -> None:
        super().__init__()
        self.config = config
        self.register_buffer("feature_mean", torch.zeros(config.n_features))
        self.register_buffer("feature_std", torch.ones(config.n_features))
        self.codebook = Codebook(config.codebook_size, config.n_features)

    def normalize(self, features: Tensor) -> Tensor:
        """Normalise by mean and standard deviation of the training set: (B, S, D) → (B, S, D)."""
        return (features - self.feature_mean) / self.feature_std

    def encoder(self, normalized: Tensor) -> Tensor:
        """Average over each unit: (B, S, D) → (B, U, D)."""
        return normalized.unflatten(1, (-1, self.config.stride)).mean(dim=2)

    def encode(self, normalized: Tensor) -> Tensor:
        """Find the codes, S a multiple of the stride: (B, S, D) → (B, U)."""
        return self.codebook.nearest(self.encoder(normalized))
