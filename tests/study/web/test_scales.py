"""Several scales, transcripts, shown sentences and comments, as the page asks and answers them."""

import csv
import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient

from benchmarks.support.listening import STIMULI, Rater, write_test
from earshot.study.analysis import analyse
from earshot.study.design.scales import MAX_COMMENT
from earshot.study.library import TestLibrary
from earshot.study.reproduction import reproduce
from earshot.study.simulation import simulate
from earshot.study.storage import dataset
from earshot.study.storage.store import Store
from earshot.study.web.rater_page import page_texts
from earshot.study.web.server import app, library

SENTENCES = dict.fromkeys(STIMULI, "The old cat sat.")
GERMAN = {"pleasant": {"question": "Wie angenehm?", "ends": ["Gar nicht", "Sehr"]}}
SCALES: dict[str, Any] = {
    "similarity": None,
    "naturalness": {"points": 7},
    "pleasant": {"question": "How pleasant?", "points": 11, "ends": ["Not at all", "Very"]},
    "transcription": None,
}
TABLE = "several/data/study-several_description-{}_data.csv"
ANSWER = {"similarity": 4, "naturalness": 7, "pleasant": 10, "transcription": "=the old cat"}


@pytest.fixture
def tests(tmp_path: Path) -> TestLibrary:
    texts = {"de": {"title": "Ein Test", "scales": GERMAN}}
    more = {"comment": True, "sentences": SENTENCES, "texts": texts}
    write_test(tmp_path / "several", "smos", scales=SCALES, **more)
    write_test(tmp_path / "shown", "acr", sentences=SENTENCES, show_sentence=True)
    write_test(tmp_path / "noted", "mushra", comment=True)
    return library(tmp_path, min_time=0)


@pytest.fixture
def client(tests: TestLibrary) -> Iterator[TestClient]:
    with TestClient(app(tests)) as client:
        yield client


def test_page_is_told_of_every_scale(client: TestClient) -> None:
    trial = Rater(client, "several").session()["trials"][0]
    similar, natural, pleasant, typed = trial["scales"]
    assert [word["number"] for word in similar["words"]] == ["5", "4", "3", "2", "1"]
    assert [word["value"] for word in natural["words"]] == [7, 6, 5, 4, 3, 2, 1]
    assert [word["value"] for word in pleasant["words"]] == [*range(10, -1, -1)]
    assert {word["label"] for word in pleasant["words"]} == {"Very", "", "Not at all"}
    assert typed["typed"] and typed["words"] == [] and trial["comment"]
    assert trial["sentence"] is None, "who writes down what they hear does not read it"
    assert trial["sounds"] == 2 and trial["cards"] == ["reference", "sound"]


def test_scales_are_asked_in_raters_language(client: TestClient) -> None:
    similar, natural, pleasant, typed = Rater(client, "several", language="de").session()["trials"][
        0
    ]["scales"]
    german = page_texts("de")
    assert similar["question"] == german["question.smos"]
    assert similar["words"][0]["label"] == german["scale.smos"]["5"]
    ends = natural["words"][0]["label"], natural["words"][1]["label"]
    assert ends == (german["scale.naturalness"]["5"], "")
    assert pleasant["question"] == "Wie angenehm?" and pleasant["words"][0]["label"] == "Sehr"
    assert typed["question"] == german["question.transcription"]


def test_sentence_is_shown_where_asked(client: TestClient) -> None:
    trial = Rater(client, "shown").session()["trials"][0]
    assert trial["sentence"] == "The old cat sat." and trial["scales"] == []
    assert Rater(client, "noted").session()["trials"][0]["sentence"] is None


def test_answers_by_scale_read_back(client: TestClient, tests: TestLibrary) -> None:
    rater = Rater(client, "several")
    replies = []
    for trial in rater.session()["trials"]:
        replies.append(rater.answer(trial, ANSWER | {"comment": "+1 for the cat"}))
        assert replies[-1].status_code == 200, replies[-1].text
    assert replies[-1].json()["code"]
    table = tests.store.ratings(tests.open("several").test)
    own = table[table["kind"] == "trial"]
    pairs = {*zip(own["scale"], own["answer"], strict=True)}
    expected = {("similarity", 4), ("naturalness", 7), ("pleasant", 10), ("transcription", 0.25)}
    assert {pair for pair in pairs if pair[0] != "comment"} == expected
    key = {"key": tests.open("several").key}
    archive = zipfile.ZipFile(
        io.BytesIO(client.get("/results/several/dataset.zip", params=key).read())
    )
    rows = [*csv.DictReader(io.StringIO(archive.read(TABLE.format("ratings")).decode()))]
    assert {row["scale"] for row in rows} == {*SCALES, "comment"}
    written = {row["scale"]: row["text"] for row in rows}
    assert written["transcription"] == "'=the old cat", "no spreadsheet runs it"
    assert written["comment"] == "'+1 for the cat"
    words = {row["scale"]: row["answer_in_words"] for row in rows}
    assert (words["similarity"], words["pleasant"]) == ("Very similar", "Very")
    sounds = csv.DictReader(io.StringIO(archive.read(TABLE.format("stimuli")).decode()))
    assert {row["ratings"] for row in sounds if row["system"] == "fine"} <= {"0", "1"}
    described = archive.read("several/documentation/dictionary.csv").decode("utf-8-sig")
    assert "_data.csv,scale," in described and "_data.csv,text," in described
    line = json.loads(archive.read("several/data/raw/several.jsonl").decode().splitlines()[0])
    assert [scale["name"] for scale in line["test"]["scales"]] == [*SCALES]


def test_changed_answer_is_kept_in_log(client: TestClient, tests: TestLibrary) -> None:
    rater = Rater(client, "several")
    trial = rater.session()["trials"][0]
    assert rater.answer(trial, ANSWER).status_code == 200
    assert rater.answer(trial, ANSWER).status_code == 200, "sent again"
    assert rater.answer(trial, ANSWER | {"pleasant": 0}).status_code == 409
    assert rater.answer(trial, ANSWER | {"pleasant": 0}, version=1).status_code == 200
    key = {"key": tests.open("several").key}
    lines = client.get("/results/several/answers.jsonl", params=key).text.splitlines()
    item = json.loads(lines[1])["rater"]["items"][0]
    assert item["answer"]["pleasant"] == 0 and item["changes"][0]["answer"]["pleasant"] == 10


@pytest.mark.parametrize(
    "answer",
    [
        4,
        [4],
        {},
        {"similarity": 4},
        ANSWER | {"similarity": 0},
        ANSWER | {"similarity": None},
        ANSWER | {"pleasant": "10"},
        ANSWER | {"transcription": ""},
        ANSWER | {"comment": "x" * (MAX_COMMENT + 1)},
        ANSWER | {"comment": 5},
        ANSWER | {"other": 5},
        ANSWER | {"x" * 50: 5},
        {f"s{k}": 1 for k in range(50)},
    ],
)
def test_unfit_answer_leaves_nothing(client: TestClient, tests: TestLibrary, answer: Any) -> None:
    """It is refused with a reason."""
    rater = Rater(client, "several")
    trial = rater.session()["trials"][0]
    refused = rater.answer(trial, answer)
    assert refused.status_code == 422 and refused.json()["detail"]
    assert tests.store.ratings(tests.open("several").test).empty


def test_comment_on_sliders_is_one_row(client: TestClient, tests: TestLibrary) -> None:
    """It is told of the trial, and of no sound."""
    rater = Rater(client, "noted")
    trial = rater.session()["trials"][0]
    places = trial["sounds"] - trial["referenced"]
    assert rater.answer(trial, [50] * places).status_code == 422
    answer = {"mushra": [50] * places, "comment": "The third hums."}
    assert rater.answer(trial, answer).status_code == 200
    table = tests.store.ratings(tests.open("noted").test)
    assert table["scale"].tolist() == ["mushra"] * places + ["comment"]
    assert table["text"].iloc[-1] == "The third hums." and table["system"].iloc[-1] == ""


@pytest.mark.slow
def test_simulated_raters_answer_every_scale(tests: TestLibrary, tmp_path: Path) -> None:
    test = tests.open("several").test
    store = Store(f"sqlite:///{tmp_path / 'rehearsal.db'}")
    simulate(test, store, raters=6, seed=2)
    table = store.ratings(test)
    scored = table[table["kind"] == "trial"]
    assert {*table["scale"]} == {*SCALES} and set(table["finished"]) == {True}

    def mean(scale: str, system: str) -> float:
        own = (scored["scale"] == scale) & (scored["system"] == system)
        return float(np.mean(scored.loc[own, "answer"]))

    assert mean("similarity", "fine") > mean("similarity", "rough")
    assert mean("transcription", "fine") < mean("transcription", "rough")


@pytest.mark.parametrize("design", ["ab", "mushra"])
def test_designs_of_several_sounds_ask_several_questions(design: str, tmp_path: Path) -> None:
    """Each scale has the answers of the design, in the rater's language, and results of its own."""
    scales = {"clear": {"question": "Which is clearer?"}, "noise": {"question": "Less noise?"}}
    check = {"sounds": ["fine/cat.wav", "rough/cat.wav"], "expected": "first"}
    more: dict[str, Any] = {"attention": [check]} if design == "ab" else {}
    german = {"scales": {"clear": {"question": "Was ist klarer?"}}}
    more |= {"faults": ["buzz"], "comment": True, "texts": {"de": german}}
    write_test(tmp_path / "both", design, scales=scales, **more)
    tests = library(tmp_path, min_time=0)
    test = tests.open("both").test
    with TestClient(app(tests)) as client:
        rater = Rater(client, "both", language="de")
        for trial in rater.session()["trials"]:
            assert [each["question"] for each in trial["scales"]] == [
                "Was ist klarer?",
                "Less noise?",
            ]
            words = page_texts("de")[f"scale.{design}"]
            assert {each["label"] for each in trial["scales"][1]["words"]} & {*words.values()}
            item = tests.store.item(test, rater.token, trial["order"])
            assert item
            scores = [90 if "fine" in name or name == "reference" else 9 for name in item.systems]
            best = "a" if item.systems[0].startswith("fine") else "b"
            worst = "b" if best == "a" else "a"
            one, other = (best, worst) if design == "ab" else (scores, scores[::-1])
            answer = {"clear": one, "noise": other, "faults": [0] * len(item.systems)}
            assert rater.answer(trial, answer | {"noise": "c"}).status_code == 422
            assert rater.answer(trial, answer).status_code == 200
    table: Any = tests.store.ratings(test)
    assert table["expected"].notna().sum() == (1 if design == "ab" else 0), "of the first alone"
    simulate(test, tests.store, 6, 0)
    results = analyse(test, tests.store.ratings(test))
    assert [each.scale.name for each in results.by_scale] == ["clear", "noise"]
    assert [len(each.included.pairs) > 0 for each in results.by_scale] == [True, True]
    file = tmp_path / "both.zip"
    dataset.zipped(test, tests.store, file)
    assert reproduce(file).different == ()
