"""A library that stays on the disk, an optional extra.

Of each search, only what it finds is read, and it is written a sound at a time, so that it need not
fit in memory. Sounds are a table in SQLite, vectors .npy files.
"""

import hashlib
import json
import os
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np

from earshot.core.files import replacing
from earshot.sound_index.library import LazySequence, Library
from earshot.sound_index.nearest import MAX_EXACT, Nearest, map_layout, write_compact
from earshot.sound_index.sound import Entry, Filter, Sound
from earshot.sound_index.stored import (
    About,
    ArrayWriter,
    StoredArray,
    check_content,
    check_lists,
    commit,
    hash_of,
    new_file,
    relative,
)

TABLE: Final = """
CREATE TABLE sounds (id TEXT, path TEXT, name TEXT, caption TEXT, kind TEXT, seconds REAL,
    content_hash TEXT, licence TEXT, tags TEXT)
"""
INDEXES: Final = """
CREATE UNIQUE INDEX by_id ON sounds (id);
CREATE INDEX by_content ON sounds (content_hash);
CREATE INDEX by_path ON sounds (path);
"""
COLUMNS: Final = "id, path, name, caption, kind, seconds, content_hash, licence, tags"
ROWS_AT_ONCE: Final = 1000  # rows read or written


class Rows(LazySequence[Sound]):
    """The sounds of a file, in order; paths are relative to ``root``. Threads may share it, and it
    answers after the file is deleted."""

    def __init__(self, path: Path, root: Path) -> None:
        """Open the file. Raises sqlite3.DatabaseError if it is damaged."""
        self._root = root
        self._lock = threading.Lock()
        self._database = _connected(f"{path.absolute().as_uri()}?mode=ro&immutable=1")
        self._database.create_function("fold", 1, str.casefold, deterministic=True)
        self._length: int = self._one("SELECT max(rowid) FROM sounds", ())[0] or 0

    def __len__(self) -> int:
        return self._length

    def _at(self, number: int) -> Sound:
        number = int(number) + (len(self) if number < 0 else 0)
        row = self._one(f"SELECT {COLUMNS} FROM sounds WHERE rowid = ?", (number + 1,))
        if row is None:
            raise IndexError(number)
        return self._sound(row)

    def __iter__(self) -> Iterator[Sound]:
        return map(self._sound, self._rows())

    def name_hash(self) -> str:
        """Compute the hash that the file's name ends in, of what it holds, as RowWriter does."""
        digest = hashlib.blake2b(digest_size=8)
        for row in self._rows():
            digest.update(repr(list(row)).encode())
        return digest.hexdigest()

    def number(self, column: str, value: str) -> int | None:
        """Find the position of the first sound with this id, path or content_hash, if any."""
        query = f"SELECT min(rowid) FROM sounds WHERE {column} = ?"
        row = self._one(query, (value,))[0]
        return None if row is None else row - 1

    def count(self, content_hash: str) -> int:
        """Count the sounds with this content."""
        return self._one("SELECT count(*) FROM sounds WHERE content_hash = ?", (content_hash,))[0]

    def at(self, path: Path) -> int | None:
        """Find the position of the file, if it is among the sounds."""
        return self.number("path", relative(path, self._root))

    def passing(self, only: Filter) -> np.ndarray:
        """Mark the sounds that pass the filter: (n,), as ``only`` itself would say."""
        conditions, values = _conditions(only)
        query = f"SELECT rowid - 1 FROM sounds WHERE {' AND '.join(conditions)}"
        passes = np.zeros(len(self), bool)
        passes[[number for (number,) in self._all(query, values)]] = True
        return passes

    def licences(self) -> tuple[str, ...]:
        """List the licences of all sounds, sorted."""
        query = "SELECT DISTINCT licence FROM sounds WHERE licence != ''"
        return tuple(sorted(licence for (licence,) in self._all(query, ())))

    def tags(self) -> tuple[str, ...]:
        """List the tags of all sounds, sorted."""
        query = "SELECT DISTINCT value FROM sounds, json_each(sounds.tags)"
        return tuple(sorted(tag for (tag,) in self._all(query, ())))

    def _one(self, query: str, values: Sequence[Any]) -> Any:
        with self._lock:
            return self._database.execute(query, values).fetchone()

    def _all(self, query: str, values: Sequence[Any]) -> list[Any]:
        with self._lock:
            return self._database.execute(query, values).fetchall()

    def _rows(self) -> Iterator[tuple]:
        """Read all rows, some at a time."""
        query = f"SELECT {COLUMNS} FROM sounds WHERE rowid > ? AND rowid <= ? ORDER BY rowid"
        for begin in range(0, len(self), ROWS_AT_ONCE):
            yield from self._all(query, (begin, begin + ROWS_AT_ONCE))

    def _sound(self, row: tuple) -> Sound:
        sound = Sound(*row)
        return replace(sound, path=self._root / sound.path, tags=tuple(json.loads(row[-1])))


class Numbers(Mapping[str, int]):
    """A map from the id of each sound to its position."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def __getitem__(self, sound_id: str) -> int:
        number = self._rows.number("id", sound_id)
        if number is None:
            raise KeyError(sound_id)
        return number

    def __iter__(self) -> Iterator[str]:
        return (sound.id for sound in self._rows)

    def __len__(self) -> int:
        return len(self._rows)


class RowWriter:
    """A writer of sounds to a file, in order. What a writer that was killed left is overwritten."""

    def __init__(self, path: Path, root: Path) -> None:
        path.unlink(missing_ok=True)
        self._path, self._root = path, root
        self._digest = hashlib.blake2b(digest_size=8)
        self._database = _connected(path.absolute().as_uri())
        # The file is complete before it is opened: a journal would protect nothing.
        self._database.executescript(f"PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; {TABLE}")
        self._database.execute("BEGIN")

    def append(self, sound: Sound) -> None:
        row = [getattr(sound, column) for column in COLUMNS.split(", ")]
        row[1], row[-1] = relative(sound.path, self._root), json.dumps(sound.tags)
        self._digest.update(repr(row).encode())
        self._database.execute(f"INSERT INTO sounds VALUES ({', '.join('?' * len(row))})", row)

    def close(self) -> str:
        """Complete the file, flushed to disk → a hash of what it holds."""
        self._database.execute("COMMIT")
        self._database.executescript(INDEXES)
        self._database.close()
        with self._path.open("rb") as file:
            os.fsync(file.fileno())
        return self._digest.hexdigest()


def _connected(uri: str) -> sqlite3.Connection:
    return sqlite3.connect(uri, uri=True, check_same_thread=False, isolation_level=None)


def _conditions(only: Filter) -> tuple[list[str], list[Any]]:
    """Write the filter as SQL: its conditions, and the values of their question marks."""
    conditions = ["seconds BETWEEN ? AND ?"]
    values: list[Any] = [only.min_seconds, only.max_seconds]
    for column, chosen in (("kind", only.kinds), ("licence", only.licences), ("id", only.ids)):
        if chosen is not None:
            conditions.append(f"{column} IN (SELECT value FROM json_each(?))")
            values.append(json.dumps(sorted(chosen)))
    if only.tags:
        tagged = "SELECT 1 FROM json_each(tags) WHERE value IN (SELECT value FROM json_each(?))"
        conditions.append(f"EXISTS ({tagged})")
        values.append(json.dumps(sorted(only.tags)))
    for word in only.title.casefold().split():
        conditions.append("instr(fold(name || ' ' || caption), ?) > 0")
        values.append(word)
    return conditions, values


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


class _Entries(LazySequence[Entry]):
    """Entries of a library, each read anew."""

    def __init__(self, library: StoredLibrary) -> None:
        self._library = library

    def __len__(self) -> int:
        return len(self._library.rows)

    def _at(self, number: int) -> Entry:
        library = self._library
        sound = library.rows[number]  # which knows whether there is one
        begin, end = library.starts[number : number + 2, 0]
        return Entry(sound, library.vectors[begin:end], library.per_second(number))


class Writer:
    """The next version of the library of a folder, which no reader sees before ``commit``. A writer
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
            layout = map_layout(_Means(vectors, starts))
        places = ArrayWriter(self._file("layout"), 2, np.float32)
        places.append(layout)
        hashes["layout"] = places.close()
        if len(vectors) > MAX_EXACT:
            with replacing(self._file("nearest")) as file:
                write_compact(vectors, vectors.blocks(), Path(file.name))
            with self._file("nearest").open("rb") as file:
                hashes["nearest"] = hash_of(file)
        commit(self._folder, about, hashes)

    def _file(self, name: str) -> Path:
        return new_file(self._folder, name)


def write_to_disk(folder: Path, library: Library, about: About, dimension: int) -> None:
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
