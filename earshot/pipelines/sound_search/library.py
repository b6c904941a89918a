"""The sounds of an index with their vectors: an immutable snapshot."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from earshot.core.errors import InputError
from earshot.pipelines import map_layout
from earshot.pipelines.nearest import EXACT_LIMIT, Nearest
from earshot.pipelines.sound_search.large.copies import on_disk
from earshot.pipelines.sound_search.query import Filter

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
    def file(self) -> Path:
        """On this machine, for a page: one of a bucket is fetched, and kept for a while.

        Raises InputError where it cannot be fetched.
        """
        return on_disk(self.path)

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

    entries: Sequence[Entry]
    sounds: Sequence[Sound]
    numbers: Mapping[str, int]  # the position of a sound by its id
    layout: np.ndarray  # coordinates on the map (n, 2)

    def __init__(
        self, entries: Sequence[Entry], nearest: Nearest, layout: np.ndarray | None = None
    ) -> None:
        """nearest: of the vectors of all entries, in order; layout (n, 2): computed if None."""
        self.entries = tuple(entries)
        self.nearest = nearest
        self.sounds = tuple(entry.sound for entry in entries)
        self.numbers = {sound.id: number for number, sound in enumerate(self.sounds)}
        counts = [len(entry.vectors) for entry in entries]
        # The first row of each sound, and the number of rows: (n + 1,)
        self.first_rows = np.cumsum([0, *counts])
        self.layout = map_layout.layout(self._means) if layout is None else layout

    @cached_property
    def _means(self) -> np.ndarray:
        """The normalised mean over the segments of each sound: (n, D)."""
        vectors = self.nearest.vectors[:]
        sums = np.add.reduceat(vectors, self.first_rows[:-1], axis=0) if len(vectors) else vectors
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
    def _copies(self) -> Counter[str]:
        return Counter(sound.content_hash for sound in self.sounds)

    @cached_property
    def _by_path(self) -> dict[Path, Sound]:
        return {sound.path: sound for sound in self.sounds}

    @cached_property
    def _by_content(self) -> dict[str, Entry]:
        return {entry.sound.content_hash: entry for entry in self.entries}

    def at(self, path: Path) -> Sound | None:
        """The sound of this file, if it is in the library."""
        return self._by_path.get(path)

    def with_content(self, content_hash: str) -> Entry | None:
        """A sound with this content, if there is one."""
        return self._by_content.get(content_hash)

    def in_memory(self) -> "Library":
        """The same library, all of it in memory."""
        return self

    def means(self, numbers: np.ndarray) -> np.ndarray:
        """The normalised mean over the segments of each of m sounds: (m, D)."""
        return self._means[numbers]

    def copies(self, content_hash: str) -> int:
        """How many sounds have this content."""
        return self._copies[content_hash]

    def per_second(self, number: int) -> np.ndarray:
        """Unit vectors of the seconds of a sound: float16 (S, D)."""
        return self.entries[number].per_second

    def passing(self, only: Filter) -> np.ndarray:
        """Which sounds pass the filter: (n,)."""
        return np.array([only(sound) for sound in self.sounds], bool)

    def entry(self, sound_id: str) -> Entry:
        """The sound with this id. Raises InputError if there is none, or no longer."""
        number = self.numbers.get(sound_id)
        if number is None:
            raise InputError("This sound is no longer in the library. Search again.")
        return self.entries[number]

    def find(self, query: np.ndarray, least: int = 10, among: np.ndarray | None = None) -> Found:
        """The sounds of the POOL segments that are nearest to a unit vector (D,).

        More segments are taken where these belong to fewer than ``least`` sounds. among (n,): the
        sounds that may be found; every one of them is, if they have EXACT_LIMIT segments at most.
        """
        query, limit, total = query.astype(np.float32), POOL, int(self.first_rows[-1])
        rows_among = None
        if among is not None:
            rows_among = np.flatnonzero(np.repeat(among, np.diff(self.first_rows)))
            total = len(rows_among)
            limit = total if total <= EXACT_LIMIT else POOL
        while True:
            scores, rows = self.nearest.search(query, limit, rows_among)
            found = self._best_of_each(scores, rows)
            enough = len(found.numbers) >= least or len(rows) < limit
            if enough or limit >= total:
                return found
            limit *= 4

    def _best_of_each(self, scores: np.ndarray, rows: np.ndarray) -> Found:
        """Of segments, best first, the first of each sound."""
        sounds = np.searchsorted(self.first_rows, rows, side="right") - 1
        _, first = np.unique(sounds, return_index=True)
        best = np.sort(first)
        numbers = sounds[best]
        return Found(numbers, scores[best], rows[best] - self.first_rows[numbers])
