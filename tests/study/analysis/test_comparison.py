"""Two tests side by side."""

from dataclasses import replace

import numpy as np
import pytest

from earshot.core.errors import InputError
from earshot.study.analysis import Results, analyse
from earshot.study.analysis.report.comparison import compare, page
from earshot.study.design import Scale
from earshot.study.design.scales import TRANSCRIPTION
from tests.study.analysis.made import make_test, rate

BETTER = {"ours": 1.0}


def taken(design: str, seed: int, gain: float = 0.0, name: str = "made") -> Results:
    """A test that 12 raters took; gain is what they add to what they think of "ours"."""
    rng = np.random.default_rng(seed)

    def answer(rater: int, one: str, other: str, stimulus: str) -> float:
        worth = BETTER.get(one, 0) * gain - BETTER.get(other, 0) * gain + rng.normal()
        if design == "acr":
            return float(np.clip(round(3 + worth), 1, 5))
        return float(worth > 0)

    test = replace(make_test(design), name=name)
    ratings = rate(test, 12, answer)
    return analyse(test, ratings.assign(rater=f"{name}-" + ratings["rater"]))


def test_compare_finds_what_is_rated_higher() -> None:
    comparison = compare(taken("acr", 0, gain=1.2), taken("acr", 1, name="again"))
    table = comparison.table.set_index("system")
    assert table.loc["ours", "value"] == pytest.approx(1.2, abs=0.5)
    assert table.loc["ours", "p_holm"] < 0.05 and table["p"].idxmin() == "ours"
    gap = table["one_value"] - table["two_value"]
    assert gap.tolist() == pytest.approx(table["value"].tolist())


def test_compare_tells_pairs_of_same_system() -> None:
    """Though the other test ranks them the other way round."""
    one, two = taken("ab", 0, gain=1.0), taken("ab", 1, gain=-1.0, name="again")
    table = compare(one, two).table
    ours = table[table["system"] == "ours"]
    assert len(table) == 3 and len(ours) == 2
    assert (ours["one_value"] > 0.6).all() and (ours["two_value"] < 0.4).all()


@pytest.mark.parametrize("scale", [None, TRANSCRIPTION])
def test_compared_values_equal_those_of_reports(scale: Scale | None) -> None:
    """The intervals do too, and those of shares and of word errors, which are by the words of each
    sentence."""
    test = make_test("acr")
    stimuli = sorted({trial.stimulus for trial in test.trials})
    sentences = {name: "word " * (2 + place) for place, name in enumerate(stimuli)}
    test = replace(test, scales=(scale,), sentences=sentences) if scale else test
    rng = np.random.default_rng(0)
    ratings = rate(test, 8, lambda *_: float(rng.integers(0, 2) if scale else rng.integers(1, 6)))
    results = analyse(test, ratings.assign(scale=test.rated[0].name))
    table, own = compare(results, results).table, results.included.systems
    for end in ("value", "low", "high"):
        assert table[f"one_{end}"].tolist() == pytest.approx(own[end].tolist())


def test_compared_page_fetches_nothing_and_escapes() -> None:
    one, two = taken("acr", 0), taken("acr", 1, name="again")
    two = replace(two, test=replace(two.test, title="<script>alert(1)</script>"))
    html = page(compare(one, two))
    assert "<script" not in html and "nan" not in html and html.count("<svg") == 1
    assert "No mean differs" in html
    assert "range equalising" in html  # of scores on a scale


def test_incomparable_tests_are_refused() -> None:
    one = taken("ab", 0)
    adaptive = replace(one, test=replace(one.test, pairing="adaptive"))
    nobody = analyse(one.test, one.included.answers.iloc[:0])
    for two, reason in ((taken("acr", 0), "designs"), (adaptive, "adaptive"), (nobody, "common")):
        with pytest.raises(InputError, match=reason):
            compare(one, two)
