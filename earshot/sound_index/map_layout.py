"""Two-dimensional layout of embeddings for a map: similar sounds lie close together."""

from typing import Final, Protocol

import numpy as np

ANCHORS: Final = 1000  # sounds placed by t-SNE; the others go near the most similar of them
MIN_SOUNDS: Final = 8  # sounds; below, principal components take the place of t-SNE
NEIGHBOURS: Final = 5  # whose weighted mean is the place of a further sound
TEMPERATURE: Final = 0.05  # of the softmax over their scores
BLOCK: Final = 4096  # sounds placed at once


class Vectors(Protocol):
    """Unit vectors (n, D), in memory or computed when they are asked for."""

    def __len__(self) -> int: ...
    def __getitem__(self, numbers: slice | np.ndarray, /) -> np.ndarray: ...


def layout(vectors: Vectors) -> np.ndarray:
    """Place sounds on a map, in [0, 1], by their unit vectors (n, D): float32 (n, 2).

    t-SNE (van der Maaten & Hinton 2008), seeded: the same sounds give the same map.
    """
    if len(vectors) < MIN_SOUNDS:
        return _stretch(_principal(vectors[:]))
    from sklearn.manifold import TSNE  # late: its import takes over a second

    many = len(vectors) > ANCHORS
    chosen = np.random.default_rng(0).choice(len(vectors), ANCHORS, replace=False) if many else 0
    anchors = vectors[np.sort(chosen)] if many else vectors[:]
    tsne = TSNE(metric="cosine", init="pca", perplexity=min(30.0, len(anchors) / 4), random_state=0)
    places = _stretch(tsne.fit_transform(anchors))
    if not many:
        return places
    blocks = (vectors[i : i + BLOCK] @ anchors.T for i in range(0, len(vectors), BLOCK))
    return np.concatenate([place(block, places) for block in blocks])


def place(scores: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Place m further points from their scores (m, n) with n placed sounds (n, 2).

    A softmax-weighted mean over the nearest neighbours: float32 (m, 2).
    """
    count = min(NEIGHBOURS, scores.shape[1])
    nearest = np.argpartition(-scores, count - 1, axis=1)[:, :count]
    score = np.take_along_axis(scores, nearest, axis=1)
    weight = np.exp((score - score.max(axis=1, keepdims=True)) / TEMPERATURE)
    weight /= weight.sum(axis=1, keepdims=True)
    return np.einsum("mk,mkd->md", weight, places[nearest]).astype(np.float32)


def _principal(vectors: np.ndarray) -> np.ndarray:
    """Compute the first two principal components (n, 2), zeros where there are none."""
    if len(vectors) < 2:
        return np.zeros((len(vectors), 2))
    centred = vectors - vectors.mean(axis=0)
    left, scale, _ = np.linalg.svd(centred, full_matrices=False)
    components = (left * scale)[:, :2]
    return np.pad(components, ((0, 0), (0, 2 - components.shape[1])))


def _stretch(places: np.ndarray) -> np.ndarray:
    """Scale both coordinates to [0, 1]; 0.5 where all are equal."""
    if len(places) == 0:
        return np.zeros((0, 2), np.float32)
    low, high = places.min(axis=0), places.max(axis=0)
    span = np.where(high - low > 1e-6, high - low, 1.0)
    stretched = np.where(high - low > 1e-6, (places - low) / span, 0.5)
    return stretched.astype(np.float32)
