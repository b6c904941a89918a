"""The text of a query, and which sounds it may find, without a model: imports no torch."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from earshot.core.errors import InputError
from earshot.pipelines.sound_search.large import bucket

if TYPE_CHECKING:
    from earshot.pipelines.sound_search.library import Sound

BACKENDS: Final = ("memory", "disk")  # in which an index is searched
MAX_CHARACTERS: Final = 1000
NONE_LEFT: Final = "No sound passes these filters. Loosen them, or empty them."


def index_of(folder: Path) -> Path:
    """Where the index of a folder of sounds is, unless it is told otherwise: beside it; that of a
    bucket, s3://BUCKET/PREFIX, is s3-BUCKET-PREFIX.index in the current folder."""
    if bucket.holds(folder):
        name = bucket.name_of(folder).removeprefix(bucket.SCHEME).replace("/", "-")
        folder = Path(f"s3-{name}")
    folder = folder.absolute()
    return folder.with_name(f"{folder.name}.index")


def clean(text: str) -> str:
    """The text without lone surrogates, which cannot be encoded, and surrounding white space."""
    return text.encode("utf-8", "ignore").decode().strip()


def check(text: str) -> None:
    """Raises InputError for a text that is too long, and for one without words."""
    check_length(text)
    if not any(character.isalnum() for character in text):
        raise InputError(
            "There are no words in this. Describe the sound, “a dog barks” for example."
        )


def check_length(text: str) -> None:
    """Raises InputError for a text that is too long."""
    if len(text) > MAX_CHARACTERS:
        raise InputError(
            f"This is too long ({len(text):,} characters). "
            f"Describe the sound in {MAX_CHARACTERS:,} characters or fewer."
        )


@dataclass(frozen=True)
class Filter:
    """title: words that the name or the caption holds, in any order; shortest and longest: in s;
    kinds: classes of sound, licences and ids: any if None; tags: a sound has one of them; any if
    there are none."""

    title: str = ""
    shortest: float = 0.0
    longest: float = math.inf
    kinds: frozenset[str] | None = None
    licences: frozenset[str] | None = None
    tags: frozenset[str] = frozenset()
    ids: frozenset[str] | None = None

    def __post_init__(self) -> None:
        """Raises InputError for lengths that no sound can have."""
        if not (math.isfinite(self.shortest) and self.shortest <= self.longest):
            raise InputError("The shortest length is above the longest. Exchange them.")

    def __call__(self, sound: "Sound") -> bool:
        """Whether the sound passes."""
        words = f"{sound.name} {sound.caption}".casefold()
        return (
            self.shortest <= sound.seconds <= self.longest
            and (self.kinds is None or sound.kind in self.kinds)
            and (self.licences is None or sound.licence in self.licences)
            and (not self.tags or not self.tags.isdisjoint(sound.tags))
            and (self.ids is None or sound.id in self.ids)
            and all(word in words for word in self.title.casefold().split())
        )


EVERYTHING: Final = Filter()
