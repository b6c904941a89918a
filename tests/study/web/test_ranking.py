"""Rankings by elimination: asked, refused where a place is missing or there twice, stored, and
counted as votes for each two and as strengths of Plackett and Luce."""

import math
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from fastapi.testclient import TestClient

from benchmarks.support.listening import Rater, write_test
from earshot.study.analysis import analyse, rankings
from earshot.study.analysis.report import paper
from earshot.study.analysis.report.page import page
from earshot.study.analysis.report.pdf import document
from earshot.study.design.spec import SpecError, load
from earshot.study.library import TestLibrary
from earshot.study.simulation import simulate
from earshot.study.storage.database import MEMORY
from earshot.study.storage.store import Store
from earshot.study.web.server import app, library
from tests.support.studies import make_test

YAML: dict[str, Any] = {
    "systems": {name: f"{name}/*.wav" for name in ("fine", "rough", "dull")},
    "practice": 0,
}
FILES = ["fine/cat.wav", "rough/cat.wav", "dull/cat.wav"]


def ranked(folder: Path, **more: Any) -> Path:
    """Write a test of three systems, the sounds of one of which last longer."""
    write_test(folder, "ranking", **YAML | more)
    write_test(folder / "long", "acr", seconds=0.3)
    shutil.copytree(folder / "long" / "rough", folder / "dull")
    return folder


def check() -> dict[str, object]:
    return {"sounds": [*FILES], "expected": 1}  # of its own, for YAML has no aliases here


@pytest.fixture
def tests(tmp_path: Path) -> TestLibrary:
    ranked(
        tmp_path / "order", attention=[check()], practice=[check()], comment=True, faults=["buzz"]
    )
    ranked(tmp_path / "plain")
    return library(tmp_path, min_time=0)


def test_places_are_stored_each_once(tests: TestLibrary) -> None:
    with TestClient(app(tests)) as client:
        rater = Rater(client, "plain")
        trial, *others = rater.session()["trials"]
        assert trial["ranked"] and not trial["sliders"] and not trial["together"]
        assert trial["question"] == "Which of these sounds worst?" and trial["sounds"] == 3
        for damaged in (
            [1, 2, 2], [1, 2], [1, 2, 3, 4], [0, 1, 2], [2, 3, 4], [1, 2, None], [1, 2.5, 3],
            [True, 2, 3], [], "a", 1, None, {"ranking": [1, 2, 3]}, [[1], 2, 3], [1, 2, "3"],
        ):  # fmt: skip
            assert rater.answer(trial, damaged).status_code == 422, damaged
        assert rater.answer(trial, [3, 1, 2]).status_code == 200
        assert rater.answer(trial, [3, 1, 2]).status_code == 200, "sent again it changes nothing"
        assert rater.answer(trial, [1, 2, 3]).status_code == 409, "from a tab that was left open"
        item = tests.store.item(tests.open("plain").test, rater.token, trial["order"])
    assert item
    table = tests.store.ratings(tests.open("plain").test)
    assert dict(zip(table["system"], table["answer"], strict=True)) == dict(
        zip(item.systems, [3, 1, 2], strict=True)
    )


def test_checks_expect_a_place_of_their_first_sound(tests: TestLibrary) -> None:
    with TestClient(app(tests)) as client:
        rater = Rater(client, "order")
        test = tests.open("order").test
        for right in (True, False):
            rater = Rater(client, "order")
            for trial in rater.session()["trials"]:
                item = tests.store.item(test, rater.token, trial["order"])
                assert item
                kind = test.trials[item.trial].kind
                first = item.systems.index("fine/cat.wav" if kind != "trial" else "fine")
                places = test.design.with_expected([1, 2, 3], first, 1 if right else 3)
                answer = {"ranking": places, "faults": [0, 1, 0], "comment": "hm"}
                reply = rater.answer(trial, answer)
                assert reply.status_code == 200
                if kind == "practice":
                    assert reply.json()["lesson"]["right"] == right
    results = analyse(test, tests.store.ratings(test))
    assert [who.reasons for who in results.exclusions] == [
        ("failed 1 of 1 checks (25\u00a0% may fail)",)
    ]
    assert results.included.pairs.iloc[0]["system"] == "fine"


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"systems": {"fine": "fine/*.wav"}}, "needs 2 or more systems"),
        ({"strict": False}, '"strict" belongs to mushra'),
        ({"reference": "reference/*.wav"}, "ranking has no reference"),
        ({"scales": {"quality": None}}, "ranking has one scale"),
        ({"pairing": "adaptive"}, "only in ab"),
        ({"attention": [{"sounds": FILES, "expected": 4}]}, "the first sound, 1 to 3"),
        ({"attention": [{"sounds": FILES, "expected": 1.5}]}, "a whole number, and is 1.5"),
        ({"attention": [{"sounds": FILES[:1], "expected": 1}]}, "must name 2 to 12 files"),
        ({"attention": [{"sounds": [FILES[0]] * 2, "expected": 1}]}, "must name 2 to 12 files"),
        ({"attention": [{"sounds": FILES}]}, '"expected" is missing'),
        ({"attention": [{"sounds": [FILES[0], f"./{FILES[0]}"], "expected": 1}]}, "must name 2"),
        ({"gold": [{"sounds": FILES, "expected": 1, "tolerance": -1}]}, '"tolerance" must be 0 or'),
        ({"words": ["best", "worst"]}, "ranking has no words"),
    ],
)
def test_what_no_ranking_can_be_is_refused(
    more: dict[str, object], sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(SpecError, match=sentence):
        load(ranked(tmp_path / "order", **more))


def test_votes_are_those_of_the_places() -> None:
    places = pd.DataFrame(
        {"rater": "r", "order": 0, "system": list("bca"), "answer": [3.0, 1.0, 2.0]}
    ).assign(position=range(3), stimulus="s", other="")
    votes = rankings.as_votes(places)
    rows = {tuple(row) for row in votes[["system", "other", "answer", "position"]].to_numpy()}
    assert rows == {("a", "b", 1.0, 1), ("a", "c", 0.0, 1), ("b", "c", 0.0, 0)}


def test_strengths_are_those_that_were_drawn_by() -> None:
    """Of rankings as Plackett and Luce have them, of very many raters."""
    rng, true = np.random.default_rng(0), np.array([0.8, 0.1, -0.9])
    noise = rng.gumbel(size=(4000, 3))  # the order of strengths with it is theirs
    best_first = np.argsort(-(true + noise), axis=1)
    fitted = rankings.fit(best_first, np.arange(4000) // 10, np.arange(4000) % 10)
    for weights, value in zip(([1, 0], [0, 1], [-1, -1]), true, strict=True):
        estimate = fitted.estimate(np.array(weights, float))
        assert estimate.value == pytest.approx(value, abs=0.05)
        assert estimate.low < value < estimate.high
    two = rankings.fit(np.repeat([[0, 1], [1, 0]], [30, 10], axis=0), np.arange(40), np.arange(40))
    gap = two.estimate(np.array([2.0])).value
    assert gap == pytest.approx(math.log(3)), "of two it is the log odds"


def test_report_counts_rankings_and_names_the_model() -> None:
    test, store = make_test("ranking", systems=4), Store(MEMORY)
    simulate(test, store, 8, 0)
    results = analyse(test, store.ratings(test), conduct=store.conduct(test))
    text = page(results)
    rater_count = results.included.raters
    assert f"{rater_count * 4} rankings" in text and "Plackett–Luce strengths" in text
    assert "Bradley" not in text and "one of the conditions" not in text
    assert document(results).startswith(b"%PDF")
    table: Any = store.ratings(test)
    table["dropouts"] = table["dropouts"].mask(table["kind"] == "trial", 0)
    first = table[table["kind"] == "trial"].iloc[0]
    table.loc[
        (table["rater"] == first["rater"]) & (table["order"] == first["order"]), "dropouts"
    ] = 1
    strict = analyse(test, table, replace(test.rules, dropouts={"answer": 1}))
    assert ("Rankings of these left out for dropouts", "1") in paper.flow(strict).rows
    always: Any = store.ratings(test)
    always["answer"] = always["system"].map({"y0": 1.0, "y1": 2.0, "y2": 3.0, "y3": 4.0})
    results = analyse(test, always)
    assert results.included.systems.empty, "of one order no strengths can be found"
    assert any("no scale of strengths yet" in note for note in results.notes)
