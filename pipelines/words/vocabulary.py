"""A visitor's own words, told by example: say one, and the nearest of them is found."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from media.errors import InputError

MOST_WORDS: Final = 12
MOST_EXAMPLES: Final = 3  # of each word
LONGEST_NAME: Final = 40  # characters


@dataclass(frozen=True)
class Found:
    """The word that was said, None where it is none of them; and the cosine to each word, the
    highest first. threshold: the cosine from which on a word counts as said."""

    name: str | None
    cosines: tuple[tuple[str, float], ...]
    threshold: float


class Vocabulary:
    """Words by name, each with the unit vectors (D,) of its recordings; no sound is kept."""

    def __init__(self) -> None:
        self._examples: dict[str, list[np.ndarray]] = {}

    @property
    def words(self) -> dict[str, int]:
        """How many recordings there are of each word, in the order of their coming."""
        return {name: len(vectors) for name, vectors in self._examples.items()}

    def check(self, name: str) -> str:
        """The name as it is kept: without spaces around it.

        Raises InputError where there can be no further recording of this name.
        """
        name = " ".join(name.split())
        if not any(letter.isalnum() for letter in name):
            raise InputError("The word has no name yet. Type one first, then record.")
        if len(name) > LONGEST_NAME:
            raise InputError(f"This name is too long: at most {LONGEST_NAME} letters.")
        if len(self._examples.get(name, ())) >= MOST_EXAMPLES:
            raise InputError(
                f"There are {MOST_EXAMPLES} recordings of “{name}” already, and that is enough. "
                "Type another name, or remove the word and start it again."
            )
        if name not in self._examples and len(self._examples) >= MOST_WORDS:
            raise InputError(f"There is room for {MOST_WORDS} words. Remove one first.")
        return name

    def add(self, name: str, vector: np.ndarray) -> None:
        """Takes a recording's vector as an example of the word. Raises InputError as check does."""
        self._examples.setdefault(self.check(name), []).append(vector)

    def remove(self, name: str) -> None:
        """Forgets a word, if it is there."""
        self._examples.pop(name, None)

    def clear(self) -> None:
        """Forgets all words."""
        self._examples.clear()

    def find(self, vector: np.ndarray, threshold: float) -> Found:
        """Compares a recording's unit vector (D,) with every word, by its nearest recording.

        Raises InputError where there are no words yet.
        """
        if not self._examples:
            raise InputError("There are no words of yours yet. Record some first.")
        best = {n: float(max(v @ vector for v in vs)) for n, vs in self._examples.items()}
        cosines = tuple(sorted(best.items(), key=lambda pair: -pair[1]))
        name, cosine = cosines[0]
        return Found(name if cosine >= threshold else None, cosines, threshold)
