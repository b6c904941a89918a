"""ABX phone discrimination: is X nearer to A, of the same phone, than to B, of another?

An item is one phone of a recording: the frames of 10 ms whose time is within its aligned start
and end. Context is free, as in the any-context condition of ABX (Hallap, Dupoux & Dunbar 2023):
a few dozen words have too few phones that share both neighbours. For ABX across speakers, A and
B are by one speaker and X by another; within, all three are by one speaker and A is not X. A tie
counts half. Errors are averaged over the A, B, X of each (phone of A, phone of B, speakers) cell,
then over speakers, then over ordered pairs of phones, so that all weigh the same.

The distance of two items is the mean angle between their frames along a DTW path.

fastabx computes the same, but needs Python 3.12 or newer; this also runs on 3.11.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit

from earshot.media.audio.dtw import path_mean


@dataclass(frozen=True)
class PhoneItem:
    """A phone by a speaker: frames ``first`` to ``last`` (exclusive) of a numbered recording."""

    phone: str
    speaker: str
    recording: int
    first: int
    last: int


@dataclass(frozen=True)
class ABX:
    """Errors in %, and the number of (phone, phone, speakers) cells behind each."""

    across: float
    within: float
    across_cells: int
    within_cells: int


def abx(items: Sequence[PhoneItem], recordings: Sequence[np.ndarray]) -> ABX:
    """Measure the error over all items, given each recording's frames (S, D) at 10 ms.

    An error is NaN where no cell can be formed.
    """
    phones = sorted({item.phone for item in items})
    groups = [
        _Group(speaker, items, recordings, phones)
        for speaker in sorted({item.speaker for item in items})
    ]
    across, within = _Mean(len(phones)), _Mean(len(phones))
    for i, x in enumerate(groups):
        for j, ab in enumerate(groups[: i + 1]):
            distances = _distances(x.angles(ab), x.edges, ab.edges)
            if i == j:
                within.add(*_errors(distances, x.labels, x.labels, len(phones), True))
                continue
            across.add(*_errors(distances, x.labels, ab.labels, len(phones), False))
            across.add(*_errors(distances.T.copy(), ab.labels, x.labels, len(phones), False))
    return ABX(across.percent(), within.percent(), across.cells, within.cells)


class _Group:
    """The items of one speaker, their frames at unit length and one after another."""

    def __init__(
        self,
        speaker: str,
        items: Sequence[PhoneItem],
        recordings: Sequence[np.ndarray],
        phones: list[str],
    ) -> None:
        own = [item for item in items if item.speaker == speaker]
        parts = [_frames(recordings[item.recording], item) for item in own]
        frames = np.concatenate(parts).astype(np.float32)
        norms = np.linalg.norm(frames, axis=1, keepdims=True)
        self.frames = frames / np.maximum(norms, 1e-9)
        self.edges = np.cumsum([0, *map(len, parts)])
        self.labels = np.array([phones.index(item.phone) for item in own])

    def angles(self, other: "_Group") -> np.ndarray:
        """Measure the angles between frames in half turns. Rounding first makes equal frames
        exactly equal.
        """
        cosines = np.round(self.frames @ other.frames.T, 5)
        return np.arccos(np.clip(cosines, -1.0, 1.0)) / np.float32(np.pi)


class _Mean:
    """The mean over speakers and then over ordered phone pairs of the errors in their cells."""

    def __init__(self, n_phones: int) -> None:
        self.total = np.zeros((n_phones, n_phones))
        self.speakers = np.zeros((n_phones, n_phones), int)

    def add(self, errors: np.ndarray, counts: np.ndarray) -> None:
        self.total += errors / np.maximum(counts, 1)
        self.speakers += counts > 0

    @property
    def cells(self) -> int:
        return int(self.speakers.sum())

    def percent(self) -> float:
        if not self.cells:
            return float("nan")
        pairs = self.speakers > 0
        return float(100 * np.mean(self.total[pairs] / self.speakers[pairs]))


def _frames(recording: np.ndarray, item: PhoneItem) -> np.ndarray:
    """Cut out the item's frames, at least one even if its recording's features end too early."""
    first = min(item.first, len(recording) - 1)
    return recording[first : max(item.last, first + 1)]


@njit(cache=True)
def _distances(angles: np.ndarray, edges: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Measure the DTW distance of every pair of items: frame angles (S, R), first frames → (n,
    m).
    """
    result = np.empty((len(edges) - 1, len(others) - 1), np.float32)
    for i in range(len(edges) - 1):
        for j in range(len(others) - 1):
            block = angles[edges[i] : edges[i + 1], others[j] : others[j + 1]]
            result[i, j] = path_mean(block)
    return result


@njit(cache=True)
def _errors(
    distances: np.ndarray, xs: np.ndarray, others: np.ndarray, n_phones: int, same: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Count errors and triples by (phone of A and X, phone of B), from distances (n_x, n_ab)."""
    errors = np.zeros((n_phones, n_phones))
    counts = np.zeros((n_phones, n_phones))
    for x in range(len(xs)):
        for a in range(len(others)):
            if others[a] != xs[x] or (same and a == x):
                continue
            for b in range(len(others)):
                if others[b] == xs[x]:
                    continue
                counts[xs[x], others[b]] += 1
                if distances[x, a] > distances[x, b]:
                    errors[xs[x], others[b]] += 1
                elif distances[x, a] == distances[x, b]:
                    errors[xs[x], others[b]] += 0.5
    return errors, counts
