"""Ranked sounds as the result of a search, where in a sound the parts of a query lie, one after the
other or together, and how often and how long they are heard.

The latter is measured in the envelope of a sound, in the seconds that match the part, and only of
the best results, for their files are read.
"""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from earshot.core.errors import InputError
from earshot.media.audio.load import load
from earshot.media.constants import SAMPLE_RATE
from earshot.sound_index.descriptions import RANK_WEIGHT
from earshot.sound_index.index import SoundIndex
from earshot.sound_index.library import POOL, Library, Ranking
from earshot.sound_index.sound import Sound
from earshot.systems.sound_search.query import Compound

PER_SECOND: Final = 100  # frames
FRAME: Final = SAMPLE_RATE // PER_SECOND  # samples
SMOOTHING: Final = 4  # frames
MAX_SECONDS: Final = 120.0  # of a sound that is looked at
FLOOR: Final = -80.0  # dB
MIN_ABOVE_FLOOR: Final = 8.0  # dB over the background, below which nothing is heard
MAX_LASTING_DEPTH: Final = 25.0  # dB below the loudest, of what lasts
MAX_EVENT_DEPTH: Final = 14.0  # dB below the loudest, of an event
MIN_GAP: Final = 12  # frames below that between two events
MAX_LISTENED: Final = 30  # results whose files are read
AMOUNT_WEIGHT: Final = 0.5  # of how often and how long, in the order of results
MIN_SPREAD: Final = 0.1  # between the best and the worst second: else all match


@dataclass(frozen=True, eq=False)
class Hit:
    """A sound that was found. Scores are cosine similarities with the query.

    score: of its best segment, or of several parts where they lie best (see order_scores);
    part_scores: of each of P parts of the query in each of its S seconds (P, S); starts: the second
    of each part, in s; matches: whether it is what was asked for, and not merely the nearest;
    words: the cosine of the query and of what is written of the sound, None where nothing is, or no
    text was asked for.
    """

    sound: Sound
    score: float
    part_scores: np.ndarray
    starts: tuple[float, ...]
    matches: bool = True
    words: float | None = None

    @property
    def per_second_scores(self) -> np.ndarray:
        """Take the score of the part that fits best, in each second: (S,)."""
        return self.part_scores.max(axis=0)

    @property
    def start(self) -> float:
        """Find where the first part begins, in s."""
        return min(self.starts)


@dataclass(frozen=True, eq=False)
class SearchResult:
    """The result of a search, with everything that the page shows of it.

    matched: whether any sound matches; if not, hits are the nearest sounds. threshold: of the score
    of a match by sound alone; taking a text away lowers it as it lowers the score of the rest.
    scores: of all n sounds of the index, in its order (n,), NaN for those that are not among the
    nearest of a large index. point: the query's coordinates on the map, in [0, 1].
    notices: remarks on the query, and on its recording, for the visitor. compute_seconds: the time
    that the search took.
    compound: the sounds that the text names, in English.
    """

    hits: tuple[Hit, ...]
    matched: bool
    threshold: float
    scores: np.ndarray
    point: tuple[float, float]
    notices: tuple[str, ...]
    compute_seconds: float
    compound: Compound


def order_scores(scores: np.ndarray, steps: Sequence[Sequence[int]]) -> np.ndarray:
    """Score how well P parts lie in sounds of S seconds: scores (…, P, S), steps of Compound → (…).

    One step: the least of the parts' best seconds, for a sound that holds one of them well is not
    what was asked for; and so for a sound with fewer seconds than steps. Several: max over
    t1 < t2 < … of the mean over the steps, where the score of a step is that of its worst part at
    that second.
    """
    if len(steps) == 1 or scores.shape[-1] < len(steps):
        return scores.max(axis=-1).min(axis=-1)
    return _totals(scores, steps)[-1].max(axis=-1) / len(steps)


def place(scores: np.ndarray, steps: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """Find the second of each part in a sound, where `order_scores` is reached: scores (P, S)."""
    if len(steps) == 1 or scores.shape[1] < len(steps):
        return tuple(scores.argmax(axis=1).tolist())
    second_of, end = {}, scores.shape[1]
    for step, total in zip(reversed(steps), reversed(_totals(scores, steps)), strict=True):
        end = int(total[:end].argmax())  # the best before the next step
        second_of |= dict.fromkeys(step, end)
    return tuple(second_of[part] for part in range(len(scores)))


def _totals(scores: np.ndarray, steps: Sequence[Sequence[int]]) -> list[np.ndarray]:
    """Take, after each step, the highest sum over the steps so far, the last at each second:
    (…, S)."""
    totals: list[np.ndarray] = []
    for step in steps:
        row = scores[..., list(step), :].min(axis=-2)
        if totals:
            before = np.maximum.accumulate(totals[-1], axis=-1)[..., :-1]
            first = np.full_like(row[..., :1], -np.inf)
            row = np.concatenate([first, before + row[..., 1:]], axis=-1)
        totals.append(row)
    return totals


def find(
    library: Library,
    queries: np.ndarray,
    compound: Compound,
    min_sounds: int,
    among: np.ndarray | None = None,
) -> Ranking:
    """Rank the sounds nearest to one query vector, or that hold several best: queries (P, D).

    Several are looked for in the sounds whose segments are nearest to any of them. among (n,): the
    sounds that may be found.
    """
    if not compound.links:
        return library.find(queries[0], min_sounds, among)
    near = [library.find(query, min_sounds, among).numbers[:POOL] for query in queries]
    numbers = np.unique(np.concatenate(near))
    scores = np.empty(len(numbers), np.float32)
    sounds = [library.per_second(number) for number in numbers]
    lengths = np.array([len(seconds) for seconds in sounds])
    for length in np.unique(lengths):
        same = lengths == length
        alike = np.stack([sounds[i] for i in np.flatnonzero(same)])
        parts = queries @ alike.astype(np.float32).swapaxes(1, 2)  # (n, P, S)
        scores[same] = order_scores(parts, compound.steps)
    order = np.argsort(-scores, kind="stable")
    return Ranking(numbers[order], scores[order], np.zeros(len(order), int))


def part_scores_of(library: Library, number: int, queries: np.ndarray) -> np.ndarray:
    """Compare queries (P, D) with the seconds of a sound: cosine similarities (P, S)."""
    return queries @ library.per_second(number).astype(np.float32).T


def list_sounds(index: SoundIndex, ids: Iterable[str], name: str, limit: int) -> SearchResult:
    """List the sounds with these ids as a result, without a query: the most typical first, by their
    similarity to the mean of all of them.

    name: what they are, in place of a query. Raises InputError if the index has none of them.
    """
    began = time.perf_counter()
    library = index.library
    numbers = np.array([library.numbers[i] for i in ids if i in library.numbers], int)
    if not len(numbers):
        raise InputError("None of these sounds is in this library.")
    means = library.means(numbers)
    centre = means.mean(axis=0)
    centre /= max(float(np.linalg.norm(centre)), 1e-9)
    scores = np.full(len(library.sounds), np.nan, np.float32)
    scores[numbers] = means @ centre
    order = numbers[np.argsort(-scores[numbers], kind="stable")][:limit]
    hits = []
    for number in order:
        seconds = part_scores_of(library, number, centre[None])
        starts = (float(seconds[0].argmax()),)
        hits.append(Hit(library.sounds[number], float(scores[number]), seconds, starts))
    x, y = library.layout[numbers].mean(axis=0)
    return SearchResult(
        hits=tuple(hits),
        matched=True,
        threshold=index.encoder.threshold,
        scores=scores,
        point=(float(x), float(y)),
        notices=(),
        compute_seconds=time.perf_counter() - began,
        compound=Compound((name,)),
    )


class Occurrence(NamedTuple):
    """How often, and how many seconds in all, something is heard."""

    count: int
    seconds: float


def in_order(
    library: Library,
    nearest: Ranking,
    queries: np.ndarray,
    compound: Compound,
    words: np.ndarray | None,
) -> Ranking:
    """Order the nearest sounds. queries: the parts' vectors (P, D); words: the cosines of what is
    written of all sounds (n,), if anything is."""
    values = nearest.scores.copy()
    if words is not None:
        values += RANK_WEIGHT * words[nearest.numbers]
    order = np.argsort(-values, kind="stable")
    if any(compound.amounts):
        for row in order[:MAX_LISTENED]:
            number = int(nearest.numbers[row])
            sound, scores = library.sounds[number], part_scores_of(library, number, queries)
            for part, amount in zip(scores, compound.amounts, strict=True):
                if amount and (measured := occurrence(sound.file, sound.content_hash, part)):
                    values[row] += AMOUNT_WEIGHT * amount.fit(*measured)
        order = np.argsort(-values, kind="stable")
    return Ranking(*(column[order] for column in nearest))


def has_amounts(hit: Hit, compound: Compound) -> bool:
    """Whether a sound is heard as often and as long as a text asks for, as far as can be
    measured."""
    sound, parts = hit.sound, zip(hit.part_scores, compound.amounts, strict=True)
    measured = [
        (amount, occurrence(sound.file, sound.content_hash, part))
        for part, amount in parts
        if amount
    ]
    return all(amount.fit(*times) == 1 for amount, times in measured if times)


def occurrence(path: Path, content_hash: str, scores: np.ndarray) -> Occurrence | None:
    """Measure how often and how long a sound is heard where its scores (S,) match; None for a file
    that cannot be read, or that is long."""
    try:
        levels = _envelope(path, content_hash)
    except (InputError, OSError):
        return None
    return heard_in(levels, scores)


def heard_in(levels: np.ndarray, scores: np.ndarray) -> Occurrence:
    """Measure the same in an envelope (E,) in dB."""
    matching = scores >= (scores.max() + scores.min()) / 2
    if np.ptp(scores) < MIN_SPREAD:
        matching = np.ones(len(scores), bool)
    seconds = np.minimum(np.arange(len(levels)) // PER_SECOND, len(scores) - 1)
    inside = matching[seconds]
    if not inside.any():
        return Occurrence(0, 0.0)
    loudest = levels[inside].max()
    background = float(np.quantile(levels, 0.1)) + MIN_ABOVE_FLOOR
    # A sound that never pauses is its own background.
    background = min(background, loudest - MAX_EVENT_DEPTH / 2)
    lasting = inside & (levels >= max(loudest - MAX_LASTING_DEPTH, background))
    loud = np.flatnonzero(inside & (levels >= max(loudest - MAX_EVENT_DEPTH, background)))
    count = 1 + int((np.diff(loud) > MIN_GAP).sum())
    return Occurrence(count, float(lasting.sum()) / PER_SECOND)


@lru_cache(maxsize=2000)
def _envelope(path: Path, content_hash: str) -> np.ndarray:
    """Compute the level of each frame in dB, (E,); content_hash: so that a file that was replaced
    is read again."""
    waveform = load(path, SAMPLE_RATE, MAX_SECONDS).waveform
    frames = waveform[: len(waveform) // FRAME * FRAME].reshape(-1, FRAME)
    power = np.convolve((frames**2).mean(axis=1), np.full(SMOOTHING, 1 / SMOOTHING), "same")
    return np.maximum(10 * np.log10(power + 1e-12), FLOOR).astype(np.float32)
