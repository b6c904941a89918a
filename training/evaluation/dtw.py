"""Dynamic time warping of two sequences, given the distances between their frames."""

import numpy as np
from numba import njit


@njit(cache=True)
def path_mean(distances: np.ndarray) -> float:
    """Mean distance along the cheapest path from corner to corner: (S, R) float32 → number.

    Steps (1, 1), (1, 0) and (0, 1), all of weight 1; the cheapest path is that of least sum.
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
