"""Opinion scores, MUSHRA, agreement and power."""

import numpy as np
import pytest

from earshot.study.analysis import mos, mushra, power
from earshot.study.analysis.agreement import krippendorff
from earshot.study.analysis.clustered import Estimate, Variance
from earshot.study.analysis.tables import holm
from earshot.study.design import REFERENCE
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


def test_krippendorff_alpha_of_published_examples_is_exact() -> None:
    assert krippendorff(FOUR, "nominal") == pytest.approx(0.743, abs=5e-4)
    assert krippendorff(FOUR, "ordinal") == pytest.approx(0.815, abs=5e-4)
    assert krippendorff(FOUR, "interval") == pytest.approx(0.849, abs=5e-4)
    two = np.array([[0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]], float)
    assert krippendorff(two, "nominal") == pytest.approx(0.095, abs=5e-4)
    letters = ["aabbdcccedda", "babbbccceddd"]
    named = np.array([[ord(letter) for letter in row] for row in letters], float)
    assert krippendorff(named, "nominal") == pytest.approx(0.692, abs=5e-4)


def test_krippendorff_alpha_without_variation_is_one_or_undefined() -> None:
    assert krippendorff(np.array([[1.0, 2, 1], [1, 2, 1]]), "ordinal") == 1
    assert np.isnan(krippendorff(np.full((3, 4), 5.0), "ordinal"))
    assert np.isnan(krippendorff(np.array([[1.0, 2, 3]]), "interval"))
    assert np.isnan(krippendorff(np.full((2, 3), NA), "nominal"))


def test_holm_adjusts_p_values_and_ignores_missing_ones() -> None:
    assert holm([0.01, 0.04, 0.03]).tolist() == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.04, NA, 0.03])[[0, 2]].tolist() == pytest.approx([0.06, 0.06])
    assert holm([]).size == 0


def test_mos_ranks_and_compares_systems() -> None:
    rng = np.random.default_rng(0)
    quality = {"ours": 4, "rival": 3, "older": 3}
    ratings = rate(
        make_test("acr"), 10, lambda r, one, *_: float(quality[one] + rng.integers(-1, 2))
    )
    found = mos.systems(ratings, (1, 5))
    assert found["system"].iloc[0] == "ours"
    assert ((found["low"] < found["value"]) & (found["value"] < found["high"])).all()
    pairs = mos.pairs(mos.differences(ratings, found["system"].tolist()))
    assert pairs["p_holm"].tolist()[:2] == pytest.approx([0, 0], abs=1e-3)
    assert pairs["p_holm"].iloc[2] > 0.05
    gaps = found["value"].to_numpy()
    assert pairs["value"].tolist() == pytest.approx(
        [gaps[0] - gaps[1], gaps[0] - gaps[2], gaps[1] - gaps[2]]
    )


def test_mos_intervals_are_clipped_to_the_scale() -> None:
    ratings = rate(make_test("acr"), 4, lambda r, *_: 5 - (r == 0))
    found = mos.systems(ratings, (1, 5))
    assert found["high"].max() == 5


def test_similarity_reports_the_share_of_same_speaker_answers() -> None:
    ratings = rate(make_test("similarity"), 4, lambda r, *_: r + 1)
    found = mos.systems(mos.judged_same(ratings), (0, 1))
    assert found["value"].tolist() == pytest.approx([0.5] * 3)


def test_mushra_post_screening_names_raters_as_bs1534_does() -> None:
    test = make_test("mushra", stimuli=10)

    def answer(rater: int, system: str, _: str, stimulus: str) -> float:
        trial = int(stimulus[-1])
        if system == REFERENCE:  # rater 1 misses it in 2 of 10 trials, rater 2 in one
            return 89 if trial < {1: 2, 2: 1}.get(rater, 0) else 90
        if system == "anchor-7k":  # rater 3 is taken in; in trial 0 half of the raters are
            return 95 if (rater == 3 and trial < 3) or (trial == 0 and rater > 3) else 50
        return 50

    found = mushra.post_screening(rate(test, 8, answer))
    assert found == {
        "rater-1": ["rated the hidden reference below 90 in 2 of 10 trials"],
        "rater-3": ["rated the 7 kHz anchor above 90 in 2 of 9 trials"],
    }


def test_friedman_and_wilcoxon_use_raters_as_blocks() -> None:
    quality = {"ours": 80, "rival": 60, "older": 60}
    ratings = rate(
        make_test("mushra"), 9, lambda r, one, o, s: quality.get(one, 30) + (r * 7 + len(one)) % 5
    )
    ratings = ratings[ratings["system"].isin(quality)]
    found = mushra.friedman(ratings)
    assert (found["raters"], found["df"]) == (9, 2)
    assert found["p"] < 0.01
    pairs = mushra.wilcoxons(ratings, ["ours", "rival", "older"])
    assert pairs["p_wilcoxon"].iloc[0] == pytest.approx(2 / 2**9, rel=0.1)
    assert pairs["p_wilcoxon"].iloc[2] == 1  # no rater differs
    assert pairs["median"].iloc[2] == 0


def test_friedman_of_equal_ratings_is_undefined() -> None:
    ratings = rate(make_test("mushra"), 4, lambda *_: 50)
    assert np.isnan(mushra.friedman(ratings)["p"])


def test_power_plan_equals_the_published_number_of_raters() -> None:
    # One sample t with σ = 1 and an effect of 0.5: 34 are needed for 80 % (Cohen 1988).
    variance = Variance(1 / 10, 0, 0, 10, 1)
    assert power.raters_needed(variance, 0.5) == 34
    planned = power.plan([Estimate(0, variance)], [0.5]).iloc[0]
    assert (planned["raters"], planned["more_raters"], planned["more_stimuli"]) == (34, 24, 0)


def test_power_plan_with_variable_stimuli_asks_for_more_stimuli() -> None:
    variance = Variance(0.02, 0.02, 0.005, 20, 10)
    assert power.raters_needed(variance, 0.2) is None
    planned = power.plan([Estimate(0, variance)], [0.2, 0.001])
    assert planned.loc[0, "more_stimuli"] > 0
    assert np.isnan(planned.loc[1, "raters"])
    assert power.plan([Estimate(0, Variance(NA, 0, 0, 1, 5))], [0.2]).empty
