"""A library that stays on the disk: of each search, only what it finds is read."""

import sqlite3
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Final, overload

import numpy as np

from earshot.pipelines.nearest import Nearest
from earshot.pipelines.sound_search.large.arrays import StoredArray
from earshot.pipelines.sound_search.large.rows import Numbers, Rows
from earshot.pipelines.sound_search.library import Entry, Library, Sound
from earshot.pipelines.sound_search.query import Filter

# Names of the files: vectors of segments, those of seconds, coordinates, the first row in either of
# each sound, what is known of them, and FAISS' lists of segments, which few need not have.
FILES: Final = ("vectors", "seconds", "layout", "starts", "rows", "nearest")


class StoredLibrary(Library):
    """The sounds of a folder that Writer wrote. Immutable like any library, and readable after a
    newer version has taken its place."""

    def __init__(self, folder: Path, files: dict[str, str]) -> None:
        """files: the name in the folder of each of FILES. Raises ValueError if one is damaged,
        FileNotFoundError if it is gone."""
        self.vectors, self.seconds = (
            StoredArray(folder / files[name]) for name in ("vectors", "seconds")
        )
        self.layout, self.starts = (
            np.load(folder / files[name], mmap_mode="r") for name in ("layout", "starts")
        )
        (folder / files["rows"]).stat()  # which SQLite would not say is missing
        try:
            self.rows = Rows(folder / files["rows"], folder.absolute().parent)
        except sqlite3.DatabaseError as error:
            raise ValueError(f"{files['rows']} is damaged.") from error
        counts = [len(self.vectors), len(self.seconds)]
        sizes = {len(self.layout), len(self.starts) - 1, len(self.rows)}
        if self.starts[-1].tolist() != counts or len(sizes) != 1:
            raise ValueError("the files belong to other sounds")
        lists = folder / files["nearest"] if "nearest" in files else None
        self.nearest = Nearest.read(lists, self.vectors, mapped=True)
        self.first_rows = self.starts[:, 0]
        self.sounds, self.numbers = self.rows, Numbers(self.rows)
        self.entries = _Entries(self)

    def at(self, path: Path) -> Sound | None:
        number = self.rows.at(path)
        return None if number is None else self.rows[number]

    def with_content(self, content_hash: str) -> Entry | None:
        number = self.rows.number("content_hash", content_hash)
        return None if number is None else self.entries[number]

    def in_memory(self) -> Library:
        return Library(list(self.entries), Nearest(self.vectors[:]), np.array(self.layout))

    def means(self, numbers: np.ndarray) -> np.ndarray:
        return means(self.vectors, self.starts, numbers)

    @cached_property
    def licences(self) -> tuple[str, ...]:
        return self.rows.licences()

    @cached_property
    def tags(self) -> tuple[str, ...]:
        return self.rows.tags()

    def copies(self, content_hash: str) -> int:
        return self.rows.count(content_hash)

    def per_second(self, number: int) -> np.ndarray:
        begin, end = self.starts[number : number + 2, 1]
        return self.seconds[begin:end]

    def passing(self, only: Filter) -> np.ndarray:
        return self.rows.passing(only)


class _Entries(Sequence[Entry]):
    """The entries of a library, each read anew."""

    def __init__(self, library: StoredLibrary) -> None:
        self._library = library

    def __len__(self) -> int:
        return len(self._library.rows)

    @overload
    def __getitem__(self, number: int) -> Entry: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[Entry]: ...
    def __getitem__(self, number: int | slice) -> Entry | Sequence[Entry]:
        if isinstance(number, slice):
            return [self[each] for each in range(*number.indices(len(self)))]
        library = self._library
        sound = library.rows[number]  # which knows whether there is one
        begin, end = library.starts[number : number + 2, 0]
        return Entry(sound, library.vectors[begin:end], library.per_second(number))


def means(vectors: StoredArray, starts: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Normalised means over the segments of each of m sounds, of starts (n + 1, 2): (m, D)."""
    counts = starts[numbers + 1, 0] - starts[numbers, 0]
    first = np.cumsum(counts) - counts
    rows = np.arange(counts.sum()) + np.repeat(starts[numbers, 0] - first, counts)
    sums = np.add.reduceat(vectors[rows], first, axis=0)
    return sums / np.linalg.norm(sums, axis=1, keepdims=True)
