"""The information that another vote between two systems would bring, under Bradley and Terry's
model.

The strengths of K systems have a normal prior, and after some votes a normal posterior by Laplace's
method. What a vote tells is the mutual information between it and the strengths (MacKay 1992,
Information-based objective functions for active data selection; for paired comparisons Li et al.
2018, Hybrid-MST, and Mikhailiuk et al. 2021, ASAP).
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

PRIOR: Final = 2.0  # standard deviation of a strength (logit): the best of 20 wins 19 in 20 votes
STEPS: Final = 50  # of Newton's method; a few are enough
MAX_STEP: Final = 2.0  # step of a strength
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(9)
WEIGHTS = WEIGHTS / WEIGHTS.sum()


@dataclass(frozen=True)
class Beliefs:
    """The beliefs about the strengths: mean (K,) and covariance (K, K)."""

    mean: np.ndarray
    covariance: np.ndarray


def beliefs(won: np.ndarray) -> Beliefs:
    """Fit the beliefs after votes won (K, K): how often the row's system was preferred to the
    column's, a half for each vote without preference.
    """
    votes = won + won.T
    mean = np.zeros(len(won))
    for _ in range(STEPS):
        chance = expit(np.subtract.outer(mean, mean))
        slope = (won - votes * chance).sum(axis=1) - mean / PRIOR**2
        step = np.linalg.solve(_precision(votes, mean), slope)
        mean = mean + np.clip(step, -MAX_STEP, MAX_STEP)
        if np.abs(step).max() < 1e-9:
            break
    return Beliefs(mean, np.linalg.inv(_precision(votes, mean)))


def expecting(known: Beliefs, asked: np.ndarray) -> Beliefs:
    """Update the beliefs as if votes that are asked for, so many (K, K) of each pair whichever way
    round, had come: what they will be is not known, but that they will tell something is.
    """
    votes = asked + asked.T
    precision = np.linalg.inv(known.covariance) + _precision(votes, known.mean)
    precision -= np.eye(len(votes)) / PRIOR**2  # counted once
    return Beliefs(known.mean, np.linalg.inv(precision))


def gains(known: Beliefs) -> np.ndarray:
    """Compute the information (K, K), in nats, that one more vote of each pair is expected to
    bring: H(E[p]) − E[H(p)], by Gauss–Hermite quadrature over the difference of the two strengths.
    """
    own = np.diag(known.covariance)
    variance = own[:, None] + own - 2 * known.covariance
    apart = np.subtract.outer(known.mean, known.mean)
    spread = np.sqrt(np.maximum(variance, 0))
    chance = expit(apart[..., None] + spread[..., None] * NODES)
    return _entropy(chance @ WEIGHTS) - _entropy(chance) @ WEIGHTS


def _precision(votes: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """Compute the inverse of the posterior covariance (K, K) after so many votes of each pair."""
    chance = expit(np.subtract.outer(mean, mean))
    weight = votes * chance * (1 - chance)
    return np.diag(weight.sum(axis=1)) - weight + np.eye(len(mean)) / PRIOR**2


def expit(logit: np.ndarray) -> np.ndarray:
    """Compute 1 / (1 + exp(−logit)). SciPy's takes longer to import than a server to start."""
    return (1 + np.tanh(logit / 2)) / 2


def _entropy(chance: np.ndarray) -> np.ndarray:
    sure = np.finfo(float).tiny  # 0 · log 0 is 0
    both = np.stack([chance, 1 - chance])
    return -(both * np.log(np.maximum(both, sure))).sum(axis=0)
