"""The sounds of an index with their vectors: an immutable snapshot."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from media.errors import InputError
from pipelines import map_layout
from pipelines.nearest import Nearest

POOL: Final = 1000  # the nearest segments, whose sounds a search ranks


class Description(NamedTuple):
    """What captions.csv says of a file: its class of sound, caption, licence and tags."""

    kind: str = ""
    caption: str = ""
    licence: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sound:
    """A file of a library.

    id: unchanged while content and name are; name: of the file; caption, kind (class of sound),
    licence and tags: empty where unknown; seconds: its duration; content_hash: SHA-256 of the file.
    """

    id: str
    path: Path
    name: str
    caption: str
    kind: str
    seconds: float
    content_hash: str
    licence: str = ""
    tags: tuple[str, ...] = ()

    @property
    def description(self) -> Description:
        return Description(self.kind, self.caption, self.licence, self.tags)


@dataclass(frozen=True, eq=False, slots=True)
class Entry:
    """A sound with unit vectors of N segments, float32 (N, D), and S seconds, float16 (S, D)."""

    sound: Sound
    vectors: np.ndarray
    per_second: np.ndarray


class Found(NamedTuple):
    """Sounds, best first: positions in the library, scores (of the best segment of each), and the
    numbers of these segments. Each (m,)."""

    numbers: np.ndarray
    scores: np.ndarray
    segments: np.ndarray


class Library:
    """Immutable: searches go on in one snapshot while the next is built."""

    def __init__(
        self, entries: Sequence[Entry], nearest: Nearest, layout: np.ndarray | None = None
    ) -> None:
        """nearest: of the vectors of all entries, in order; layout (n, 2): computed if None."""
        self.entries = tuple(entries)
        self.nearest = nearest
        self.sounds = tuple(entry.sound for entry in entries)
        self.numbers = {sound.id: number for number, sound in enumerate(self.sounds)}
        counts = [len(entry.vectors) for entry in entries]
        self._sound_of_row = np.repeat(np.arange(len(entries)), counts)  # (N,)
        self._first_rows = np.cumsum([0, *counts])[:-1]
        self.layout = map_layout.layout(self.means) if layout is None else layout

    @cached_property
    def means(self) -> np.ndarray:
        """The normalised mean over the segments of each sound: (n, D)."""
        vectors = self.nearest.vectors
        sums = np.add.reduceat(vectors, self._first_rows, axis=0) if len(vectors) else vectors
        return sums / np.linalg.norm(sums, axis=1, keepdims=True)

    @cached_property
    def licences(self) -> tuple[str, ...]:
        """Those of any sound, sorted."""
        return tuple(sorted({sound.licence for sound in self.sounds} - {""}))

    @cached_property
    def tags(self) -> tuple[str, ...]:
        """Those of any sound, sorted."""
        return tuple(sorted({tag for sound in self.sounds for tag in sound.tags}))

    @cached_property
    def copies(self) -> Counter[str]:
        """How many sounds have each content, by its hash."""
        return Counter(sound.content_hash for sound in self.sounds)

    def entry(self, sound_id: str) -> Entry:
        """The sound with this id. Raises InputError if there is none, or no longer."""
        if sound_id not in self.numbers:
            raise InputError("This sound is no longer in the library. Search again.")
        return self.entries[self.numbers[sound_id]]

    def find(self, query: np.ndarray, least: int = 10, among: np.ndarray | None = None) -> Found:
        """The sounds of the POOL segments that are nearest to a unit vector (D,).

        More segments are taken where these belong to fewer than ``least`` sounds. among (n,): the
        sounds that may be found; then every one of them is compared.
        """
        if among is not None:
            allowed = np.flatnonzero(among[self._sound_of_row])
            scores = self.nearest.vectors[allowed] @ query.astype(np.float32)
            order = np.argsort(-scores, kind="stable")
            return self._best_of_each(scores[order], allowed[order])
        limit = POOL
        while True:
            scores, rows = self.nearest.search(query.astype(np.float32), limit)
            found = self._best_of_each(scores, rows)
            enough = len(found.numbers) >= least or len(rows) < limit
            if enough or limit >= len(self._sound_of_row):
                return found
            limit *= 4

    def _best_of_each(self, scores: np.ndarray, rows: np.ndarray) -> Found:
        """Of segments, best first, the first of each sound."""
        _, first = np.unique(self._sound_of_row[rows], return_index=True)
        best = np.sort(first)
        numbers = self._sound_of_row[rows[best]]
        return Found(numbers, scores[best], rows[best] - self._first_rows[numbers])
