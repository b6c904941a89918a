"""Preferences, comparisons, Bradley–Terry and ABX."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau
from statsmodels.api import GLM
from statsmodels.genmod.families import Binomial

from earshot.study.analysis import paired_comparisons
from tests.study.analysis.made import make_test, rate


def _votes(answer: float, other_way: bool) -> pd.DataFrame:
    test = make_test("ab", ("ours", "rival"))
    votes = rate(test, 6, lambda rater, *_: answer if rater else 1 - answer)
    if other_way:
        votes = votes.assign(
            system=votes["other"], other=votes["system"], answer=1 - votes["answer"]
        )
    return votes


@pytest.mark.parametrize("other_way", [False, True])
def test_preferences_ignore_order_of_systems(other_way: bool) -> None:
    votes = _votes(1, other_way)
    order = paired_comparisons.ranking(votes)
    row = paired_comparisons.preferences(votes, paired_comparisons.mean_votes(votes, order)).iloc[0]
    assert (row["system"], row["other"]) == ("ours", "rival")
    assert (row["won"], row["tied"], row["lost"]) == (30, 0, 6)
    assert row["value"] == pytest.approx(5 / 6)
    assert row["p_binomial"] < 1e-4 < row["p"]  # one rater of six is 36 votes, but one rater


def test_preferences_of_unanimous_raters_have_interval() -> None:
    votes = rate(make_test("ab", ("ours", "rival")), 6, lambda *_: 1.0)
    row = paired_comparisons.preferences(
        votes, paired_comparisons.mean_votes(votes, ["ours", "rival"])
    ).iloc[0]
    assert row["low"] == pytest.approx(36 / (36 + 2.5706**2), abs=1e-3)  # Wilson, t of 5 df
    assert row["high"] == 1
    assert row["p"] < 0.01


def test_preferences_count_ties_half() -> None:
    """The sign test leaves ties out."""
    votes = rate(make_test("ab", ("ours", "rival")), 6, lambda *_: 0.5)
    row = paired_comparisons.preferences(
        votes, paired_comparisons.mean_votes(votes, ["ours", "rival"])
    ).iloc[0]
    assert row["value"] == pytest.approx(0.5)
    assert np.isnan(row["p_binomial"])
    assert row["p"] == pytest.approx(1)
    assert row["low"] < 0.5 < row["high"]


def test_votes_in_circle_scale_as_level() -> None:
    always = {("ours", "rival"): 1.0, ("ours", "older"): 0.0, ("rival", "older"): 1.0}
    votes = rate(make_test("ab"), 6, lambda r, one, other, s: always[one, other])
    assert paired_comparisons.can_be_scaled(votes)
    strengths = paired_comparisons.bradley_terry(votes, ["ours", "rival", "older"])
    assert strengths["value"].tolist() == pytest.approx([0, 0, 0], abs=1e-9)
    assert ((strengths["low"] < 0) & (strengths["high"] > 0)).all()


def test_strengths_are_never_too_sure() -> None:
    """Their error is no less than that of independent votes."""
    votes = _tournament(3, np.array([1, 0, -1.0]), 60)
    votes["stimulus"] = np.arange(60) % 2  # so few that their variance is often found too small
    strengths = paired_comparisons.bradley_terry(votes, ["a", "b", "c"])
    turned = pd.get_dummies(votes["system"]) * 1.0 - pd.get_dummies(votes["other"]) * 1.0
    design = turned.to_numpy() @ np.array([[1, 0], [0, 1], [-1, -1.0]])
    plain = GLM(votes["answer"], design, family=Binomial()).fit()
    assert (strengths["standard_error"].to_numpy()[:2] >= plain.bse.to_numpy() - 1e-12).all()


def test_comparisons_have_sign_of_first_system() -> None:
    values = {("ours", "rival"): -1.0, ("ours", "older"): -2.0, ("rival", "older"): -1.0}
    rng = np.random.default_rng(0)
    test = make_test("ccr")
    votes = rate(test, 8, lambda r, one, other, s: values[one, other] + rng.integers(-1, 2))
    order = paired_comparisons.ranking(votes, 0)
    assert order == ["older", "rival", "ours"]
    table = paired_comparisons.comparisons(votes, paired_comparisons.mean_votes(votes, order, 0))
    assert table["value"].tolist() == pytest.approx([1, 2, 1], abs=0.5)
    assert (table["p_holm"] < 0.01).all()


def _tournament(seed: int, strengths: np.ndarray, votes: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    names = np.array(list("abcdef"))[: len(strengths)]
    one, other = np.array([rng.permutation(len(names))[:2] for _ in range(votes)]).T
    won = strengths[one] - strengths[other] + rng.logistic(size=votes) > 0
    rater, stimulus = rng.integers(40, size=votes), rng.integers(20, size=votes)
    return pd.DataFrame(
        {
            "system": names[one],
            "other": names[other],
            "answer": won.astype(float),
            "rater": rater,
            "stimulus": stimulus,
        }
    )


def test_bradley_terry_recovers_systems_from_votes() -> None:
    """Two thousand votes tell the order of six systems."""
    strengths = 0.3 * np.arange(5, -1, -1) - 0.75
    taus, held = [], []
    for seed in range(10):
        votes = _tournament(seed, strengths, 2000)
        order = paired_comparisons.ranking(votes)
        fitted = (
            paired_comparisons.bradley_terry(votes, order).set_index("system").loc[list("abcdef")]
        )
        rank: Any = kendalltau(fitted["value"], strengths)
        taus.append(rank.statistic)
        held.append(((fitted["low"] <= strengths) & (strengths <= fitted["high"])).mean())
        assert fitted["value"].sum() == pytest.approx(0, abs=1e-9)
    assert np.mean(taus) >= 0.95
    assert np.mean(held) > 0.85


def test_bradley_terry_strengths_are_log_odds() -> None:
    # With two systems strength is half the log of won to lost.
    votes = _votes(1, other_way=False)
    strengths = paired_comparisons.bradley_terry(votes, ["ours", "rival"])
    assert strengths["value"].tolist() == pytest.approx([np.log(5) / 2, -np.log(5) / 2])


def test_can_be_scaled_requires_losses() -> None:
    """A system that never loses has no strength."""
    always = {("ours", "rival"): 1.0, ("ours", "older"): 1.0}
    votes = rate(make_test("ab"), 4, lambda r, one, other, s: always.get((one, other), r % 2))
    assert not paired_comparisons.can_be_scaled(votes)
    votes.loc[votes["system"] == "ours", "answer"] = 0.5
    assert paired_comparisons.can_be_scaled(votes)


def test_d_prime_equals_differencing_models_table() -> None:
    # As tabulated for an unbiased differencing observer of match-to-sample.
    table = [0.5, 0.5825, 0.7468, 0.8765, 0.9467, 0.9792]
    assert [paired_comparisons.share_right(d) for d in range(6)] == pytest.approx(table, abs=1e-4)
    assert [paired_comparisons.d_prime(share) for share in table] == pytest.approx(
        range(6), abs=0.01
    )
    assert paired_comparisons.d_prime(0.3) == 0
    assert paired_comparisons.d_prime(1) == np.inf
    assert np.isnan(paired_comparisons.d_prime(np.nan))


def test_simulated_listener_has_true_d_prime() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=100_000), 1.5 + rng.normal(size=100_000)
    unknown = rng.normal(size=100_000)  # X is the first
    right = np.mean(np.abs(unknown - first) < np.abs(unknown - second))
    assert paired_comparisons.d_prime(float(right)) == pytest.approx(1.5, abs=0.05)


def test_abx_discrimination_is_exactly_tested() -> None:
    """The test has one side."""
    answers = rate(make_test("abx", ("ours", "rival"), stimuli=4), 4, lambda r, a, b, s: r > 0)
    row = paired_comparisons.discrimination(answers, paired_comparisons.right_shares(answers)).iloc[
        0
    ]
    assert (row["right"], row["ratings"]) == (12, 16)
    assert row["p"] == pytest.approx(0.0384, abs=1e-4)  # 2517 / 65536
