"""The words among which neighbours are searched: a library, and a visitor's own vocabulary.

The library of spoken and written words, with their map layouts, is made in advance (python -m
synthetic.words index) and read-only. Shapes: N words, D dimensions of a vector.
"""

import csv
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final, Literal

import numpy as np

from earshot.core.errors import InputError
from earshot.sound_index.nearest import Nearest, place_on_map
from earshot.sound_index.stored import damage_reported

View = Literal["spoken", "written"]

ABOUT: Final = "about.json"
ARRAYS: Final = "arrays.npz"
WORDS: Final = "words.csv"
PROJECTION: Final = ("mean", "axes", "low", "high")  # names of arrays
COLUMNS: Final = ("file", "spelling", "phonemes", "language", "gloss", "voice")
MAKE: Final = "Make it with: python -m synthetic.words index"
DAMAGED: Final = f"This library of words is damaged. {MAKE}"
MAX_WORDS: Final = 12  # of a vocabulary
MAX_EXAMPLES: Final = 3  # of each word
MAX_NAME: Final = 40  # characters


@dataclass(frozen=True)
class LibraryWord:
    """A word spoken by one voice, or a written word, which has no voice and no path.

    gloss: for words typed in pinyin or IPA, the usual spelling and the meaning.
    """

    id: str
    spelling: str
    phonemes: tuple[str, ...]
    language: str
    voice: str | None
    path: Path | None
    gloss: str = ""


@dataclass(frozen=True, eq=False)
class Projection:
    """Projection onto the first two principal components: mean (D,), axes (D, 2), and the lowest
    and highest coordinates in the library, (2,) each."""

    mean: np.ndarray
    axes: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def __call__(self, vectors: np.ndarray) -> np.ndarray:
        """Map vectors (N, D) → coordinates (N, 2) in [0, 1]."""
        places = ((vectors - self.mean) @ self.axes - self.low) / (self.high - self.low)
        return np.clip(places, 0.0, 1.0).astype(np.float32)


class WordLibrary:
    """Words with unit vectors (N, D); ``spoken`` and ``written`` are the rows of each view.

    The map has two layouts, "pca" and "tsne". trustworthiness: of each at k = 10, from 0 to 1
    (Venna & Kaski 2001), for the words that have a recording.
    """

    def __init__(
        self,
        words: Sequence[LibraryWord],
        vectors: np.ndarray,
        projection: Projection,
        tsne: np.ndarray,
        trustworthiness: Mapping[str, float],
        fingerprint: str,
    ) -> None:
        """Keep the words. tsne (N, 2): coordinates in [0, 1]; fingerprint: of the model that made
        the vectors.
        """
        self.words = tuple(words)
        self.vectors = np.asarray(vectors, np.float32)
        self.trustworthiness = trustworthiness
        self.fingerprint = fingerprint
        spoken = np.array([word.voice is not None for word in words], bool)
        self.spoken, self.written = np.flatnonzero(spoken), np.flatnonzero(~spoken)
        self._projection = projection
        self._places = {
            "pca": projection(self.vectors),
            "tsne": np.asarray(tsne, np.float32),
        }
        self._nearest: dict[View, Nearest] = {
            "spoken": Nearest(self.vectors[self.spoken]),
            "written": Nearest(self.vectors[self.written]),
        }

    @cached_property
    def same_word_share(self) -> float:
        """Compute the share of recordings whose nearest other recording is of the same word; of
        those that have another of it. NaN where none has."""
        vectors = self.vectors[self.spoken]
        words = [self.words[row].phonemes for row in self.spoken]
        number = {word: i for i, word in enumerate(dict.fromkeys(words))}
        labels = np.array([number[word] for word in words], int)
        cosines = vectors @ vectors.T
        np.fill_diagonal(cosines, -np.inf)
        several = np.bincount(labels)[labels] > 1 if len(labels) else np.zeros(0, bool)
        same = labels[cosines.argmax(axis=1)] == labels if len(labels) else several
        return float(same[several].mean()) if several.any() else float("nan")

    def places(self, layout: str) -> np.ndarray:
        """List the words' coordinates on the map, in [0, 1]: float32 (N, 2)."""
        return self._places[layout]

    def place(self, vector: np.ndarray, layout: str) -> tuple[float, float]:
        """Place a unit vector (D,) on the map: projected ("pca"), or between its neighbours."""
        if layout == "pca":
            x, y = self._projection(vector[None])[0]
        else:
            x, y = place_on_map(vector[None] @ self.vectors.T, self._places[layout])[0]
        return float(x), float(y)

    def search(self, vector: np.ndarray, view: View, limit: int) -> tuple[np.ndarray, np.ndarray]:
        """Find cosines and rows, (K,) each, of the ``limit`` words of a view with the highest
        cosine to a unit vector (D,), best first.
        """
        cosines, numbers = self._nearest[view].search(np.asarray(vector, np.float32), limit)
        return cosines, (self.spoken if view == "spoken" else self.written)[numbers]

    @classmethod
    def open(cls, folder: str | Path, fingerprint: str) -> "WordLibrary":
        """Open a library that ``save`` wrote.

        Raises InputError where it is missing or damaged, or was made by another model.
        """
        folder = Path(folder)
        try:
            with damage_reported(DAMAGED):
                about = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
                if about["fingerprint"] != fingerprint:
                    raise InputError(f"Another model made this library of words. {MAKE}")
                with np.load(folder / ARRAYS) as arrays:
                    vectors, tsne = _unpacked(arrays["vectors"], arrays["scales"]), arrays["tsne"]
                    projection = Projection(*(arrays[name] for name in PROJECTION))
                words = read_words(folder / WORDS, folder.parent / about["sounds"])
                if not len(words) == len(vectors) == len(tsne):
                    raise ValueError("the arrays belong to other words")
                return cls(words, vectors, projection, tsne, about["trustworthiness"], fingerprint)
        except FileNotFoundError:
            raise InputError(f"There is no library of words here. {MAKE}") from None

    def save(self, folder: Path, sounds: Path) -> None:
        """Write the library to a folder next to that of its sounds; vectors in 8 bits."""
        folder.mkdir(parents=True, exist_ok=True)
        about = {
            "fingerprint": self.fingerprint,
            "trustworthiness": dict(self.trustworthiness),
            "sounds": os.path.relpath(sounds, folder.parent),
        }
        (folder / ABOUT).write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
        scales = np.abs(self.vectors).max(axis=1, keepdims=True) / 127
        np.savez(
            folder / ARRAYS,
            vectors=np.round(self.vectors / scales).astype(np.int8),
            scales=scales,
            tsne=self._places["tsne"].astype(np.float16),
            **{name: getattr(self._projection, name) for name in PROJECTION},
        )
        with open(folder / WORDS, "w", newline="", encoding="utf-8") as file:
            rows = csv.writer(file, lineterminator="\n")
            rows.writerow(COLUMNS)
            for w in self.words:
                name = w.path.name if w.path else ""
                phonemes = " ".join(w.phonemes)
                rows.writerow([name, w.spelling, phonemes, w.language, w.gloss, w.voice or ""])


def _unpacked(vectors: np.ndarray, scales: np.ndarray) -> np.ndarray:
    """Map vectors in 8 bits (N, D), and what each is multiplied by (N, 1) → unit vectors (N, D)."""
    multiplied = vectors.astype(np.float32) * scales
    return multiplied / np.linalg.norm(multiplied, axis=1, keepdims=True)


def read_words(table: Path, sounds: Path) -> list[LibraryWord]:
    """Read the words of a CSV table with COLUMNS, whose recordings are in the folder ``sounds``."""
    with open(table, newline="", encoding="utf-8") as file:
        return [
            LibraryWord(
                id=f"{row['language']}:{row['spelling']}:{row['voice'] or 'written'}",
                spelling=row["spelling"],
                phonemes=tuple(row["phonemes"].split()),
                language=row["language"],
                voice=row["voice"] or None,
                path=sounds / row["file"] if row["file"] else None,
                gloss=row["gloss"],
            )
            for row in csv.DictReader(file)
        ]


@dataclass(frozen=True)
class VocabularyMatch:
    """A recognised word. name: the recognised word, None where the cosine to all words is below the
    threshold; cosines: to each word, highest first.
    """

    name: str | None
    cosines: tuple[tuple[str, float], ...]
    threshold: float


class Vocabulary:
    """A visitor's own words by name, each with the unit vectors (D,) of a few recordings, for
    nearest-neighbour recognition; no audio is stored."""

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
