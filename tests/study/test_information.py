"""Beliefs about strengths, and what another vote would tell."""

import numpy as np
import pytest
from scipy.special import expit

from earshot.study.assignment import PRIOR, beliefs, expecting, gains


def votes(*won: tuple[int, int, float], systems: int = 4) -> np.ndarray:
    table = np.zeros((systems, systems))
    for one, other, times in won:
        table[one, other] += times
    return table


def test_beliefs_without_votes_are_the_prior() -> None:
    belief = beliefs(votes())
    assert np.allclose(belief.mean, 0) and np.allclose(belief.covariance, PRIOR**2 * np.eye(4))


def test_beliefs_after_many_votes_maximise_likelihood() -> None:
    strengths = np.array([1.0, 0.5, -0.25, -1.25])
    won = 1e5 * expit(np.subtract.outer(strengths, strengths))
    np.fill_diagonal(won, 0)
    belief = beliefs(won)
    assert np.allclose(belief.mean - belief.mean.mean(), strengths, atol=1e-3)
    # Of two systems, n votes at even chances leave a variance of 4 / n for their difference.
    even = beliefs(votes((0, 1, 5000), (1, 0, 5000), systems=2)).covariance
    assert even[0, 0] + even[1, 1] - 2 * even[0, 1] == pytest.approx(4 / 10_000, rel=1e-2)


def test_beliefs_after_unanimous_votes_stay_finite() -> None:
    belief = beliefs(votes((0, 1, 1000)))
    assert np.isfinite(belief.mean).all() and belief.mean[0] > 1 > -1 > belief.mean[1]


def test_gain_is_mutual_information() -> None:
    """It is that of a vote and the strengths."""
    belief = beliefs(votes((0, 1, 3), (1, 2, 2), (2, 0, 1)))
    rng = np.random.default_rng(0)
    drawn = rng.multivariate_normal(belief.mean, belief.covariance, 200_000)
    chance = expit(drawn[:, 0] - drawn[:, 3])

    def entropy(p: np.ndarray) -> np.ndarray:
        return -p * np.log(p) - (1 - p) * np.log(1 - p)

    expected = entropy(chance.mean()) - entropy(chance).mean()
    assert gains(belief)[0, 3] == pytest.approx(expected, rel=0.02)
    assert np.allclose(gains(belief), gains(belief).T) and np.allclose(np.diag(gains(belief)), 0)


def test_gain_is_least_of_known_answers() -> None:
    certain = gains(beliefs(votes((0, 1, 40), (2, 3, 3), (3, 2, 3))))
    assert certain[0, 1] < certain[2, 3] < certain[0, 2]


def test_votes_to_come_take_from_gain() -> None:
    """They leave the mean as it is."""
    belief = beliefs(votes((0, 1, 2), (1, 0, 1)))
    soon = expecting(belief, votes((2, 3, 4)))
    assert np.array_equal(soon.mean, belief.mean)
    assert gains(soon)[2, 3] < gains(belief)[2, 3]
    assert np.allclose(expecting(belief, votes()).covariance, belief.covariance)
