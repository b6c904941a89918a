"""What the rater's page gets from the server, and what it is refused."""

import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from anyio import to_thread
from fastapi.testclient import TestClient

from benchmarks.support.listening import RATE, STIMULI, SYSTEMS, Rater, write_test
from earshot.study.design import DESIGNS
from earshot.study.library import TestLibrary
from earshot.study.web.server import app, library

STEP = 2**-23  # of samples of 24 bits


@pytest.fixture
def tests(tmp_path: Path) -> TestLibrary:
    for design in DESIGNS:
        write_test(tmp_path / design, design)
    return library(tmp_path, min_time=0)


@pytest.fixture
def client(tests: TestLibrary) -> Iterator[TestClient]:
    with TestClient(app(tests)) as client:
        yield client


@pytest.mark.parametrize("design", DESIGNS)
def test_session_ends_with_completion_code(
    client: TestClient, tests: TestLibrary, design: str
) -> None:
    assert client.get(f"/listen/{design}").text.count(f"A test of {design}") == 2
    rater = Rater(client, design)
    assert rater.check(tests.open(design).key) == {"passed": True, "again": False}
    session = rater.session()
    trials = session["trials"]
    assert trials[0]["practice"] and not any(trial["practice"] for trial in trials[1:])
    assert session["count"] == len(trials) - 1 and session["code"] is None
    replies = []
    for trial in trials:
        places = [*range(1, trial["sounds"] + 1)]
        together = {"mushra": [50] * (trial["sounds"] - 1), "ranking": places, "adjustment": -3}
        value = together.get(design) or trial["words"][0]["value"]
        replies.append(rater.answer(trial, value))
        assert replies[-1].status_code == 200, replies[-1].text
    code = replies[-1].json()["code"]
    assert len(code) == 8
    session = rater.session()
    assert session["code"] == code and session["headphones"]
    assert all(trial["answered"] for trial in session["trials"])


def test_sound_reveals_nothing_but_samples(client: TestClient, tmp_path: Path) -> None:
    """They are those of the file."""
    rater = Rater(client, "ab")
    files = [soundfile.read(path)[0] for path in tmp_path.glob("ab/*/*.wav")]
    seen = set()
    for trial in rater.session()["trials"]:
        for place in range(trial["sounds"]):
            sound = rater.get(f"sound/{trial['order']}/{place}")
            samples, rate = soundfile.read(io.BytesIO(sound.content))
            assert rate == RATE
            assert any(np.abs(samples - file).max() < 1.5 * STEP for file in files)
            assert "immutable" in sound.headers["cache-control"]
            seen |= set(sound.headers)
    assert not seen & {"etag", "last-modified", "content-disposition"}
    session = json.dumps(rater.session())
    assert not any(name in session for name in (*SYSTEMS, *STIMULI, ".wav", "attention", "gold"))
    assert rater.get("sound/0/2").status_code == 404
    assert rater.get("sound/99/0").status_code == 404


def test_trial_takes_one_thread_a_request(
    client: TestClient, tests: TestLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a busy server each further one waits anew. Nothing needs the rest of their sequence."""
    rater = Rater(client, "ab")
    rater.check(tests.open("ab").key)
    trial, calls = rater.session()["trials"][0], []
    in_thread = to_thread.run_sync

    async def counted(call: Callable[..., object], *args: object, **how: Any) -> object:
        calls.append(call)
        return await in_thread(call, *args, **how)

    monkeypatch.setattr(to_thread, "run_sync", counted)
    monkeypatch.setattr(tests.store, "resume", None)
    assert rater.get(f"sound/{trial['order']}/0").status_code == 200
    assert rater.answer(trial, trial["words"][0]["value"]).status_code == 200
    assert len(calls) == 2


def test_session_resumes_after_restart(client: TestClient, tmp_path: Path) -> None:
    """It goes on at the same trial, with the same sounds."""
    rater = Rater(client, "acr")
    before = rater.session()["trials"]
    sounds = [rater.get(f"sound/{trial['order']}/0").content for trial in before]
    rater.answer(before[0], 3)
    with TestClient(app(library(tmp_path, min_time=0))) as restarted:
        rater.client = restarted
        after = rater.session()["trials"]
        assert [trial["answered"] for trial in after] == [True] + [False] * (len(before) - 1)
        assert [rater.get(f"sound/{t['order']}/0").content for t in after] == sounds


def test_consent_uses_panel_number_as_token(client: TestClient) -> None:
    number = "5f1e9ab2c03d4e5f6a7b8c9d"
    first, again = Rater(client, "ab", number), Rater(client, "ab", number)
    assert first.token == again.token == number
    assert first.session()["trials"] == again.session()["trials"]
    short = client.post("/listen/ab/consent", json={"rater": "bob"})
    assert short.status_code == 404 and "not complete" in short.json()["detail"]


def test_withdraw_deletes_session_and_refuses_answers(client: TestClient) -> None:
    rater = Rater(client, "ab")
    trial = rater.session()["trials"][1]
    rater.answer(trial, "a")
    assert rater.post("withdraw", rater=rater.token).json()["withdrawn"] is True
    session = rater.session()
    assert session["withdrawn"] and session["trials"] == []
    assert rater.answer(trial, "a").status_code == 422
    assert rater.get(f"sound/{trial['order']}/0").status_code == 404


def test_headphone_check_allows_two_attempts(client: TestClient, tests: TestLibrary) -> None:
    rater, key = Rater(client, "ab"), tests.open("ab").key
    assert rater.check(key, right=False) == {"passed": False, "again": True}
    session = rater.session()
    assert session["headphones"] is None and session["attempt"] == 1
    assert rater.check(key, right=False, attempt=1) == {"passed": False, "again": False}
    assert rater.session()["headphones"] is False
    assert rater.get("check/0").content[:4] == b"RIFF"
    assert rater.get("check/12").status_code == 404


def test_refused_request_says_what_is_wrong(client: TestClient, tmp_path: Path) -> None:
    unknown = client.get("/listen/nothing")
    assert unknown.status_code == 404 and "Check the link" in unknown.text
    assert client.get("/listen/..%2fab").status_code == 404
    nobody = client.get("/listen/ab/sound/0/0", params={"rater": "x" * 20})
    assert nobody.status_code == 404 and "Open it again" in nobody.json()["detail"]
    (tmp_path / "acr" / "test.yaml").write_text("title: broken\n")
    closed = client.get("/listen/acr/session")
    assert closed.status_code == 404 and "not open" in closed.json()["detail"]

    rater = Rater(client, "mushra")
    trial = rater.session()["trials"][0]
    good = [50] * (trial["sounds"] - 1)
    for answer, more, what in (
        ([50], {}, "whole numbers"),
        ([101, *good[1:]], {}, "0 to 100"),
        ([50.5, *good[1:]], {}, "damaged"),
        ("a", {}, "whole numbers"),
        (good, {"plays": [1]}, "each of the"),
        (good, {"plays": [0] * trial["sounds"]}, "Listen to every sound"),
        (good, {"order": 999}, "no such trial"),
        (good, {"order": "first"}, "damaged"),
        (good, {"milliseconds": -1}, "damaged"),
        (good, {"name": "Bob"}, "damaged"),
    ):
        refused = rater.answer(trial, answer, **more)
        assert refused.status_code == 422 and what in refused.json()["detail"], (answer, more)
    broken = client.post("/listen/ab/answer", content=b"{", headers={"Content-Type": "text/json"})
    assert broken.status_code == 422 and "damaged" in broken.json()["detail"]
    assert not any(t["answered"] for t in rater.session()["trials"])


def test_rater_token_is_not_logged(
    client: TestClient, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level("INFO", "study")
    rater = Rater(client, "ab")
    rater.answer(rater.session()["trials"][0], "a")
    out, err = capfd.readouterr()
    assert rater.token not in out + err + caplog.text


def test_session_labels_and_numbers_each_scale(client: TestClient) -> None:
    for design in ("acr", "dcr", "ccr", "ab"):
        words = Rater(client, design).session()["trials"][0]["words"]
        answers = DESIGNS[design].scale.answers
        assert [(word["value"], word["label"]) for word in words] == [*answers]
    numbers = [w["number"] for w in Rater(client, "ccr").session()["trials"][0]["words"]]
    assert numbers == ["+3", "+2", "+1", "0", "−1", "−2", "−3"]


def test_results_without_the_key_are_refused(client: TestClient, tmp_path: Path) -> None:
    rater = Rater(client, "acr")
    for trial in rater.session()["trials"]:
        rater.answer(trial, 4)
    key = library(tmp_path).open("acr").key
    for wrong in ({}, {"key": ""}, {"key": "é"}, {"key": key[:-1]}):
        page = client.get("/results/acr", params=wrong)
        assert page.status_code == 403 and "not this test" in page.text
        assert client.get("/results/acr/ratings.csv", params=wrong).status_code in (403, 422)
    page = client.get("/results/acr", params={"key": key})
    assert page.status_code == 200 and "ratings.csv?key=" in page.text
    decides = "Which sounds decide?"
    assert decides not in page.text
    assert decides in client.post(f"/results/acr/look?key={key}").text
    assert "no-store" in page.headers["cache-control"]
    table = client.get("/results/acr/ratings.csv", params={"key": key}).text
    assert table.count("rough") + table.count("fine") == len(rater.session()["trials"])
    lines = client.get("/results/acr/answers.jsonl", params={"key": key}).text.splitlines()
    assert json.loads(lines[0])["test"]["design"] == "acr" and len(lines) == 2
    assert client.get("/results/acr/answers.db", params={"key": key}).status_code == 422
