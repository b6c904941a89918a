"""Dynamic time warping (DTW): the distance of two sequences under the best alignment in time."""

import numpy as np
from numba import njit

from earshot.media.audio.features import mfcc
from earshot.media.constants import DELTA_WIDTH, HOP_LENGTH


@njit(cache=True)
def path_mean(distances: np.ndarray) -> float:
    """Average the distance along the best path from corner to corner: (S, R) float32 → number.

    Steps (1, 1), (1, 0) and (0, 1), all of weight 1; the best path has the lowest sum.
    """
    rows, columns = distances.shape
    cost = np.empty((rows, columns), np.float32)
    count = np.empty((rows, columns), np.int32)
    for i in range(rows):
        for j in range(columns):
            best, length = np.float32(0.0), 0
            if i > 0 and j > 0:
                best, length = cost[i - 1, j - 1], count[i - 1, j - 1]
            if i > 0 and (j == 0 or cost[i - 1, j] < best):
                best, length = cost[i - 1, j], count[i - 1, j]
            if j > 0 and (i == 0 or cost[i, j - 1] < best):
                best, length = cost[i, j - 1], count[i, j - 1]
            cost[i, j] = best + distances[i, j]
            count[i, j] = length + 1
    return cost[-1, -1] / count[-1, -1]


@njit(cache=True, nogil=True)
def path_means(distances: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Average as path_mean does, for one recording of S frames and N others, given all distances of
    their frames (F, S) float32: (N,).

    ends (N + 1,): the first frame of each of the others, and the end of the last.
    """
    means = np.empty(len(ends) - 1, np.float32)
    for k in range(len(means)):
        means[k] = path_mean(distances[ends[k] : ends[k + 1]])
    return means


@njit(cache=True)
def subsequence_means(distances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find a query (S frames) in a recording (R frames), from distances (S, R) float32: for every
    frame where it may end, the mean distance along the best path, and the frame where that
    begins, (R,) each. Steps as in path_mean (subsequence DTW, Müller 2007, 4.4)."""
    rows, columns = distances.shape
    cost, count = distances[0].copy(), np.ones(columns, np.int64)
    start = np.arange(columns)
    for i in range(1, rows):
        # The column before, in the row above.
        old_cost, old_count, old_start = cost[0], count[0], start[0]
        for j in range(columns):
            best, length, first = cost[j], count[j], start[j]  # from above
            if j > 0 and old_cost <= best:
                best, length, first = old_cost, old_count, old_start  # diagonally
            old_cost, old_count, old_start = cost[j], count[j], start[j]
            if j > 0 and cost[j - 1] < best:
                best, length, first = cost[j - 1], count[j - 1], start[j - 1]
            cost[j], count[j], start[j] = best + distances[i, j], length + 1, first
    return cost / count, start


def mfcc_frames(waveform: np.ndarray) -> np.ndarray:
    """Compute MFCC with Δ and ΔΔ of a waveform (T,) at 16 kHz, (S, 39): normalised to zero mean and
    unit variance over the word, then each frame to unit length."""
    # Deltas look DELTA_WIDTH frames wide, and shorter words have too few.
    frames = mfcc(np.pad(waveform, (0, max(0, DELTA_WIDTH * HOP_LENGTH - len(waveform)))))
    frames = (frames - frames.mean(axis=0)) / np.maximum(frames.std(axis=0), 1e-6)
    return frames / np.maximum(np.linalg.norm(frames, axis=1, keepdims=True), 1e-6)


def distance(one: np.ndarray, other: np.ndarray) -> float:
    """Measure the DTW distance of two words' mfcc_frames, (S, D) and (R, D): the mean of 1 − cosine
    along the path, from 0 (the same) to 2."""
    return float(path_mean(np.ascontiguousarray(1 - one @ other.T, np.float32)))
