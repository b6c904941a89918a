"""A search for a word in a long recording: the places where it was spoken, with a score for each.

Phoneme posteriors of the whole recording are computed once, by each phoneme-bottleneck model. A
query's phonemes are searched in them by CTC (cf. Graves et al. 2006), which gives candidates. The
score of one is the cosine of its acoustic word embedding with the query's, less how much likelier
other phonemes are at its place than the query's.

Shapes: S steps of the acoustic encoder, P phonemes with 0 the blank.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Final, NamedTuple

import numpy as np
from numba import njit

from earshot.core import cancellation
from earshot.core.errors import InputError
from earshot.media.audio.load import Audio, load
from earshot.media.constants import SAMPLE_RATE
from earshot.media.samples import SILENT_PEAK
from earshot.media.text.phonemes import numbers
from earshot.systems.words.spoken_word import MAX_SECONDS, MIN_SECONDS
from earshot.systems.words.system import Spoken, Words, Written

MAX_SECONDS_SEARCHED: Final = 600.0
MAX_CANDIDATES: Final = 100  # places that are looked at for one query
MIN_CANDIDATES: Final = 10  # places that are embedded, however unlikely their paths are
MARGIN: Final = (0.10, 0.14)  # seconds before and after a path: CTC is sure of a phoneme's middle
PATH_WEIGHT: Final = 0.15  # of the score of a path, to which the cosine is added
NO_PATH: Final = -10.0  # score where there is no path
# Scores of a path from which a place is embedded: on validation speakers, no other place counts as
# found. The phonemes of a spoken query are less sure.
MIN_PATHS: Final = {"written": -3.0, "spoken": -4.0}
BATCH: Final = 16  # candidates between two moments at which the search can be stopped
# Scores from which a place counts as found, of the highest term-weighted value on validation
# speakers: python -m benchmarks.word_search --split val.
THRESHOLDS: Final = {"written": 0.26, "spoken": 0.17}
# Phonemes of a word at most that are found by chance, wherever they are spoken.
MAX_SHORT: Final = 2
SHORT_THRESHOLD: Final = 0.42  # of such a word

Span = tuple[float, float]  # start and end in seconds
Progress = Callable[[float], object]  # the share that is done


@dataclass(frozen=True)
class Place:
    """A place where a word may have been spoken: start and end in seconds; score: at most 1."""

    start: float
    end: float
    score: float


@dataclass(frozen=True, eq=False)
class LongRecording:
    """A recording (T,) at 16 kHz with its log posteriors of phonemes (S, P) by each model, and
    notices about it."""

    waveform: np.ndarray
    log_posteriors: tuple[np.ndarray, ...]
    notices: tuple[str, ...] = ()

    @property
    def seconds(self) -> float:
        return len(self.waveform) / SAMPLE_RATE


@dataclass(frozen=True)
class FoundPlaces:
    """The places where a word was found. places: the best first, none holds another's middle;
    threshold: from which a score counts as found.
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

    def encode(self, audio: Audio) -> LongRecording:
        """Encode a recording of speech, for searches.

        Raises InputError for what is no audio, silent, or longer than MAX_SECONDS_SEARCHED.
        """
        if audio is None:
            raise InputError("There is no recording to search in. Upload one, up to ten minutes.")
        loaded = load(audio, SAMPLE_RATE, MAX_SECONDS_SEARCHED)
        waveform = loaded.waveform
        if np.abs(waveform).max() < SILENT_PEAK:
            raise InputError("The recording to search in is silent. Upload one with speech.")
        return LongRecording(waveform, self.words.log_posteriors(waveform), loaded.notices)

    def __call__(
        self,
        recording: LongRecording,
        query: Spoken | Written,
        limit: int = 50,
        progress: Progress | None = None,
    ) -> FoundPlaces:
        """Find the places where the word may have been spoken.

        Raises InputError for a spoken query in which no phoneme was recognised.
        """
        phonemes = phonemes_of(self.words, query)
        candidates, paths = _candidates(recording, phonemes, MIN_PATHS[kind_of_query(query)])
        vectors = []
        for first in range(0, len(candidates), BATCH):
            cancellation.check()
            if progress:
                progress(first / len(candidates))
            parts = [_part(recording, span) for span in candidates[first : first + BATCH]]
            vectors.append(self.words.embed_waveforms(parts, once=True))
        cosines = np.concatenate(vectors) @ query.vector if vectors else np.zeros(0)
        scores = cosines + PATH_WEIGHT * paths
        return FoundPlaces(_apart(candidates, scores, limit), threshold_of(query, phonemes))


def phonemes_of(words: Words, query: Spoken | Written) -> tuple[int, ...]:
    """Return the phonemes of a query, by their numbers.

    Raises InputError for a spoken query in which no phoneme was recognised.
    """
    if isinstance(query, Written):
        return tuple(numbers(query.pronunciation.phonemes))
    first, last = (round(second * SAMPLE_RATE) for second in (query.start, query.end))
    phonemes = words.decode_phonemes(query.waveform[first:last])
    if not phonemes:
        raise InputError("No phoneme was recognised in the word.", "Say it again, more clearly.")
    return phonemes


def threshold_of(query: Spoken | Written, phonemes: Sequence[int]) -> float:
    """Return the score from which a place of a query counts as found."""
    return SHORT_THRESHOLD if len(phonemes) <= MAX_SHORT else THRESHOLDS[kind_of_query(query)]


def kind_of_query(query: Spoken | Written) -> str:
    """Return how a query was made, "written" or "spoken"."""
    return "written" if isinstance(query, Written) else "spoken"


def _candidates(
    recording: LongRecording, phonemes: tuple[int, ...], min_path: float
) -> tuple[list[Span], np.ndarray]:
    """Find places, with margins, of the best paths in the posteriors of each model by turns, and
    for each place the score of the best path there in any of these: the best ones first,
    MAX_CANDIDATES at most, and those below ``min_path`` only up to MIN_CANDIDATES.
    """
    by_model = [QueryPaths(recording, each, phonemes) for each in recording.log_posteriors]
    tight: list[Span] = []
    for span in chain.from_iterable(zip_longest(*(paths.spans() for paths in by_model))):
        if len(tight) == MAX_CANDIDATES:
            break
        if span and not any(_overlap(span, other) for other in tight):
            tight.append(span)
    spans = [with_margins(span, recording.seconds) for span in tight]
    scores = np.array([max(paths.score(span) for paths in by_model) for span in spans])
    best = np.argsort(-scores, kind="stable")[: max(MIN_CANDIDATES, (scores >= min_path).sum())]
    return [spans[i] for i in best.tolist()], scores[best]


class QueryPaths:
    """The paths of a query in the posteriors (S, P) of one model."""

    def __init__(
        self, recording: LongRecording, log_posteriors: np.ndarray, phonemes: tuple[int, ...]
    ) -> None:
        """Find the best path that ends at each step."""
        self._paths = keyword_paths(log_posteriors, phonemes)
        self._seconds = recording.seconds
        self._step = recording.seconds / len(log_posteriors)

    def spans(self) -> Iterator[Span]:
        """Find start and end of paths, the best first, at most one that ends within a word; as long
        as a word with their margins. Equally good ones, of a single phoneme, in no order."""
        scores, starts = self._paths
        taken = np.zeros(len(scores) + 1, bool)
        shuffled = np.random.default_rng(0).permutation(len(scores))
        for end in np.lexsort((shuffled, -scores)).tolist():
            if not np.isfinite(scores[end]):  # fewer steps than phonemes
                break
            start = int(starts[end])
            if taken[(start + end) // 2] or taken[end]:
                continue
            span = start * self._step, (end + 1) * self._step
            first, last = with_margins(span, self._seconds)
            if MIN_SECONDS <= last - first <= MAX_SECONDS:
                taken[start : end + 1] = True
                yield span

    def score(self, span: Span) -> float:
        """Find the score of the best path within a span, NO_PATH where there is none."""
        first, last = round(span[0] / self._step), round(span[1] / self._step)
        within = self._paths.starts[first:last] >= first
        return float(self._paths.scores[first:last][within].max(initial=NO_PATH))


class Paths(NamedTuple):
    """The best path that ends at each step: its score (S,) and its first step (S,)."""

    scores: np.ndarray
    starts: np.ndarray


def keyword_paths(log_posteriors: np.ndarray, phonemes: Sequence[int]) -> Paths:
    """Find the best CTC path of the phonemes that ends at each step of log_posteriors (S, P).

    A score is the mean over the phonemes of the logarithm of a likelihood ratio, at most 0: against
    the best path without any constraint, so that loud, clear and long words count alike.
    """
    return relative_paths(log_posteriors - log_posteriors.max(axis=1, keepdims=True), phonemes)


def relative_paths(relative: np.ndarray, phonemes: Sequence[int]) -> Paths:
    """Find the same in log posteriors (S, P) relative to the likeliest phoneme of each step."""
    symbols = np.asarray(phonemes, np.int64)
    scores, starts = _paths(np.ascontiguousarray(relative, np.float32), symbols)
    return Paths(scores / len(symbols), starts)


@njit(cache=True, nogil=True)
def _paths(relative: np.ndarray, symbols: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find the best path by states that alternate: phoneme l at 2 l, the blank after it at 2 l + 1.
    A path may begin at any step, in the first state, and ends in the last phoneme.
    """
    steps, states = len(relative), 2 * len(symbols)
    score = np.full(states, -np.inf, np.float32)
    start = np.zeros(states, np.int64)
    scores, starts = np.empty(steps, np.float32), np.empty(steps, np.int64)
    for t in range(steps):
        for s in range(states - 1, -1, -1):  # backwards: the states before are of the last step
            best, first = score[s], start[s]
            if s == 0:
                if best < 0.0:
                    best, first = np.float32(0.0), t
            elif score[s - 1] > best:
                best, first = score[s - 1], start[s - 1]
            # From phoneme to phoneme without a blank, unless they are the same.
            skips = s >= 2 and s % 2 == 0 and symbols[s // 2] != symbols[s // 2 - 1]
            if skips and score[s - 2] > best:
                best, first = score[s - 2], start[s - 2]
            symbol = symbols[s // 2] if s % 2 == 0 else 0
            score[s], start[s] = best + relative[t, symbol], first
        scores[t], starts[t] = score[states - 2], start[states - 2]
    return scores, starts


def with_margins(span: Span, seconds: float) -> Span:
    """Widen the span of a path to that of its word, within a recording of so many seconds."""
    return max(0.0, span[0] - MARGIN[0]), min(seconds, span[1] + MARGIN[1])


def _part(recording: LongRecording, span: Span) -> np.ndarray:
    start, end = (round(second * SAMPLE_RATE) for second in span)
    return recording.waveform[start:end]


def _apart(spans: Sequence[Span], scores: np.ndarray, limit: int) -> tuple[Place, ...]:
    """Choose the best places; of two whose middle the other holds, the better one."""
    order = np.argsort(-scores, kind="stable")
    paths = np.column_stack([scores, np.reshape(spans, (-1, 2))])[order]
    best = paths[apart(paths, limit)].tolist()
    return tuple(Place(start, end, score) for score, start, end in best)


@njit(cache=True, nogil=True)
def apart(paths: np.ndarray, limit: int) -> np.ndarray:
    """Choose of paths (N, 3), the best first, those whose middle no better one holds, nor they
    its."""
    chosen = np.empty(limit, np.int64)
    count = 0
    for i in range(len(paths)):
        if count == limit:
            break
        start, end = paths[i, 1], paths[i, 2]
        free = True
        for k in range(count):
            first, last = paths[chosen[k], 1], paths[chosen[k], 2]
            if first < (start + end) / 2 < last or start < (first + last) / 2 < end:
                free = False
                break
        if free:
            chosen[count] = i
            count += 1
    return chosen[:count]


def _overlap(one: Span, other: Span) -> bool:
    """Whether a span holds the middle of another, or the other way round."""
    return other[0] < sum(one) / 2 < other[1] or one[0] < sum(other) / 2 < one[1]
