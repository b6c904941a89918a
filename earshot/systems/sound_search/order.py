"""The places in a sound where the parts of a query lie, one after the other or together, and how
well.
"""

from collections.abc import Sequence

import numpy as np

from earshot.sound_index.library import POOL, Library, Ranking
from earshot.systems.sound_search.compound import Compound


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
