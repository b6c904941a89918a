"""Metrics of sound search against values by hand."""

import numpy as np
import pytest

from training.judges.metrics import equal_error
from training.sound_search.evaluator import auroc, average_precision, best_scores, rank_metrics


def test_average_precision_of_ranks_is_exact() -> None:
    hits = np.array([[1, 0, 1, 0, 0], [0, 0, 0, 1, 0], [1, 1, 1, 0, 0]], bool)
    expected = [(1 + 2 / 3) / 2, 1 / 4, 1.0]
    np.testing.assert_allclose(average_precision(hits, 10), expected)
    # Only two of three can be among the first two: the divisor is 2 for the third query.
    np.testing.assert_allclose(average_precision(hits, 2), [1 / 2, 0, 1.0])


def test_rank_metrics_of_ranks_are_exact() -> None:
    scores = -np.arange(12.0)[None].repeat(2, axis=0)  # ranked as they stand
    relevant = np.zeros((2, 12), bool)
    relevant[0, [0, 3, 4]] = relevant[1, [7, 11]] = True
    values = rank_metrics(scores, relevant)
    assert {metric: value.tolist() for metric, value in values.items() if "m" not in metric} == {
        "R@1": [1, 0],
        "R@5": [1, 0],
        "R@10": [1, 1],
        "P@5": [3 / 5, 0],
    }
    assert values["mAP@10"][1] == pytest.approx(1 / 8 / 2)
    assert values["mAP@16"][1] == pytest.approx((1 / 8 + 2 / 12) / 2)


def test_best_scores_are_split_by_relevance() -> None:
    """The best score with a relevant clip stands apart from that without."""
    scores = np.array([[0.9, 0.2, 0.4], [0.1, 0.3, 0.8]])
    relevant = np.array([[True, False, False], [False, True, False]])
    present, absent = best_scores(scores, relevant)
    assert present.tolist() == [0.9, 0.8]
    assert absent.tolist() == [0.4, 0.8]
    assert auroc(present, absent) == pytest.approx((1 + 1 + 1 + 1 / 2) / 4)


def test_equal_error_of_scores_is_exact() -> None:
    matches, others = np.array([0.9, 0.8, 0.7, 0.3]), np.array([0.6, 0.2, 0.1, 0.0])
    threshold, error = equal_error(matches, others)
    assert np.mean(matches < threshold) == np.mean(others >= threshold) == error == 1 / 4
