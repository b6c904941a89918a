"""A library of clips with queries, and every metric of a system's scores on them: average
precision, recall, precision, and queries without a match.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from scipy.stats import mannwhitneyu

from training.sound_search.test_set import Clip, Mixture, Query

AVERAGE_PRECISION_AT: Final = (10, 16)
RECALL_AT: Final = (1, 5, 10)
PRECISION_AT: Final = 5
MIXTURE_RANK: Final = 10  # a mixture is found when it is among the first so many


def rank_metrics(scores: np.ndarray, relevant: np.ndarray) -> dict[str, np.ndarray]:
    """Measure mAP@k, R@k and P@k of each query, (Q,) each, from 0 to 1.

    scores (Q, N) of N sounds, higher is better; relevant (Q, N): which of them are relevant.
    R@k is 1 where at least one relevant sound is among the first k.
    """
    order = np.argsort(-scores, axis=1, kind="stable")
    hits = np.take_along_axis(relevant, order, axis=1)
    values = {f"mAP@{k}": average_precision(hits, k) for k in AVERAGE_PRECISION_AT}
    values |= {f"R@{k}": hits[:, :k].any(axis=1).astype(float) for k in RECALL_AT}
    values[f"P@{PRECISION_AT}"] = hits[:, :PRECISION_AT].sum(axis=1) / PRECISION_AT
    return values


def average_precision(hits: np.ndarray, k: int) -> np.ndarray:
    """Compute (1 / min(k, relevant)) Σ_{i≤k} hit_i · precision_i, (Q,).

    hits (Q, N): whether the sound at each rank is relevant, over the whole ranking.
    """
    first = hits[:, :k]
    precision = np.cumsum(first, axis=1) / np.arange(1, first.shape[1] + 1)
    return (first * precision).sum(axis=1) / np.minimum(k, hits.sum(axis=1))


def best_scores(scores: np.ndarray, relevant: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find each query's best score in the library (Q,), and in the library without what is
    relevant.

    Queries for which every sound is relevant are left out of the second: no sound would be left.
    """
    some_irrelevant = ~relevant.all(axis=1)
    without = np.where(relevant, -np.inf, scores)[some_irrelevant].max(axis=1)
    return scores.max(axis=1), without


def auroc(positives: np.ndarray, negatives: np.ndarray) -> float:
    """Compute the probability that a positive scores above a negative; a tie counts half."""
    return float(mannwhitneyu(positives, negatives).statistic / (len(positives) * len(negatives)))


@dataclass(frozen=True)
class Evaluator:
    """N clips, Q queries, M mixtures of the clips, and C classes.

    A system is a matrix of scores (Q + M + C, N + M), of ``texts`` with ``sounds``. Queries for one
    sound rank the clips alone, without the mixtures.
    """

    clips: list[Clip]
    queries: list[Query]
    mixtures: list[Mixture]

    def __str__(self) -> str:
        folds = ", ".join(map(str, sorted(self.folds)))
        return (
            f"{len(self.clips)} clips of fold {folds}, {len(self.queries)} queries, "
            f"{len(self.mixtures)} mixtures."
        )

    @cached_property
    def folds(self) -> set[int]:
        """Collect the folds of the clips."""
        return {clip.fold for clip in self.clips}

    @cached_property
    def texts(self) -> list[str]:
        """List the queries, the query of each mixture, and the names of the classes."""
        queries = [query.text for query in self.queries]
        return [*queries, *(mixture.text for mixture in self.mixtures), *self.names]

    @cached_property
    def names(self) -> list[str]:
        """List the names of the classes."""
        return [label.replace("_", " ") for label in self._classes]

    @cached_property
    def styles(self) -> list[str]:
        """List the styles of the queries, sorted."""
        return sorted({query.style for query in self.queries})

    @cached_property
    def in_sequence(self) -> list[int]:
        """List the numbers of the mixtures whose clips follow each other."""
        return [i for i, mixture in enumerate(self.mixtures) if not mixture.simultaneous]

    def sounds(self, sample_rate: int) -> Iterator[np.ndarray]:
        """Yield the clips, the mixtures, and those in sequence in the other order, as waveforms
        (T,).
        """
        others = (self.mixtures[number].in_other_order for number in self.in_sequence)
        for sound in (*self.clips, *self.mixtures, *others):
            yield sound.waveform(sample_rate)

    def measure(
        self, scores: np.ndarray, best_second: np.ndarray | None = None
    ) -> dict[str, float]:
        """Measure every metric of the scores; names of those of one style of query end in the
        style.

        best_second: the scores of each text with the best second of each sound, where the system
        looks for the parts of a mixture so; the scores otherwise.
        """
        values = rank_metrics(self._single(scores), self._relevant)
        metrics = {metric: float(value.mean()) for metric, value in values.items()}
        styles = np.array([query.style for query in self.queries])
        for style in self.styles:
            own = styles == style
            metrics |= {
                f"{name}_{style}": float(value[own].mean()) for name, value in values.items()
            }
        metrics["no_match_auroc"] = auroc(*self.best(scores))
        if self.mixtures:
            metrics |= self._mixed(scores, scores if best_second is None else best_second)
        correct = self.predict_classes(scores)[: len(self.clips)] == self._clip_classes
        return {**metrics, "class_accuracy": float(correct.mean())}

    def best(self, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Find each query's best score in the library, and in the library without relevant
        clips.
        """
        return best_scores(self._single(scores), self._relevant)

    def no_match_error(self, scores: np.ndarray, threshold: float) -> float:
        """Measure the balanced error of deciding by a threshold whether anything matches: the mean
        of the share of queries with a match that are refused, and of those without that are
        accepted.
        """
        answered, unanswered = self.best(scores)
        return float((np.mean(answered < threshold) + np.mean(unanswered >= threshold)) / 2)

    def predict_classes(self, scores: np.ndarray) -> np.ndarray:
        """Find the number of the class whose name scores highest, for each sound: (N + M,)."""
        return scores[-len(self._classes) :].argmax(axis=0)

    def _mixed(self, scores: np.ndarray, of_parts: np.ndarray) -> dict[str, float]:
        """Measure the retrieval of mixtures by the text for both sounds, and by a query for each.

        mixture_R@k: the text for both ranks its mixture among the first k of all clips and
        mixtures. both_found: the query for one sound ranks the mixture among the first
        MIXTURE_RANK of itself and all clips without that sound, and so does the query for the
        other. Ties count against the mixture.
        """
        n_queries, n_clips = len(self.queries), len(self.clips)
        ranks, shares = [], []
        for number, mixture in enumerate(self.mixtures):
            column = n_clips + number
            row = scores[n_queries + number]
            ranks.append(np.sum(row >= row[column]) - 1)
            better = []
            for query in mixture.queries:
                row = of_parts[self.queries.index(query)]
                others = row[:n_clips][self._clip_classes != self._classes.index(query.label)]
                better.append(np.sum(others >= row[column]))
            shares.append(max(better) < MIXTURE_RANK)
        return {
            "mixture_R@1": float(np.mean(np.array(ranks) < 1)),
            "mixture_R@10": float(np.mean(np.array(ranks) < 10)),
            "both_found": float(np.mean(shares)),
        }

    def _single(self, scores: np.ndarray) -> np.ndarray:
        return scores[: len(self.queries), : len(self.clips)]

    @cached_property
    def _classes(self) -> list[str]:
        return sorted({clip.label for clip in self.clips})

    @cached_property
    def _clip_classes(self) -> np.ndarray:
        return np.array([self._classes.index(clip.label) for clip in self.clips])

    @cached_property
    def _relevant(self) -> np.ndarray:
        classes = np.array([self._classes.index(query.label) for query in self.queries])
        return classes[:, None] == self._clip_classes
