"""Results of several scales on one trial, and of transcripts, whose truth is known."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from earshot.study.analysis import Results, analyse, scores, write
from earshot.study.analysis.report import paper
from earshot.study.analysis.report.method import method
from earshot.study.analysis.report.page import page
from earshot.study.analysis.report.pdf import document
from earshot.study.analysis.report.prose import conclusion
from earshot.study.analysis.results import evaluate
from earshot.study.design import Scale, Test
from earshot.study.design.designs import TRANSCRIPTION
from earshot.study.design.scales import INTELLIGIBILITY, NATURALNESS
from tests.study.analysis.made import make_test, rate

SENTENCES = {f"sound-{k}": "word " * (2 + 2 * k) for k in range(4)}


@pytest.fixture(scope="module")
def test() -> Test:
    scales = (NATURALNESS, INTELLIGIBILITY, TRANSCRIPTION)
    return replace(make_test("acr", ("ours", "rival"), 4), scales=scales, sentences=SENTENCES)


@pytest.fixture(scope="module")
def ratings(test: Test) -> pd.DataFrame:
    """Ours is more natural; the rival is easier to understand, and by 10 % of words better."""
    rng = np.random.default_rng(5)

    def table(scale: Scale, ours: float, rival: float) -> pd.DataFrame:
        def answer(rater: int, system: str, *_: str) -> float:
            value = (rival if system == "rival" else ours) + rng.normal() / (
                20 if scale.typed else 2
            )
            return float(np.clip(value if scale.typed else round(value), *scale.bounds))

        return rate(test, 12, answer).assign(scale=scale.name)

    means = ((4.0, 2.0), (2.0, 4.0), (0.3, 0.2))
    tables = [table(scale, *pair) for scale, pair in zip(test.scales, means, strict=True)]
    return pd.concat(tables, ignore_index=True)


@pytest.fixture(scope="module")
def results(test: Test, ratings: pd.DataFrame) -> Results:
    return analyse(test, ratings)


def test_each_scale_is_analysed_alone(test: Test, ratings: pd.DataFrame, results: Results) -> None:
    assert [each.scale.name for each in results.by_scale] == [each.name for each in test.scales]
    for each in results.by_scale:
        own = ratings[(ratings["scale"] == each.scale.name) & (ratings["kind"] == "trial")]
        alone = evaluate(test, own, scale=each.scale)
        assert each.included.systems.equals(alone.systems) and each.included.pairs.equals(
            alone.pairs
        )
        assert len(each.included.answers) == len(own)
        # Holm within a scale: one pair, and so nothing to correct.
        assert each.included.pairs["p_holm"].tolist() == each.included.pairs["p"].tolist()


def test_fewest_word_errors_are_best(results: Results) -> None:
    natural, clear, typed = results.by_scale
    assert [each.included.systems["system"].iloc[0] for each in (natural, clear, typed)] == [
        "ours", "rival", "rival"
    ]  # fmt: skip
    assert typed.included.pairs["value"].iloc[0] < 0
    sentence = conclusion(results)
    assert "Naturalness: ours was rated highest" in sentence
    assert "Transcription: rival was understood best" in sentence and "word error rate" in sentence
    assert not typed.included.power.empty


def test_notes_of_scales_are_said_once(test: Test, ratings: pd.DataFrame) -> None:
    few = ratings.loc[ratings["rater"].isin(["rater-1", "rater-2"])].copy()
    few.loc[few["scale"] == "naturalness", "answer"] = 3.0
    notes = analyse(test, few).notes
    assert sum("take every number as a first hint" in note for note in notes) == 1
    same = [note for note in notes if "All answers are the same" in note]
    assert len(same) == 1 and same[0].startswith("Naturalness: ")


def test_comments_are_no_ratings(test: Test, ratings: pd.DataFrame, results: Results) -> None:
    remark = ratings.head(5).assign(scale="comment", answer=np.nan, text="Clicks")
    again = analyse(test, pd.concat([ratings, remark], ignore_index=True))
    assert (
        again.included.systems.equals(results.included.systems) and again.started == results.started
    )


def test_word_error_rate_weighs_by_words() -> None:
    """It is all errors by all words. By hand: 1 of 2 and 1 of 8 words of one system, all of 2 and
    none of 8 of the other."""
    table = pd.DataFrame(
        {
            "rater": ["r", "r", "r", "r"],
            "system": ["x", "x", "y", "y"],
            "stimulus": ["short", "long"] * 2,
            "answer": [0.5, 0.125, 1.0, 0.0],
        }
    )
    weighed = scores.by_words(table, {"short": 2, "long": 8})
    assert weighed.groupby("system")["answer"].mean().to_dict() == {"x": 0.2, "y": 0.2}
    systems = scores.systems(weighed, (0, 1), lowest_first=True)
    assert systems["value"].tolist() == pytest.approx([0.2, 0.2])


def test_word_error_rate_interval_holds_truth() -> None:
    """Coverage in simulated tests of 12 raters who differ, and 12 sentences of 4 to 9 words."""
    rng, held, tests = np.random.default_rng(7), 0, 120
    words = {f"s{k}": 4 + k % 6 for k in range(12)}
    counts = np.array([*words.values()])
    chance = 0.2  # on the average over raters and sentences, each of which adds its own
    for _ in range(tests):
        lost = np.clip(chance + 0.05 * rng.normal(size=(12, 1)) + 0.06 * rng.normal(size=12), 0, 1)
        errors = rng.binomial(counts, lost) / counts
        table = pd.DataFrame(
            [
                {"rater": f"r{r}", "stimulus": name, "system": "x", "answer": errors[r, k]}
                for r in range(12)
                for k, name in enumerate(words)
            ]
        )
        row = scores.systems(scores.by_words(table, words), (0, 1)).iloc[0]
        held += row["low"] <= chance <= row["high"]
    assert held / tests >= 0.9


def test_report_has_table_for_each_scale(results: Results, tmp_path: Path) -> None:
    html = page(results)
    for scale in results.test.scales:
        assert f"<h2>{scale.title}</h2>" in html and scale.question in html
    assert html.count("<caption>Systems</caption>") == 3
    assert "Word error rate" in html and "Word errors. Ring" in html
    text = " ".join(method(results))
    assert "within a scale, and not over the scales" in text and "all its errors" in text
    assert paper.paragraph(results).count("Raters were asked") == 3
    assert document(results).startswith(b"%PDF")
    write(results, tmp_path)
    names = {path.name for path in tmp_path.iterdir()}
    assert {"naturalness-systems.csv", "transcription-figure.png", "report.html"} <= names
