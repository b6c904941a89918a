"""Intervals whose raters and stimuli are clusters."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm
from statsmodels.api import GLM, OLS
from statsmodels.genmod.families import Binomial
from statsmodels.stats.proportion import proportion_confint

from earshot.study.analysis.estimates import (
    ROUNDING,
    Clustered,
    Estimate,
    Variance,
    bounded,
    difference,
    mean,
)
from earshot.study.simulation import World, on_scale


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


def test_mean_variance_is_of_random_effects() -> None:
    # Over many tables the variance of the mean is 1 / 12 + 1 / 9 + 1 / 108.
    estimates = [mean(*_crossed(seed)) for seed in range(300)]
    variance = np.mean([estimate.variance.total for estimate in estimates])
    assert variance == pytest.approx(1 / 12 + 1 / 9 + 1 / 108, rel=0.1)
    held = np.mean([estimate.low <= 0 <= estimate.high for estimate in estimates])
    assert 0.91 <= held <= 0.98


def test_variance_parts_equal_those_of_statsmodels() -> None:
    """They are equal where every rater rates every stimulus."""
    answers, raters, stimuli = _crossed()
    fit = OLS(answers, np.ones((len(answers), 1)))
    variance = mean(answers, raters, stimuli).variance
    for part, groups in ((variance.by_rater, raters), (variance.by_stimulus, stimuli)):
        own = fit.fit(cov_type="cluster", cov_kwds={"groups": groups})
        assert part == pytest.approx(own.cov_params()[0, 0])


def test_variance_by_rater_is_jackknife() -> None:
    """It is so where ratings are uneven, which leaves fewer degrees of freedom."""
    answers, raters, stimuli = _crossed()
    keep = (raters < 2) | (stimuli < 2)  # two raters gave most of the ratings
    answers, raters, stimuli = answers[keep], raters[keep], stimuli[keep]
    variance = mean(answers, raters, stimuli).variance
    without = np.array([answers[raters != rater].mean() for rater in range(12)])
    assert variance.by_rater == pytest.approx(11 / 12 * ((without - answers.mean()) ** 2).sum())
    assert variance.evenness[0] < 0.6  # as if of seven raters at most
    assert variance.df < 11


def test_variance_of_strengths_is_near_jackknife() -> None:
    """That of a logistic fit lies within 3 % of the jackknife over raters."""
    rng = np.random.default_rng(0)
    raters, stimuli = np.indices((15, 8)).reshape(2, -1)
    won = (rng.normal(size=15)[raters] + 0.6 + rng.logistic(size=120) > 0).astype(float)
    fit = GLM(won, np.ones((120, 1)), family=Binomial()).fit()
    variance = Clustered(fit, raters, stimuli, np.zeros((1, 1))).estimate(np.ones(1)).variance
    shares = np.array([won[raters != rater].mean() for rater in range(15)])
    moved = np.log(shares / (1 - shares)) - fit.params[0]
    assert variance.by_rater == pytest.approx(14 / 15 * (moved**2).sum(), rel=0.03)


@pytest.mark.parametrize("raters", [8, 20])
def test_bounded_interval_at_end_holds_truth(raters: int) -> None:
    """The truth is near the end of a scale, where most answers are "excellent", and the t interval
    cut at 5 held it in 85 to 91 %."""
    world, quality = World(), np.array([5.4])
    truth = on_scale(world.draw(np.random.default_rng(1), 900, 900, quality)).mean()
    assert truth > 4.7
    rng, held = np.random.default_rng(0), []
    for _ in range(300):
        answers = on_scale(world.draw(rng, raters, 20, quality)[..., 0])
        rater, stimulus = np.indices(answers.shape).reshape(2, -1)
        low, high, _ = bounded(mean(answers.ravel(), rater, stimulus), 1, 5)
        held.append(low <= truth <= high)
    assert np.mean(held) > 0.9  # see benchmarks/study.md for more tests


def _right(wrong: int) -> tuple[float, float, float]:
    """Of 96 answers of 8 people so many wrong."""
    answers = np.ones(96)
    answers[:wrong] = 0
    rater, stimulus = np.indices((8, 12)).reshape(2, -1)
    return bounded(mean(answers, rater, stimulus, null=0.5), 0, 1)


def test_bounded_shares_have_one_method() -> None:
    """The interval of all follows from that of all but one without a jump."""
    everyone, but_one, but_six = (_right(wrong) for wrong in (0, 1, 6))
    assert everyone[0] > but_one[0] > but_six[0]
    assert everyone[2] < but_one[2] < but_six[2]
    assert but_one[2] < 1.2 * everyone[2]
    assert everyone[1] == 1 > but_one[1]


def test_bounded_of_independent_answers_is_wilsons() -> None:
    """Its p is that of the score test."""
    variance = Variance(0.7 * 0.3 / 40, 0, 0, 10**9, 1, ratings=40)
    interval = bounded(Estimate(0.7, variance, 0.5), 0, 1)
    assert interval[:2] == pytest.approx(proportion_confint(28, 40, method="wilson"))
    z = (0.7 - 0.5) / np.sqrt(0.25 / 40)
    assert interval[2] == pytest.approx(2 * norm.sf(z))


def test_bounded_p_agrees_with_its_interval() -> None:
    rng = np.random.default_rng(3)
    for _ in range(200):
        answers = rng.integers(0, 2, (7, 5)).astype(float)
        rater, stimulus = np.indices(answers.shape).reshape(2, -1)
        low, high, p = bounded(mean(answers.ravel(), rater, stimulus, null=0.5), 0, 1)
        assert (p < 0.05) == (not low <= 0.5 <= high)


def test_difference_cancels_shared_effects() -> None:
    answers, raters, stimuli = _crossed()
    rng = np.random.default_rng(1)
    both = np.concatenate([answers + 0.5, answers]) + 0.01 * rng.normal(size=2 * len(answers))
    first = np.arange(len(both)) < len(answers)
    gap = difference(both, first, np.tile(raters, 2), np.tile(stimuli, 2))
    assert gap.value == pytest.approx(0.5, abs=0.01)
    assert gap.standard_error < 0.01 < mean(answers, raters, stimuli).standard_error
    assert gap.p < 1e-6


def test_mean_of_one_rater_lacks_interval() -> None:
    estimate = mean(np.arange(5.0), np.zeros(5, int), np.arange(5))
    assert estimate.value == pytest.approx(2)
    assert np.isnan([estimate.low, estimate.high, estimate.p]).all()


def test_difference_of_two_raters_lacks_p() -> None:
    answers, raters = np.array([5, 4, 5, 1, 2, 1.0]), np.repeat([0, 1], 3)
    gap = difference(answers, raters == 0, raters, np.tile(np.arange(3), 2))
    assert gap.value == pytest.approx(10 / 3)
    assert np.isnan(gap.p)


def test_mean_of_one_stimulus_uses_raters() -> None:
    """It has the t interval of its raters."""
    answers = np.array([1.0, 2, 4, 5])
    estimate = mean(answers, np.arange(4), np.zeros(4, int))
    assert estimate.variance.df == pytest.approx(3)
    assert estimate.standard_error == pytest.approx(answers.std(ddof=1) / 2)


def test_mean_of_identical_answers_lacks_interval() -> None:
    estimate = mean(np.full(12, 5.0), np.repeat(np.arange(4), 3), np.tile(np.arange(3), 4))
    assert estimate.value == pytest.approx(5)
    assert np.isnan([estimate.low, estimate.high, estimate.p]).all()


def test_identical_answers_have_error_of_rounding() -> None:
    """They are as sure as the steps of their scale."""
    rater, stimulus = np.indices((8, 4)).reshape(2, -1)
    worse = np.zeros(32)
    gap = difference(
        np.concatenate([worse + 1, worse]),
        np.arange(64) < 32,
        np.tile(rater, 2),
        np.tile(stimulus, 2),
        ROUNDING,
    )
    assert gap.standard_error == pytest.approx(np.sqrt(2 / 12 / 32))
    assert gap.p < 0.01


def test_clustered_estimate_has_contrast_of_regression() -> None:
    answers, raters, stimuli = _crossed()
    columns = np.column_stack([np.ones(len(answers)), stimuli])
    fit = OLS(answers, columns).fit()
    weights = np.array([1.0, 2.0])
    estimate = Clustered(fit, raters, stimuli, np.zeros((2, 2))).estimate(weights, null=1)
    assert estimate.value == pytest.approx(weights @ fit.params)
    assert 0 < estimate.p < 1


def test_variance_has_floor_where_asked() -> None:
    """It is no less than that of independent answers."""
    by_clusters = Variance(0.05, 0.02, 0.01, 10, 20)
    cautious = replace(by_clusters, independent=0.09)
    assert cautious.total == 0.09 and cautious.df == by_clusters.df
    assert replace(by_clusters, independent=0.01).total == by_clusters.total
