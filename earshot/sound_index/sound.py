"""A sound of a library: its description and its vectors, and conditions on what a search finds."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

import numpy as np

from earshot.core.errors import InputError
from earshot.core.files import replacing
from earshot.sound_index.files import on_disk

MAX_TITLE: Final = 200  # characters of what a title is looked through for


class Description(NamedTuple):
    """A file as captions.csv describes it: its class of sound, captions, separated by " | ",
    licence and tags."""

    kind: str = ""
    caption: str = ""
    licence: str = ""
    tags: tuple[str, ...] = ()

    @property
    def first_caption(self) -> str:
        return self.caption.partition(" | ")[0]


@dataclass(frozen=True, slots=True)
class Sound:
    """A file of a library.

    id: unchanged while content and name are; name: of the file; caption (one or more, separated by
    " | "), kind (class of sound), licence and tags: empty where unknown; seconds: its duration;
    content_hash: SHA-256 of the file.
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
        """Return the file on this machine, for a page: that of a bucket is fetched, and cached.

        Raises InputError where it cannot be fetched.
        """
        return on_disk(self.path)

    @property
    def description(self) -> Description:
        return Description(self.kind, self.caption, self.licence, self.tags)

    @property
    def first_caption(self) -> str:
        return self.description.first_caption


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


@dataclass(frozen=True)
class Filter:
    """A filter: conditions on a sound.

    title: words that the name or the captions hold, in any order; min_seconds and max_seconds: of
    its length; kinds (classes of sound), licences and ids: any if None; tags: a sound has one of
    them; any if there are none.
    """

    title: str = ""
    min_seconds: float = 0.0
    max_seconds: float = math.inf
    kinds: frozenset[str] | None = None
    licences: frozenset[str] | None = None
    tags: frozenset[str] = frozenset()
    ids: frozenset[str] | None = None

    def __post_init__(self) -> None:
        """Check the lengths, and that the title is one. Raises InputError for lengths that no
        sound can have, and for a longer title than any."""
        if len(self.title) > MAX_TITLE:
            raise InputError(f"Give a title of {MAX_TITLE} characters at most, or a word of it.")
        if not (math.isfinite(self.min_seconds) and self.min_seconds <= self.max_seconds):
            raise InputError("The shortest length is above the longest. Exchange them.")

    def __call__(self, sound: Sound) -> bool:
        """Whether the sound passes."""
        words = f"{sound.name} {sound.caption}".casefold()
        return (
            self.min_seconds <= sound.seconds <= self.max_seconds
            and (self.kinds is None or sound.kind in self.kinds)
            and (self.licences is None or sound.licence in self.licences)
            and (not self.tags or not self.tags.isdisjoint(sound.tags))
            and (self.ids is None or sound.id in self.ids)
            and all(word in words for word in self.title.casefold().split())
        )


EVERYTHING: Final = Filter()
