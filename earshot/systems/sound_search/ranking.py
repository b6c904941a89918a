"""Ranked sounds as the result of a search, and where in a sound the parts of a query lie, one after
the other or together.
"""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from earshot.core.errors import InputError
from earshot.sound_index.index import SoundIndex
from earshot.sound_index.library import POOL, Library, Ranking
from earshot.sound_index.sound import Sound
from earshot.systems.sound_search.query import Compound


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

    One step: the mean over the parts of each one's best second. Several: max over t1 < t2 < … of
    the mean over the steps, where the score of a step is the mean over its parts at that second. A
    sound with fewer seconds than steps cannot hold them in order: its score is that of its worst
    part.
    """
    if len(steps) == 1:
        return scores.max(axis=-1).mean(axis=-1)
    if scores.shape[-1] < len(steps):
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
        row = scores[..., list(step), :].mean(axis=-2)
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
