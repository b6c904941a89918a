"""Where in a sound the parts of a query lie, one after the other or together, and how well."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pipelines.sound_search.compound import Compound
from pipelines.sound_search.library import Found, Library


@dataclass(frozen=True)
class Placement:
    """score: the mean over the steps; seconds: that of each part."""

    score: float
    seconds: tuple[int, ...]


def place(scores: np.ndarray, steps: Sequence[Sequence[int]]) -> Placement:
    """The best seconds of P parts in a sound: scores (P, S) of its S seconds, steps of Compound.

    One step: each part has its best second. Several: max over t1 < t2 < …, where the score of a
    step is the mean over its parts at that second. A sound with fewer seconds than steps cannot
    hold them in order: its score is that of its worst part.
    """
    best = scores.argmax(axis=1)
    if len(steps) == 1:
        return Placement(float(scores.max(axis=1).mean()), tuple(best.tolist()))
    if scores.shape[1] < len(steps):
        return Placement(float(scores.max(axis=1).min()), tuple(best.tolist()))
    rows = [scores[list(step)].mean(axis=0) for step in steps]
    total, before = rows[0], []  # total: of the steps so far, where the last one is at each second
    for row in rows[1:]:
        highest = np.maximum.accumulate(total)
        where = np.maximum.accumulate(np.where(total >= highest, np.arange(len(total)), 0))
        before.append(where[:-1])
        total = np.append(-np.inf, highest[:-1] + row[1:])
    places = [int(total.argmax())]
    for where in reversed(before):
        places.append(int(where[places[-1] - 1]))
    second_of = {part: t for step, t in zip(steps, reversed(places), strict=True) for part in step}
    score = float(total.max()) / len(steps)
    return Placement(score, tuple(second_of[part] for part in range(len(scores))))


def find(library: Library, queries: np.ndarray, compound: Compound, least: int) -> Found:
    """The sounds nearest to one query vector, or that hold several best: queries (P, D).

    Several are looked for in the sounds whose segments are nearest to any of them.
    """
    if not compound.links:
        return library.find(queries[0], least)
    numbers = np.unique(np.concatenate([library.find(query, least).numbers for query in queries]))
    placed = [place(part_scores_of(library, number, queries), compound.steps) for number in numbers]
    scores = np.array([placement.score for placement in placed], np.float32)
    order = np.argsort(-scores, kind="stable")
    return Found(numbers[order], scores[order], np.zeros(len(order), int))


def part_scores_of(library: Library, number: int, queries: np.ndarray) -> np.ndarray:
    """Cosine similarities of queries (P, D) with the seconds of a sound: (P, S)."""
    return queries @ library.entries[number].per_second.astype(np.float32).T
