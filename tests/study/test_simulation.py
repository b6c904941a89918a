"""Made-up raters: they take whole tests of every design, and nobody takes them for real."""

from pathlib import Path

import numpy as np
import pytest

from earshot.study.analysis import analyse
from earshot.study.analysis.report.page import page, rehearsal
from earshot.study.analysis.results import REHEARSED
from earshot.study.design import DESIGNS
from earshot.study.simulation import MAX_RATERS, MIN_RATERS, rehearse, simulate
from earshot.study.storage.raters import SIMULATED
from earshot.study.storage.store import Store
from tests.support.studies import make_test

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("design", DESIGNS)
def test_simulated_raters_take_a_whole_test(tmp_path: Path, design: str) -> None:
    test = make_test(design, systems=3, stimuli=3)
    store = Store(f"sqlite:///{tmp_path / 'answers.db'}")
    simulate(test, store, raters=6, seed=4)
    table = store.ratings(test)
    assert len(set(table["rater"])) == 6 and set(table["finished"]) == {True}
    assert all(str(rater).startswith(SIMULATED) for rater in table["rater"])
    checks = table.dropna(subset=["expected"])
    assert np.mean(checks["answer"].to_numpy() == checks["expected"].to_numpy()) > 0.6
    report = page(analyse(test, table))
    assert "These raters are simulated" in report and "simulated raters" in report
    if design in ("acr", "dcr", "mushra"):
        trials = table[table["kind"] == "trial"]
        best, worst = (trials.loc[trials["system"] == name, "answer"] for name in ("y0", "y2"))
        assert np.mean(best) > np.mean(worst)


def test_raters_of_one_seed_answer_alike(tmp_path: Path) -> None:
    test = make_test("acr", stimuli=2)
    tables = []
    for name in ("one", "two"):
        store = Store(f"sqlite:///{tmp_path / name}.db")
        simulate(test, store, raters=3, seed=7)
        clock = ["started", "minutes"]
        tables.append(store.ratings(test).drop(columns=clock))
    assert tables[0].equals(tables[1])


def test_rehearsal_says_it_is_one(tmp_path: Path) -> None:
    test = make_test("ab", systems=2, stimuli=4, raters=500)
    results = rehearse(test)
    assert MIN_RATERS <= results.started <= MAX_RATERS
    html = rehearsal(results)
    assert f"Rehearsal with {results.started} simulated raters" in html
    assert REHEARSED in html and "<svg" in html and "How many raters will it take?" in html
