"""K-means by Lloyd's algorithm, on any device. Shapes: N vectors, D dimensions, K centroids."""

from typing import Final

import torch
from torch import Tensor

ITERATIONS: Final = 50
CHUNK: Final = 16_384  # vectors compared at once


def kmeans(vectors: Tensor, k: int, generator: torch.Generator) -> tuple[Tensor, float]:
    """Fit centroids (K, D) to vectors (N, D), from random ones; return them and the mean square of
    the distances, a component.

    A centroid that no vector is nearest to starts again at a random vector.
    """

    def drawn(indices: Tensor) -> Tensor:
        return vectors[indices.to(vectors.device)]

    starts = torch.randperm(len(vectors), generator=generator)
    centroids = drawn(starts.repeat(-(-k // len(vectors)))[:k])
    for _ in range(ITERATIONS):
        nearest = nearest_centroids(vectors, centroids)
        counts = nearest.bincount(minlength=k)
        totals = torch.zeros_like(centroids).index_add_(0, nearest, vectors)
        strays = drawn(torch.randint(len(vectors), (k,), generator=generator))
        means = totals / counts.clamp(min=1)[:, None]
        centroids = torch.where(counts[:, None] > 0, means, strays)
    away = vectors - centroids[nearest_centroids(vectors, centroids)]
    return centroids, away.square().mean().item()


def nearest_centroids(vectors: Tensor, centroids: Tensor) -> Tensor:
    """Find the index of the nearest centroid of each vector: (N, D), (K, D) → (N,)."""
    squares = centroids.square().sum(dim=1)
    parts = [(squares - 2 * part @ centroids.T).argmin(dim=1) for part in vectors.split(CHUNK)]
    return torch.cat(parts)
