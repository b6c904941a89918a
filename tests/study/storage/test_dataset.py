"""The data set to publish: tables in words that read back, and what every column holds."""

import io
import json
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from earshot.study.design import DESIGNS, Design
from earshot.study.design.questions import Question
from earshot.study.simulation.raters import simulate
from earshot.study.storage import dataset
from earshot.study.storage.store import Store
from tests.support.studies import any_answer, make_test

ASKED = (
    Question({"": "Which headphones?"}),
    Question({"": "Tired?"}, "between", 3, {"": ("no", "yes")}),
)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(f"sqlite:///{tmp_path / 'answers.db'}")


def read(files: dict[str, bytes], name: str) -> pd.DataFrame:
    return pd.read_csv(io.BytesIO(files[name]), keep_default_na=False)


@pytest.mark.parametrize("design", DESIGNS)
def test_tables_of_every_design_read_back_and_are_described(design: Design, store: Store) -> None:
    test = make_test(design)
    simulate(test, store, 3, 0)
    files = dataset.files(test, store)
    described = read(files, "dictionary.csv")
    for name in dataset.COLUMNS:
        assert files[name].startswith(b"\xef\xbb\xbf"), "as spreadsheets tell UTF-8"
        columns = described[described["file"] == name]["column"]
        assert list(read(files, name).columns) == list(columns)
    ratings, raters = read(files, "ratings.csv"), read(files, "raters.csv")
    assert len(ratings) == len(store.ratings(test)) and set(ratings["rater"]) == set(
        raters["rater"]
    )
    assert all(ratings["answer_in_words"] != "")
    counted = read(files, "stimuli.csv")
    assert sum(counted[counted["kind"] == "trial"]["ratings"]) >= len(
        ratings[ratings["kind"] == "trial"]
    )


def test_raters_are_told_in_words(store: Store) -> None:
    test = make_test(questions=ASKED)
    rater = store.enrol(test, device="phone, Firefox", language="de")
    store.headphones(test, rater.token, False)
    first, second, *rest = rater.items
    store.answer(test, rater.token, first.order, 2, [1], 900)
    store.answer(test, rater.token, first.order, 4, [1], 900, version=1)
    store.skip(test, rater.token, second.order, 0, there=True)
    for item in rest:
        store.answer(test, rater.token, item.order, *any_answer(test, item), 900)
    store.reply(test, rater.token, 0, 0, "=the big ones")
    for trials, reply in ((3, 0), (6, 1)):
        store.reply(test, rater.token, 1, trials, reply)
    gone = store.enrol(test)
    store.withdraw(test, gone.token)
    table = read(dataset.files(test, store), "raters.csv").set_index("rater")
    row = table.loc[rater.id]
    assert row["outcome"] == "complete" and row["headphones"] == "failed"
    assert row["device"] == "phone, Firefox" and row["language"] == "de"
    assert (row["missing"], row["changed"]) == (1, 1)
    assert row["Which headphones?"] == "'=the big ones", "which no spreadsheet runs"
    assert row["Tired?"] == "after 3: no; after 6: yes"
    assert table.loc[gone.id, "outcome"] == "withdrawn"


def test_zip_holds_the_tables_and_a_description_of_every_column(
    store: Store, tmp_path: Path
) -> None:
    test = make_test()
    simulate(test, store, 2, 0)
    dataset.zipped(test, store, tmp_path / "set.zip")
    with zipfile.ZipFile(tmp_path / "set.zip") as archive:
        names = {name.removeprefix("study/") for name in archive.namelist()}
        described = json.loads(archive.read("study/dataset_description.json"))
    assert {*dataset.COLUMNS, "dictionary.csv", "README.md", "study.jsonl"} <= names
    measured = {each["name"] for each in described["variableMeasured"]}
    assert measured == {column for columns in dataset.COLUMNS.values() for column in columns}
