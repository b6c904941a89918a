"""Export of answers as JSON lines and CSV."""

import io
import json
from csv import DictReader
from pathlib import Path

import pandas as pd
import pytest

from earshot.media.text.table import csv_text
from earshot.study.design.spec import load
from earshot.study.storage.export import csv, export
from earshot.study.storage.store import Store
from tests.support.stimuli import make_folder
from tests.support.studies import any_answer, enrol


def test_export_writes_every_rater_and_rating(tmp_path: Path) -> None:
    test = load(make_folder(tmp_path / "codecs", "mushra", practice=1))
    store = Store(f"sqlite:///{tmp_path / 'answers.db'}")
    finished, halfway, gone = (enrol(store, test) for _ in range(3))
    for rater, number in ((finished, None), (halfway, 2), (gone, None)):
        for item in rater.items[:number]:
            store.answer(test, rater.token, item.order, *any_answer(test, item), 2500)
    store.screen(test, finished.token, "headphones", True)
    store.withdraw(test, gone.token)
    everything, table = export(test, store, tmp_path / "out")
    assert (everything.name, table.name) == ("codecs.jsonl", "codecs.csv")

    first, *rest = [json.loads(line) for line in everything.read_text().splitlines()]
    assert first["test"]["design"] == "mushra" and first["test"]["systems"] == ["ours", "theirs"]
    assert first["test"]["trials"][0]["sounds"]["ours"] == "ours/one.wav"
    raters = {line["rater"]["id"]: line["rater"] for line in rest}
    assert set(raters) == {finished.id, halfway.id, gone.id}
    now = store.resume(test, finished.token)
    assert now and now.code and raters[finished.id]["code"] == now.code
    assert raters[finished.id]["headphones"] and raters[halfway.id]["code"] is None
    assert all(item["server_milliseconds"] >= 0 for item in raters[finished.id]["items"])
    assert [item["answer"] for item in raters[finished.id]["items"]] == [[50] * 5] * 4
    assert sum(item["answer"] is None for item in raters[halfway.id]["items"]) == 2
    for rater in (finished, halfway):
        orders = [tuple(item["shown"]) for item in raters[rater.id]["items"]]
        assert orders == [item.systems for item in rater.items]
    assert raters[gone.id]["withdrawn"] and raters[gone.id]["items"] == []

    read, ratings = pd.read_csv(table, keep_default_na=False), store.ratings(test)
    assert list(read.columns) == list(ratings.columns)
    for column in ("rater", "system", "other", "answer", "plays", "started"):
        assert list(read[column]) == list(ratings[column])
    written = everything.read_text() + table.read_text()
    assert not any(rater.token in written for rater in (finished, halfway, gone))


def test_csv_marks_what_spreadsheets_would_run(tmp_path: Path) -> None:
    ratings = pd.DataFrame(
        {"system": ["=cmd|' /C calc'!A0", "@SUM(1)", "-6 dB", "ours"], "answer": [-1.0, 2, 3, 4]}
    )
    read = pd.read_csv(io.StringIO(csv(ratings)))
    assert list(read["system"]) == ["'=cmd|' /C calc'!A0", "'@SUM(1)", "'-6 dB", "ours"]
    assert list(read["answer"]) == [-1, 2, 3, 4]


@pytest.mark.parametrize("text", ["=1+1", "  =1+1", "\n=1+1", "＝1", "＋1", "－1", "＠a", "\t=1"])
def test_csv_marks_formulas_of_raters(text: str) -> None:
    written = csv(pd.DataFrame({"text": [text, "a = b", "5 - 3"]}))
    read = [row["text"] for row in DictReader(io.StringIO(written, newline=""))]
    assert read == [f"'{text}", "a = b", "5 - 3"]
    assert csv(pd.DataFrame({text: ["a question"]})).lstrip('"').startswith("'")
    table = DictReader(io.StringIO(csv_text([("text",), (text,), ("5 - 3",)]), newline=""))
    assert [row["text"] for row in table] == [f"'{text}", "5 - 3"]


def test_text_of_rater_stays_within_row() -> None:
    written = ["good\rforged,5", "two\r\nlines", "cut\0 short", "\0=1+1", "\x07"]
    read = pd.read_csv(io.StringIO(csv(pd.DataFrame({"text": written, "answer": range(5)}))))
    texts = ["good\nforged,5", "two\nlines", "cut short", "'=1+1"]
    assert list(read["text"].fillna("")) == [*texts, ""] and list(read["answer"]) == [*range(5)]
