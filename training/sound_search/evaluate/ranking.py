"""Retrieval metrics: average precision, recall, precision, and queries without a match."""

from typing import Final

import numpy as np
from scipy.stats import mannwhitneyu

AVERAGE_PRECISION_AT: Final = (10, 16)
RECALL_AT: Final = (1, 5, 10)
PRECISION_AT: Final = 5


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
