"""Files that are replaced in one step, so that a reader sees the old content or the new; those of a
folder, and the hash of one.
"""

import contextlib
import hashlib
import os
import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from earshot.core.errors import InputError


def check_new(paths: Iterable[Path], overwrite: bool) -> None:
    """Check that nothing is where a command is to write, but what it may ``overwrite``.

    Raises InputError. What is no regular file and no folder, /dev/stdout for example, may be there.
    """
    for path in paths:
        if not overwrite and (os.path.isfile(path) or os.path.isdir(path)):
            raise InputError(f"{path} is there already: name another, or add --overwrite.")


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a file to write that replaces ``path`` at the end, complete and flushed to disk.

    After an error, such as a full disk, ``path`` is as it was, and nothing else is left. What
    is no regular file, /dev/stdout for example, is written to.
    """
    path = path.resolve()  # a link stays a link
    if path.exists() and not path.is_file():
        with path.open("wb") as file:
            yield file
        return
    temporary = path.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            with contextlib.suppress(OSError):  # some disks keep no permissions
                temporary.chmod(path.stat().st_mode & 0o7777)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    with contextlib.suppress(OSError):  # folders of some disks cannot be flushed
        directory = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)


def write(path: Path, content: bytes) -> None:
    """Write a file as ``replacing`` does; folders that are missing are made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as file:
        file.write(content)


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file's content, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def walk_files(
    folder: Path, on_error: Callable[[Path, str], object] | None = None
) -> Iterator[Path]:
    """List the files in a folder and its subfolders, in no order. What is hidden is left out.

    Links to folders are followed, each real folder once: under its own name, if that is below.
    on_error: is given each folder or link that cannot be opened, and why.
    """
    seen: set[tuple[int, int]] = set()
    folders, links = [folder], []
    while folders or links:
        parent = (folders or links).pop()
        try:
            about = parent.stat()
            if (about.st_dev, about.st_ino) in seen:
                continue
            seen.add((about.st_dev, about.st_ino))
            names = sorted(os.listdir(parent))
        except OSError as error:
            if on_error:
                on_error(parent, error.strerror or str(error))
            continue
        for path in (parent / name for name in names if not name.startswith(".")):
            if path.is_symlink() and not os.path.isfile(path):
                links.append(path)  # to a folder, or to nothing
            elif os.path.isdir(path):
                folders.append(path)
            elif os.path.isfile(path):
                yield path


def files_below(folder: Path) -> list[Path]:
    """List the files in a folder and its subfolders, sorted. What is hidden is left out."""
    return sorted(walk_files(folder))
