"""How raters' devices play: measured by the page, bounded, exported, reported, and ruled out."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from fastapi.testclient import TestClient

from benchmarks.support.listening import Rater, write_test
from earshot.study.analysis import analyse
from earshot.study.analysis.exclusions import describe_rules
from earshot.study.analysis.report import paper
from earshot.study.analysis.report.page import page
from earshot.study.design.raters import MAX_DROPOUTS, Rules
from earshot.study.design.spec import SpecError, load
from earshot.study.library import TestLibrary
from earshot.study.simulation import simulate
from earshot.study.storage import dataset
from earshot.study.storage.export import described, lines
from earshot.study.storage.store import Store
from earshot.study.web.server import app, library
from tests.support.stimuli import make_folder

FINE = {"dropouts": 0, "lost": 0, "stalls": 0, "hidden": 0, "changes": 0, "rate": 48_000}
BAD = FINE | {"dropouts": 2, "lost": 180, "hidden": 1, "rate": 16_000, "latency": 210}


@pytest.fixture
def tests(tmp_path: Path) -> TestLibrary:
    write_test(tmp_path / "pair", "ab", practice=0)
    return library(tmp_path, min_time=0)


def test_figures_are_in_every_table(tests: TestLibrary) -> None:
    """And what no page has measured is empty, not 0."""
    test, store = tests.open("pair").test, tests.store
    with TestClient(app(tests)) as client:
        rater = Rater(client, "pair")
        first, second, *others = rater.session()["trials"]
        assert rater.answer(first, "a", playback=BAD).status_code == 200
        assert rater.answer(second, "a", playback=FINE).status_code == 200
        for trial in others:
            assert rater.answer(trial, "b").status_code == 200
    table = store.ratings(test).set_index("order")
    assert [*table[["dropouts", "lost_sound", "rate"]].loc[0]] == [2, 180, 16_000]
    assert table.loc[1, "dropouts"] == 0 and pd.isna(table.loc[2, "dropouts"])
    everything = [line["rater"] for line in lines(test, store) if "rater" in line]
    items = everything[0]["items"]
    assert items[0]["playback"] == BAD and "playback" not in items[2]
    assert dataset.raters(test, everything)["dropouts"].tolist() == [2]
    assert dataset.ratings(test, store.ratings(test))["latency"].dropna().tolist() == [210]
    facts = {row[0]: row[1] for row in paper.facts_of_test(analyse(test, store.ratings(test))).rows}
    assert "skipped in 1 answer of 1 rater, with 0.2 s of sound lost" in facts["Devices"]
    assert "in a call (24 kHz or less) in 1 answer" in facts["Devices"]
    assert facts["Devices"].endswith("measured in 2 of 4 answers")


WRONG: list[Any] = (
    [FINE | {name: value} for name in FINE for value in (-1, 10**7, 10**400, "2", 1.5, [1], {})]
    + [FINE | {name: None} for name in FINE if name not in ("rate", "changes")]
    + [{}, [], "fine", 7, FINE | {"latency": 60_001}, FINE | {"name": "x" * 9999}]
    + [{name: value for name, value in FINE.items() if name != "lost"}]
)


def test_other_figures_are_refused(tests: TestLibrary) -> None:
    """The sentence names them, and the same answer goes without."""
    with TestClient(app(tests)) as client:
        rater = Rater(client, "pair")
        trial = rater.session()["trials"][0]
        for figures in WRONG:
            refused = rater.answer(trial, "a", playback=figures)
            assert refused.status_code == 422 and "playback" in refused.json()["detail"], figures
            assert len(refused.json()["detail"]) < 500
        assert rater.answer(trial, "a").status_code == 200


def test_rules_leave_out_answers_and_raters(tmp_path: Path) -> None:
    test = load(make_folder(tmp_path / "t", rules={"dropouts": {"answer": 2, "rater": 6}}))
    assert test.rules == Rules(dropouts={"answer": 2, "rater": 6})
    store = Store(f"sqlite:///{tmp_path / 'answers.db'}")
    simulate(test, store, raters=8, seed=5)
    table: Any = store.ratings(test)
    bare = analyse(test, table)
    assert not bare.skipped
    raters = [*bare.included.answers["rater"].unique()[:3]]
    table["dropouts"] = table["dropouts"].mask(table["kind"] == "trial", 0)
    at = {
        rater: table.index[(table["rater"] == rater) & (table["kind"] == "trial")]
        for rater in raters
    }
    table.loc[at[raters[0]][:1], "dropouts"] = 2  # one answer of this one
    table.loc[at[raters[1]][:3], "dropouts"] = 2  # all of this one
    table.loc[at[raters[2]][:3], "dropouts"] = 1  # and nothing of this one
    results = analyse(test, table)
    everyone = {each.rater: each for each in bare.exclusions}
    new = [each for each in results.exclusions if each.rater not in everyone]
    assert [each.rater for each in new] == [raters[1]]
    assert new[0].rules == ("dropouts",) and "skipped 6 times" in new[0].reasons[0]
    assert results.skipped == 1
    own = results.included.answers.groupby("rater").size()
    usual = bare.included.answers.groupby("rater").size()
    assert own[raters[0]] == usual[raters[0]] - 1 and own[raters[2]] == usual[raters[2]]
    flow = {row[0]: row[1] for row in paper.flow(results).rows}
    assert flow["Left out by rule: dropouts"] == "1"
    assert flow["Ratings of these left out for dropouts"] == "1"
    assert "skipped 6 times or more in all" in page(results)
    lax = analyse(test, table, replace(test.rules, dropouts={}))
    assert [each.rater for each in lax.exclusions] == [*everyone]


def test_rater_whose_device_always_skipped_is_left_out(tmp_path: Path) -> None:
    test = load(make_folder(tmp_path / "t", rules={"dropouts": {"answer": 1}}))
    store = Store(f"sqlite:///{tmp_path / 'answers.db'}")
    simulate(test, store, raters=6, seed=5)
    table: Any = store.ratings(test)
    rater = analyse(test, table).included.answers["rater"].iloc[0]
    table.loc[table["rater"] == rater, "dropouts"] = 1
    excluded = {each.rater: each for each in analyse(test, table).exclusions}
    assert excluded[rater].reasons == ("had a device that skipped in every answer",)


def test_rule_is_told_and_changes_no_test_without_it(tmp_path: Path) -> None:
    ruled = load(make_folder(tmp_path / "t", rules={"dropouts": {"answer": 1}}))
    bare = load(make_folder(tmp_path / "t", rules={"dropouts": False}))
    assert described(ruled)["rules"]["dropouts"] == {"answer": 1}
    assert "dropouts" not in described(bare)["rules"] and bare.rules == Rules()
    assert "the device skipped once or more" in describe_rules(ruled.rules, ruled)
    assert "skipped" not in describe_rules(bare.rules, bare)


@pytest.mark.parametrize(
    "value",
    [3, True, "never", [1], {"answer": 0}, {"rater": -1}, {"answer": 1.5}, {"trial": 1}]
    + [{"rater": MAX_DROPOUTS + 1}, {"answer": "many"}, {"answer": True}],
)
def test_unfit_rule_is_refused(tmp_path: Path, value: Any) -> None:
    with pytest.raises(SpecError, match=r"line \d+.*(dropouts|answer|rater|trial)"):
        load(make_folder(tmp_path / "t", rules={"dropouts": value}))
