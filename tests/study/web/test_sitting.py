"""A rater's sitting by HTTP: questions about them, the test of their room, breaks."""

import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from fastapi.testclient import TestClient

from benchmarks.support.listening import Rater, write_test
from earshot.study import rater_links
from earshot.study.library import TestLibrary
from earshot.study.sounds import checks
from earshot.study.web.server import app, library

SCREENED = {"link": ["ID"], "screened_out": {"environment": "NOISY", "headphones": "NOPHONES"}}


@pytest.fixture
def tests(tmp_path: Path) -> TestLibrary:
    sitting: dict[str, Any] = {"environment": True, "demographics": True, "break_every": 2}
    write_test(tmp_path / "acr", "acr", **sitting)
    write_test(tmp_path / "panel", "acr", environment={"pairs": 2, "right": 2}, panel=SCREENED)
    write_test(tmp_path / "plain", "acr")
    return library(tmp_path, min_time=0)


@pytest.fixture
def client(tests: TestLibrary) -> Iterator[TestClient]:
    with TestClient(app(tests)) as client:
        yield client


def check_room(rater: Rater, key: str, pairs: int, right: bool, attempt: int = 0) -> Any:
    trials = range(attempt * pairs, (attempt + 1) * pairs)
    answers = [checks.louder_hiss(key, rater.token, trial) for trial in trials]
    answers = answers if right else [3 - answer for answer in answers]
    body = {"rater": rater.token, "attempt": attempt, "answers": answers}
    return rater.post("environment", **body)


def test_page_is_told_of_the_sitting(client: TestClient) -> None:
    session = Rater(client, "acr").session()
    assert (session["room"], session["break_every"], session["environment"]) == (4, 2, None)
    assert all(question["optional"] for question in session["questions"])
    plain = Rater(client, "plain").session()
    assert (plain["room"], plain["break_every"]) == (None, None)


def test_pairs_are_raters_own(client: TestClient) -> None:
    """There are no more than the test asks for."""
    one, other = Rater(client, "acr"), Rater(client, "acr")
    assert one.get("room/0").content != other.get("room/0").content
    assert one.get("room/0").headers["content-type"] == "audio/wav"
    assert one.get("room/8").status_code == 404 and one.get("room/7").status_code == 200
    assert Rater(client, "plain").get("room/0").status_code == 404
    assert check_room(Rater(client, "plain"), "key", 4, True).status_code == 422


def test_second_failure_is_final(client: TestClient, tests: TestLibrary) -> None:
    """It is told at once."""
    rater, key = Rater(client, "acr"), tests.open("acr").key
    assert check_room(rater, key, 3, True).status_code == 422
    assert check_room(rater, key, 4, False).json()["again"]
    second = check_room(rater, key, 4, False, 1).json()
    assert (second["again"], second["passed"]) == (False, False)
    assert rater.session()["environment"] is False and rater.session()["outcome"] is None
    assert check_room(rater, key, 4, True, 1).json()["passed"] is False, "a final result stays"


def test_panel_gets_back_who_failed(client: TestClient, tests: TestLibrary) -> None:
    """Nobody answers a trial before the check of their room."""
    key = tests.open("panel").key
    rater = Rater(client, "panel", panel={"ID": "one"})
    rater.check(key)
    trial = rater.session()["trials"][0]
    refused = rater.answer(trial, 5)
    assert refused.status_code == 422 and "check of your room" in refused.json()["detail"]
    check_room(rater, key, 2, False)
    ended = check_room(rater, key, 2, False, 1).json()
    assert (ended["outcome"], ended["back"]) == ("environment", "NOISY")
    assert rater.answer(trial, 5).status_code == 422
    assert tests.store.conduct(tests.get("panel").test).failed_environment == 1


def test_replies_and_room_read_back(client: TestClient, tests: TestLibrary) -> None:
    """The data set holds them."""
    opened = tests.open("acr")
    rater = Rater(client, "acr", language="de")
    for question, reply in enumerate((1, None, 0)):
        body = {"rater": rater.token, "question": question, "trials": 0, "reply": reply}
        assert rater.post("reply", **body).is_success
    assert rater.session()["replied"] == [[0, 0], [1, 0], [2, 0]]
    assert check_room(rater, opened.key, 4, True).json()["passed"]
    for trial in rater.session()["trials"]:
        assert rater.answer(trial, 5).is_success
    packed = client.get("/results/acr/dataset.zip", params={"key": opened.key}).content
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        name = "acr/data/study-acr_description-raters_data.csv"
        raters = pd.read_csv(io.BytesIO(archive.read(name)), keep_default_na=False)
        raw = archive.read("acr/data/raw/acr.jsonl").decode().splitlines()
    row = raters.set_index("rater").iloc[0]
    assert row["environment"] == "passed" and row["How old are you?"] == "25–34"
    assert row["What is your gender?"] == ""
    assert json.loads(raw[1])["rater"]["environment"] is True
    ratings = tests.store.ratings(opened.test)
    assert {*ratings["environment"]} == {True} and min(ratings["minutes"]) >= 0


def test_browsers_are_counted_once(client: TestClient, tests: TestLibrary) -> None:
    """Who opened the page is counted, and previews never are."""
    opened = tests.open("plain")
    client.get("/listen/plain/session", params={"first": True})
    client.get("/listen/plain/session", params={"first": False})
    client.get("/listen/plain/session")
    client.get(
        "/listen/plain/session",
        params={"first": True, "rater": rater_links.preview_token(opened.key)},
    )
    rater = Rater(client, "plain")
    client.get("/listen/plain/session", params={"first": True, "rater": rater.token})
    conduct = tests.store.conduct(opened.test)
    assert (conduct.opened, conduct.consented) == (1, 1)
    page = client.get("/results/plain", params={"key": opened.key}).text
    assert "Opened the page (browsers)" in page
