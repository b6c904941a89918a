"""The protocols of plug-ins: what a system of one's own has to be, for each task.

The first of each task is all that it needs; the others are what it may be besides, found by the
names of their methods. Shapes: T samples as float32 in [-1, 1], D numbers of a vector, N images.
"""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

Sound = tuple[np.ndarray, int]  # a waveform (T,), and its samples per second


class ConvertsVoices(Protocol):
    """A system of voice conversion. voices: names of those that it speaks in, none where it takes
    only those that its voice_from makes.
    """

    voices: Sequence[str]

    def __call__(self, waveform: np.ndarray, sample_rate: int, target: Any) -> Sound:
        """Speak what is said in a waveform (T,) in a voice: one of voices, or what voice_from
        made.
        """
        ...


class TakesAnyVoice(Protocol):
    """A system of voice conversion that makes voices of recordings."""

    def voice_from(self, waveform: np.ndarray, sample_rate: int) -> Any:
        """Make a voice, for use as a target, of a recording (T,) of a person."""
        ...


class HasUnits(Protocol):
    """A system of voice conversion that shows what it keeps of speech. unit_seconds: of a unit."""

    unit_seconds: float

    def encode(self, waveform: np.ndarray, sample_rate: int) -> Sequence[int]:
        """Encode a waveform (T,) as units, numbers from 0."""
        ...


class SpeaksUnits(HasUnits, Protocol):
    """A system of voice conversion whose units can be edited, and spoken again."""

    def decode(self, units: np.ndarray, target: Any) -> Sound:
        """Speak units, int64 (U,), of those that encode returned, in a voice."""
        ...


class Streams(Protocol):
    """A system of voice conversion that speaks live. stream_rate: in Hz, of what it is given and
    returns, 16,000 where it names none.
    """

    stream_rate: int

    def stream(self, chunk: np.ndarray, state: Any, target: str) -> tuple[np.ndarray, Any]:
        """Convert the next samples (T,), some tens of ms of them, given what it returned as the
        state before, None at first: the samples to play next, of any number, and the state. It
        keeps nothing itself, for all who speak share it.
        """
        ...


class KnowsRecordings(Protocol):
    """A system of any task whose results were made before, and are known by the names of their
    inputs. inputs: names that there are results for.
    """

    inputs: Sequence[str]

    def result_for(self, name: str, target: Any) -> Sound | np.ndarray:
        """Return the result for an input, by the name of its file without its ending: a sound, or
        for words and sound search a vector (D,). target: a voice, "" where the task has none.
        """
        ...


class EmbedsWords(Protocol):
    """A system of word embeddings."""

    def embed_audio(self, waveform: np.ndarray, sample_rate: int) -> np.ndarray:
        """Embed a spoken word (T,) as a vector (D,), whose cosine to that of another says how alike
        they sound.
        """
        ...


class ComparesWords(Protocol):
    """A system of words without vectors, in place of EmbedsWords."""

    def encode(self, waveform: np.ndarray, sample_rate: int) -> Any:
        """Encode a spoken word (T,) as what ``distances`` takes."""
        ...

    def distances(self, queries: Sequence[Any], words: Sequence[Any]) -> np.ndarray:
        """Measure how far Q words are from N others, by what encode returned: (Q, N)."""
        ...


class EmbedsText(Protocol):
    """A system that embeds written words, or sentences, in the space of its sounds."""

    def embed_text(self, text: str) -> np.ndarray:
        """Embed a text as a vector (D,)."""
        ...


class SearchesSounds(EmbedsText, Protocol):
    """A system of sound search."""

    def embed_audio(self, waveform: np.ndarray, sample_rate: int) -> np.ndarray:
        """Embed a sound (T,) as a vector (D,), near those of texts that describe it."""
        ...


class ScoresSeconds(Protocol):
    """A system of sound search that says when in a sound a query matches."""

    def embed_seconds(self, waveform: np.ndarray, sample_rate: int) -> np.ndarray:
        """Embed each second of a sound (T,) as a vector: (S, D)."""
        ...


class ReadsLips(Protocol):
    """A system of lip to speech."""

    def __call__(self, frames: np.ndarray, fps: float) -> Sound:
        """Speak what is said in images of a face, uint8 (N, H, W, 3) in RGB, so many a second."""
        ...


class Captions(Protocol):
    """A system of lip to speech that writes what it reads, too."""

    def caption(self, frames: np.ndarray, fps: float) -> tuple[str, float]:
        """Return what is said in images (N, H, W, 3), and how sure that is, from 0 to 1."""
        ...
