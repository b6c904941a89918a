"""What the report concludes, and what it warns of."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import cast

import numpy as np
import pandas as pd
import pytest

from earshot.study.analysis import Results, Rules, analyse
from earshot.study.analysis.report import paper
from earshot.study.analysis.report.page import running
from earshot.study.analysis.report.prose import attendance, overall, verdict
from earshot.study.design import REFERENCE
from earshot.study.design.raters import RoomTest
from earshot.study.storage.raters import Conduct
from tests.study.analysis.made import make_test, rate

CONDUCT = Conduct(
    consented=14,
    withdrew=1,
    failed_headphones=2,
    failed_attention=1,
    unfinished=2,
    finished=8,
    looks=3,
)


def _mushra(raters: int, gap: float = 20, seed: int = 0) -> Results:
    rng = np.random.default_rng(seed)
    quality = {"ours": 60 + gap, "rival": 60, "older": 40, REFERENCE: 99}

    def answer(rater: int, one: str, *_: str) -> float:
        return float(np.clip(round(quality.get(one, 20) + 3 * rng.normal()), 0, 100))

    test = make_test("mushra", stimuli=8)
    return analyse(test, rate(test, raters, answer))


def test_mushra_of_five_raters_is_significant() -> None:
    """Five who agree are enough. By Wilcoxon's test, Holm over all pairs with the reference,
    nothing could be."""
    analysis = _mushra(5).included
    pairs = analysis.pairs.set_index(["system", "other"])
    assert pairs.loc[("ours", "rival"), "p_holm"] < 0.01
    assert "was rated highest" in verdict(make_test("mushra"), analysis)
    assert pairs.loc[("ours", "rival"), "p_wilcoxon"] == pytest.approx(1 / 16)
    text = " ".join(overall(analysis))
    assert "cannot find any: with 5 raters and 3 pairs its p after Holm is 0.19 or more" in text


def test_mushra_family_leaves_reference_out() -> None:
    """Pairs with the reference have no p of Holm."""
    pairs = _mushra(8).included.pairs
    against = pairs[["system", "other"]].eq(REFERENCE).any(axis=1)
    assert against.sum() == 3 and pairs.loc[against, "p_holm"].isna().all()
    own = pairs[~against].sort_values("p")
    assert own["p_holm"].iloc[0] == pytest.approx(3 * own["p"].iloc[0])


def test_mushra_p_is_that_of_interval() -> None:
    """It is below 0.05 where the printed interval leaves zero out."""
    for seed in range(6):
        pairs = _mushra(6, gap=1.2, seed=seed).included.pairs
        outside = (pairs["low"] > 0) | (pairs["high"] < 0)
        assert ((pairs["p"] < 0.05) == outside).all()


def test_votes_in_circle_are_not_alike() -> None:
    """No note says that all answers are the same, and all systems are level."""
    always = {("ours", "rival"): 1.0, ("ours", "older"): 0.0, ("rival", "older"): 1.0}
    test = make_test("ab")
    analysis = analyse(test, rate(test, 6, lambda r, one, other, s: always[one, other])).included
    assert not any("All answers are the same" in note for note in analysis.notes)
    assert analysis.systems["value"].tolist() == pytest.approx([0, 0, 0], abs=1e-9)


def test_comparisons_all_one_better_say_so() -> None:
    """32 times +1 was "too little yet to say more"."""
    test = make_test("ccr", ("ours", "rival"), stimuli=4)
    result = analyse(test, rate(test, 8, lambda *_: 1.0))
    assert verdict(test, result.included).startswith("ours is better than rival, by 1.00")


@pytest.mark.parametrize(
    ("design", "raters", "stimuli", "expected"),
    [("abx", 2, 2, True), ("abx", 4, 6, False), ("ab", 2, 6, True), ("ab", 8, 6, False)],
)
def test_report_says_nothing_can_be_significant(
    design: str, raters: int, stimuli: int, expected: bool
) -> None:
    """It says so where even answers that all agree would be too few."""
    test = make_test("abx" if design == "abx" else "ab", ("ours", "rival"), stimuli=stimuli)
    notes = " ".join(analyse(test, rate(test, raters, lambda *_: 1.0)).included.notes)
    assert ("no difference can be significant" in notes) == expected


def _dropped(dropped: int, raters: int = 12) -> Results:
    test = make_test("acr", checks=2)
    rng = np.random.default_rng(0)
    ratings = rate(
        test,
        raters,
        lambda *_: float(rng.integers(1, 6)),
        check=lambda rater: 5.0 if rater < dropped else 1.0,
    )
    return analyse(test, ratings, conduct=CONDUCT)


def test_few_kept_raters_are_told_so() -> None:
    """Notes tell few who are kept from few who came."""
    notes = " ".join(_dropped(10).included.notes)
    assert "Only 2 of 12 people are kept by the rules" in notes
    assert "leave out 10 of 12 raters (83\xa0%)" in notes
    assert "have taken part" not in notes


@pytest.mark.parametrize(("dropped", "warned"), [(2, False), (3, True)])
def test_a_quarter_dropped_is_warned_of(dropped: int, warned: bool) -> None:
    assert any("The rules leave out" in note for note in _dropped(dropped).included.notes) == warned


def _named(rows: Sequence[Sequence[str]]) -> dict[str, str]:
    return dict(cast(Sequence[tuple[str, str]], rows))


def test_flow_counts_each_way_out() -> None:
    """It counts who was screened out, and whom each rule left out."""
    results = _dropped(3)
    rows = _named(paper.flow(results).rows)
    assert rows["Agreed to take part"] == "14"
    assert rows["Screened out by the headphone check"] == "2"
    assert rows["Left out by rule: failed checks"] == "3"
    assert rows["Kept"] == "9"
    assert attendance(results) == (
        "12 raters, 3 of them left out by the rules. 14 agreed to take part: 2 screened out by the "
        "headphone check, 1 screened out by attention checks, 1 withdrew, 2 not finished."
    )


def test_report_tells_looks_and_changed_rules() -> None:
    """It says how often the results were looked at, and whether the rules were changed."""
    results = _dropped(3)
    rows = _named(paper.facts_of_test(results).rows)
    assert rows["Results before the end"] == "looked at 3 times"
    assert rows["Who is left out"].endswith(". As in the test.")
    test = results.test
    changed = analyse(test, results.everyone.answers, Rules(failed_checks=0.5))
    assert "CHANGED" in _named(paper.facts_of_test(changed).rows)["Who is left out"]
    assert "chosen afterwards" in paper.paragraph(changed)
    assert "; 3 were left out by rules that were stated before" in paper.paragraph(results)
    assert "; 1 was left out by rules that were stated before" in paper.paragraph(_dropped(1))


def _timed(rules: Rules) -> Results:
    """Results of 12 raters, of whom one failed the test of the room and one took long; a rater's
    first answer took half a second, and their second one took two minutes."""
    test = replace(
        make_test("acr"), environment=RoomTest(), rules=rules, break_every=10, blocks="systems"
    )
    ratings = rate(test, 12, lambda rater, system, *_: 3.0 + (system == "first"))
    ratings.loc[ratings["rater"] == "rater-0", "environment"] = False
    ratings.loc[ratings["rater"] == "rater-1", "minutes"] = 95.0
    ratings.loc[ratings["order"] == 0, "milliseconds"] = 500
    ratings.loc[ratings["order"] == 1, "milliseconds"] = 120_000
    return analyse(test, ratings, conduct=replace(CONDUCT, failed_environment=3))


def test_room_and_time_leave_answers_out() -> None:
    """They leave out raters and single answers, and the report says so."""
    rules = Rules(least_seconds=1, most_seconds=60, most_minutes=90)
    results = _timed(rules)
    reasons = {who.rater: who.reasons for who in results.exclusions}
    assert reasons == {
        "rater-0": ("failed the test of the room",),
        "rater-1": ("took 95 minutes",),
    }
    assert results.untimely == 2 * 10
    assert len(results.included.answers) == 10 * 16 and len(results.everyone.answers) == 12 * 18
    flow = _named(paper.flow(results).rows)
    assert flow["Screened out by the test of their room"] == "3"
    assert flow["Left out by rule: test of the room"] == "1"
    assert flow["Ratings of these left out for their time"] == "20"
    facts = _named(paper.facts_of_test(results).rows)
    assert "in a block for each system" in facts["Order"]
    assert facts["Breaks"] == "asked for after every 10 trials"
    assert facts["Room"] == "11 of 12 raters passed the check"
    assert facts["Minutes of a rater"] == "20 at the median, 20 to 95"
    left_out = facts["Who is left out"]
    assert "fewer than 3 of 4 pairs told apart" in left_out
    assert "more than 90 minutes" in left_out
    assert "single answers that took less than 1 s or more than 60 s" in left_out


def test_untimely_rater_is_left_out() -> None:
    """Who has no answer in time is counted among those left out."""
    test = replace(make_test("acr"), rules=Rules(most_seconds=60))
    ratings = rate(test, 8, lambda rater, system, *_: 3.0 + (system == "first"))
    ratings.loc[ratings["rater"].isin(["rater-0", "rater-1"]), "milliseconds"] = 61_000
    results = analyse(test, ratings, conduct=CONDUCT)
    assert "8 raters, 2 of them left out by the rules" in attendance(results)
    assert "The rules leave out 2 of 8 raters" in results.notes[0]
    flow = _named(paper.flow(results).rows)
    assert flow["Left out by rule: time of single answers"] == "2" and flow["Kept"] == "6"


def test_rules_left_off_exclude_nobody() -> None:
    """Those of the room and of time can be switched off."""
    results = _timed(Rules(environment=False))
    assert results.exclusions == () and results.untimely == 0
    assert "Ratings of these left out for their time" not in _named(paper.flow(results).rows)


def test_page_of_counts_has_no_estimate() -> None:
    results = _dropped(3)
    html = running(results)
    assert "Screened out by the headphone check" in html and "<svg" not in html
    for value in results.included.systems["value"]:
        assert f"{value:.2f}" not in html


def test_checklist_names_what_only_authors_know() -> None:
    rows = _named(paper.checklist(_dropped(0)).rows)
    assert rows["Payment"] == paper.UNKNOWN
    assert rows["Number of raters"] == "12 kept of 12"
    assert rows["Ratings of a rater"] == "18"


def _effects(design: str, answer: Callable[[pd.DataFrame], pd.Series]) -> pd.DataFrame:
    """Of answers that depend on where and when a sound was heard."""
    test = make_test("ab" if design == "ab" else "acr", stimuli=8)
    ratings = rate(test, 12, lambda *_: 0.0)
    rng = np.random.default_rng(0)
    ratings["order"] = ratings.groupby("rater")["order"].transform(
        lambda places: rng.permutation(len(places))
    )
    ratings["position"] = rng.integers(0, 2, len(ratings))
    ratings["started"] = [f"2026-11-{10 + int(rater[6:]) // 3}" for rater in ratings["rater"]]
    ratings["answer"] = answer(ratings)
    return analyse(test, ratings).effects.set_index("effect")


def test_effect_of_position_is_found() -> None:
    rng = np.random.default_rng(1)

    def answer(ratings: pd.DataFrame) -> pd.Series:
        first = (rng.random(len(ratings)) < 0.75).astype(float)
        return pd.Series(np.where(ratings["position"] == 0, first, 1 - first), ratings.index)

    effects = _effects("ab", answer)
    assert effects.loc["position", "value"] == pytest.approx(0.25, abs=0.06)
    assert effects["p_holm"]["position"] < 0.001


def test_order_fatigue_and_drift_are_found() -> None:
    rng = np.random.default_rng(1)

    def answer(ratings: pd.DataFrame) -> pd.Series:
        along = ratings["order"] / ratings["order"].max()
        day = pd.to_datetime(ratings["started"]).dt.day - 10
        noise = rng.normal(size=len(ratings)) * (0.2 + along)
        return (3 - 0.8 * along + 0.3 * day + noise).clip(1, 5)

    effects = _effects("acr", answer)
    assert effects.loc["order", "value"] == pytest.approx(-0.8, abs=0.2)
    assert effects.loc["drift", "value"] == pytest.approx(0.9, abs=0.2)
    assert effects["value"]["fatigue"] > 0.3
    assert all(effects["p_holm"] < 0.01)


def test_other_models_rank_as_means_do() -> None:
    rng = np.random.default_rng(0)
    quality, bias = {"ours": 3.8, "rival": 3.2, "older": 2.6}, rng.normal(0, 0.6, 12)
    test = make_test("acr", stimuli=10)
    ratings = rate(
        test,
        12,
        lambda r, one, *_: float(np.clip(round(quality[one] + bias[r] + 0.7 * rng.normal()), 1, 5)),
    )
    results = analyse(test, ratings)
    other = results.models.set_index(["system", "other"])
    means = results.included.pairs.set_index(["system", "other"])
    # Of complete tables the raters' bias cancels in a difference.
    assert other["bias"].tolist() == pytest.approx(means["value"].tolist())
    assert (other["logit"] > 0).all() and (other["logit_p_holm"] < 0.01).all()
    assert ((other["logit_low"] < other["logit"]) & (other["logit"] < other["logit_high"])).all()


def test_ordinal_model_needs_scale_with_steps() -> None:
    """It is left out elsewhere. Ratings from elsewhere may have as many values as there are
    ratings: a threshold for each would take a minute."""
    rng = np.random.default_rng(0)
    ratings = rate(make_test("acr"), 12, lambda *_: float(rng.uniform(1, 5)))
    models = analyse(make_test("acr"), ratings).models
    assert models["logit"].isna().all() and models["bias"].notna().all()


def test_bias_removed_score_is_nearer_truth() -> None:
    """A harsh rater who heard one system only pulls its mean down, and not its score."""
    test = make_test("acr", ("ours", "rival"), stimuli=6)
    ratings = rate(test, 6, lambda r, *_: 2.0 if r == 0 else 4.0)
    rows = (ratings["rater"] != "rater-0") | (ratings["system"] == "ours")
    results = analyse(test, ratings.loc[rows])
    assert results.included.pairs["value"].abs().iloc[0] == pytest.approx(1 / 3)
    assert results.models["bias"].abs().iloc[0] < 0.06
