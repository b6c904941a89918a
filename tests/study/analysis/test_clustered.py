"""Intervals whose raters and stimuli are clusters."""

from dataclasses import replace

import numpy as np
import pytest
from statsmodels.api import OLS

from earshot.study.analysis.clustered import Clustered, Variance, difference, mean


def _crossed(
    seed: int = 0, raters: int = 12, stimuli: int = 9
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Answers (R·S,) with effects of both, their raters and their stimuli."""
    rng = np.random.default_rng(seed)
    table = (
        rng.normal(size=(raters, 1)) + rng.normal(size=stimuli) + rng.normal(size=(raters, stimuli))
    )
    rater, stimulus = np.indices(table.shape).reshape(2, -1)
    return table.ravel(), rater, stimulus


def test_mean_variance_is_that_of_random_effects() -> None:
    # Over many tables the variance of the mean is 1 / 12 + 1 / 9 + 1 / 108.
    estimates = [mean(*_crossed(seed)) for seed in range(300)]
    variance = np.mean([estimate.variance.total for estimate in estimates])
    assert variance == pytest.approx(1 / 12 + 1 / 9 + 1 / 108, rel=0.1)
    held = np.mean([estimate.low <= 0 <= estimate.high for estimate in estimates])
    assert 0.91 <= held <= 0.98


def test_variance_parts_equal_those_of_statsmodels() -> None:
    answers, raters, stimuli = _crossed()
    fit = OLS(answers, np.ones((len(answers), 1)))
    variance = mean(answers, raters, stimuli).variance
    for part, groups in ((variance.by_rater, raters), (variance.by_stimulus, stimuli)):
        own = fit.fit(cov_type="cluster", cov_kwds={"groups": groups})
        assert part == pytest.approx(own.cov_params()[0, 0])


def test_difference_cancels_shared_effects() -> None:
    answers, raters, stimuli = _crossed()
    rng = np.random.default_rng(1)
    both = np.concatenate([answers + 0.5, answers]) + 0.01 * rng.normal(size=2 * len(answers))
    first = np.arange(len(both)) < len(answers)
    gap = difference(both, first, np.tile(raters, 2), np.tile(stimuli, 2))
    assert gap.value == pytest.approx(0.5, abs=0.01)
    assert gap.standard_error < 0.01 < mean(answers, raters, stimuli).standard_error
    assert gap.p < 1e-6


def test_mean_of_one_rater_has_no_interval() -> None:
    estimate = mean(np.arange(5.0), np.zeros(5, int), np.arange(5))
    assert estimate.value == pytest.approx(2)
    assert np.isnan([estimate.low, estimate.high, estimate.p]).all()


def test_difference_between_two_raters_has_no_p_value() -> None:
    answers, raters = np.array([5, 4, 5, 1, 2, 1.0]), np.repeat([0, 1], 3)
    gap = difference(answers, raters == 0, raters, np.tile(np.arange(3), 2))
    assert gap.value == pytest.approx(10 / 3)
    assert np.isnan(gap.p)


def test_mean_of_one_stimulus_uses_the_t_of_raters() -> None:
    answers = np.array([1.0, 2, 4, 5])
    estimate = mean(answers, np.arange(4), np.zeros(4, int))
    assert estimate.variance.df == pytest.approx(3)
    assert estimate.standard_error == pytest.approx(answers.std(ddof=1) / 2)


def test_mean_of_identical_answers_has_no_interval() -> None:
    estimate = mean(np.full(12, 5.0), np.repeat(np.arange(4), 3), np.tile(np.arange(3), 4))
    assert estimate.value == pytest.approx(5)
    assert np.isnan([estimate.low, estimate.high, estimate.p]).all()


def test_variance_resized_to_more_raters_keeps_the_part_of_stimuli() -> None:
    now = Variance(0.05, 0.02, 0.01, 10, 20)
    assert now.resized(10, 20).total == pytest.approx(now.total)
    assert now.resized(10_000_000, 20).total == pytest.approx(0.01, rel=1e-4)
    assert now.resized(20, 40).total < now.resized(20, 20).total < now.total


def test_clustered_estimate_of_a_regression_has_its_contrast() -> None:
    answers, raters, stimuli = _crossed()
    columns = np.column_stack([np.ones(len(answers)), stimuli])
    fit = OLS(answers, columns).fit()
    weights = np.array([1.0, 2.0])
    estimate = Clustered(fit, raters, stimuli).estimate(weights, null=1)
    assert estimate.value == pytest.approx(weights @ fit.params)
    assert 0 < estimate.p < 1


def test_variance_is_no_less_than_that_of_independent_answers_where_asked() -> None:
    by_clusters = Variance(0.05, 0.02, 0.01, 10, 20)
    cautious = replace(by_clusters, independent=0.09)
    assert cautious.total == 0.09 and cautious.df == by_clusters.df
    assert replace(by_clusters, independent=0.01).total == by_clusters.total
    assert cautious.resized(10, 20).total == pytest.approx(0.09)
