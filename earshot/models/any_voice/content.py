"""Content encoder: normalised cepstra → numbers that tell what is said, and not by whom.

Shapes: B batch, S frames of 10 ms, U = S / 2 steps of 20 ms.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from earshot.models.layers.transformer import TransformerLayer

STRIDE = 2  # frames in a step


@dataclass(frozen=True)
class ContentConfig:
    """Sizes of the network, and how it normalises its input."""

    n_features: int = 39
    width: int = 192
    heads: int = 4
    inner: int = 768
    layers: int = 4
    content_width: int = 32
    mean_prior: float = 100.0  # frames' worth of belief in the training mean


class ContentEncoder(nn.Module):
    """Two convolutions, the second halving the rate, and Transformer layers."""

    feature_mean: Tensor
    feature_std: Tensor

    def __init__(self, config: ContentConfig) -> None:
        super().__init__()
        self.config = config
        self.register_buffer("feature_mean", torch.zeros(config.n_features))
        self.register_buffer("feature_std", torch.ones(config.n_features))
        self.input = nn.Conv1d(config.n_features, config.width, 5, padding=2)
        self.halving = nn.Conv1d(config.width, config.width, 4, stride=STRIDE, padding=1)
        layer = (config.width, config.heads, config.inner, 0.0, True)
        self.layers = nn.Sequential(*(TransformerLayer(*layer) for _ in range(config.layers)))
        self.norm = nn.LayerNorm(config.width)
        self.output = nn.Linear(config.width, config.content_width)

    def normalize(self, features: Tensor) -> Tensor:
        """Remove the mean of the frames louder than average: the speaker's and the channel's.

        The mean is drawn towards the training mean where a recording is short.
        features: (B, S, n_features) → the same.
        """
        level = features[..., 0]
        loud = (level >= level.mean(dim=1, keepdim=True)).to(features.dtype)[..., None]
        prior = self.config.mean_prior
        total = (features * loud).sum(dim=1, keepdim=True) + prior * self.feature_mean
        mean = total / (loud.sum(dim=1, keepdim=True) + prior)
        return (features - mean) / self.feature_std

    def forward(self, normalized: Tensor) -> Tensor:
        """(B, S, n_features), S even → (B, U, content_width), each step of mean 0, variance 1."""
        x = F.gelu(self.input(normalized.transpose(1, 2)))
        x = self.layers(self.halving(x).transpose(1, 2))
        content = self.output(self.norm(x))
        return F.layer_norm(content, content.shape[-1:])
