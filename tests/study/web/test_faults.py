"""Faults that raters tick of each sound: asked, stored, exported and counted by system."""

import csv
import io
import zipfile
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from fastapi.testclient import TestClient

from benchmarks.support.listening import Rater, write_test
from earshot.core.errors import InputError
from earshot.study.analysis import analyse, paths, write
from earshot.study.analysis.report import figures
from earshot.study.analysis.report.page import page
from earshot.study.design.scales import MAX_FAULTS
from earshot.study.design.spec import SpecError, load
from earshot.study.library import TestLibrary
from earshot.study.simulation import simulate
from earshot.study.storage.store import Store
from earshot.study.web.server import app, library
from tests.support.stimuli import make_folder

FAULTS = ["buzz", "skipped word", "wrong voice"]
TABLE = "pair/data/study-pair_description-ratings_data.csv"


@pytest.fixture
def tests(tmp_path: Path) -> TestLibrary:
    german = {"de": {"faults": ["Brummen", "Wort fehlt", "falsche Stimme"]}}
    write_test(tmp_path / "pair", "ab", faults=FAULTS, texts=german, practice=0)
    write_test(tmp_path / "sliders", "mushra", faults=FAULTS)
    write_test(tmp_path / "alone", "acr", faults=FAULTS, comment=True, scales={"quality": None})
    return library(tmp_path, min_time=0)


def test_ticks_are_told_sound_by_sound(tests: TestLibrary) -> None:
    """Each is a row of the fault's name, by the system that had it, and not by its side."""
    with TestClient(app(tests)) as client:
        rater = Rater(client, "pair", language="de")
        trials = rater.session()["trials"]
        assert trials[0]["faults"] == ["Brummen", "Wort fehlt", "falsche Stimme"]
        test = tests.open("pair").test
        for trial in trials:
            answer = {"ab": "a", "faults": [0b101, 0b010]}
            assert rater.answer(trial, answer).status_code == 200
        key = {"key": tests.open("pair").key}
        archive = zipfile.ZipFile(
            io.BytesIO(client.get("/results/pair/dataset.zip", params=key).read())
        )
    rows = [*csv.DictReader(io.StringIO(archive.read(TABLE).decode()))]
    ticks = [row for row in rows if row["scale"] == "faults"]
    assert len(ticks) == len(trials) * 2 * len(FAULTS)
    first = {row["text"] for row in ticks if row["position"] == "0" and float(row["answer"])}
    assert first == {"buzz", "wrong voice"}
    assert {row["system"] for row in ticks} == {*test.systems}
    assert f"{len(trials)} ratings" in archive.read("pair/README.md").decode()


@pytest.mark.parametrize(
    "answer",
    ["a", {"ab": "a"}, {"faults": [0, 0]}]
    + [{"ab": "a", "faults": each} for each in ([0], [0, 8], [0, -1], "buzz", 3, None, [0, 1.5])],
)
def test_other_ticks_are_refused(tests: TestLibrary, answer: Any) -> None:
    with TestClient(app(tests)) as client:
        rater = Rater(client, "pair")
        refused = rater.answer(rater.session()["trials"][0], answer)
    assert refused.status_code == 422 and refused.json()["detail"]


@pytest.mark.parametrize(
    ("design", "more"),
    [
        ("abx", {"faults": ["buzz"]}),
        ("acr", {"faults": ["buzz", "buzz"]}),
        ("acr", {"faults": [""]}),
        ("acr", {"faults": "buzz"}),
        ("acr", {"faults": [str(k) for k in range(MAX_FAULTS + 1)]}),
        ("acr", {"faults": ["buzz"], "texts": {"de": {"faults": ["a", "b"]}}}),
        ("acr", {"texts": {"de": {"faults": ["a"]}}}),
        ("acr", {"scales": {"faults": {"question": "Many?", "ends": ["No", "Yes"]}}}),
    ],
)
def test_unfit_lists_are_refused(tmp_path: Path, design: str, more: dict[str, Any]) -> None:
    with pytest.raises(SpecError, match="faults"):
        load(make_folder(tmp_path / "t", design, **more))


@pytest.mark.parametrize("name", ["alone", "sliders"])
def test_faults_stand_by_system_and_change_no_score(
    tests: TestLibrary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Their share is that of the sounds of a system, with an interval; scores are as without."""
    test = tests.open(name).test
    store = Store(f"sqlite:///{tmp_path / 'rehearsal.db'}")
    simulate(test, store, raters=6, seed=2)
    table: Any = store.ratings(test)
    results = analyse(test, table)
    own = results.faults.set_index(["fault", "system"])
    ticks = table[(table["scale"] == "faults") & (table["kind"] == "trial")]
    included = [*results.included.answers["rater"].unique()]
    ticks = ticks[ticks["rater"].isin(included)]
    assert {*own.index} == {(f, s) for f in FAULTS for s in test.conditions}
    for (fault, system), row in own.iterrows():
        of_both = ticks[(ticks["text"] == fault) & (ticks["system"] == system)]["answer"]
        assert row["value"] == pytest.approx(of_both.mean())
        assert 0 <= row["low"] <= row["value"] <= row["high"] <= 1
    bare = analyse(test, table[table["scale"] != "faults"])
    pd.testing.assert_frame_equal(bare.included.systems, results.included.systems)
    assert "What was wrong?" in page(results) and "What was wrong?" not in page(bare)
    monkeypatch.setattr(figures, "save", lambda *_: [])  # which takes longer than all else
    write(results, tmp_path / "out")
    assert (tmp_path / "out" / "faults.csv").is_file()
    assert tmp_path / "out" / "faults.csv" in paths(test, tmp_path / "out")


def test_list_cannot_change_once_a_rater_has_agreed(tmp_path: Path) -> None:
    """Ticks are places in it: another order would say what nobody ticked."""
    test = load(make_folder(tmp_path / "t", faults=FAULTS))
    turned = load(make_folder(tmp_path / "t", faults=FAULTS[::-1]))
    store = Store(f"sqlite:///{tmp_path / 'answers.db'}")
    store.open(test)
    with pytest.raises(InputError, match="give the changed test another name"):
        store.open(turned)
    store.dispose()
