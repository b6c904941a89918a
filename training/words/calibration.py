"""How sure the guess of a spoken word may be.

Letters: N recordings, M written words, D dimensions.
"""

from typing import Any, Final

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax

TEMPERATURES: Final = (1e-3, 1.0)
BINS: Final = 10  # of probability, in the calibration error


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
