"""The results of the pipeline of words."""

from dataclasses import dataclass

import numpy as np

from earshot.systems.words.library import LibraryWord
from earshot.systems.words.pronunciation import Pronunciation


@dataclass(frozen=True, eq=False)
class Spoken:
    """A recording (T,) at 16 kHz, where in it the word starts and ends (s), the word's unit vector
    (D,), and notices about the recording."""

    waveform: np.ndarray
    start: float
    end: float
    vector: np.ndarray
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Written:
    """A word as it was typed, its pronunciation, and its unit vector (D,)."""

    spelling: str
    pronunciation: Pronunciation
    vector: np.ndarray


@dataclass(frozen=True)
class Neighbour:
    """A word of the library, and its cosine to the query."""

    word: LibraryWord
    cosine: float


@dataclass(frozen=True)
class Guess:
    """A word that may have been spoken, and its probability, from 0 to 1."""

    spelling: str
    phonemes: tuple[str, ...]
    probability: float
