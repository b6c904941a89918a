"""Requests that are made to stop the server, or to forge ratings."""

import sqlite3
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from threading import Event, Lock, Semaphore

import pytest
from anyio import to_thread
from fastapi.testclient import TestClient
from sqlalchemy import event, text
from sqlalchemy.exc import OperationalError, TimeoutError

from benchmarks.support.listening import Rater, write_test
from earshot.core.http import MAX_REQUEST_BYTES
from earshot.study.design import Item
from earshot.study.library import TestLibrary
from earshot.study.sounds import checks
from earshot.study.storage import database, store, tables
from earshot.study.web import rater_routes
from earshot.study.web.rater_requests import NOT_STORED
from earshot.study.web.server import app, library

PATIENCE = 3.0  # seconds: tests run beside other work


@pytest.fixture
def tests(tmp_path: Path) -> TestLibrary:
    write_test(tmp_path / "ab", "ab", 0.2)
    tests = library(tmp_path)
    tests.open("ab")
    return tests


@pytest.fixture
def client(tests: TestLibrary) -> Iterator[TestClient]:
    with TestClient(app(tests)) as client:
        yield client


@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize(("mistakes", "text"), [(10**6, "more than 1,000 kB"), (10**4, "too long")])
def test_large_answer_is_refused_unparsed(
    client: TestClient, mistakes: int, text: str, chunked: bool
) -> None:
    """By the limit of all requests, or that of an answer."""
    answer = "[" + "[]," * mistakes + "1]"
    body = f'{{"rater":"x","order":0,"answer":{answer},"milliseconds":5,"plays":[1]}}'
    parts = (body[i : i + 65_536].encode() for i in range(0, len(body), 65_536))
    headers = {"Content-Type": "application/json"}
    began = time.monotonic()
    reply = client.post(
        "/listen/ab/answer", content=parts if chunked else body.encode(), headers=headers
    )
    assert reply.status_code == 413 and text in reply.json()["detail"]
    assert time.monotonic() - began < PATIENCE


@pytest.mark.parametrize(
    "change",
    [
        {"answer": [1] * 1000},
        {"answer": "a" * 1000},
        {"plays": [1] * 1000},
        {"rater": "a" * 1000},
        {"answer": 2**40},
    ],
)
def test_answer_with_long_field_is_refused(client: TestClient, change: dict[str, object]) -> None:
    body = {"rater": "x" * 20, "order": 0, "answer": "a", "plays": [1, 1], "milliseconds": 5}
    assert client.post("/listen/ab/answer", json=body | change).status_code == 422


def test_answer_full_of_mistakes_is_refused(client: TestClient) -> None:
    """It has 16 kB of them and is refused at once, in few words."""
    body = '{"rater":"x","order":0,"answer":[%s1],"milliseconds":5,"plays":[1]}' % ("[]," * 5000)
    assert len(body) < MAX_REQUEST_BYTES
    began = time.monotonic()
    reply = client.post(
        "/listen/ab/answer", content=body, headers={"Content-Type": "application/json"}
    )
    assert reply.status_code == 422 and len(reply.text) < 1000
    assert time.monotonic() - began < PATIENCE


def test_answer_before_sounds_end_is_refused(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    began, passed = tables.now(), 0.0
    monkeypatch.setattr(tables, "now", lambda: began + timedelta(seconds=passed))
    rater = Rater(client, "ab")
    trial = rater.session()["trials"][0]
    soon = rater.answer(trial, "a")
    assert soon.status_code == 422 and "before its sounds" in soon.json()["detail"]
    passed = 2 * 0.2
    assert rater.answer(trial, "a").status_code == 200
    assert rater.answer(trial, "a").status_code == 200  # sent again
    assert rater.answer(trial, "b").status_code == 409  # by a tab that was left open
    assert rater.answer(trial, "b", version=1).status_code == 200
    assert rater.answer(rater.session()["trials"][1], "a").status_code == 422


def test_consents_from_one_address_are_slowed(client: TestClient, tests: TestLibrary) -> None:
    """Sixty raters agree at once, and who takes part already goes on."""
    replies = [client.post("/listen/ab/consent", json={}) for _ in range(60)]
    agreed = [reply.json()["rater"] for reply in replies if reply.status_code == 200]
    refused = [reply for reply in replies if reply.status_code == 429]
    assert 30 <= len(agreed) <= 35 and len(agreed) + len(refused) == 60
    assert "in a minute" in refused[0].json()["detail"]
    assert 0 < int(refused[0].headers["Retry-After"]) <= 10
    # Who takes part already goes on, and so does who comes from elsewhere.
    again = client.post("/listen/ab/consent", json={"rater": agreed[0]})
    elsewhere = TestClient(client.app, client=("192.0.2.1", 1))
    other = elsewhere.post("/listen/ab/consent", json={})
    assert again.status_code == other.status_code == 200


def test_made_up_visits_of_address_end(client: TestClient, tests: TestLibrary) -> None:
    """Each would be written into the database."""
    for _ in range(150):
        assert client.get("/listen/ab/session", params={"first": True}).status_code == 200
    with tests.store.engine.connect() as connection:
        assert 100 <= connection.execute(text("select visits from tests")).scalar_one() <= 110


def test_sounds_of_one_address_take_turns(
    client: TestClient, tests: TestLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many downloads take no more threads than few."""
    making, most, lock = 0, 0, Lock()

    def slow(path: Path, seed: bytes) -> tuple[int, Iterator[bytes]]:
        def blocks() -> Iterator[bytes]:
            nonlocal making, most
            for _ in range(3):
                with lock:
                    making += 1
                    most = max(most, making)
                time.sleep(0.05)
                with lock:
                    making -= 1
                yield b"a"

        return 3, blocks()

    monkeypatch.setattr(rater_routes, "as_wav", slow)
    rater = Rater(client, "ab")
    rater.check(tests.open("ab").key)
    order = rater.session()["trials"][0]["order"]
    with ThreadPoolExecutor(12) as threads:
        got = [*threads.map(lambda _: rater.get(f"sound/{order}/0").content, range(12))]
    assert got == [b"aaa"] * 12 and 1 < most <= rater_routes.MAX_SENDING


def test_consents_wait_in_no_threads(
    client: TestClient, tests: TestLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    rater, drawing, go_on = Rater(client, "ab"), Semaphore(0), Event()

    def assign(*_: object) -> list[Item]:
        drawing.release()
        assert go_on.wait(PATIENCE)
        return []

    monkeypatch.setattr(store, "assign", assign)
    assert client.portal
    threads = client.portal.call(to_thread.current_default_thread_limiter)
    with ThreadPoolExecutor(4) as pool:
        monkeypatch.setattr(threads, "total_tokens", 2)
        new = [pool.submit(client.post, "/listen/ab/consent", json={}) for _ in range(4)]
        assert drawing.acquire(timeout=PATIENCE)
        assert rater.get("session").status_code == 200
        assert tests.store.enrol(tests.open("ab").test, rater.token).token == rater.token
        assert not any(each.done() for each in new)
        go_on.set()


def test_consent_not_stored_does_not_count(
    client: TestClient, tests: TestLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rater is told, and may agree again."""

    def fail(*_: object) -> None:
        raise OperationalError("INSERT", {}, Exception("database or disk is full"))

    with monkeypatch.context() as patch:
        patch.setattr(tests.store, "enrol", fail)
        replies = [client.post("/listen/ab/consent", json={}) for _ in range(40)]
    assert {reply.status_code for reply in replies} == {503}
    assert "cannot store" in replies[0].json()["detail"] and replies[0].headers["Retry-After"]
    assert client.post("/listen/ab/consent", json={}).status_code == 200


def test_locked_store_takes_answer_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Until then the rater is told."""
    monkeypatch.setattr(database, "MAX_WAIT", 0.1)
    write_test(tmp_path / "acr", "acr")
    with TestClient(app(library(tmp_path, min_time=0))) as client:
        rater = Rater(client, "acr")
        trial = rater.session()["trials"][0]
        other = sqlite3.connect(tmp_path / "answers.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        reply = rater.answer(trial, 3)
        assert reply.status_code == 503 and "Try again" in reply.json()["detail"]
        other.execute("ROLLBACK")
        other.close()
        assert rater.answer(trial, 3).status_code == 200


@pytest.mark.parametrize(
    "lost",
    [
        sqlite3.InterfaceError("network error"),
        sqlite3.ProgrammingError("the database system is starting up"),
        TimeoutError("QueuePool limit reached"),
        BrokenPipeError("Broken pipe"),
        ConnectionResetError("Connection reset by peer"),
    ],
    ids=lambda lost: type(lost).__name__,
)
def test_unreachable_store_works_later(
    client: TestClient, tests: TestLibrary, lost: Exception
) -> None:
    """Until then the rater is told."""

    def fail(*_: object) -> None:
        raise lost

    rater, engine = Rater(client, "ab"), tests.store.engine
    trial = rater.session()["trials"][0]
    engine.dispose()
    event.listen(engine, "do_connect", fail)
    for reply in (rater.get("session"), rater.answer(trial, "a"), rater.post("consent")):
        assert reply.status_code == 503 and reply.headers["Retry-After"]
        assert reply.json()["detail"] == NOT_STORED
    event.remove(engine, "do_connect", fail)
    assert rater.get("session").status_code == 200


def test_completion_code_follows_last_answer(tmp_path: Path) -> None:
    """Nobody knows it before, the organiser included."""
    write_test(tmp_path / "acr", "acr")
    tests = library(tmp_path, min_time=0)
    key = tests.open("acr").key
    with TestClient(app(tests)) as client:
        rater = Rater(client, "acr")
        *first, last = rater.session()["trials"]
        assert all(rater.answer(trial, 3).json()["code"] is None for trial in first)
        export = client.get("/results/acr/answers.jsonl", params={"key": key}).text
        assert '"code": null' in export
        code = rater.answer(last, 3).json()["code"]
        assert len(code) == 8 and rater.session()["code"] == code
        assert code in client.get("/results/acr/answers.jsonl", params={"key": key}).text
        other = Rater(client, "acr", rater.token + "x")
        codes = [other.answer(trial, 3).json()["code"] for trial in other.session()["trials"]]
        assert codes[-1] not in (None, code)


def test_headphone_check_cannot_be_tricked(client: TestClient, tests: TestLibrary) -> None:
    """Neither trying again nor computing from the token passes it."""
    rater, key = Rater(client, "ab"), tests.open("ab").key
    trials = range(checks.HEADPHONE_TRIALS)
    while checks.headphones_passed(
        key,
        rater.token,
        [checks.hidden_noise(rater.token, rater.token, i) for i in trials],
    ):
        rater = Rater(client, "ab")  # for two guesses of a hundred are right by chance
    rater.check(rater.token)  # what the token alone gives
    computed = rater.session()
    assert computed["headphones"] is None and computed["attempt"] == 1
    # Attempt 0 is over, however often it is sent, and the last result stays.
    assert rater.check(key, attempt=0) == {"passed": False, "again": True}
    assert rater.check(key, right=False, attempt=1) == {"passed": False, "again": False}
    assert rater.check(key, attempt=1) == {"passed": False, "again": False}
    assert rater.session()["headphones"] is False
    assert checks.MAX_ATTEMPTS == 2


def test_withdraw_twice_is_acknowledged_twice(client: TestClient) -> None:
    rater = Rater(client, "ab")
    for _ in range(2):
        assert rater.post("withdraw", rater=rater.token).json()["withdrawn"] is True
    late = rater.post("headphones", rater=rater.token, attempt=0, answers=[1] * 6)
    assert late.status_code == 409 and "takes part" in late.json()["detail"]


@pytest.mark.parametrize("design", ["mushra", "abx"])
def test_sounds_of_trial_never_share_bytes(tmp_path: Path, design: str) -> None:
    write_test(tmp_path / design, design)
    with TestClient(app(library(tmp_path))) as client:
        rater = Rater(client, design)
        sent = {
            rater.get(f"sound/{trial['order']}/{place}").content
            for trial in rater.session()["trials"]
            for place in range(trial["sounds"])
        }
        assert len(sent) == sum(trial["sounds"] for trial in rater.session()["trials"])


def test_sounds_without_loudness_reveal_nothing(tmp_path: Path) -> None:
    """They tell neither format nor tags nor size."""
    folder = write_test(tmp_path / "ab", "ab")
    for path in (folder / "rough").glob("*.wav"):
        path.write_bytes(
            path.read_bytes() + b"LIST\x12\x00\x00\x00INFOIART\x06\x00\x00\x00Lab X\x00"
        )
    with TestClient(app(library(tmp_path))) as client:
        rater = Rater(client, "ab")
        sent = [rater.get(f"sound/0/{place}").content for place in (0, 1)]
        assert len(sent[0]) == len(sent[1]) and sent[0][:44] == sent[1][:44]
        assert not any(b"Lab X" in each for each in sent)
