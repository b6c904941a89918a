"""Metrics and calibration of word embeddings against references."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score

from training.words.calibration import calibrate, calibration_error
from training.words.metrics import average_precision, operating_curve, pairs, precisions


@pytest.mark.parametrize("decimals", [1, 6])
def test_average_precision_equals_scikit_learn(decimals: int) -> None:
    rng = np.random.default_rng(0)
    labels = rng.random(3000) < 0.1
    scores = (rng.normal(size=3000) + labels).round(decimals)  # with one decimal, many ties
    ours = average_precision(scores[labels], scores[~labels])
    assert ours == pytest.approx(average_precision_score(labels, scores))


def test_average_precision_of_scores_is_known() -> None:
    """Perfect, constant and wrong scores have a known average precision."""
    rng = np.random.default_rng(0)
    assert average_precision(np.array([0.9, 0.8]), np.array([0.7, 0.1])) == 1
    assert average_precision(np.zeros(10), np.zeros(90)) == pytest.approx(0.1)
    chance = average_precision(rng.random(10_000), rng.random(90_000))
    assert chance == pytest.approx(0.1, abs=0.01)
    assert average_precision(np.array([0.1]), np.array([0.2, 0.3])) == pytest.approx(1 / 3)
    # Found as 1st, 3rd: precision 1 at a recall of a half, 2 / 3 at 1.
    np.testing.assert_allclose(precisions(np.array([0.7, 0.9]), np.array([0.8])), [1, 2 / 3])


def test_pairs_counts_each_pair_once() -> None:
    """With speakers given, only pairs of different ones are counted."""
    similarity = np.arange(16.0).reshape(4, 4)
    types, speakers = np.array([0, 0, 1, 0]), np.array(["a", "a", "b", "b"])
    matching, others = pairs(similarity, types)
    assert sorted(matching) == [1, 3, 7]
    assert sorted(others) == [2, 6, 11]
    matching, others = pairs(similarity, types, speakers)
    assert sorted(matching) == [3, 7]
    assert sorted(others) == [2, 6]


def test_operating_curve_ends_without_pairs() -> None:
    """The curve goes from all pairs to none."""
    vectors = np.array([[1, 0], [0.8, 0.6], [0, 1], [0.6, 0.8]], np.float32)
    curve = operating_curve(vectors, np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]))
    at = {round(threshold, 2): i for i, threshold in enumerate(curve["threshold"])}
    # Between different speakers: 0.8 and 0.8 of one word, 0.6 and 0.6 of different ones.
    for threshold, precision, recall in ((0, 0.5, 1), (0.5, 0.5, 1), (0.7, 1, 1), (0.9, 1, 0)):
        point = at[threshold]
        assert (curve["precision"][point], curve["recall"][point]) == (precision, recall)


def test_true_temperature_has_low_calibration_error() -> None:
    rng = np.random.default_rng(0)
    spoken, written = (_unit(rng.normal(size=(n, 8))) for n in (4000, 20))
    weights = np.exp(spoken @ written.T / 0.2)
    chances = weights.cumsum(axis=1) / weights.sum(axis=1, keepdims=True)
    labels = (rng.random((4000, 1)) > chances).sum(axis=1)
    cosines = spoken @ written.T
    assert calibration_error(cosines, labels, 0.2) < 0.03
    assert calibration_error(cosines, labels, 0.01) > 0.3


def test_calibrate_puts_unknown_word_midway() -> None:
    """The unknown word lies between wrong and right ones."""
    rng = np.random.default_rng(0)
    written = _unit(rng.normal(size=(40, 16)))
    labels = rng.integers(0, 40, 1000)
    spoken = _unit(written[labels] + 0.15 * rng.normal(size=(1000, 16)))
    cosines = spoken @ written.T
    temperature, another = calibrate(cosines, labels)
    right = cosines[np.arange(1000), labels]
    cosines[np.arange(1000), labels] = -1
    assert np.median(cosines.max(axis=1)) < another < np.median(right)
    assert 0.001 < temperature < 0.3


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
