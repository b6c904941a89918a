"""The stored form of an index: a folder of files named by a hash of their content, and a manifest.

The manifest, index.json, is replaced last, in one step, so that a reader sees the old index or the
new one and never a mixture of both. Of the backend "memory" it describes every sound; of "disk",
SQLite does (see disk.py). Arrays are .npy files.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cache, partial
from io import BufferedReader
from pathlib import Path
from typing import Any, BinaryIO, Final
from zipfile import BadZipFile

import numpy as np
from numpy.typing import DTypeLike

from earshot.core.errors import InputError
from earshot.core.files import replacing

MANIFEST: Final = "index.json"
FORMAT: Final = 1
# Names of the files: vectors of segments, those of seconds, coordinates, the first row in either of
# each sound, what is known of them, and FAISS' lists of segments, which few need not have.
FILES: Final = ("vectors", "seconds", "layout", "starts", "rows", "nearest")
ENDINGS: Final = {"rows": "sqlite", "nearest": "faiss"}  # of files that are not .npy
MISSING: Final = (
    "There is no index of sounds here. Make one with: python -m earshot sounds index FOLDER"
)
DAMAGED: Final = (
    "This index of sounds is damaged. Delete it and make it again with: "
    "python -m earshot sounds index FOLDER"
)
ROWS_AT_ONCE: Final = 16_384


@dataclass(frozen=True)
class About:
    """The model that embedded the sounds: its name, and the fingerprint that identifies it."""

    encoder: str
    fingerprint: str


def new_file(folder: Path, name: str) -> Path:
    """Name a file of FILES while it is written. What a killed writer left is overwritten."""
    return folder / f"{name}.new"


def commit(
    folder: Path, about: About, hashes: Mapping[str, str], sounds: Sequence[dict[str, Any]] = ()
) -> None:
    """Make new files the index, in one step, and delete those of the index before.

    hashes: of the content of each new file; sounds: what the manifest says of them.
    """
    files = {name: f"{name}-{digest}.{ENDINGS.get(name, 'npy')}" for name, digest in hashes.items()}
    for name, final in files.items():
        os.replace(new_file(folder, name), folder / final)
    manifest = {"format": FORMAT, **asdict(about), "files": files, "sounds": sounds}
    with replacing(folder / MANIFEST) as file:
        file.write((json.dumps(manifest, indent=1, ensure_ascii=False) + "\n").encode())
    for name in FILES:
        for old in folder.glob(f"{name}-*"):
            if old.name not in files.values():
                old.unlink()


@contextmanager
def damage_reported(message: str) -> Iterator[None]:
    """Raise InputError with the message where stored content is not what its reader expects."""
    try:
        yield
    except InputError:
        raise
    except (ValueError, TypeError, KeyError, AttributeError, EOFError, BadZipFile) as error:
        raise InputError(message) from error


def time_written(folder: Path) -> int:
    """Return when the index was last written, in ns. Raises InputError if there is no index."""
    try:
        return (folder / MANIFEST).stat().st_mtime_ns
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(MISSING) from None


def relative(path: Path, root: Path) -> str:
    """Write a path as it is stored: relative to root if it is below it, so that both can be moved
    together."""
    return (path.relative_to(root) if path.is_relative_to(root) else path).as_posix()


def check_content(path: Path) -> None:
    """Check a file once a start. Raises ValueError unless its content has the hash in its name, as
    NAME-HASH.npy."""
    about = path.stat()
    if name_hash(path, about.st_size, about.st_mtime_ns) != path.stem.rpartition("-")[2]:
        raise ValueError(f"{path.name} does not hold what its name says.")


@cache
def name_hash(path: Path, *_: int) -> str:
    """Compute the hash that a file's name ends in: of its content, of an array without its header,
    once for each version of the file."""
    with path.open("rb") as file:
        if path.suffix == ".npy":
            np.lib.format.read_magic(file)
            np.lib.format.read_array_header_1_0(file)
        return hash_of(file)


def hash_of(file: BufferedReader) -> str:
    """Compute the hash of what is left to read of a file."""
    return hashlib.file_digest(file, partial(hashlib.blake2b, digest_size=8)).hexdigest()


def check_lists(path: Path, vectors: str) -> None:
    """Check FAISS' lists as ``check_content`` does. vectors: the file that they are of, whose hash
    their name had instead of their own in an index of an earlier version."""
    if path.stem.rpartition("-")[2] != Path(vectors).stem.rpartition("-")[2]:
        check_content(path)


class StoredArray:
    """The array (n, D) that ArrayWriter wrote, of which rows are read when they are needed.

    Read by pread(2) and not mapped, so that no page that was read once stays in the process. Reads
    go on after the file is deleted.
    """

    def __init__(self, path: Path) -> None:
        """Open the file. Raises ValueError if it is damaged."""
        self._file = path.open("rb", buffering=0)
        if np.lib.format.read_magic(self._file) != (1, 0):
            raise ValueError(f"{path.name} is of another version.")
        self.shape, _, self.dtype = np.lib.format.read_array_header_1_0(self._file)
        self._start = self._file.tell()
        self._bytes = self.shape[1] * self.dtype.itemsize  # of a row
        if os.fstat(self._file.fileno()).st_size != self._start + len(self) * self._bytes:
            raise ValueError(f"{path.name} is not as long as it says.")

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice | np.ndarray) -> np.ndarray:
        """Read rows, without a step or by their numbers (m,): (m, D)."""
        if isinstance(rows, slice):
            begin, end, _ = rows.indices(len(self))
            read = np.empty((max(0, end - begin), self.shape[1]), self.dtype)
            self._read(begin, read)
            return read
        read = np.empty((len(rows), self.shape[1]), self.dtype)
        # Rows that follow each other are read at once.
        begins = np.flatnonzero(np.diff(rows, prepend=-2) != 1)
        ends = np.append(begins, len(rows))[1:]
        for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
            self._read(int(rows[begin]), read[begin:end])
        return read

    def __matmul__(self, query: np.ndarray) -> np.ndarray:
        """Compute the inner product of every row with ``query`` (D,): (n,)."""
        blocks = [block @ query for block in self.blocks()]
        return np.concatenate(blocks) if blocks else np.zeros(0, np.float32)

    def blocks(self, size: int = ROWS_AT_ONCE) -> Iterator[np.ndarray]:
        """Yield all rows, in order: (size, D) each, the last smaller."""
        for begin in range(0, len(self), size):
            yield self[begin : begin + size]

    def _read(self, row: int, target: np.ndarray) -> None:
        view = target.reshape(-1).view(np.uint8).data
        position = self._start + row * self._bytes
        while view:  # one read returns 2 GB at most
            done = os.preadv(self._file.fileno(), [view], position)
            if not done:
                raise OSError(f"{self._file.name} ends too early.")
            view, position = view[done:], position + done


class ArrayWriter:
    """A writer of an array (n, D) row by row."""

    def __init__(self, path: Path, width: int, kind: DTypeLike) -> None:
        self.path, self.size = path, 0
        self._width, self._kind = width, np.dtype(kind)
        self._digest = hashlib.blake2b(digest_size=8)
        self._file: BinaryIO = path.open("wb")
        self._header()

    def append(self, rows: np.ndarray) -> None:
        """Add rows (m, D)."""
        data = np.ascontiguousarray(rows, self._kind).reshape(-1, self._width).data
        self._digest.update(data)
        self._file.write(data)
        self.size += len(rows)

    def close(self) -> str:
        """Complete the file, flushed to disk → a hash of its content."""
        self._file.seek(0)
        self._header()
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        return self._digest.hexdigest()

    def _header(self) -> None:
        """Write the header, as long for any number of rows: NumPy leaves room for it."""
        header = {"descr": np.lib.format.dtype_to_descr(self._kind), "fortran_order": False}
        np.lib.format.write_array_header_1_0(
            self._file, {**header, "shape": (self.size, self._width)}
        )
