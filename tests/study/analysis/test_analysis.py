"""Analysis of ratings: results, report, exclusions and degenerate tables."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from earshot.study.analysis import Results, Rules, analyse, write
from earshot.study.analysis.exclusions import describe_rules
from earshot.study.analysis.report.page import page
from earshot.study.analysis.report.pdf import document
from earshot.study.analysis.report.prose import number, p_value, verdict
from earshot.study.design import DESIGNS, REFERENCE
from earshot.study.design.designs import AB, ACR, MUSHRA
from tests.study.analysis.made import SYSTEMS, make_test, rate

pytestmark = pytest.mark.slow


def _answers(design: str, seed: int = 0) -> Callable[[int, str, str, str], float]:
    rng = np.random.default_rng(seed)
    quality = {"ours": 2, "rival": 1, "older": 0, REFERENCE: 3, "anchor-7k": -1, "anchor-3.5k": -2}

    def answer(rater: int, one: str, other: str, stimulus: str) -> float:
        noise = rng.normal()
        if design == "mushra":
            return (
                100
                if one == REFERENCE
                else float(np.clip(50 + 15 * quality[one] + 8 * noise, 0, 100))
            )
        if design in ("ab", "abx"):
            return float(quality[one] - quality[other] + 1.2 * noise > 0)
        if design == "ccr":
            return float(np.clip(round(quality[one] - quality[other] + noise), -3, 3))
        if design == "ranking":  # the lower the place, the better
            return -float(quality[one] + 0.5 * noise)
        if design == "similarity":
            return float(np.clip(round(3.5 - quality[one] + noise), 1, 4))
        return float(np.clip(round(2.5 + quality[one] + noise), 1, 5))

    return answer


@pytest.fixture(scope="module")
def results() -> dict[str, Results]:
    by_design = {}
    for design in DESIGNS:
        test = make_test(design)
        by_design[design] = analyse(test, rate(test, 10, _answers(design)))
    return by_design


@pytest.mark.parametrize("design", DESIGNS)
def test_analyse_ranks_the_best_system_first(results: dict[str, Results], design: str) -> None:
    result = results[design]
    if design in ("ab", "ccr", "abx"):
        pairs = [*zip(result.included.pairs["system"], result.included.pairs["other"], strict=True)]
        # Of ABX the pair that is told apart most often comes first: the best and the worst.
        assert pairs[0] == (("older", "ours") if design == "abx" else ("ours", "rival"))
        assert (result.included.pairs["p_holm"] < 0.05).all()
    else:
        systems = result.included.systems
        tested = systems[systems["system"].isin(result.test.systems)]
        assert tested["system"].tolist() == ["ours", "rival", "older"]
    assert verdict(result.test, result.included).startswith(
        "older and" if design == "abx" else "ours"
    )
    assert result.included.notes == ()


@pytest.mark.parametrize("design", DESIGNS)
def test_report_page_fetches_nothing(results: dict[str, Results], design: str) -> None:
    html = page(results[design])
    assert "<script" not in html
    assert "prefers-color-scheme: dark" in html
    for fetched in ('src="', "url(http", "@import", "<link", "nan", "NaN"):
        assert fetched not in html.replace("urn:", "")
    assert html.count("<svg") == 2  # the figure, and the map of stimuli
    assert "Cameron, Gelbach and Miller" in html


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("raters", [0, 1, 2])
def test_analyse_of_few_raters_says_so(design: str, raters: int) -> None:
    test = make_test(design)
    result = analyse(test, rate(test, raters, _answers(design)))
    html = page(result)
    assert "nan" not in html
    if raters == 0:  # and no board of zeros
        assert "no ratings" in html and "What is asked" in html
        assert not re.search(r"\b0 (raters|ratings|stimuli|of 0)|<td[^>]*>0</td>", html)
        assert document(result).startswith(b"%PDF")
    if raters == 1:
        assert "Only one person" in html and " 1 rater gave " in html
    if raters == 1 and len(result.included.systems):
        assert result.included.systems["low"].isna().all()


@pytest.mark.parametrize("design", DESIGNS)
def test_analyse_of_one_stimulus_says_so(design: str) -> None:
    test = make_test(design, stimuli=1)
    result = analyse(test, rate(test, 6, _answers(design)))
    assert "only one stimulus" in page(result)


@pytest.mark.parametrize("design", DESIGNS)
def test_analyse_of_identical_answers_says_so(design: str) -> None:
    test = make_test(design)
    same = {"ab": 0.5, "abx": 1.0, "mushra": 95.0, "ccr": 0.0}.get(design, 3.0)
    ranked = design == "ranking"  # all have the same order
    places = {name: float(place) for place, name in enumerate(SYSTEMS, 1)}
    result = analyse(test, rate(test, 6, lambda _, name, *__: places[name] if ranked else same))
    html = page(result)
    sentence = "no scale of strengths yet" if ranked else "All answers are the same"
    assert sentence in html
    assert "nan" not in html


def test_analyse_of_one_system_gives_mean() -> None:
    test = make_test("acr", ("ours",))
    result = analyse(test, rate(test, 6, _answers("acr")))
    assert result.included.pairs.empty
    assert verdict(test, result.included).startswith("ours: MOS 4")


def test_analyse_ignores_what_is_no_number() -> None:
    test = make_test("acr")
    ratings = rate(test, 6, _answers("acr"))
    whole = analyse(test, ratings).included.systems
    bad = ratings.assign(answer=np.nan, rater="nobody")
    bad.loc[0, "answer"] = np.inf
    table = pd.concat([ratings, bad], ignore_index=True).astype({"answer": object})
    pd.testing.assert_frame_equal(analyse(test, table).included.systems, whole)


def test_analyse_of_sparse_table_gives_intervals() -> None:
    test = make_test("acr")
    ratings = rate(test, 8, _answers("acr")).sample(frac=0.3, random_state=1)
    result = analyse(test, ratings).included
    assert result.systems["low"].notna().all()
    assert analyse(test, pd.DataFrame()).included.answers.empty


def test_analyse_states_exclusions() -> None:
    """The report shows the results with and without those left out."""
    test = make_test("acr", checks=4)
    ratings = rate(test, 8, _answers("acr"), check=lambda rater: 5.0 if rater == 2 else 1.0)
    ratings.loc[ratings["rater"] == "rater-3", "milliseconds"] = 500
    ratings["headphones"] = ratings["headphones"].astype(object)
    ratings.loc[ratings["rater"] == "rater-4", "headphones"] = False
    ratings.loc[ratings["rater"] == "rater-5", "headphones"] = None
    result = analyse(test, ratings)
    assert {who.rater: who.reasons for who in result.exclusions} == {
        "rater-2": ("failed 4 of 4 checks (25\xa0% may fail)",),
        "rater-3": ("took 0.5 s for an answer; the median rater took 8.0 s",),
        "rater-4": ("failed the headphone check",),
    }
    assert (result.included.raters, result.everyone.raters, result.started) == (5, 8, 8)
    html = page(result)
    assert "failed 4 of 4 checks" in html
    assert "With everyone" in html
    assert html.count("<svg") == 3
    lax = Rules(failed_checks=None, too_fast=None, headphones=False)
    assert analyse(test, ratings, lax).exclusions == ()
    assert describe_rules(lax, test) == "Who fails the headphone check stays."
    assert "stays" not in describe_rules(test.rules, test)


def test_report_of_nobody_kept_contradicts_itself_nowhere() -> None:
    """Whom the headphone check leaves out has done it, wherever that is stated."""
    test = make_test("ab")
    ratings = rate(test, 3, _answers("ab")).assign(headphones=False)
    html = page(analyse(test, ratings))
    assert html.count("0 of 3 raters passed the check") == 4 and "not checked" not in html


def test_report_shows_a_rehearsal_while_nobody_has_rated() -> None:
    test = make_test("ab")
    rehearsed = analyse(test, rate(test, 4, _answers("ab")))
    html = page(analyse(test, pd.DataFrame()), rehearsed=rehearsed)
    assert "Rehearsal with 4 simulated raters" in html and "says nothing about the" in html
    assert "Rehearsal" not in page(rehearsed, rehearsed=rehearsed)


def test_analyse_counts_checks_as_no_ratings() -> None:
    """Whoever passes them is kept."""
    test = make_test("acr", checks=4)
    ratings = rate(test, 3, _answers("acr"), check=lambda rater: 1.0)
    result = analyse(test, ratings)
    assert result.exclusions == ()
    assert set(result.included.answers["kind"]) == {"trial"}


def test_analyse_excluding_everyone_shows_all_raters() -> None:
    test = make_test("ab", checks=2)
    result = analyse(test, rate(test, 3, _answers("ab"), check=lambda rater: 0.0))
    html = page(result)
    assert "Everyone is left out" in html
    assert result.everyone.raters == 3
    assert "nan" not in html


def test_report_page_escapes_system_names() -> None:
    names = ("<script>alert(1)</script>", "a$b$ & \\frac{1}{2}", "ü" * 200)
    test = make_test("ab", names)
    rng = np.random.default_rng(0)
    result = analyse(test, rate(test, 5, lambda *_: float(rng.integers(2))))
    assert "<script" not in page(result)
    assert document(result).startswith(b"%PDF")


def test_document_of_chinese_has_its_font() -> None:
    """The PDF names a Chinese font only where its title is Chinese."""
    test = make_test("ab", ("y0", "y1"))
    result = analyse(test, rate(test, 2, lambda *_: 1.0))
    assert b"/STSong-Light" not in document(result)
    chinese = replace(result.test, title="哪一个声码器最接近录音？" * 5)
    assert b"/STSong-Light" in document(replace(result, test=chinese))


@pytest.mark.parametrize("design", ["acr", "mushra"])
def test_write_makes_report_figures_and_tables(
    results: dict[str, Results], design: str, tmp_path: Path
) -> None:
    write(results[design], tmp_path / "new")
    names = {path.name for path in (tmp_path / "new").iterdir()}
    assert names == {
        "report.html",
        "report.pdf",
        *(f"{stem}.{kind}" for stem in ("figure", "stimuli") for kind in ("pdf", "svg", "png")),
        "systems.csv",
        "pairs.csv",
        "power.csv",
    }
    for name in ("figure.pdf", "report.pdf"):
        assert (tmp_path / "new" / name).read_bytes().startswith(b"%PDF")
    systems = pd.read_csv(tmp_path / "new" / "systems.csv")
    assert systems["value"].tolist() == pytest.approx(
        results[design].included.systems["value"].tolist()
    )


def test_number_and_p_value_are_formatted() -> None:
    assert number(ACR.scale, -0.301, signed=True) == "−0.30"
    assert number(AB.scale, 0.724) == "72\u00a0%"
    assert number(MUSHRA.scale, 71.26) == "71.3"
    assert [number(ACR.scale, value) for value in (np.nan, np.inf)] == ["–", "∞"]
    assert [p_value(p) for p in (0.0001, 0.0123, np.nan)] == ["< 0.001", "0.012", "–"]
