"""Which of many unit vectors are nearest to one: FAISS, exact up to a size, quantised above it."""

import math
from pathlib import Path
from typing import Any, Final

import faiss
import numpy as np

EXACT_LIMIT: Final = 100_000  # vectors; beyond them, looking at every one takes too long
LIST_SIZE: Final = 500  # vectors in one list of the inverted file, on average
PROBED: Final = 64  # lists that a search looks into
TRAINING: Final = 64  # vectors a list that k-means sees
RETRAIN: Final = 2.0  # growth after which k-means runs again
SPARE: Final = 100  # more candidates than asked for, as their order is not exact yet


class Nearest:
    """Search by inner product in unit vectors (N, D) that stay as they are.

    Up to EXACT_LIMIT every vector is compared. Above, an inverted file with 8 bits a dimension
    finds candidates, and the vectors themselves give their scores: a score is always exact.
    """

    def __init__(self, vectors: np.ndarray, like: "Nearest | None" = None) -> None:
        """``like``: an earlier one of nearly the same vectors, whose lists are used again."""
        self.vectors = vectors
        self._index: Any
        if len(vectors) <= EXACT_LIMIT:
            self._index = faiss.IndexFlatIP(vectors.shape[1])
        elif like is not None and like._may_serve(len(vectors)):
            self._index = faiss.clone_index(like._index)
            self._index.reset()
        else:
            self._index = _trained(vectors)
        self._index.add(np.ascontiguousarray(vectors))

    @property
    def exact(self) -> bool:
        """Whether a search looks at every vector."""
        return isinstance(self._index, faiss.IndexFlat)

    def search(self, query: np.ndarray, limit: int) -> tuple[np.ndarray, np.ndarray]:
        """Scores (K,), best first, and rows (K,) of the vectors nearest to ``query`` (D,).

        K is ``limit``, or less where fewer are to be found.
        """
        wanted = limit if self.exact else limit + SPARE
        scores, rows = self._index.search(query[None], min(wanted, len(self.vectors)))
        scores, rows = scores[0], rows[0]
        if self.exact:
            return scores, rows
        rows = np.sort(rows[rows >= 0])
        scores = self.vectors[rows] @ query
        order = np.argsort(-scores, kind="stable")[:limit]
        return scores[order], rows[order]

    def write(self, path: Path) -> None:
        """Keep the lists in a file; the vectors are kept elsewhere."""
        faiss.write_index(self._index, str(path))

    @classmethod
    def read(cls, path: Path, vectors: np.ndarray) -> "Nearest":
        """What ``write`` kept, of the same vectors. Raises ValueError when it is not."""
        nearest = cls.__new__(cls)
        nearest.vectors = vectors
        try:
            nearest._index = faiss.read_index(str(path))
        except RuntimeError as error:
            raise ValueError(f"{path.name} is not an index of FAISS.") from error
        if (nearest._index.ntotal, nearest._index.d) != vectors.shape:
            raise ValueError(f"{path.name} is of other vectors.")
        return nearest

    def _may_serve(self, size: int) -> bool:
        """Whether the lists, trained on other vectors, still suit so many."""
        return not self.exact and 1 / RETRAIN < size / (self._index.nlist * LIST_SIZE) < RETRAIN


def _trained(vectors: np.ndarray) -> faiss.IndexIVFScalarQuantizer:
    """An empty inverted file whose lists are the cells of k-means, seeded by FAISS itself."""
    size, dimension = vectors.shape
    n_lists = math.ceil(size / LIST_SIZE)
    index = faiss.IndexIVFScalarQuantizer(
        faiss.IndexFlatIP(dimension),
        dimension,
        n_lists,
        faiss.ScalarQuantizer.QT_8bit,
        faiss.METRIC_INNER_PRODUCT,
    )
    index.nprobe = PROBED
    index.cp.max_points_per_centroid = TRAINING
    index.train(np.ascontiguousarray(vectors[:: max(1, size // (n_lists * TRAINING))]))
    return index
