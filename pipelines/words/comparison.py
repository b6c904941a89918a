"""Words compared with one another, by their vectors and as it was done before there were any."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from media.audio.dtw import distance


@dataclass(frozen=True, eq=False)
class Comparison:
    """heard (n, n): cosines of spoken words with spoken words; written (n, m): with written words;
    warped (n, n): DTW distances on MFCC, 0 for the same sound, at most 2."""

    heard: np.ndarray
    written: np.ndarray
    warped: np.ndarray


def compare(spoken: np.ndarray, written: np.ndarray, frames: Sequence[np.ndarray]) -> Comparison:
    """Compares spoken words, given their unit vectors (n, D) and what media.audio.dtw.mfcc_frames
    makes of each, with one another and with written words of unit vectors (m, D)."""
    warped = np.zeros((len(frames), len(frames)))
    for i, one in enumerate(frames):
        for j, other in enumerate(frames[:i]):
            warped[i, j] = warped[j, i] = distance(one, other)
    return Comparison(spoken @ spoken.T, spoken @ written.T, warped)
