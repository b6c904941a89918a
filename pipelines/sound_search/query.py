"""The text of a query, and which sounds it may find, without a model: imports no torch."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from media.errors import InputError

if TYPE_CHECKING:
    from pipelines.sound_search.library import Sound

NONE_LEFT: Final = "No sound passes these filters. Loosen them, or empty them."


def clean(text: str) -> str:
    """The text without lone surrogates, which cannot be encoded, and surrounding white space."""
    return text.encode("utf-8", "ignore").decode().strip()


@dataclass(frozen=True)
class Filter:
    """title: words that the name or the caption holds, in any order; shortest and longest: in s;
    kinds: classes of sound, any if None."""

    title: str = ""
    shortest: float = 0.0
    longest: float = math.inf
    kinds: frozenset[str] | None = None

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
            and all(word in words for word in self.title.casefold().split())
        )


EVERYTHING: Final = Filter()
