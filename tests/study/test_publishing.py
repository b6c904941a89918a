"""Tests that visitors open: quota, expiry and deletion."""

import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from benchmarks.support.listening import Rater, write_test
from earshot.core.errors import InputError
from earshot.study import preregistration, publishing
from earshot.study.design.document import SpecError
from earshot.study.library import TestLibrary
from earshot.study.publishing import MARK, change, delete, expire, publish
from earshot.study.sounds import stimuli
from earshot.study.web.server import app, library


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return write_test(tmp_path / "workspace", "ab")


@pytest.fixture
def tests(tmp_path: Path) -> TestLibrary:
    return library(tmp_path / "open", min_time=0)


@pytest.mark.parametrize(
    ("limit", "value"), [("MAX_TESTS", 1), ("MAX_TOTAL_BYTES", 100_000), ("MIN_FREE_BYTES", 2**62)]
)
def test_publish_beyond_quota_leaves_nothing(
    workspace: Path, tests: TestLibrary, monkeypatch: pytest.MonkeyPatch, limit: str, value: int
) -> None:
    """It is refused."""
    publish(workspace, "One", tests)
    before = tests.files()
    monkeypatch.setattr(publishing, limit, value)
    with pytest.raises(InputError, match="no room for another test"):
        publish(workspace, "Two", tests)
    assert tests.files() == before and len(before) == 1


def test_publish_of_long_sounds_leaves_nothing(
    workspace: Path, tests: TestLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They last too long together."""
    monkeypatch.setattr(stimuli, "MAX_TEST_SAMPLES", 20_000)
    with pytest.raises(SpecError, match="last too long together"):
        publish(workspace, "Long", tests)
    assert not [path for path in tests.folders[0].iterdir() if path.is_dir()]


def test_expire_deletes_unused_tests(workspace: Path, tests: TestLibrary) -> None:
    """A test that visitors open goes after a week without raters."""
    unused, taken = publish(workspace, "Unused", tests), publish(workspace, "Taken", tests)
    write_test(tests.folders[0] / "own", "ab")
    tests.store.enrol(tests.open(taken).test)
    now = datetime.now(UTC)
    assert expire(tests, now + timedelta(days=6)) == []
    assert expire(tests, now + timedelta(days=8)) == [unused]
    assert {*tests.files()} == {taken, "own"}
    with pytest.raises(InputError, match="Check the link"):
        tests.get(unused)


def test_damaged_mark_closes_nothing(workspace: Path, tests: TestLibrary) -> None:
    """As a power cut leaves it; the test goes after a week all the same."""
    name = publish(workspace, "Damaged", tests)
    (tests.folders[0] / name / MARK).write_bytes(b"")
    other = publish(workspace, "Other", tests)
    assert {*expire(tests, datetime.now(UTC) + timedelta(days=8))} == {name, other}


def test_expire_deletes_previews_after_an_hour(workspace: Path, tests: TestLibrary) -> None:
    preview = publish(workspace, "Tried", tests, preview=True)
    assert expire(tests, datetime.now(UTC) + timedelta(minutes=59)) == []
    assert expire(tests, datetime.now(UTC) + timedelta(minutes=61)) == [preview]


def test_change_has_the_quota_of_publish(
    workspace: Path, tests: TestLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = publish(workspace, "One", tests)
    monkeypatch.setattr(publishing, "MAX_TESTS", 1)
    change(workspace, name, tests)
    monkeypatch.setattr(publishing, "MAX_TOTAL_BYTES", 2 * publishing.size(workspace) - 1)
    with pytest.raises(InputError, match="no room for another test"):
        change(workspace, name, tests)
    assert {*tests.files()} == {name}


def test_delete_leaves_no_sounds_or_answers(workspace: Path, tests: TestLibrary) -> None:
    """It takes the key and the name of the test."""
    name = publish(workspace, "Mine", tests)
    key = tests.open(name).key
    with TestClient(app(tests)) as client:
        rater = Rater(client, name)
        rater.answer(rater.session()["trials"][0], "a")
        page = client.get(f"/results/{name}", params={"key": key}).text
        assert f"{name}/delete?key={key}" in page and "its sounds and all answers" in page
        for wrong in ("", "x", key[:-1]):
            refused = client.post(f"/results/{name}/delete", params={"key": wrong})
            assert refused.status_code == 403
        assert tests.store.raters(name) == 1
        for typed in ({}, {"typed": name[:-1]}):  # the whole name must be typed
            refused = client.post(f"/results/{name}/delete", params={"key": key}, data=typed)
            assert refused.status_code == 403 and "type its name" in refused.text
        gone = client.post(f"/results/{name}/delete", params={"key": key}, data={"typed": name})
        assert gone.status_code == 200 and "is deleted" in gone.text
        assert client.get(f"/listen/{name}").status_code == 404
    assert tests.store.raters(name) == 0 and not (tests.folders[0] / name).exists()


def test_delete_leaves_files_of_operator(tmp_path: Path) -> None:
    """A test of whoever runs the server loses its answers only."""
    folder = write_test(tmp_path / "own", "ab", pairing="adaptive")
    for tests in (library(tmp_path, min_time=0), library(folder, min_time=0)):
        key = tests.open("own").key
        with TestClient(app(tests)) as client:
            rater = Rater(client, "own")
            rater.answer(rater.session()["trials"][0], "a")
            page = client.get("/results/own", params={"key": key}).text
            assert "Delete all answers" in page and "its sounds and all answers" not in page
            typed = {"typed": "own"}
            gone = client.post("/results/own/delete", params={"key": key}, data=typed)
            assert gone.status_code == 200 and "answers are deleted" in gone.text
            assert tests.store.raters("own") == 0 and (folder / "fine" / "bird.wav").exists()
            anew = Rater(client, "own")
            assert anew.answer(anew.session()["trials"][0], "a").status_code == 200
            assert client.get("/results/own", params={"key": key}).status_code == 200
        for name in ("..", "", "nothing", f"own/{MARK}"):
            with pytest.raises(InputError, match="Check the link"):
                delete(name, tests)


def test_public_results_show_no_answers(tmp_path: Path) -> None:
    """They show the report."""
    write_test(tmp_path / "ab", "ab")
    tests = library(tmp_path, public={"ab"}, min_time=0)
    key = tests.open("ab").key
    with TestClient(app(tests)) as client:
        rater = Rater(client, "ab")
        rater.answer(rater.session()["trials"][0], "a")
        page = client.get("/results/ab")
        assert page.status_code == 200 and key not in page.text
        assert "answers.jsonl" not in page.text and "/delete" not in page.text
        for path in ("answers.jsonl", "ratings.csv"):
            assert client.get(f"/results/ab/{path}", params={"key": ""}).status_code == 403
        assert client.post("/results/ab/delete").status_code == 403


def test_open_test_changes_until_begun(workspace: Path, tests: TestLibrary) -> None:
    name = publish(workspace, "One", tests)
    key = tests.open(name).key
    write_test(workspace, "acr", title="Another")
    change(workspace, name, tests)
    opened = tests.open(name)
    assert (opened.test.title, opened.test.design.name, opened.key) == ("Another", "acr", key)
    assert opened.copies and all(copy.path.is_file() for copy in opened.copies.values())
    assert publishing.published(name, tests) and len(tests.files()) == 1
    tests.store.enrol(opened.test)
    write_test(workspace, "ab", title="Too late")
    with pytest.raises(InputError, match="Somebody has begun this test"):
        change(workspace, name, tests)
    assert tests.open(name).test.title == "Another"
    assert [path.name for path in tests.folders[0].iterdir() if path.is_dir()] == [name]


def test_change_of_frozen_test_is_told(workspace: Path, tests: TestLibrary) -> None:
    name = publish(workspace, "Mine", tests)
    preregistration.freeze(tests.open(name).test)
    write_test(workspace, "acr", title="Another")
    change(workspace, name, tests)
    assert "changed since" in preregistration.describe_changes(tests.open(name).test)


def test_unreadable_change_leaves_open_test(workspace: Path, tests: TestLibrary) -> None:
    name = publish(workspace, "One", tests)
    (workspace / "test.yaml").write_text("title: [")
    with pytest.raises(SpecError):
        change(workspace, name, tests)
    assert tests.open(name).test.title == "A test of ab"


def test_visitors_cannot_change_operators_test(workspace: Path, tests: TestLibrary) -> None:
    write_test(tests.folders[0] / "own", "ab")
    with pytest.raises(InputError, match="change its YAML there"):
        change(workspace, "own", tests)


def test_delete_while_test_is_read_leaves_nothing(
    workspace: Path, tests: TestLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever came first stored the test, and its copies, once more."""
    name, folder = publish(workspace, "One", tests), tests.folders[0]
    tests.forget(name)
    reading, go_on, prepare = threading.Event(), threading.Event(), stimuli.prepare

    def slowly(*arguments: Any) -> Any:
        reading.set()
        assert go_on.wait(30)
        return prepare(*arguments)

    monkeypatch.setattr(stimuli, "prepare", slowly)
    outcomes: list[object] = []

    def read() -> None:
        try:
            outcomes.append(tests.open(name))
        except (InputError, SpecError) as error:  # no test, or one whose sounds are gone
            outcomes.append(error)

    threads = [threading.Thread(target=read) for _ in range(2)]
    threads[0].start()
    assert reading.wait(30)
    deleting = threading.Thread(target=delete, args=[name, tests])
    deleting.start()
    threads[1].start()
    deleting.join(0.2)
    go_on.set()
    for thread in (*threads, deleting):
        thread.join(30)
    assert not (folder / name).exists() and len(outcomes) == 2
    with tests.store.engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM tests").scalar() == 0
