"""Sounds with their vectors, as they are at one moment."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from media.errors import InputError
from pipelines import map_layout
from pipelines.nearest import Nearest

POOL: Final = 1000  # segments looked at in a library too large to look at all


@dataclass(frozen=True)
class Sound:
    """A file of a library.

    id: lasts as long as content and name do; name: of the file; caption and kind: empty where
    nobody wrote any; seconds: its length; content_hash: SHA-256 of the file.
    """

    id: str
    path: Path
    name: str
    caption: str
    kind: str
    seconds: float
    content_hash: str


@dataclass(frozen=True, eq=False)
class Entry:
    """A sound with unit vectors of its segments, float32 (N, D), and seconds, float16 (S, D)."""

    sound: Sound
    vectors: np.ndarray
    seconds: np.ndarray


class Found(NamedTuple):
    """Sounds, best first: their numbers in the library, their scores (those of their best
    segments), and which segments these are. Each (m,)."""

    numbers: np.ndarray
    scores: np.ndarray
    segments: np.ndarray


class Library:
    """Never changed once made: a search goes on in one while the next is being made."""

    def __init__(
        self, entries: Sequence[Entry], nearest: Nearest, layout: np.ndarray | None = None
    ) -> None:
        """nearest: of the vectors of all entries, in their order; layout (n, 2): made if None."""
        self.entries = tuple(entries)
        self.nearest = nearest
        self.sounds = tuple(entry.sound for entry in entries)
        self.numbers = {sound.id: number for number, sound in enumerate(self.sounds)}
        counts = [len(entry.vectors) for entry in entries]
        self._owners = np.repeat(np.arange(len(entries)), counts)  # the sound of each row: (N,)
        self._first_rows = np.cumsum([0, *counts])[:-1]
        self.layout = map_layout.layout(self.means) if layout is None else layout

    @cached_property
    def means(self) -> np.ndarray:
        """A unit vector a sound, the mean of its segments: (n, D)."""
        vectors = self.nearest.vectors
        sums = np.add.reduceat(vectors, self._first_rows, axis=0) if len(vectors) else vectors
        return sums / np.linalg.norm(sums, axis=1, keepdims=True)

    def entry(self, identity: str) -> Entry:
        """The sound with this id. Raises InputError where there is none (any more)."""
        if identity not in self.numbers:
            raise InputError("This sound is no longer in the library. Search again.")
        return self.entries[self.numbers[identity]]

    def find(self, query: np.ndarray, least: int = 10) -> Found:
        """The sounds whose segments are nearest to a unit vector (D,).

        All of them, if the library is small enough for an exact search; else those of the POOL
        nearest segments, or of more where these are of fewer than ``least`` sounds.
        """
        limit = len(self._owners) if self.nearest.exact else POOL
        while True:
            scores, rows = self.nearest.search(query.astype(np.float32), limit)
            _, first = np.unique(self._owners[rows], return_index=True)
            if len(first) >= least or len(rows) < limit or limit >= len(self._owners):
                break
            limit *= 4
        best = np.sort(first)  # rows come best first, so the first of each sound is its best
        numbers = self._owners[rows[best]]
        return Found(numbers, scores[best], rows[best] - self._first_rows[numbers])
