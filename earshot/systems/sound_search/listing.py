"""Chosen sounds of an index as a result, without a query: the most typical first."""

import time
from collections.abc import Iterable
from typing import Final

import numpy as np

from earshot.core.errors import InputError
from earshot.sound_index.index import SoundIndex
from earshot.systems.sound_search.compound import Compound
from earshot.systems.sound_search.order import part_scores_of
from earshot.systems.sound_search.result import Hit, SearchResult

NONE_LEFT: Final = "None of these sounds is in this library."


def listed(index: SoundIndex, ids: Iterable[str], name: str, limit: int) -> SearchResult:
    """List the sounds with these ids, by their similarity to the mean of all of them.

    name: what they are, in place of a query. Raises InputError if the index has none of them.
    """
    began = time.perf_counter()
    library = index.library
    numbers = np.array([library.numbers[i] for i in ids if i in library.numbers], int)
    if not len(numbers):
        raise InputError(NONE_LEFT)
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
