"""Measures of word embeddings: exact average precision of millions of pairs, and calibration.

Letters: N recordings, M written words, D dimensions, P matching and Q other pairs.
"""

from typing import Any, Final

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax

THRESHOLDS: Final = np.linspace(0, 1, 101)
TEMPERATURES: Final = (1e-3, 1.0)
BINS: Final = 10  # of probability, in the calibration error


def precisions(matching: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Precision at the score of each matching pair, best first: (P,), (Q,) → (P,).

    That of the k-th is the precision at a recall of k / P; a tie counts as found together.
    """
    found, false = np.sort(matching), np.sort(others)
    true_positives = len(found) - np.searchsorted(found, found)
    false_positives = len(false) - np.searchsorted(false, found)
    return (true_positives / (true_positives + false_positives))[::-1]


def average_precision(matching: np.ndarray, others: np.ndarray) -> float:
    """Area under the precision–recall curve: Σ precision · increase of recall."""
    return float(precisions(matching, others).mean())


def pairs(
    similarity: np.ndarray, types: np.ndarray, speakers: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The similarities of all pairs of one type (P,), and of all other pairs (Q,).

    similarity (N, N), of which the upper triangle is read; types (N,). Where speakers (N,) are
    given, pairs of one speaker are left out.
    """
    matching, others = [], []
    for i, row in enumerate(similarity):
        same, scores = types[i + 1 :] == types[i], row[i + 1 :]
        if speakers is not None:
            different = speakers[i + 1 :] != speakers[i]
            same, scores = same[different], scores[different]
        matching.append(scores[same])
        others.append(scores[~same])
    return np.concatenate(matching), np.concatenate(others)


def operating_curve(
    vectors: np.ndarray, types: np.ndarray, speakers: np.ndarray
) -> dict[str, list[float]]:
    """Precision and recall of "the same word" at each of the thresholds on the cosine.

    vectors (N, D) of unit length, types (N,), speakers (N,): only pairs of different speakers
    count. Keys ``threshold``, ``precision`` and ``recall``, (101,) each. Where no pair reaches the
    threshold the precision is 1.
    """
    matching, others = map(np.sort, pairs(vectors @ vectors.T, types, speakers))
    found = len(matching) - np.searchsorted(matching, THRESHOLDS)
    false = len(others) - np.searchsorted(others, THRESHOLDS)
    precision = np.where(found + false == 0, 1.0, found / np.maximum(found + false, 1))
    recall = found / len(matching)
    return {
        "threshold": THRESHOLDS.round(2).tolist(),
        "precision": precision.round(4).tolist(),
        "recall": recall.round(4).tolist(),
    }


def calibrate(spoken: np.ndarray, written: np.ndarray, labels: np.ndarray) -> float:
    """The temperature T at which softmax(cosines / T) gives the truth the highest likelihood.

    spoken (N, D) and written (M, D) of unit length; labels (N,): which written word was spoken.
    """
    cosines = (spoken @ written.T).astype(np.float64)
    rows = np.arange(len(labels))

    def surprise(log_temperature: float) -> float:
        return -log_softmax(cosines / np.exp(log_temperature), axis=1)[rows, labels].mean()

    result: Any = minimize_scalar(surprise, bounds=np.log(TEMPERATURES), method="bounded")
    return float(np.exp(result.x))


def calibration_error(cosines: np.ndarray, labels: np.ndarray, temperature: float) -> float:
    """Expected calibration error (Naeini et al. 2015) of the best guess, from 0 to 1.

    cosines (N, M), labels (N,). The guesses are binned by probability; the error is the mean
    distance of a bin's mean probability from its share of right guesses, by the size of the bin.
    """
    probabilities = softmax(cosines.astype(np.float64) / temperature, axis=1)
    confidence = probabilities.max(axis=1)
    surplus = confidence - (cosines.argmax(axis=1) == labels)
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    return float(np.abs(np.bincount(bins, surplus, BINS)).sum() / len(labels))
