"""A visitor's own vocabulary: nearest-neighbour recognition from a few examples of each word."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from earshot.core.errors import InputError

MAX_WORDS: Final = 12
MAX_EXAMPLES: Final = 3  # of each word
MAX_NAME: Final = 40  # characters


@dataclass(frozen=True)
class VocabularyMatch:
    """A recognised word. name: the recognised word, None where the cosine to all words is below the
    threshold; cosines: to each word, highest first.
    """

    name: str | None
    cosines: tuple[tuple[str, float], ...]
    threshold: float


class Vocabulary:
    """Words by name, each with the unit vectors (D,) of its recordings; no audio is kept."""

    def __init__(self) -> None:
        self._examples: dict[str, list[np.ndarray]] = {}

    @property
    def words(self) -> dict[str, int]:
        """Count the recordings of each word, in the order in which words were added."""
        return {name: len(vectors) for name, vectors in self._examples.items()}

    def check(self, name: str) -> str:
        """Check a name, and strip it of spaces around it, as it is stored.

        Raises InputError where no further recording of this name can be added.
        """
        name = " ".join(name.split())
        if not any(letter.isalnum() for letter in name):
            raise InputError("The word has no name yet. Type one first, then record.")
        if len(name) > MAX_NAME:
            raise InputError(f"This name is too long: at most {MAX_NAME} letters.")
        if len(self._examples.get(name, ())) >= MAX_EXAMPLES:
            raise InputError(
                f"There are {MAX_EXAMPLES} recordings of “{name}” already, and that is enough. "
                "Type another name, or remove the word and start it again."
            )
        if name not in self._examples and len(self._examples) >= MAX_WORDS:
            raise InputError(f"There is room for {MAX_WORDS} words. Remove one first.")
        return name

    def add(self, name: str, vector: np.ndarray) -> None:
        """Add a recording's vector as an example of the word. Raises InputError as check does."""
        self._examples.setdefault(self.check(name), []).append(vector)

    def remove(self, name: str) -> None:
        """Remove a word, if it is there."""
        self._examples.pop(name, None)

    def clear(self) -> None:
        """Remove all words."""
        self._examples.clear()

    def find(self, vector: np.ndarray, threshold: float) -> VocabularyMatch:
        """Compare a recording's unit vector (D,) with every word, by the word's closest example.

        Raises InputError where there are no words yet.
        """
        if not self._examples:
            raise InputError("There are no words of yours yet. Record some first.")
        best = {n: float(max(v @ vector for v in vs)) for n, vs in self._examples.items()}
        cosines = tuple(sorted(best.items(), key=lambda pair: -pair[1]))
        name, cosine = cosines[0]
        return VocabularyMatch(name if cosine >= threshold else None, cosines, threshold)
