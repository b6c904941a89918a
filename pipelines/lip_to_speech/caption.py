"""The words that lips said: the best path through the grammar, and how sure each word is.

Shapes: F frames of 40 ms, W words and the blank (0) of CTC, Q states.
"""

from dataclasses import dataclass
from functools import cache
from typing import Final, NamedTuple

import numpy as np
from scipy.special import logsumexp

from media.text.grammar import GRID, GRID_WORDS
from media.video.lips import RATE

NEVER: Final = -1e9  # log probability
# What frames say is divided by it: those of one word are not as many witnesses. At 2, confidences
# are nearest to the share of words that are right (Brier score, films of validation).
TEMPERATURE: Final = 2.0


@dataclass(frozen=True)
class SpokenWord:
    """confidence from 0 to 1 is that of this word among those of its place; start and end in
    seconds."""

    text: str
    confidence: float
    start: float
    end: float


class Graph(NamedTuple):
    """States of the grammar: the words in their order, then a pause before each place. classes
    (Q,): what CTC calls each; follows (Q, Q): whether the second may come after the first."""

    classes: np.ndarray
    follows: np.ndarray


def caption(log_probabilities: np.ndarray) -> tuple[SpokenWord, ...]:
    """The most likely sentences, one after the other, of log probabilities (F, W).

    Empty where there are too few frames for a sentence.
    """
    graph = _graph()
    scores = log_probabilities[:, graph.classes] / TEMPERATURE  # (F, Q)
    path = _best_path(scores, graph.follows)
    if path is None:
        return ()
    sure = _posteriors(scores, graph.follows)
    edges = np.flatnonzero(np.diff(path, prepend=-1, append=-1))
    return tuple(
        SpokenWord(
            text=GRID_WORDS[path[start]],
            confidence=_confidence(sure[start:end], int(path[start])),
            start=start / RATE,
            end=end / RATE,
        )
        for start, end in zip(edges[:-1], edges[1:], strict=True)
        if path[start] < len(GRID_WORDS)
    )


@cache
def _graph() -> Graph:
    places = np.repeat(np.arange(len(GRID)), [len(slot) for slot in GRID])
    pauses = np.arange(len(GRID))
    place = np.concatenate([places, pauses])
    is_pause = np.arange(len(place)) >= len(places)
    after = (place[None] - place[:, None]) % len(GRID) == 1
    word_then = ~is_pause[:, None] & after
    pause_then_word = is_pause[:, None] & ~is_pause[None] & (place[:, None] == place[None])
    follows = word_then | pause_then_word | np.eye(len(place), dtype=bool)
    classes = np.concatenate([np.arange(1, len(places) + 1), np.zeros(len(GRID), int)])
    return Graph(classes, follows)


def _ends() -> tuple[np.ndarray, np.ndarray]:
    """Log weights (Q,) of the states in which a sentence begins, and in which one ends."""
    first, last = np.full((2, len(GRID_WORDS) + len(GRID)), NEVER)
    first[: len(GRID[0])] = first[len(GRID_WORDS)] = 0.0
    last[len(GRID_WORDS) - len(GRID[-1]) : len(GRID_WORDS) + 1] = 0.0
    return first, last


def _best_path(scores: np.ndarray, follows: np.ndarray) -> np.ndarray | None:
    """State of each frame (F,), by Viterbi; None where no sentence fits."""
    first, last = _ends()
    allowed = np.where(follows, 0.0, NEVER)
    best = first + scores[0]
    origins = []
    for score in scores[1:]:
        ways = best[:, None] + allowed
        origins.append(ways.argmax(axis=0))
        best = ways.max(axis=0) + score
    best = best + last
    if best.max() < NEVER / 2 or best.argmax() == len(GRID_WORDS) and len(scores) < len(GRID):
        return None
    path = [int(best.argmax())]
    for origin in reversed(origins):
        path.append(int(origin[path[-1]]))
    return np.array(path[::-1])


def _posteriors(scores: np.ndarray, follows: np.ndarray) -> np.ndarray:
    """Log probability of each state in each frame, given all of them: (F, Q)."""
    first, last = _ends()
    allowed = np.where(follows, 0.0, NEVER)
    forward, backward = [first + scores[0]], [last]
    for score in scores[1:]:
        forward.append(logsumexp(forward[-1][:, None] + allowed, axis=0) + score)
    for score in scores[:0:-1]:
        backward.append(np.asarray(logsumexp(allowed + (score + backward[-1])[None], axis=1)))
    together = np.array(forward) + np.array(backward[::-1])
    return together - logsumexp(together, axis=1, keepdims=True)


def _confidence(sure: np.ndarray, word: int) -> float:
    return float(np.exp(sure[:, word].max()))
