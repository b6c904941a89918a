"""Spoken words compared with each other: cosines of embeddings, and DTW on MFCC as a baseline."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from earshot.media.audio.dtw import distance


@dataclass(frozen=True, eq=False)
class Comparison:
    """The comparison of spoken words. spoken (n, n): cosines of spoken words with each other;
    written (n, m): with written words; dtw (n, n): DTW distances on MFCC, from 0 (the same) to 2.
    """

    spoken: np.ndarray
    written: np.ndarray
    dtw: np.ndarray


def compare(spoken: np.ndarray, written: np.ndarray, frames: Sequence[np.ndarray]) -> Comparison:
    """Compare spoken words with each other and with written words.

    spoken: their unit vectors (n, D); written: unit vectors (m, D); frames: of each spoken word,
    (S, 39), as earshot.media.audio.dtw.mfcc_frames returns them.
    """
    dtw = np.zeros((len(frames), len(frames)))
    for i, one in enumerate(frames):
        for j, other in enumerate(frames[:i]):
            dtw[i, j] = dtw[j, i] = distance(one, other)
    return Comparison(spoken @ spoken.T, spoken @ written.T, dtw)
