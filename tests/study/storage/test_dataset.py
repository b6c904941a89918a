"""The data set to publish: tables in words that read back, and what every column holds."""

import csv
import io
import json
import re
import zipfile
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from earshot.study.design import DESIGNS, Test
from earshot.study.design.raters import Question
from earshot.study.simulation import simulate
from earshot.study.storage import dataset
from earshot.study.storage.store import Store
from tests.support.studies import any_answer, enrol, make_test

QUESTIONS = (
    Question({"": "Which headphones?"}),
    Question({"": "Tired?"}, "between", 3, {"": ("no", "yes")}),
)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(f"sqlite:///{tmp_path / 'answers.db'}")


def read(test: Test, files: dict[str, bytes], name: str) -> pd.DataFrame:
    return pd.read_csv(io.BytesIO(files[dataset.path(test, name)]), keep_default_na=False)


@pytest.mark.parametrize("design", DESIGNS)
def test_tables_read_back_and_are_described(design: str, store: Store) -> None:
    test = make_test(design)
    simulate(test, store, 3, 0)
    files = dataset.files(test, store)
    content = files[dataset.DICTIONARY]
    assert content.startswith(b"\xef\xbb\xbf"), "as spreadsheets tell UTF-8"
    described = pd.read_csv(io.BytesIO(content))
    for name in dataset.COLUMNS:
        columns = described[described["file"] == dataset.path(test, name)]["column"]
        assert list(read(test, files, name).columns) == list(columns)
    ratings, raters = read(test, files, "ratings.csv"), read(test, files, "raters.csv")
    assert len(ratings) == len(store.ratings(test)) and set(ratings["rater"]) == set(
        raters["rater"]
    )
    assert all(ratings["answer_in_words"] != "")
    counted = read(test, files, "stimuli.csv")
    assert sum(counted[counted["kind"] == "trial"]["ratings"]) >= len(
        ratings[ratings["kind"] == "trial"]
    )


def test_raters_are_told_in_words(store: Store) -> None:
    test = make_test(questions=QUESTIONS)
    rater = enrol(store, test, device="phone, Firefox", language="de")
    store.screen(test, rater.token, "headphones", False)
    first, second, *rest = rater.items
    store.answer(test, rater.token, first.order, 2, [1], 900)
    store.answer(test, rater.token, first.order, 4, [1], 900, version=1)
    store.skip(test, rater.token, second.order, 0, there=True)
    for item in rest:
        store.answer(test, rater.token, item.order, *any_answer(test, item), 900)
    store.reply(test, rater.token, 0, 0, "=the big ones")
    for trials, reply in ((3, 0), (6, 1)):
        store.reply(test, rater.token, 1, trials, reply)
    gone = enrol(store, test)
    store.withdraw(test, gone.token)
    table = read(test, dataset.files(test, store), "raters.csv").set_index("rater")
    row = table.loc[rater.id]
    assert row["outcome"] == "complete" and row["headphones"] == "failed"
    assert row["device"] == "phone, Firefox" and row["language"] == "de"
    assert (row["missing"], row["changed"]) == (1, 1)
    assert row["Which headphones?"] == "'=the big ones", "which no spreadsheet runs"
    assert row["Tired?"] == "after 3: no; after 6: yes"
    assert table.loc[gone.id, "outcome"] == "withdrawn"


def test_data_set_follows_psych_ds(store: Store, tmp_path: Path) -> None:
    """It keeps the rules whose breach is an error in the schema of Psych-DS 1.5.1, read as its
    validator does (github.com/psych-ds/psych-DS, schema_model/versions/1.5.1/rules)."""
    test = replace(make_test(name="my-test_2", questions=QUESTIONS), title="Ünïcode, “quoted”")
    simulate(test, store, 2, 0)
    rater = enrol(store, test)
    store.reply(test, rater.token, 0, 0, 'commas, "quotes"\nand lines')
    root = dataset.write(test, store, tmp_path)
    described = json.loads((root / "dataset_description.json").read_text(encoding="utf-8"))
    assert described["@context"] == "https://schema.org/" and described["@type"] == "Dataset"
    assert described["name"] and described["description"]
    assert (root / "README.md").stat().st_size and (root / "CHANGES.md").stat().st_size
    assert all(each["@type"] == "PropertyValue" for each in described["variableMeasured"])
    ignored = (root / ".psychds-ignore").read_text().split()
    columns, tables = set(), 0
    for file in (root / "data").rglob("*"):
        if file.is_dir() or any(name in file.as_posix() for name in ignored):
            continue
        assert re.fullmatch(r"([a-z]+-[a-zA-Z0-9]+)(_[a-z]+-[a-zA-Z0-9]+)*_data\.csv", file.name)
        header, *rows = csv.reader(io.StringIO(file.read_bytes().decode()), strict=True)
        assert header and "row_id" not in header and len({*header}) == len(header)
        assert all(len(row) == len(header) for row in rows)
        columns |= {*header}
        tables += 1
    measured = [each["name"] for each in described["variableMeasured"]]
    assert tables == len(dataset.COLUMNS) and {*measured} == columns
    assert len({*measured}) == len(measured)


def test_zip_holds_the_whole_data_set(store: Store, tmp_path: Path) -> None:
    test = make_test()
    simulate(test, store, 2, 0)
    root = dataset.write(test, store, tmp_path)
    dataset.zipped(test, store, tmp_path / "set.zip")
    with zipfile.ZipFile(tmp_path / "set.zip") as archive:
        packed = {name.removeprefix("study/"): archive.read(name) for name in archive.namelist()}
    assert packed == {
        file.relative_to(root).as_posix(): file.read_bytes()
        for file in root.rglob("*")
        if file.is_file()
    }
