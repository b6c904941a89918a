"""A sound of a library: what is known of it, and its vectors."""

from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from earshot.core.files import replacing
from earshot.sound_index.files import on_disk


class Description(NamedTuple):
    """A file as captions.csv describes it: its class of sound, caption, licence and tags."""

    kind: str = ""
    caption: str = ""
    licence: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sound:
    """A file of a library.

    id: unchanged while content and name are; name: of the file; caption, kind (class of sound),
    licence and tags: empty where unknown; seconds: its duration; content_hash: SHA-256 of the file.
    """

    id: str
    path: Path
    name: str
    caption: str
    kind: str
    seconds: float
    content_hash: str
    licence: str = ""
    tags: tuple[str, ...] = ()

    @property
    def file(self) -> Path:
        """Give the file on this machine, for a page: one of a bucket is fetched, and kept a while.

        Raises InputError where it cannot be fetched.
        """
        return on_disk(self.path)

    @property
    def description(self) -> Description:
        return Description(self.kind, self.caption, self.licence, self.tags)


@dataclass(frozen=True, eq=False, slots=True)
class Entry:
    """A sound with unit vectors of N segments, float32 (N, D), and S seconds, float16 (S, D)."""

    sound: Sound
    vectors: np.ndarray
    per_second: np.ndarray

    def write(self, path: Path) -> None:
        """Write the vectors to a file of its own, atomically."""
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as file:
            self.pack(file)

    def pack(self, file: BinaryIO) -> None:
        """Write the vectors, for ``read``."""
        length = self.sound.seconds
        np.savez(file, vectors=self.vectors, seconds=self.per_second, length=length)

    @classmethod
    def read(cls, path: Path, digest: str) -> "Entry":
        """Read what ``write`` wrote, of a sound whose content has this hash."""
        with np.load(path) as arrays:
            length = float(arrays["length"])
            about = Sound("", path, path.name, "", "", length, digest)
            return cls(about, arrays["vectors"], arrays["seconds"])
