"""Same word or not: pairs of spoken words on either side of a threshold on their cosine."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from earshot.systems.words.library import LibraryWord, WordLibrary


@dataclass(frozen=True)
class OperatingCurve:
    """Precision and recall (K,), from 0 to 1, of calling a pair the same word when its cosine
    reaches each of the thresholds (K,), which increase."""

    thresholds: np.ndarray
    precision: np.ndarray
    recall: np.ndarray

    @classmethod
    def read(cls, lists: Mapping[str, Sequence[float]]) -> "OperatingCurve":
        """Read the curve of a checkpoint's config: lists named threshold, precision and recall."""
        return cls(*(np.asarray(lists[name]) for name in ("threshold", "precision", "recall")))

    def at(self, threshold: float) -> tuple[float, float]:
        """Interpolate (precision, recall) linearly at a threshold."""
        precision = np.interp(threshold, self.thresholds, self.precision)
        return float(precision), float(np.interp(threshold, self.thresholds, self.recall))


@dataclass(frozen=True)
class Pair:
    """Two words of a library, and the cosine between their vectors."""

    one: "LibraryWord"
    other: "LibraryWord"
    cosine: float


@dataclass(frozen=True)
class Side:
    """Pairs on one side of a threshold: how many there are, and the few closest to it, closest
    first."""

    count: int
    pairs: tuple[Pair, ...]


class WordPairs:
    """All pairs of a library's words spoken by two different voices, sorted by their cosine.

    Homophones of a language are the same word, however they are spelled.
    """

    def __init__(self, library: "WordLibrary") -> None:
        self._words = [library.words[row] for row in library.spoken]
        vectors = np.asarray(library.vectors, np.float32)[library.spoken]
        keys = {key: i for i, key in enumerate(map(_key, self._words))}
        kinds = np.array([keys[_key(word)] for word in self._words])
        voices = np.array([word.voice for word in self._words])
        one, other = np.nonzero(np.triu(voices[:, None] != voices, k=1))
        cosines = (vectors @ vectors.T)[one, other]
        same = kinds[one] == kinds[other]
        # Whether the words are the same → ascending cosines, and the two words of each pair.
        self._sorted = {
            is_same: _sorted(cosines[chosen], one[chosen], other[chosen])
            for is_same, chosen in ((True, same), (False, ~same))
        }

    def near_threshold(self, threshold: float, same: bool, above: bool, limit: int = 3) -> Side:
        """Find pairs of the same word, or of different words, at or above the threshold, or
        below.
        """
        cosines, words = self._sorted[same]
        cut = int(np.searchsorted(cosines, threshold))
        rows = range(cut, len(cosines)) if above else range(cut - 1, -1, -1)
        pairs = [
            Pair(self._words[words[r, 0]], self._words[words[r, 1]], float(cosines[r]))
            for r in rows[:limit]
        ]
        return Side(len(rows), tuple(pairs))


def _key(word: "LibraryWord") -> tuple:
    return word.language, word.phonemes


def _sorted(
    cosines: np.ndarray, one: np.ndarray, other: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    order = np.argsort(cosines)
    return cosines[order], np.stack([one[order], other[order]], axis=1).astype(np.int32)
