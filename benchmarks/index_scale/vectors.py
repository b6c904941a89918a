"""Vectors like those of sounds, as many as are asked for, and their exact nearest neighbours."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np

from earshot.core.paths import ASSETS
from earshot.sound_index.index import read_index

PIECE: Final = 50_000  # vectors made, and held, at once
QUERIES: Final = 200
NEAREST: Final = 10
NOISE: Final = 0.3


def base() -> np.ndarray:
    """Read the vectors of our own library: (N, D)."""
    return np.array(read_index(ASSETS / "sounds.index")[1].nearest.vectors[:])


def pieces(count: int, seed: int = 0, noise: float = NOISE) -> Iterator[np.ndarray]:
    """Yield made unit vectors: (PIECE, D) each, the last smaller. The same for the same seed."""
    vectors = base()
    for number, begin in enumerate(range(0, count, PIECE)):
        generator = np.random.default_rng([seed, number])
        yield resembling(vectors, min(PIECE, count - begin), generator, noise)


def vectors_of(count: int) -> np.ndarray:
    """Make unit vectors: (count, D)."""
    return np.concatenate([*pieces(count)])


def resembling(
    vectors: np.ndarray, count: int, generator: np.random.Generator, noise: float = NOISE
) -> np.ndarray:
    """Make unit vectors (count, D) distributed like embeddings: in clusters and on paths between
    them.

    Each is a mixture of two of the given unit vectors (N, D), and ``noise`` (its length relative
    to theirs) in the same directions: those in which the given ones differ.
    """
    spread = vectors - vectors.mean(axis=0)
    one, other = generator.integers(len(vectors), size=(2, count))
    share = generator.uniform(0, 0.5, (count, 1)).astype(np.float32)
    weights = generator.standard_normal((count, len(spread)), np.float32)
    mixed = vectors[one] * (1 - share) + vectors[other] * share
    moved = weights @ spread
    mixed += noise * moved / np.linalg.norm(moved, axis=1, keepdims=True)
    return mixed / np.linalg.norm(mixed, axis=1, keepdims=True)


def questions(folder: Path, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Make queries (QUERIES, D), which are no vectors of the index, and find the positions of the
    exact nearest of ``count`` made vectors to each: (QUERIES, NEAREST). Kept in the folder.
    """
    file = folder / f"questions-{count}.npz"
    if not file.exists():
        queries = next(pieces(QUERIES, seed=1))
        scores = np.full((QUERIES, NEAREST), -np.inf, np.float32)
        rows = np.zeros((QUERIES, NEAREST), int)
        for number, piece in enumerate(pieces(count)):
            new = np.arange(len(piece)) + number * PIECE
            scores = np.hstack([scores, queries @ piece.T])
            rows = np.hstack([rows, np.broadcast_to(new, (QUERIES, len(new)))])
            best = np.argsort(-scores, axis=1)[:, :NEAREST]
            scores, rows = (np.take_along_axis(each, best, 1) for each in (scores, rows))
        np.savez(file, queries=queries, rows=rows)
    with np.load(file) as arrays:
        return arrays["queries"], arrays["rows"]
