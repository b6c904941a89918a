"""How sure the guess of a spoken word may be.

Letters: N recordings, M written words, D dimensions.
"""

from typing import Any, Final

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

FIRST: Final = 0.05  # temperature to begin with
BINS: Final = 10  # of probability, in the calibration error


def calibrate(spoken: np.ndarray, written: np.ndarray, labels: np.ndarray) -> tuple[float, float]:
    """The temperature T, and the cosine u of "another word", at which softmax((u, cosines) / T)
    is likeliest, when the right word is among the written ones as often as it is not.

    spoken (N, D) and written (M, D) of unit length; labels (N,): which written word was spoken.
    """
    cosines = (spoken @ written.T).astype(np.float64)
    rows = np.arange(len(labels))
    without = cosines.copy()
    without[rows, labels] = -np.inf

    def surprise(parameters: np.ndarray) -> float:
        temperature, another = np.exp(parameters[0]), parameters[1]
        column = np.full((len(rows), 1), another)
        there = log_softmax(np.hstack([column, cosines]) / temperature, axis=1)[rows, labels + 1]
        missing = log_softmax(np.hstack([column, without]) / temperature, axis=1)[:, 0]
        return -float((there + missing).mean())

    result: Any = minimize(surprise, [np.log(FIRST), cosines.max()], method="Nelder-Mead")
    return float(np.exp(result.x[0])), float(result.x[1])


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
