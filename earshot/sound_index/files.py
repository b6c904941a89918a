"""The files of sounds, wherever they lie: those of a bucket are fetched when they are opened."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from earshot.sound_index.address import in_bucket, parse_address


class Hashes(Protocol):
    """The hash of each file's content, where it is known: a dictionary, or one that is kept."""

    def get(self, path: Path, /) -> str | None: ...
    def __setitem__(self, path: Path, digest: str, /) -> None: ...


def folder_of(name: str) -> Path:
    """Read the path of a folder, or of a part of a bucket.

    Raises InputError for an address of a bucket that cannot be used, and where pyarrow is missing.
    """
    folder = parse_address(name)
    if in_bucket(folder):
        from earshot.sound_index import bucket  # late: an optional extra

        bucket.pyarrow()
    return folder


@contextmanager
def fetched(path: Path) -> Iterator[Path]:
    """Open the file on this machine: a copy of one in a bucket, which is deleted at the end.

    Raises UnreachableError where a bucket cannot be read, InputError where a file in it cannot, or
    is too large, and FileNotFoundError.
    """
    if not in_bucket(path):
        yield path
        return
    from earshot.sound_index import bucket  # late: an optional extra

    with bucket.fetched(path) as copy:
        yield copy


def on_disk(path: Path) -> Path:
    """Return the file on this machine, for a page that plays it: a copy of one in a bucket, kept
    while there is room.

    Raises InputError where it cannot be fetched; the message is for visitors.
    """
    if not in_bucket(path):
        return path
    from earshot.sound_index import bucket  # late: an optional extra

    return bucket.cached_copy(path)
