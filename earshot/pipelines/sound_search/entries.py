"""The vectors of one sound in a file of its own."""

from pathlib import Path
from typing import BinaryIO

import numpy as np

from earshot.core.files import replacing
from earshot.pipelines.sound_search.library import Entry, Sound


def write(path: Path, entry: Entry) -> None:
    """Write the vectors of one sound to a file, atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as file:
        pack(file, entry)


def pack(file: BinaryIO, entry: Entry) -> None:
    """Write the vectors of one sound, for ``read``."""
    np.savez(file, vectors=entry.vectors, seconds=entry.per_second, length=entry.sound.seconds)


def read(path: Path, digest: str) -> Entry:
    """The vectors that ``write`` wrote, of a file with this content."""
    with np.load(path) as arrays:
        length = float(arrays["length"])
        about = Sound("", path, path.name, "", "", length, digest)
        return Entry(about, arrays["vectors"], arrays["seconds"])
