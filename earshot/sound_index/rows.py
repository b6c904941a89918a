"""A table of sounds in SQLite: written in one go, then read a sound at a time."""

import hashlib
import json
import os
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, overload

import numpy as np

from earshot.sound_index.filter import Filter
from earshot.sound_index.manifest import relative
from earshot.sound_index.sound import Sound

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
AT_ONCE: Final = 1000  # rows read or written


class Rows(Sequence[Sound]):
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

    @overload
    def __getitem__(self, number: int) -> Sound: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[Sound]: ...
    def __getitem__(self, number: int | slice) -> Sound | Sequence[Sound]:
        if isinstance(number, slice):
            return [self[each] for each in range(*number.indices(len(self)))]
        number = int(number) + (len(self) if number < 0 else 0)
        row = self._one(f"SELECT {COLUMNS} FROM sounds WHERE rowid = ?", (number + 1,))
        if row is None:
            raise IndexError(number)
        return self._sound(row)

    def __iter__(self) -> Iterator[Sound]:
        for begin in range(0, len(self), AT_ONCE):
            query = f"SELECT {COLUMNS} FROM sounds WHERE rowid > ? AND rowid <= ? ORDER BY rowid"
            for row in self._all(query, (begin, begin + AT_ONCE)):
                yield self._sound(row)

    def name_hash(self) -> str:
        """Compute the hash that the file's name ends in, of what it holds, as RowWriter does."""
        digest = hashlib.blake2b(digest_size=8)
        for begin in range(0, len(self), AT_ONCE):
            query = f"SELECT {COLUMNS} FROM sounds WHERE rowid > ? AND rowid <= ? ORDER BY rowid"
            for row in self._all(query, (begin, begin + AT_ONCE)):
                digest.update(repr(list(row)).encode())
        return digest.hexdigest()

    def number(self, column: str, value: str) -> int | None:
        """Find the position of the first sound with this id, path or content_hash, if any."""
        query = f"SELECT min(rowid) FROM sounds WHERE {column} = ?"
        found = self._one(query, (value,))[0]
        return None if found is None else found - 1

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
        # The file is complete before anybody opens it: a journal would protect nothing.
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
