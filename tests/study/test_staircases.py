"""Staircases: the next level by the answers so far, drawn again from the log; refused where they
cannot be; and a threshold that was put in, found again."""

import re
import shutil
import zipfile
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient
from sqlalchemy.orm import Session

from benchmarks.study_answers import STAIRCASE, draw_staircases
from benchmarks.support.listening import Rater, write_test
from earshot.core.errors import InputError
from earshot.study.analysis import analyse, staircases
from earshot.study.analysis.report import comparison, paper
from earshot.study.analysis.report.method import method, plan
from earshot.study.analysis.report.page import page
from earshot.study.analysis.report.pdf import document
from earshot.study.design import DESIGNS, Test
from earshot.study.design.model import Staircase, make_trials, number_trials
from earshot.study.design.spec import SpecError, load
from earshot.study.reproduction import reproduce
from earshot.study.simulation import simulate
from earshot.study.storage import dataset, queries
from earshot.study.storage.database import MEMORY
from earshot.study.storage.export import lines
from earshot.study.storage.store import Store
from earshot.study.web.server import app, library
from tests.support.replay import differing, events
from tests.support.studies import FOLDER, make_test

LEVELS = {"far": 9.0, "near": 6.0, "close": 3.0}
YAML: dict[str, Any] = {
    "systems": {name: f"{name}/*.wav" for name in LEVELS},
    "reference": "reference/*.wav",
    "staircase": {"levels": LEVELS, "unit": "dB"},
}


def stepped(folder: Path, design: str = "abx", **more: Any) -> Path:
    """Write an abx test of three levels, whose sounds differ by nothing."""
    write_test(folder, design, **YAML | {"practice": 0} | more)
    for name in LEVELS:
        shutil.copytree(folder / "rough", folder / name)
    return folder


@pytest.fixture(scope="module")
def taken() -> tuple[Test, Store]:
    """A test of five levels, of which a higher one is harder, with the answers of six raters."""
    levels = {f"y{k}": 2.0 * k for k in range(5)}
    names, reference = [*levels], FOLDER / "reference.wav"
    every = [
        trial
        for stimulus in ("s0", "s1", "s2")
        for trial in make_trials(
            DESIGNS["abx"],
            FOLDER,
            stimulus,
            {name: FOLDER / name / f"{stimulus}.wav" for name in names},
            reference,
        )
    ]
    test = make_test("abx")
    changed = {"systems": tuple(names), "trials": number_trials(every), "trials_per_rater": 16}
    test, store = replace(test, staircase=Staircase(levels, "dB"), **changed), Store(MEMORY)
    simulate(test, store, 6, 0)
    return test, store


@pytest.mark.parametrize(
    ("answers", "level"),
    [
        ("", "far"), ("r", "far"), ("rr", "near"), ("rrrr", "close"), ("rrrrrr", "close"),
        ("w", "far"), ("rrw", "far"), ("rrrw", "far"), ("rrrwr", "far"), ("rrrwrr", "near"),
        ("rrrrw", "near"), ("rrrrww", "far"),
    ],
)  # fmt: skip
def test_level_follows_two_right_and_one_wrong(answers: str, level: str) -> None:
    assert Staircase(LEVELS).next_level(each == "r" for each in answers) == level


def test_next_trial_is_known_after_the_answer_only(tmp_path: Path) -> None:
    stepped(tmp_path / "steps", trials=8)
    tests = library(tmp_path, min_time=0)
    test = tests.open("steps").test
    with TestClient(app(tests)) as client:
        rater = Rater(client, "steps")
        trials = rater.session()["trials"]
        levels, sides = [], []
        for number in range(8):
            drawn = [trial for trial in trials if trial["sounds"]]
            assert len(drawn) == number + 1, "no later trial is drawn, nor can be loaded"
            item = tests.store.item(test, rater.token, number)
            assert item and tests.store.item(test, rater.token, number + 1) is None
            levels.append(next(iter(test.trials[item.trial].sounds)))
            sides.append((item.systems.index("reference"), item.systems[2]))
            right = item.systems[0] == item.systems[2]
            reply = rater.answer(drawn[number], "a" if right == (number != 4) else "b")
            for each in reply.json()["coming"]:
                trials[each["order"]] = each
        # One of them was sent, and changes nothing.
        codes = {rater.answer(trials[0], each, version=1).status_code for each in "ab"}
        assert codes == {200, 409}, "others hang on it"
        late = Rater(client, "steps")
        first = late.session()["trials"][0]
        assert late.post("missing", rater=late.token, order=0, place=0).status_code == 200
        assert late.answer(first, "a").status_code == 409, "the next level was chosen without it"
    assert levels == ["far", "far", "near", "near", "close", "near", "near", "close"]
    assert sides.count((0, "reference")) == 2 and len({*sides}) > 3, "sides and X are balanced"
    assert reply.json()["outcome"] == "complete"


def test_choices_are_made_again_from_the_log_and_the_zip(
    taken: tuple[Test, Store], tmp_path: Path
) -> None:
    test, store = taken
    log = events(test, lines(test, store))
    assert len(log) == 6 * 16 and differing(test, log) == []
    table = dataset.ratings(test, store.ratings(test))
    names = [
        one if one in test.systems else other
        for one, other in zip(table["system"], table["compared_with"], strict=True)
    ]
    assert test.staircase and table["level"].tolist() == [test.staircase.levels[n] for n in names]
    assert {*table["unit"]} == {"dB"} and "start" not in table
    file = tmp_path / "steps.zip"
    dataset.zipped(test, store, file)
    assert reproduce(file).different == ()
    with zipfile.ZipFile(file) as archive:
        assert b"The threshold" in archive.read("study/analysis/report.html")


def test_others_answers_are_counted_and_not_read(taken: tuple[Test, Store]) -> None:
    """So that answers come as quickly in a large test."""
    test, store = taken
    with Session(store.engine) as session:
        own = queries.adaptive_log(session, test, next(iter(store.ratings(test)["rater"])))
        counts = queries.drawn_counts(session, test, 40)
    log = events(test, lines(test, store))
    assert len(own) == 16 and {event.rater for event in own} == {own[0].rater}
    assert counts == Counter(event.trial for event in log if event.drawn < 40)


def test_report_has_a_threshold_and_tests_no_level(taken: tuple[Test, Store]) -> None:
    test, store = taken
    results = analyse(test, store.ratings(test), conduct=store.conduct(test))
    row = results.included.threshold.iloc[0]
    assert row["low"] < row["value"] < row["high"] and 0 < row["value"] < 8
    assert not {"p", "p_holm", "low"} & {*results.included.pairs}
    text = page(results)
    assert re.search(r"half of the differences are heard, lies at \d\.\d dB \[\d\.\d, ", text)
    assert "binomial" not in text
    assert "harder below" in text and "more raters" in text and document(results)[:4] == b"%PDF"
    assert "in which raters have thresholds" in paper.paragraph(results)
    assert "psychometric" in " ".join(method(results))
    assert "hypotheses" not in " ".join(plan(test)) and "psychometric" in " ".join(plan(test))
    table: Any = store.ratings(test)
    one = analyse(test, table[table["rater"] == table["rater"].iloc[0]])
    assert np.isnan(one.included.threshold["low"].iloc[0]), "one rater says nothing of others"
    with pytest.raises(InputError, match="on a staircase"):
        comparison.compare(results, results)


def test_threshold_that_was_put_in_is_found() -> None:
    """Also where a higher level is harder, and raters differ."""
    rng = np.random.default_rng(0)
    table, truth = draw_staircases(rng, raters=60, trials=50)
    fitted = staircases.psychometric(STAIRCASE, table)
    assert fitted.threshold.value == pytest.approx(truth, abs=0.35)
    assert fitted.threshold.low < truth < fitted.threshold.high
    assert (fitted.width, fitted.spread) == pytest.approx((1.0, 1.0), abs=0.35)
    turned = Staircase({name: -level for name, level in STAIRCASE.levels.items()})
    assert staircases.psychometric(turned, table).threshold.value == pytest.approx(
        -fitted.threshold.value, abs=1e-3
    )


@pytest.mark.parametrize("factor", [1e-4, 1e4])
def test_threshold_is_the_same_in_another_unit(factor: float) -> None:
    table, _ = draw_staircases(np.random.default_rng(1), raters=20, trials=40)
    one = staircases.psychometric(STAIRCASE, table)
    levels = {name: factor * level for name, level in STAIRCASE.levels.items()}
    other = staircases.psychometric(Staircase(levels), table)
    for name in ("value", "low", "high"):
        number = factor * getattr(one.threshold, name)
        assert getattr(other.threshold, name) == pytest.approx(number, rel=1e-6)


@pytest.mark.parametrize(
    ("levels", "decimals"),
    [((9, 6, 3), 1), ((0.05, 0.02, 0), 3), ((24000, 16000, 8000), 0), ((1.5, 1, 0.5), 2)],
)
def test_threshold_has_one_decimal_more_than_levels(
    levels: tuple[float, ...], decimals: int
) -> None:
    assert Staircase(dict(zip("abc", levels, strict=True))).decimals == decimals


@pytest.mark.parametrize(
    ("share", "beyond", "more"),
    [(0.0, "easiest", "easier"), (0.5, "easiest", "easier"), (1.0, "hardest", "harder")],
)
def test_threshold_beyond_the_levels_has_no_number(
    taken: tuple[Test, Store], share: float, beyond: str, more: str
) -> None:
    """Answers within the levels do not say how far."""
    test, store = taken
    rng = np.random.default_rng(0)
    right = (rng.random(len(store.ratings(test))) < share).astype(int)
    results = analyse(test, store.ratings(test).assign(answer=right))
    row = results.included.threshold.iloc[0]
    assert row["beyond"] == beyond and np.isnan(row["value"]) and np.isnan(row["high"])
    assert f"Even at the {beyond} level" in page(results) and document(results)
    assert f"The threshold was not reached: add {more} levels." in results.notes


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"staircase": 3}, "write levels, unit, down here"),
        ({"staircase": {"unit": "dB"}}, '"levels" is missing'),
        ({"staircase": {"levels": {"far": 9, "near": 6}}}, "name every system with its level"),
        ({"staircase": {"levels": LEVELS | {"other": 1}}}, "name every system with its level"),
        ({"staircase": {"levels": LEVELS | {"close": 7}}}, "must rise from the first to the last"),
        ({"staircase": {"levels": LEVELS | {"close": 6}}}, "must rise from the first to the last"),
        ({"staircase": {"levels": LEVELS | {"close": "x"}}}, '"close" must be a number'),
        ({"staircase": {"levels": LEVELS | {"close": -(10**400)}}}, "no number, or too large"),
        ({"staircase": {"levels": LEVELS, "unit": "d\nB"}}, "a line of 20 characters"),
        ({"staircase": {"levels": LEVELS, "down": 0}}, '"down" must be 1 to 4'),
        ({"staircase": {"levels": LEVELS, "unit": "x" * 21}}, "20 characters"),
        ({"staircase": {"levels": LEVELS, "up": 1}}, "up"),
        ({"reference": None, "staircase": {"levels": LEVELS}}, 'abx with "reference"'),
        ({"design": "ab"}, 'abx with "reference"'),
        ({"pairing": "adaptive"}, "only in ab can"),
        ({"blocks": "systems"}, "cannot be asked in blocks"),
        ({"trials": 301}, "must be 1 to 300"),
    ],
)
def test_what_no_staircase_can_be_is_refused(
    more: dict[str, Any], sentence: str, tmp_path: Path
) -> None:
    folder = stepped(tmp_path / "steps", **more)
    file = folder / "test.yaml"
    file.write_text(file.read_text().replace("reference: null\n", ""))
    with pytest.raises(SpecError, match=sentence):
        load(folder)


def test_changed_rule_is_another_test(tmp_path: Path) -> None:
    one = load(stepped(tmp_path / "one")).fingerprint
    other = load(stepped(tmp_path / "two", staircase={"levels": LEVELS, "down": 3})).fingerprint
    assert one != other
