"""Caption CTC outputs: the best path through the grammar, with a posterior per word.

Shapes: N frames of 40 ms, W words and the blank (0) of CTC, Q states of the grammar.
"""

from dataclasses import dataclass
from functools import cache
from typing import Final, NamedTuple

import numpy as np
from scipy.special import expit, logit, logsumexp

from earshot.media.constants import VIDEO_RATE
from earshot.media.text.grammar import GRID, GRID_WORDS

IMPOSSIBLE: Final = -1e9  # log probability
POSTERIORS: Final = (1e-6, 1 - 1e-6)  # what lies beyond counts as these


@dataclass(frozen=True)
class SpokenWord:
    """A word read from the lips. confidence: from 0 to 1, that it is this one of its slot; start
    and end in seconds.
    """

    text: str
    confidence: float
    start: float
    end: float


class Graph(NamedTuple):
    """The states of the grammar: the words in their order, then a pause before each slot. classes
    (Q,): the CTC class of each; follows (Q, Q): whether the second may follow the first.
    """

    classes: np.ndarray
    follows: np.ndarray


@dataclass(frozen=True)
class Calibration:
    """How posteriors of words become confidence, which changes no word.

    temperature: divides the CTC scores, as frames of one word are not independent. slope and
    intercept: confidence is the logistic function of the posterior's logit, scaled by them (Platt
    1999, Probabilistic outputs for support vector machines), for a reader is less often right on a
    new face than its posteriors suggest.
    """

    temperature: float
    slope: float = 1.0
    intercept: float = 0.0

    def confidence(self, posterior: float) -> float:
        """Map the posterior of a word to the probability that it is right."""
        scaled = self.slope * logit(np.clip(posterior, *POSTERIORS)) + self.intercept
        return float(expit(scaled))


def caption(log_probabilities: np.ndarray, calibration: Calibration) -> tuple[SpokenWord, ...]:
    """Find the most likely sentences, one after the other, given CTC log probabilities (N, W).

    Empty where there are too few frames for a sentence.
    """
    graph = _graph()
    scores = log_probabilities[:, graph.classes] / calibration.temperature  # (N, Q)
    path = _best_path(scores, graph.follows)
    if path is None:
        return ()
    posteriors = _posteriors(scores, graph.follows)
    edges = np.flatnonzero(np.diff(path, prepend=-1, append=-1))
    return tuple(
        SpokenWord(
            text=GRID_WORDS[path[start]],
            confidence=calibration.confidence(np.exp(posteriors[start:end, path[start]].max())),
            start=start / VIDEO_RATE,
            end=end / VIDEO_RATE,
        )
        for start, end in zip(edges[:-1], edges[1:], strict=True)
        if path[start] < len(GRID_WORDS)
    )


@cache
def _graph() -> Graph:
    slots = np.repeat(np.arange(len(GRID)), [len(slot) for slot in GRID])
    pauses = np.arange(len(GRID))
    slot = np.concatenate([slots, pauses])
    is_pause = np.arange(len(slot)) >= len(slots)
    after = (slot[None] - slot[:, None]) % len(GRID) == 1
    word_then = ~is_pause[:, None] & after
    pause_then_word = is_pause[:, None] & ~is_pause[None] & (slot[:, None] == slot[None])
    follows = word_then | pause_then_word | np.eye(len(slot), dtype=bool)
    classes = np.concatenate([np.arange(1, len(slots) + 1), np.zeros(len(GRID), int)])
    return Graph(classes, follows)


def _ends() -> tuple[np.ndarray, np.ndarray]:
    """Compute the log weights (Q,) of the initial and of the final states."""
    first, last = np.full((2, len(GRID_WORDS) + len(GRID)), IMPOSSIBLE)
    first[: len(GRID[0])] = first[len(GRID_WORDS)] = 0.0
    last[len(GRID_WORDS) - len(GRID[-1]) : len(GRID_WORDS) + 1] = 0.0
    return first, last


def _best_path(scores: np.ndarray, follows: np.ndarray) -> np.ndarray | None:
    """Find the state of each frame (N,), by the Viterbi algorithm; None where no sentence fits."""
    first, last = _ends()
    allowed = np.where(follows, 0.0, IMPOSSIBLE)
    best = first + scores[0]
    origins = []
    for score in scores[1:]:
        candidates = best[:, None] + allowed
        origins.append(candidates.argmax(axis=0))
        best = candidates.max(axis=0) + score
    best = best + last
    if best.max() < IMPOSSIBLE / 2 or best.argmax() == len(GRID_WORDS) and len(scores) < len(GRID):
        return None
    path = [int(best.argmax())]
    for origin in reversed(origins):
        path.append(int(origin[path[-1]]))
    return np.array(path[::-1])


def _posteriors(scores: np.ndarray, follows: np.ndarray) -> np.ndarray:
    """Compute the log posterior of each state in each frame, by the forward-backward algorithm: (N,
    Q).
    """
    first, last = _ends()
    allowed = np.where(follows, 0.0, IMPOSSIBLE)
    forward, backward = [first + scores[0]], [last]
    for score in scores[1:]:
        forward.append(logsumexp(forward[-1][:, None] + allowed, axis=0) + score)
    for score in scores[:0:-1]:
        backward.append(np.asarray(logsumexp(allowed + (score + backward[-1])[None], axis=1)))
    joint = np.array(forward) + np.array(backward[::-1])
    return joint - logsumexp(joint, axis=1, keepdims=True)
