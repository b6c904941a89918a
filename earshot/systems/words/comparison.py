"""Spoken words compared with each other: the same word or not, at a threshold on their cosine.

With two baselines: dynamic time warping of MFCC, and averaged states of a pretrained encoder.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from earshot.media.audio.dtw import distance

if TYPE_CHECKING:
    from earshot.pretrained.speech_encoder import SpeechEncoder
    from earshot.systems.words.library import LibraryWord, WordLibrary


@dataclass(frozen=True, eq=False)
class Comparison:
    """The comparison of spoken words. spoken (n, n): cosines of spoken words with each other;
    written (n, m): with written words; dtw (n, n): DTW distances on MFCC, from 0 (the same) to 2.
    """

    spoken: np.ndarray
    written: np.ndarray
    dtw: np.ndarray


def compare(spoken: np.ndarray, written: np.ndarray, frames: Sequence[np.ndarray]) -> Comparison:
    """Compare spoken words with each other and with written words.

    spoken: their unit vectors (n, D); written: unit vectors (m, D); frames: of each spoken word,
    (S, 39), as earshot.media.audio.dtw.mfcc_frames returns them.
    """
    dtw = np.zeros((len(frames), len(frames)))
    for i, one in enumerate(frames):
        for j, other in enumerate(frames[:i]):
            dtw[i, j] = dtw[j, i] = distance(one, other)
    return Comparison(spoken @ spoken.T, spoken @ written.T, dtw)


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


class AveragedStates:
    """Words as means of an encoder's states over equal parts of the word, without any training.

    Sanabria, Tang and Goldwater (2022), arXiv:2210.16043: such vectors of HuBERT are as good as
    trained acoustic word embeddings, across languages. There is no written view.
    """

    def __init__(self, encoder: "SpeechEncoder", parts: int = 1) -> None:
        self.encoder, self.parts = encoder, parts
        layers = ", ".join(map(str, encoder.layers))
        self.name = f"{encoder.identifier}, layer {layers}" + (
            f", {parts} parts" if parts > 1 else ""
        )

    def means(self, waveforms: Sequence[np.ndarray]) -> np.ndarray:
        """Map words at 16 kHz, (T,) float32 each, trimmed to the word → vectors (N, parts · D).

        One at a time: padding changes what some of these models make of a recording.
        """
        return np.stack([_means(self.encoder.states(each), self.parts) for each in waveforms])

    def embed_waveforms(self, waveforms: Sequence[np.ndarray]) -> np.ndarray:
        """Map words at 16 kHz, (T,) float32 each → unit vectors (N, parts · D)."""
        return unit(self.means(waveforms))


def unit(vectors: np.ndarray) -> np.ndarray:
    """Scale vectors (N, D) to length 1."""
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)


def nearest_is_same_word(
    similarities: np.ndarray, spellings: Sequence[str], voices: Sequence[str]
) -> np.ndarray:
    """Find out of each recording whether the nearest by another voice is the same word:
    similarities (N, N) → 1 or 0, NaN where no other voice speaks that word: (N,).
    """
    words, speakers = np.array(spellings), np.array(voices)
    others = speakers[:, None] != speakers
    same = words[:, None] == words
    nearest = np.where(others, similarities, -np.inf).argmax(axis=1)
    shared = (same & others).any(axis=1)
    return np.where(shared, same[np.arange(len(words)), nearest], np.nan)


def _means(states: np.ndarray, parts: int) -> np.ndarray:
    """Map states (S, D) → the means of ``parts`` parts, of one state at least: (parts · D,)."""
    starts = np.minimum(np.arange(parts) * len(states) // parts, len(states) - 1)
    ends = np.maximum((np.arange(parts) + 1) * len(states) // parts, starts + 1)
    pairs = zip(starts, ends, strict=True)
    return np.concatenate([states[start:end].mean(axis=0) for start, end in pairs])
