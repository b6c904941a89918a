"""Nearest neighbours among unit vectors, and the map on which these lie close together.

The search is exact up to a size, quantised by FAISS above it; the map is made by t-SNE.
"""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Protocol

import faiss
import numpy as np

MAX_EXACT: Final = 100_000  # vectors; beyond, comparing with every one takes too long
LIST_SIZE: Final = 500  # vectors in one list of the inverted file, on average
N_PROBES: Final = 64  # lists that a search visits (FAISS' nprobe)
TRAINING_VECTORS: Final = 64  # vectors per list in the training of k-means
RETRAIN_GROWTH: Final = 2.0  # growth after which k-means runs again
# Candidates beyond those asked for, as quantised scores order them inexactly.
SPARE_CANDIDATES: Final = 100
ROUNDS: Final = 10  # of k-means for lists on the disk
SUBVECTOR: Final = 8  # dimensions that a byte of a product code stands for (Jégou et al. 2011)

ANCHORS: Final = 1000  # vectors placed by t-SNE; the others go near the most similar of them
MIN_VECTORS: Final = 8  # below, principal components take the place of t-SNE
NEIGHBOURS: Final = 5  # whose weighted mean is the place of a further vector
TEMPERATURE: Final = 0.05  # of the softmax over their scores
PLACED_AT_ONCE: Final = 4096  # vectors


class VectorRows(Protocol):
    """Unit vectors (N, D), in memory or computed when they are needed."""

    def __len__(self) -> int: ...
    def __getitem__(self, rows: slice | np.ndarray, /) -> np.ndarray: ...


class Vectors(VectorRows, Protocol):
    """Unit vectors (N, D): an array in memory, or one of which rows are read from a file."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    def __matmul__(self, query: np.ndarray, /) -> np.ndarray: ...


class Nearest:
    """Search by inner product in immutable unit vectors (N, D).

    Up to MAX_EXACT vectors the search is exhaustive. Above, an inverted file with 8 bits a
    dimension finds candidates, which the full vectors rescore: scores are always exact.
    """

    def __init__(self, vectors: np.ndarray, like: "Nearest | None" = None) -> None:
        """Index the vectors. ``like``: an index of nearly the same vectors, whose lists are
        reused.
        """
        self.vectors: Vectors = vectors
        self._index: Any = None  # an exact search needs none, which would copy the vectors
        if len(vectors) <= MAX_EXACT:
            return
        if like is not None and like._may_serve(len(vectors)):
            self._index = faiss.clone_index(like._index)
            self._index.reset()
        else:
            self._index = _trained(vectors)
        self._index.add(np.ascontiguousarray(vectors))

    @property
    def exact(self) -> bool:
        """Whether a search compares every vector."""
        return self._index is None

    def search(
        self, query: np.ndarray, limit: int, among: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Find the vectors nearest to ``query`` (D,): scores (K,), best first, and rows (K,).

        K is ``limit``, or the number of candidates if that is smaller. among: the rows that may be
        found, in order.
        """
        if among is not None and (self.exact or len(among) <= MAX_EXACT):
            scores, rows = self.vectors[among] @ query, among
        elif self.exact:
            scores = self.vectors @ query
            rows = np.arange(len(scores))
            if limit < len(scores):
                rows = np.sort(np.argpartition(-scores, limit - 1)[:limit])
            scores = scores[rows]
        else:
            count = min(limit + SPARE_CANDIDATES, len(self.vectors))
            rows = self._index.search(query[None], count, params=self._only(among))[1][0]
            rows = np.sort(rows[rows >= 0])
            scores = self.vectors[rows] @ query
        order = np.argsort(-scores, kind="stable")[:limit]
        return scores[order], rows[order]

    def write(self, path: Path) -> None:
        """Write the lists to a file; the vectors are stored elsewhere."""
        faiss.write_index(self._index, str(path))

    @classmethod
    def read(cls, path: Path | None, vectors: Vectors, mapped: bool = False) -> "Nearest":
        """Read what ``write`` or ``write_compact`` wrote; without a path, every vector is compared.

        mapped: the lists stay in the file, of which the kernel holds what is searched. Raises
        ValueError if the file is damaged or of other vectors.
        """
        nearest = cls.__new__(cls)
        nearest.vectors, nearest._index = vectors, None
        if path is None:
            return nearest
        try:
            nearest._index = faiss.read_index(str(path), faiss.IO_FLAG_MMAP if mapped else 0)
        except RuntimeError as error:
            raise ValueError(f"{path.name} is not a FAISS index.") from error
        if (nearest._index.ntotal, nearest._index.d) != vectors.shape:
            raise ValueError(f"{path.name} is of other vectors.")
        return nearest

    def _only(self, rows: np.ndarray | None) -> "faiss.SearchParametersIVF | None":
        if rows is None:
            return None
        allowed = np.zeros(len(self.vectors), bool)
        allowed[rows] = True
        # FAISS' types do not know what its Python wrappers take.
        selector: Any = faiss.IDSelectorBitmap
        parameters: Any = faiss.SearchParametersIVF
        return parameters(sel=selector(np.packbits(allowed, bitorder="little")), nprobe=N_PROBES)

    def _may_serve(self, size: int) -> bool:
        """Whether lists that were trained on other vectors still suit this many."""
        ours = not self.exact and isinstance(self.vectors, np.ndarray)
        return ours and 1 / RETRAIN_GROWTH < size / (self._index.nlist * LIST_SIZE) < RETRAIN_GROWTH


def write_compact(vectors: Vectors, blocks: Iterator[np.ndarray], path: Path) -> None:
    """Write lists for ``Nearest.read(mapped=True)`` of vectors that need not fit in memory.

    An inverted file with a byte for every SUBVECTOR dimensions: for a search to find candidates, of
    which it then reads the full vectors. blocks: all vectors, in order.
    """
    size, dimension = vectors.shape
    lists = math.ceil(math.sqrt(size))
    width = math.gcd(dimension, SUBVECTOR)
    index = faiss.IndexIVFPQ(
        faiss.IndexFlatIP(dimension),
        dimension,
        lists,
        dimension // width,
        8,
        faiss.METRIC_INNER_PRODUCT,
    )
    index.cp.niter = ROUNDS
    chosen = np.random.default_rng(0).choice(
        size, min(size, lists * TRAINING_VECTORS), replace=False
    )
    _train(index, vectors[np.sort(chosen)])
    for block in blocks:
        index.add(block)
    faiss.write_index(index, str(path))


def _trained(vectors: np.ndarray) -> faiss.IndexIVFScalarQuantizer:
    """Train an empty inverted file whose lists are k-means cells (FAISS seeds k-means)."""
    size, dimension = vectors.shape
    n_lists = math.ceil(size / LIST_SIZE)
    index = faiss.IndexIVFScalarQuantizer(
        faiss.IndexFlatIP(dimension),
        dimension,
        n_lists,
        faiss.ScalarQuantizer.QT_8bit,
        faiss.METRIC_INNER_PRODUCT,
    )
    _train(index, vectors[:: max(1, size // (n_lists * TRAINING_VECTORS))])
    return index


def _train(index: faiss.IndexIVF, sample: np.ndarray) -> None:
    index.nprobe = N_PROBES
    index.cp.max_points_per_centroid = TRAINING_VECTORS
    index.train(np.ascontiguousarray(sample))


def map_layout(vectors: VectorRows) -> np.ndarray:
    """Place unit vectors (n, D) on a map, in [0, 1]: float32 (n, 2).

    t-SNE (van der Maaten & Hinton 2008), seeded: the same vectors give the same map.
    """
    if len(vectors) < MIN_VECTORS:
        return _stretch(_principal(vectors[:]))
    from sklearn.manifold import TSNE  # late: its import takes over a second

    many = len(vectors) > ANCHORS
    chosen = np.random.default_rng(0).choice(len(vectors), ANCHORS, replace=False) if many else 0
    anchors = vectors[np.sort(chosen)] if many else vectors[:]
    tsne = TSNE(metric="cosine", init="pca", perplexity=min(30.0, len(anchors) / 4), random_state=0)
    places = _stretch(tsne.fit_transform(anchors))
    if not many:
        return places
    starts = range(0, len(vectors), PLACED_AT_ONCE)
    blocks = (vectors[i : i + PLACED_AT_ONCE] @ anchors.T for i in starts)
    return np.concatenate([place_on_map(block, places) for block in blocks])


def place_on_map(scores: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Place m further vectors by their scores (m, n) with n placed ones (n, 2).

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
