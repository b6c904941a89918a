"""Conditions on the sounds that a search may find."""

import math
from dataclasses import dataclass
from typing import Final

from earshot.core.errors import InputError
from earshot.sound_index.sound import Sound


@dataclass(frozen=True)
class Filter:
    """A filter: conditions on a sound.

    title: words that the name or the caption holds, in any order; min_seconds and max_seconds: of
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
        """Check the lengths. Raises InputError for those that no sound can have."""
        if not (math.isfinite(self.min_seconds) and self.min_seconds <= self.max_seconds):
            raise InputError("The shortest length is above the longest. Exchange them.")

    def __call__(self, sound: Sound) -> bool:
        """Tell whether the sound passes."""
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
