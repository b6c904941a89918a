"""Metrics of words: exact average precision over millions of pairs of embeddings, and the edit
distance, where rapidfuzz is not at hand.

Shapes: N recordings, M written words, D dimensions, P matching and Q other pairs.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

THRESHOLDS: Final = np.linspace(0, 1, 101)


def precisions(matching: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Compute the precision at the score of each matching pair, best first: (P,), (Q,) → (P,).

    The k-th value is the precision at a recall of k / P; tied pairs are retrieved together.
    """
    right, false = np.sort(matching), np.sort(others)
    true_positives = len(right) - np.searchsorted(right, right)
    false_positives = len(false) - np.searchsorted(false, right)
    return (true_positives / (true_positives + false_positives))[::-1]


def average_precision(matching: np.ndarray, others: np.ndarray) -> float:
    """Compute the average precision, the area under the precision–recall curve: Σ precision · Δ
    recall.
    """
    return float(precisions(matching, others).mean())


def pairs(
    similarity: np.ndarray, labels: np.ndarray, speakers: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Collect the similarities of all pairs of the same word (P,), and of all other pairs (Q,).

    similarity (N, N), of which the upper triangle is used; labels (N,): the word of each recording.
    With speakers (N,), pairs of the same speaker are left out.
    """
    matching, others = [], []
    for i, row in enumerate(similarity):
        same, scores = labels[i + 1 :] == labels[i], row[i + 1 :]
        if speakers is not None:
            different = speakers[i + 1 :] != speakers[i]
            same, scores = same[different], scores[different]
        matching.append(scores[same])
        others.append(scores[~same])
    return np.concatenate(matching), np.concatenate(others)


def operating_curve(
    vectors: np.ndarray, labels: np.ndarray, speakers: np.ndarray
) -> dict[str, list[float]]:
    """Measure precision and recall of same-word detection at each of THRESHOLDS on the cosine.

    vectors (N, D) of unit length, labels (N,), speakers (N,): only pairs of different speakers
    count. Keys ``threshold``, ``precision`` and ``recall``, (101,) each. Where no pair reaches the
    threshold the precision is 1.
    """
    matching, others = map(np.sort, pairs(vectors @ vectors.T, labels, speakers))
    recalled = len(matching) - np.searchsorted(matching, THRESHOLDS)
    false = len(others) - np.searchsorted(others, THRESHOLDS)
    precision = np.where(recalled + false == 0, 1.0, recalled / np.maximum(recalled + false, 1))
    recall = recalled / len(matching)
    return {
        "threshold": THRESHOLDS.round(2).tolist(),
        "precision": precision.round(4).tolist(),
        "recall": recall.round(4).tolist(),
    }


def edit_distance(reference: Sequence[object], hypothesis: Sequence[object]) -> int:
    """Count the fewest insertions, deletions and substitutions between the two (Levenshtein)."""
    row = list(range(len(hypothesis) + 1))
    for i, word in enumerate(reference, 1):
        diagonal, row[0] = row[0], i
        for j, other in enumerate(hypothesis, 1):
            best = min(row[j] + 1, row[j - 1] + 1, diagonal + (word != other))
            diagonal, row[j] = row[j], best
    return row[-1]
