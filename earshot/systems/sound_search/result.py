"""The result of a search."""

from dataclasses import dataclass

import numpy as np

from earshot.sound_index.sound import Sound
from earshot.systems.sound_search.compound import Compound


@dataclass(frozen=True, eq=False)
class Hit:
    """A sound that was found. Scores are cosine similarities with the query.

    score: of its best segment, or of several parts where they lie best (see order.py); part_scores:
    of each of P parts of the query in each of its S seconds (P, S); starts: the second of each
    part, in s.
    """

    sound: Sound
    score: float
    part_scores: np.ndarray
    starts: tuple[float, ...]

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

    matched: whether the best score reaches ``threshold``; if not, hits are the nearest sounds.
    threshold: of a match; taking a text away lowers it as it lowers the score of what is wanted.
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
