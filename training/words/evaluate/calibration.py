"""Calibration of the probabilities of recognised words.

Shapes: N recordings, M written words.
"""

from typing import Any, Final

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

INITIAL: Final = 0.05  # temperature at which the search starts
BINS: Final = 10  # of probability, in the calibration error


def calibrate(cosines: np.ndarray, labels: np.ndarray) -> tuple[float, float]:
    """Fit the temperature T and the cosine u of an unknown word that maximise the likelihood of
    softmax((u, cosines) / T), where the spoken word is in the vocabulary half of the time.

    cosines (N, M); labels (N,): which written word was spoken.
    """
    cosines = cosines.astype(np.float64)
    rows = np.arange(len(labels))
    without = cosines.copy()
    without[rows, labels] = -np.inf

    def negative_log_likelihood(parameters: np.ndarray) -> float:
        temperature, unknown = np.exp(parameters[0]), parameters[1]
        column = np.full((len(rows), 1), unknown)
        present = log_softmax(np.hstack([column, cosines]) / temperature, axis=1)[rows, labels + 1]
        missing = log_softmax(np.hstack([column, without]) / temperature, axis=1)[:, 0]
        return -float((present + missing).mean())

    result: Any = minimize(
        negative_log_likelihood, [np.log(INITIAL), cosines.max()], method="Nelder-Mead"
    )
    return float(np.exp(result.x[0])), float(result.x[1])


def probabilities(cosines: np.ndarray, temperature: float) -> np.ndarray:
    """Compute the probabilities of the written words where one of them was spoken: (N, M), from
    cosines (N, M).
    """
    return softmax(cosines.astype(np.float64) / temperature, axis=1)


def calibration_error(cosines: np.ndarray, labels: np.ndarray, temperature: float) -> float:
    """Compute the expected calibration error (Naeini et al. 2015) of the most probable word, from 0
    to 1.

    cosines (N, M), labels (N,). The predictions are binned by confidence; the error is the mean
    absolute difference of confidence and accuracy in a bin, weighted by the size of the bin.
    """
    confidence = probabilities(cosines, temperature).max(axis=1)
    overconfidence = confidence - (cosines.argmax(axis=1) == labels)
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    return float(np.abs(np.bincount(bins, overconfidence, BINS)).sum() / len(labels))
