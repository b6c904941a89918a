"""Sounds in a bucket of S3, or of a store that speaks its protocol: an optional extra.

Listed and fetched by pyarrow, which looks for keys in the environment and in ~/.aws, and asks the
machine for its role. A page, which shows and plays files of this machine, gets copies, kept while
there is room.
"""

import hashlib
import logging
import os
import shutil
import sqlite3
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from earshot.core.errors import InputError
from earshot.sound_index.address import SCHEME, UnreachableError, key_of, name_of, suffix_of

MISSING: Final = (
    "Buckets need pyarrow. Install it with: pip install -r requirements-scale.txt, or the wheel "
    "with its extra [scale]."
)
LOST: Final = (
    "{name} cannot be read: {reason}. Check the name, and the keys in AWS_ACCESS_KEY_ID and "
    "AWS_SECRET_ACCESS_KEY or ~/.aws. Another store than Amazon's needs its address: "
    "?endpoint_override=HOST:PORT. What was done is kept: run the command again."
)
AWAY: Final = "This sound cannot be fetched now. Try again later."
MAX_FILE_BYTES: Final = 4 * 2**30  # of one file
MAX_PLAYED_BYTES: Final = 200 * 2**20  # of one file that a page plays
MAX_CACHE_BYTES: Final = 2 * 2**30  # of all copies for a page
BLOCK: Final = 8 * 2**20  # bytes fetched at once
PAUSE: Final = 20.0  # seconds in which a bucket that did not answer is not asked again
TABLE: Final = """
PRAGMA synchronous=OFF;
CREATE TABLE IF NOT EXISTS hashes (path TEXT PRIMARY KEY, version TEXT, hash TEXT)
"""

logger = logging.getLogger("earshot")


def list_files(folder: Path) -> dict[Path, str]:
    """List the files in a part of a bucket with their versions: size and time of change.

    What is hidden is left out, as are keys with empty parts, which no folder could hold. Raises
    UnreachableError.
    """
    filesystem = _filesystem(folder.parts[2])
    selector = pyarrow().FileSelector(key_of(folder), recursive=True)
    try:
        infos = filesystem.get_file_info(selector)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise UnreachableError(LOST.format(name=name_of(folder), reason=error)) from error
    bucket, versions = Path(*folder.parts[:3]), {}
    for file in infos:
        path = Path(f"{bucket}/{file.path.partition('/')[2]}")
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if file.is_file and not hidden and key_of(path) == file.path:
            versions[path] = f"{file.size} {file.mtime_ns}"
    return versions


@contextmanager
def fetched(path: Path, max_bytes: int = MAX_FILE_BYTES) -> Iterator[Path]:
    """Fetch a file: a copy of it on this machine, which is deleted at the end.

    Raises UnreachableError where the bucket cannot be read, InputError where the file cannot, or
    has more than ``max_bytes`` bytes, and FileNotFoundError.
    """
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "sound" + suffix_of(path))
        try:
            with _filesystem(path.parts[2]).open_input_file(key_of(path)) as source:
                if source.size() > max_bytes:
                    raise InputError(f"It is larger than {max_bytes / 2**20:,.0f} MB.")
                with copy.open("wb") as file:
                    shutil.copyfileobj(source, file, BLOCK)
        except FileNotFoundError:
            raise
        except OSError as error:
            _check(path)
            raise InputError(f"It cannot be fetched: {error}") from error
        yield copy


def cached_copy(path: Path) -> Path:
    """Return the copy of a file on this machine; it is fetched where there is none.

    Raises InputError where it cannot be fetched; the message is for visitors.
    """
    return _copies(tempfile.gettempdir())(path)


def pyarrow() -> Any:
    """Import pyarrow's file systems. Raises InputError where it is not installed."""
    try:
        return import_module("pyarrow.fs")
    except ModuleNotFoundError as error:
        raise InputError(MISSING) from error


@cache
def _filesystem(bucket: str) -> Any:
    """Open a bucket, given by its name and options. Raises UnreachableError."""
    try:
        return pyarrow().FileSystem.from_uri(SCHEME + bucket)[0]
    except (OSError, ValueError) as error:
        raise UnreachableError(LOST.format(name=SCHEME + bucket, reason=error)) from error


def _check(path: Path) -> None:
    """Ask the bucket. Raises UnreachableError unless it can be read."""
    bucket = Path(*path.parts[:3])
    try:
        _filesystem(path.parts[2]).get_file_info(key_of(bucket))
    except OSError as error:
        raise UnreachableError(LOST.format(name=name_of(bucket), reason=error)) from error


@cache
def _copies(_: str) -> "_Copies":
    """Keep copies in one place for each temporary folder."""
    return _Copies()


class _Copies:
    """Copies in a temporary folder, from which the oldest go where there is no room."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="bucket-")
        self._lock = threading.Lock()
        self._again = 0.0  # when a bucket that did not answer is asked again

    def __call__(self, path: Path) -> Path:
        name = hashlib.sha256(str(path).encode()).hexdigest()
        copy = Path(self._folder.name, name + suffix_of(path))
        try:
            os.utime(copy)  # the last to go
            return copy
        except FileNotFoundError:
            if time.monotonic() < self._again:
                raise InputError(AWAY) from None
        try:
            with fetched(path, MAX_PLAYED_BYTES) as file, self._lock:
                self._make_room(file.stat().st_size)
                os.replace(file, copy)
        except (InputError, OSError) as error:
            if isinstance(error, UnreachableError):
                logger.warning("%s", error)
                self._again = time.monotonic() + PAUSE
            raise InputError(AWAY) from error
        return copy

    def _make_room(self, size: int) -> None:
        folder = Path(self._folder.name)
        folder.mkdir(parents=True, exist_ok=True)
        newest = sorted(folder.iterdir(), key=lambda copy: copy.stat().st_mtime_ns, reverse=True)
        for copy in newest:
            size += copy.stat().st_size
            if size > MAX_CACHE_BYTES:
                copy.unlink()


class StoredHashes:
    """Hashes of a bucket's files, by which none is fetched again while it is the same.

    Written at once, so that a scan that was killed resumes. What is lost is hashed again.
    """

    def __init__(self, file: Path, versions: Mapping[Path, str]) -> None:
        """Open the file. versions: of all files that may be asked for; the others are forgotten."""
        file.parent.mkdir(parents=True, exist_ok=True)
        self._versions = versions
        try:
            self._database = _opened(file)
        except sqlite3.DatabaseError:  # damaged
            file.unlink()
            self._database = _opened(file)
        rows = self._database.execute("SELECT path FROM hashes")
        gone = [row for row in rows if Path(row[0]) not in versions]
        self._database.executemany("DELETE FROM hashes WHERE path = ?", gone)

    def get(self, path: Path) -> str | None:
        """Look up the hash of the file's content, if it is known."""
        query = "SELECT hash FROM hashes WHERE path = ? AND version = ?"
        row = self._database.execute(query, (str(path), self._versions[path])).fetchone()
        return row[0] if row else None

    def __setitem__(self, path: Path, digest: str) -> None:
        row = (str(path), self._versions[path], digest)
        self._database.execute("INSERT OR REPLACE INTO hashes VALUES (?, ?, ?)", row)


def _opened(file: Path) -> sqlite3.Connection:
    database = sqlite3.connect(file, isolation_level=None)
    database.executescript(TABLE)
    return database
