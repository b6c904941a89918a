"""Writes a library to the disk, a sound at a time: it need not fit in memory."""

import os
from pathlib import Path

import numpy as np

from earshot.core.files import replacing
from earshot.pipelines import map_layout
from earshot.pipelines.nearest import EXACT_LIMIT, write_compact
from earshot.pipelines.sound_search import store
from earshot.pipelines.sound_search.large.arrays import ArrayWriter, StoredArray
from earshot.pipelines.sound_search.large.library import means
from earshot.pipelines.sound_search.large.rows import RowWriter
from earshot.pipelines.sound_search.library import Entry, Library

ENDINGS = {"rows": "sqlite", "nearest": "faiss"}  # of files that are not .npy


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

    def commit(self, about: store.About, layout: np.ndarray | None = None) -> None:
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
            hashes["nearest"] = hashes["vectors"]
        files = {name: f"{name}-{h}.{ENDINGS.get(name, 'npy')}" for name, h in hashes.items()}
        for name, final in files.items():
            os.replace(self._file(name), self._folder / final)
        store.commit(self._folder, about, files)

    def _file(self, name: str) -> Path:
        """Where a file is while it is written."""
        return self._folder / f"{name}.new"


def write(folder: Path, library: Library, about: store.About, dimension: int) -> None:
    """Write a library that exists already."""
    writer = Writer(folder, dimension)
    for entry in library.entries:
        writer.put(entry)
    writer.commit(about, library.layout)


class _Means:
    """The means of the sounds (n, D), computed when they are asked for."""

    def __init__(self, vectors: StoredArray, starts: np.ndarray) -> None:
        self._vectors, self._starts = vectors, starts

    def __len__(self) -> int:
        return len(self._starts) - 1

    def __getitem__(self, numbers: slice | np.ndarray) -> np.ndarray:
        if isinstance(numbers, slice):
            numbers = np.arange(*numbers.indices(len(self)))
        return means(self._vectors, self._starts, numbers)
