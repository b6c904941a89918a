"""Find a word in a long recording: where it was said, with a score for each place.

Phoneme posteriors of the whole recording are computed once. A query's phonemes are searched in them
(phoneme_paths.py), which gives candidates; the acoustic word embeddings of these are compared with
the query's, which gives their scores.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from earshot.core import cancellation
from earshot.core.errors import InputError
from earshot.media.audio.features import SAMPLE_RATE
from earshot.media.audio.load import SILENT_PEAK, Audio, load
from earshot.media.text.phonemes import numbers
from earshot.pipelines.words.phoneme_paths import keyword_paths
from earshot.pipelines.words.pipeline import Words
from earshot.pipelines.words.result import Spoken, Written
from earshot.pipelines.words.spoken_word import MAX_SECONDS, MIN_SECONDS

MAX_SECONDS_SEARCHED: Final = 600.0  # seconds
CANDIDATES: Final = 100  # embedded for one query
MARGIN: Final = (0.10, 0.14)  # seconds before and after a path: CTC is sure of a phoneme's middle
BATCH: Final = 48  # candidates between two moments at which the search can be stopped
# Cosines from which a place counts as found, of the highest term-weighted value on validation
# speakers: python -m benchmarks.word_search --split val.
THRESHOLDS: Final = {"written": 0.56, "spoken": 0.50}

Progress = Callable[[float], object]  # the share that is done


@dataclass(frozen=True)
class Place:
    """A place where a word may have been said: start and end in seconds; score: the cosine."""

    start: float
    end: float
    score: float


@dataclass(frozen=True, eq=False)
class LongRecording:
    """A recording (T,) at 16 kHz with its log posteriors of phonemes (S, P), the seconds that a
    step of these lasts, and notices about it."""

    waveform: np.ndarray
    log_posteriors: np.ndarray
    step: float
    notices: tuple[str, ...] = ()

    @property
    def seconds(self) -> float:
        return len(self.waveform) / SAMPLE_RATE


@dataclass(frozen=True)
class FoundPlaces:
    """The places where a word was found. places: the best first, no two overlap; threshold: from
    which a score counts as found.
    """

    places: tuple[Place, ...]
    threshold: float

    @property
    def matches(self) -> tuple[Place, ...]:
        """List the places that count as found, in the order of time."""
        chosen = (place for place in self.places if place.score >= self.threshold)
        return tuple(sorted(chosen, key=lambda place: place.start))


class WordSearch:
    """A search for words, shared by all visitors; recordings and queries are arguments of a
    call.
    """

    def __init__(self, words: Words) -> None:
        self.words = words

    def listen(self, audio: Audio) -> LongRecording:
        """Prepare a recording of speech for searches.

        Raises InputError for what is no audio, silent, or longer than MAX_SECONDS_SEARCHED.
        """
        if audio is None:
            raise InputError("There is no recording to search in. Upload one, up to ten minutes.")
        loaded = load(audio, SAMPLE_RATE, MAX_SECONDS_SEARCHED)
        waveform = loaded.waveform
        if np.abs(waveform).max() < SILENT_PEAK:
            raise InputError("The recording to search in is silent. Upload one with speech.")
        posteriors = self.words.log_posteriors(waveform)
        step = loaded.seconds / len(posteriors)
        return LongRecording(waveform, posteriors, step, loaded.notices)

    def __call__(
        self,
        recording: LongRecording,
        query: Spoken | Written,
        limit: int = 50,
        progress: Progress | None = None,
    ) -> FoundPlaces:
        """Find the places where the word may have been said.

        Raises InputError for a spoken query in which no phoneme was recognised.
        """
        candidates = self._candidates(recording, self._phonemes(query))
        vectors = []
        for first in range(0, len(candidates), BATCH):
            cancellation.check()
            if progress:
                progress(first / len(candidates))
            parts = [_part(recording, span) for span in candidates[first : first + BATCH]]
            vectors.append(self.words.embed_waveforms(parts))
        scores = np.concatenate(vectors) @ query.vector if vectors else np.zeros(0)
        threshold = THRESHOLDS["written" if isinstance(query, Written) else "spoken"]
        return FoundPlaces(_apart(candidates, scores, limit), threshold)

    def _phonemes(self, query: Spoken | Written) -> tuple[int, ...]:
        if isinstance(query, Written):
            return tuple(numbers(query.pronunciation.phonemes))
        first, last = (round(second * SAMPLE_RATE) for second in (query.start, query.end))
        phonemes = self.words.decode_phonemes(query.waveform[first:last])
        if not phonemes:
            raise InputError(
                "No phoneme was recognised in the word.", "Say it again, more clearly."
            )
        return phonemes

    def _candidates(
        self, recording: LongRecording, phonemes: tuple[int, ...]
    ) -> list[tuple[float, float]]:
        """Find start and end in seconds of the best paths, at most one that ends within a word."""
        paths = keyword_paths(recording.log_posteriors, phonemes)
        taken = np.zeros(len(paths.scores) + 1, bool)
        spans: list[tuple[float, float]] = []
        for end in np.argsort(-paths.scores, kind="stable").tolist():
            start = int(paths.starts[end])
            if len(spans) == CANDIDATES:
                break
            if taken[(start + end) // 2] or taken[end]:
                continue
            begin = max(0.0, start * recording.step - MARGIN[0])
            finish = min(recording.seconds, (end + 1) * recording.step + MARGIN[1])
            if MIN_SECONDS <= finish - begin <= MAX_SECONDS:
                taken[start : end + 1] = True
                spans.append((begin, finish))
        return spans


def _part(recording: LongRecording, span: tuple[float, float]) -> np.ndarray:
    start, end = (round(second * SAMPLE_RATE) for second in span)
    return recording.waveform[start:end]


def _apart(spans: list[tuple[float, float]], scores: np.ndarray, limit: int) -> tuple[Place, ...]:
    """Choose the best places; of two whose middle the other holds, the better one."""
    kept: list[Place] = []
    for number in np.argsort(-scores, kind="stable").tolist():
        start, end = spans[number]
        middle = (start + end) / 2
        if len(kept) == limit:
            break
        if all(not (k.start < middle < k.end or start < (k.start + k.end) / 2 < end) for k in kept):
            kept.append(Place(start, end, float(scores[number])))
    return tuple(kept)
