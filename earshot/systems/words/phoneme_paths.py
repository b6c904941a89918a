"""The places where a sequence of phonemes may have been said: CTC keyword search (cf. Graves et al.
2006).

Shapes: S steps of the acoustic encoder, P phonemes with 0 the blank.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numba import njit


class Paths(NamedTuple):
    """The best path that ends at each step: its score (S,) and its first step (S,)."""

    scores: np.ndarray
    starts: np.ndarray


def keyword_paths(log_posteriors: np.ndarray, phonemes: Sequence[int]) -> Paths:
    """Find the best CTC path of the phonemes that ends at each step of log_posteriors (S, P).

    A score is the mean over the phonemes of the logarithm of a likelihood ratio, at most 0: against
    the best path without any constraint, so that loud, clear and long words count alike.
    """
    relative = log_posteriors - log_posteriors.max(axis=1, keepdims=True)
    symbols = np.asarray(phonemes, np.int64)
    scores, starts = _paths(np.ascontiguousarray(relative, np.float32), symbols)
    return Paths(scores / len(symbols), starts)


def decode(log_posteriors: np.ndarray) -> tuple[int, ...]:
    """Decode the phonemes of the best path of log_posteriors (S, P): repeats and blanks removed."""
    best = log_posteriors.argmax(axis=1)
    changed = np.diff(best, prepend=-1) != 0
    return tuple(best[changed & (best > 0)].tolist())


@njit(cache=True)
def _paths(relative: np.ndarray, symbols: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find the best path by states that alternate: phoneme l at 2 l, the blank after it at 2 l + 1.
    A path may begin at any step, in the first state, and ends in the last phoneme.
    """
    steps, states = len(relative), 2 * len(symbols)
    score = np.full(states, -np.inf, np.float32)
    start = np.zeros(states, np.int64)
    scores, starts = np.empty(steps, np.float32), np.empty(steps, np.int64)
    for t in range(steps):
        for s in range(states - 1, -1, -1):  # backwards: the states before are of the last step
            best, first = score[s], start[s]
            if s == 0:
                if best < 0.0:
                    best, first = np.float32(0.0), t
            elif score[s - 1] > best:
                best, first = score[s - 1], start[s - 1]
            # From phoneme to phoneme without a blank, unless they are the same.
            skips = s >= 2 and s % 2 == 0 and symbols[s // 2] != symbols[s // 2 - 1]
            if skips and score[s - 2] > best:
                best, first = score[s - 2], start[s - 2]
            symbol = symbols[s // 2] if s % 2 == 0 else 0
            score[s], start[s] = best + relative[t, symbol], first
        scores[t], starts[t] = score[states - 2], start[states - 2]
    return scores, starts
