"""Copies of a bucket's sounds for a page, which shows and plays files of this machine."""

import hashlib
import logging
import os
import tempfile
import threading
import time
from functools import cache
from pathlib import Path
from typing import Final

from earshot.core.errors import InputError
from earshot.pipelines.sound_search.large.bucket import UnreachableError, fetched, holds, suffix_of

AWAY: Final = "This sound cannot be fetched now. Try again later."
MAX_PLAYED: Final = 200 * 2**20  # bytes of one file
KEPT: Final = 2 * 2**30  # bytes of all copies
PAUSE: Final = 20.0  # seconds in which a bucket that did not answer is not asked again

logger = logging.getLogger("earshot")


def on_disk(path: Path) -> Path:
    """The file on this machine, for a page that plays it: a copy of one in a bucket, kept while
    there is room. Raises InputError where it cannot be fetched; the message is for visitors."""
    return _copies(tempfile.gettempdir())(path) if holds(path) else path


@cache
def _copies(_: str) -> "_Copies":
    """One for each temporary folder."""
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
            with fetched(path, MAX_PLAYED) as file, self._lock:
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
            if size > KEPT:
                copy.unlink()
