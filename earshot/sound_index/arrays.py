"""Arrays in .npy files, of which rows are read when they are asked for.

Read by pread(2) and not mapped, so that no page that was read once stays in the process.
"""

import hashlib
import os
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from typing import BinaryIO, Final

import numpy as np

BLOCK: Final = 16_384  # rows read at once


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


def hash_of(file: BinaryIO) -> str:
    """Compute the hash of what is left to read of a file."""
    digest = hashlib.blake2b(digest_size=8)
    for block in iter(partial(file.read, 2**20), b""):
        digest.update(block)
    return digest.hexdigest()


def check_lists(path: Path, vectors: str) -> None:
    """Check FAISS' lists as ``check_content`` does. vectors: the file that they are of, whose hash
    their name had instead of their own in an index of an earlier version."""
    if path.stem.rpartition("-")[2] != Path(vectors).stem.rpartition("-")[2]:
        check_content(path)


class StoredArray:
    """The array (n, D) that ArrayWriter wrote. Reads go on after the file is deleted."""

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

    def blocks(self, size: int = BLOCK) -> Iterator[np.ndarray]:
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

    def __init__(self, path: Path, width: int, kind: type[np.generic]) -> None:
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
