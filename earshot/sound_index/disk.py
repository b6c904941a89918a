"""A library that stays on the disk, an optional extra: of each search, only what it finds is read,
and it is written a sound at a time, so that it need not fit in memory."""

import os
import sqlite3
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Final, overload

import numpy as np

from earshot.core.files import replacing
from earshot.sound_index import map_layout
from earshot.sound_index.arrays import (
    ArrayWriter,
    StoredArray,
    check_content,
    check_lists,
    hash_of,
)
from earshot.sound_index.filter import Filter
from earshot.sound_index.library import Library
from earshot.sound_index.manifest import About, commit
from earshot.sound_index.nearest import EXACT_LIMIT, Nearest, write_compact
from earshot.sound_index.rows import Numbers, Rows, RowWriter
from earshot.sound_index.sound import Entry, Sound

ENDINGS: Final = {"rows": "sqlite", "nearest": "faiss"}  # of files that are not .npy


class StoredLibrary(Library):
    """The sounds of a folder that Writer wrote. Immutable like any library, and readable after a
    newer version has taken its place."""

    on_disk = True

    def __init__(self, folder: Path, files: dict[str, str]) -> None:
        """Open the files. files: the name in the folder of each of FILES. Raises ValueError if one
        is damaged, FileNotFoundError if it is gone.
        """
        for name in ("vectors", "seconds", "layout", "starts"):
            check_content(folder / files[name])
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
        if self.rows.name_hash() not in files["rows"]:
            raise ValueError(f"{files['rows']} does not hold what its name says.")
        counts = [len(self.vectors), len(self.seconds)]
        sizes = {len(self.layout), len(self.starts) - 1, len(self.rows)}
        if self.starts[-1].tolist() != counts or len(sizes) != 1:
            raise ValueError("the files belong to other sounds")
        lists = folder / files["nearest"] if "nearest" in files else None
        if lists:
            check_lists(lists, files["vectors"])
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
    """Entries of a library, each read anew."""

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


class Writer:
    """The next version of the library of a folder, which nobody sees before ``commit``. A writer
    that was killed leaves the version before, and files that the next one overwrites."""

    def __init__(self, folder: Path, dimension: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._vectors = ArrayWriter(self._file("vectors"), dimension, np.float32)
        self._seconds = ArrayWriter(self._file("seconds"), dimension, np.float16)
        self._starts = ArrayWriter(self._file("starts"), 2, np.int64)
        self._starts.append(np.zeros((1, 2)))
        self._rows = RowWriter(self._file("rows"), folder.absolute().parent)

    def put(self, entry: Entry) -> None:
        """Add a sound."""
        self._rows.append(entry.sound)
        self._vectors.append(entry.vectors)
        self._seconds.append(entry.per_second)
        self._starts.append(np.array([[self._vectors.size, self._seconds.size]]))

    def commit(self, about: About, layout: np.ndarray | None = None) -> None:
        """Complete the files, and let them take the place of those before.

        layout (n, 2): coordinates on the map, computed if None.
        """
        hashes = {
            "vectors": self._vectors.close(),
            "seconds": self._seconds.close(),
            "starts": self._starts.close(),
            "rows": self._rows.close(),
        }
        vectors = StoredArray(self._file("vectors"))
        starts = np.load(self._file("starts"), mmap_mode="r")
        if layout is None:
            layout = map_layout.layout(_Means(vectors, starts))
        places = ArrayWriter(self._file("layout"), 2, np.float32)
        places.append(layout)
        hashes["layout"] = places.close()
        if len(vectors) > EXACT_LIMIT:
            with replacing(self._file("nearest")) as file:
                write_compact(vectors, vectors.blocks(), Path(file.name))
            with self._file("nearest").open("rb") as file:
                hashes["nearest"] = hash_of(file)
        files = {name: f"{name}-{h}.{ENDINGS.get(name, 'npy')}" for name, h in hashes.items()}
        for name, final in files.items():
            os.replace(self._file(name), self._folder / final)
        commit(self._folder, about, files)

    def _file(self, name: str) -> Path:
        """Name a file while it is written."""
        return self._folder / f"{name}.new"


def write(folder: Path, library: Library, about: About, dimension: int) -> None:
    """Write a library that exists already to the disk."""
    writer = Writer(folder, dimension)
    for entry in library.entries:
        writer.put(entry)
    writer.commit(about, library.layout)


class _Means:
    """Means of the sounds (n, D), computed when they are asked for."""

    def __init__(self, vectors: StoredArray, starts: np.ndarray) -> None:
        self._vectors, self._starts = vectors, starts

    def __len__(self) -> int:
        return len(self._starts) - 1

    def __getitem__(self, numbers: slice | np.ndarray) -> np.ndarray:
        if isinstance(numbers, slice):
            numbers = np.arange(*numbers.indices(len(self)))
        return means(self._vectors, self._starts, numbers)


def means(vectors: StoredArray, starts: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Average the segments of each of m sounds, normalised, by starts (n + 1, 2): (m, D)."""
    counts = starts[numbers + 1, 0] - starts[numbers, 0]
    first = np.cumsum(counts) - counts
    rows = np.arange(counts.sum()) + np.repeat(starts[numbers, 0] - first, counts)
    sums = np.add.reduceat(vectors[rows], first, axis=0)
    return sums / np.linalg.norm(sums, axis=1, keepdims=True)
