"""Worlds of raters and stimuli in which benchmarks.study tries our statistics."""

import numpy as np

from earshot.study.simulation import World

WORLDS = {
    "as usual": World(),
    "raters differ most": World(0.8, 0.1, 0.3, 0.1, 0.5),
    "stimuli differ most": World(0.2, 0.6, 0.1, 0.5, 0.6),
}


def rows(
    answers: np.ndarray, keep: np.ndarray | bool = True
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Turn answers (R, S, K) into columns: answer, rater, stimulus, system; only those to keep."""
    rated = np.broadcast_to(keep, answers.shape)
    rater, stimulus, system = np.nonzero(rated)
    return answers[rated], rater, stimulus, system
