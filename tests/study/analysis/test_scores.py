"""Opinion scores, MUSHRA, agreement and power."""

from typing import Any, cast

import numpy as np
import pytest
from scipy.stats import PermutationMethod, binom, binomtest, wilcoxon
from statsmodels.stats.multitest import multipletests

from earshot.study.analysis import power, scores
from earshot.study.analysis.estimates import Estimate, Variance, holm
from earshot.study.analysis.results import krippendorff
from earshot.study.design import REFERENCE
from earshot.study.design.designs import SIMILARITY
from tests.study.analysis.made import make_test, rate

NA = np.nan
# Krippendorff (2011), section C: four observers of twelve units.
FOUR = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NA, NA, NA],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NA, 3],
        [NA, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NA],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NA],
    ]
)


def test_krippendorff_alpha_equals_published_examples() -> None:
    assert krippendorff(FOUR, "nominal") == pytest.approx(0.743, abs=5e-4)
    assert krippendorff(FOUR, "ordinal") == pytest.approx(0.815, abs=5e-4)
    assert krippendorff(FOUR, "interval") == pytest.approx(0.849, abs=5e-4)
    two = np.array([[0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]], float)
    assert krippendorff(two, "nominal") == pytest.approx(0.095, abs=5e-4)
    letters = ["aabbdcccedda", "babbbccceddd"]
    named = np.array([[ord(letter) for letter in row] for row in letters], float)
    assert krippendorff(named, "nominal") == pytest.approx(0.692, abs=5e-4)


def test_krippendorff_alpha_without_variation_is_undefined() -> None:
    """It is one where raters agree on units that differ."""
    assert krippendorff(np.array([[1.0, 2, 1], [1, 2, 1]]), "ordinal") == 1
    assert np.isnan(krippendorff(np.full((3, 4), 5.0), "ordinal"))
    assert np.isnan(krippendorff(np.array([[1.0, 2, 3]]), "interval"))
    assert np.isnan(krippendorff(np.full((2, 3), NA), "nominal"))


def test_holm_adjusts_p_values() -> None:
    """It ignores missing ones."""
    assert holm([0.01, 0.04, 0.03]).tolist() == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.04, NA, 0.03])[[0, 2]].tolist() == pytest.approx([0.06, 0.06])
    assert holm([]).size == 0
    drawn = np.random.default_rng(0).uniform(0, 0.2, 12)
    theirs: Any = multipletests(drawn, method="holm")[1]
    assert holm(drawn).tolist() == pytest.approx(theirs.tolist())


def test_mos_ranks_and_compares_systems() -> None:
    rng = np.random.default_rng(0)
    quality = {"ours": 4, "rival": 3, "older": 3}
    ratings = rate(
        make_test("acr"), 10, lambda r, one, *_: float(quality[one] + rng.integers(-1, 2))
    )
    table = scores.systems(ratings, (1, 5))
    assert table["system"].iloc[0] == "ours"
    assert ((table["low"] < table["value"]) & (table["value"] < table["high"])).all()
    pairs = scores.pairs(scores.differences(ratings, table["system"].tolist()))
    assert pairs["p_holm"].tolist()[:2] == pytest.approx([0, 0], abs=1e-3)
    assert pairs["p_holm"].iloc[2] > 0.05
    gaps = table["value"].to_numpy()
    assert pairs["value"].tolist() == pytest.approx(
        [gaps[0] - gaps[1], gaps[0] - gaps[2], gaps[1] - gaps[2]]
    )


def test_mos_intervals_lie_within_scale() -> None:
    """Near its upper end they reach further down than up."""
    ratings = rate(make_test("acr"), 4, lambda r, *_: 5 - (r == 0))
    row = scores.systems(ratings, (1, 5)).iloc[0]
    assert 4.75 < row["high"] < 5
    assert row["value"] - row["low"] > 2 * (row["high"] - row["value"])


def test_similarity_is_share_of_same_speaker() -> None:
    ratings = rate(make_test("similarity"), 4, lambda r, *_: r + 1)
    table = scores.systems(scores.counted(ratings, SIMILARITY.scale), (0, 1))
    assert table["value"].tolist() == pytest.approx([0.5] * 3)


def test_mushra_post_screening_follows_bs1534() -> None:
    """It names the raters to leave out, and why."""
    test = make_test("mushra", stimuli=10)

    def answer(rater: int, system: str, _: str, stimulus: str) -> float:
        trial = int(stimulus[-1])
        if system == REFERENCE:  # rater 1 misses it in 2 of 10 trials, rater 2 in one
            return 89 if trial < {1: 2, 2: 1}.get(rater, 0) else 90
        if system == "anchor-7k":  # rater 3 is taken in; in trial 0 half of the raters are
            return 95 if (rater == 3 and trial < 3) or (trial == 0 and rater > 3) else 50
        return 50

    reasons = scores.post_screening(rate(test, 8, answer))
    assert reasons == {
        "rater-1": ["rated the hidden reference below 90 in 2 of 10 trials"],
        "rater-3": ["rated the 7 kHz anchor above 90 in 2 of 9 trials"],
    }


def test_friedman_and_wilcoxon_block_by_rater() -> None:
    quality = {"ours": 80, "rival": 60, "older": 60}
    ratings = rate(
        make_test("mushra"), 9, lambda r, one, o, s: quality.get(one, 30) + (r * 7 + len(one)) % 5
    )
    ratings = ratings[ratings["system"].isin(quality)]
    statistics = scores.friedman(ratings)
    assert (statistics["raters"], statistics["df"]) == (9, 2)
    assert statistics["p"] < 0.01
    pairs = scores.wilcoxons(ratings, ["ours", "rival", "older"])
    assert pairs["p_wilcoxon"].iloc[0] == pytest.approx(2 / 2**9, rel=0.1)
    assert pairs["p_wilcoxon"].iloc[2] == 1  # no rater differs
    assert pairs["median"].iloc[2] == 0


def wilcoxon_p(gaps: np.ndarray, method: str | PermutationMethod = "auto") -> float:
    """By SciPy, whose types know neither the method nor the result."""
    return cast(Any, wilcoxon)(gaps, method=method).pvalue


@pytest.mark.parametrize("size", [5, 9, 12])
def test_signed_rank_of_ties_is_exact(size: int) -> None:
    """It equals the test over every choice of signs."""
    rng = np.random.default_rng(size)
    gaps = np.round(rng.normal(0.6, 1.5, size))
    left = gaps[gaps != 0]
    every = PermutationMethod(n_resamples=2**size)
    assert scores.signed_rank(gaps) == pytest.approx(wilcoxon_p(left, every))


def test_signed_rank_without_ties_is_exact() -> None:
    """It is so for up to 30 differences; beyond it is SciPy's."""
    gaps = np.random.default_rng(0).normal(0.3, 1, 30)
    assert scores.signed_rank(gaps) == pytest.approx(wilcoxon_p(gaps, "exact"))
    assert scores.signed_rank(np.append(gaps, 0.1)) == pytest.approx(
        wilcoxon_p(np.append(gaps, 0.1))
    )
    assert scores.signed_rank(np.zeros(4)) == 1


def test_friedman_of_equal_ratings_is_undefined() -> None:
    ratings = rate(make_test("mushra"), 4, lambda *_: 50)
    assert np.isnan(scores.friedman(ratings)["p"])


def test_power_plan_equals_published_number() -> None:
    # One sample t with σ = 1 and an effect of 0.5: 34 are needed for 80 % (Cohen 1988).
    planned = power.plan([Estimate(0, Variance(1 / 10, 0, 0, 10, 1))], [0.5]).iloc[0]
    assert (planned["raters"], planned["more_raters"], planned["more_stimuli"]) == (34, 24, 0)


def test_power_plan_takes_fewest_ratings() -> None:
    variance = Variance(0.02, 0.02, 0.005, 20, 10)
    planned = power.plan([Estimate(0, variance)], [0.2, 0.4, 0.45, 0.001])
    assert planned.loc[0, ["raters_alone", "stimuli_alone"]].isna().all()
    assert (planned.loc[0, ["more_raters", "more_stimuli"]] > 0).all()
    for row in (planned.loc[1], planned.loc[2]):
        least = row["raters"] * row["stimuli"]
        assert least <= (20 + row["raters_alone"]) * 10
        assert least <= 20 * (10 + row["stimuli_alone"])
    assert np.isnan(planned.loc[3, "raters"])
    assert power.plan([Estimate(0, Variance(NA, 0, 0, 1, 5))], [0.2]).empty


def test_power_plan_falls_with_difference() -> None:
    """A larger difference never takes more ratings."""
    rng = np.random.default_rng(0)
    differences = np.arange(0.05, 0.8, 0.05).tolist()
    for _ in range(3):
        raters, stimuli = rng.uniform(0.005, 0.05, 2)
        variance = Variance(raters, stimuli, 0.5 * min(raters, stimuli), 12, 8, ratings=96)
        for chance in (False, True):
            planned = power.plan([Estimate(0.6, variance, 0.5)], differences[:9], chance)
            ratings = (planned["raters"] * planned["stimuli"]).fillna(np.inf)
            assert (np.diff(ratings) <= 0).sum() == len(ratings) - 1 - np.isinf(ratings[1:]).sum()


def test_power_plan_of_pairs_uses_holm() -> None:
    """Several pairs take more raters than one."""
    one = Estimate(0, Variance(0.05, 0, 0, 10, 1))
    alone, of_six = (power.plan([one] * pairs, [0.5]).loc[0, "raters"] for pairs in (1, 6))
    assert of_six > alone


def test_power_of_abx_is_exact() -> None:
    """It is that of the exact test, and less where the answers of a rater hang together."""
    estimate = Estimate(0.6, Variance(0, 0, 0, 1, 1, ratings=1), 0.5)
    sizes = power.Sizes.beyond(estimate.variance)
    chances = power.chance_power(estimate, 0.7, sizes, 0.05)
    for answers in (5, 10, 23, 50):
        least = next(
            right
            for right in range(answers + 1)
            if binomtest(right, answers, alternative="greater").pvalue < 0.05
        )
        assert chances[answers - 1, 0] == pytest.approx(binom.sf(least - 1, answers, 0.7))
    tied = Estimate(0.6, Variance(0.02, 0.0, 0.0, 10, 1, ratings=100), 0.5)
    assert (
        (power.chance_power(tied, 0.6, power.Sizes.beyond(tied.variance), 0.05)[10, 0])
        < (power.chance_power(estimate, 0.6, sizes, 0.05)[199, 0])
    )


def test_smallest_p_of_few_exceeds_level() -> None:
    """Few answers cannot be significant, even where all are right."""
    few = [Estimate(0.5, Variance(0.1, 0, 0, 2, 1, ratings=4), 0.5)]
    assert power.smallest_p(few, (0, 1), chance=True) == 1 / 16
    assert power.smallest_p(few, (0, 1)) > 0.05
    assert power.smallest_p(few * 3, (0, 1), chance=True) == 3 / 16
    assert power.smallest_p([], (0, 1)) == 0
