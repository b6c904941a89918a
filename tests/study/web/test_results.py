"""The organiser's page of a test that runs."""

import gc
import re
import threading
import time
import weakref
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy.exc import OperationalError

from benchmarks.support.listening import write_test
from earshot.study import preregistration, publishing
from earshot.study.analysis.report import comparison
from earshot.study.library import TestLibrary
from earshot.study.publishing import MARK
from earshot.study.report_process import TooMuchError
from earshot.study.simulation import simulate
from earshot.study.web import report_cache
from earshot.study.web.report_cache import MAX_AT_ONCE, MAX_OF_ADDRESS, MAX_WAITING, ReportCache
from earshot.study.web.server import app, library

TAKEN = ("first", "second", "closed", "again", "taken")
NAMES = [*((name, "acr") for name in TAKEN), ("pairs", "ab")]
PATIENCE = 60  # seconds


@pytest.fixture(scope="module")
def tests(tmp_path_factory: pytest.TempPathFactory) -> TestLibrary:
    """Tests that simulated raters took, and one of another design."""
    folder = tmp_path_factory.mktemp("tests")
    for name, design in NAMES:
        write_test(folder / name, design, raters=20)
    library_of_tests = library(folder)
    for seed, name in enumerate(TAKEN):
        simulate(library_of_tests.open(name).test, library_of_tests.store, 6, seed)
    return library_of_tests


@pytest.fixture
def client(tests: TestLibrary) -> Iterator[TestClient]:
    with TestClient(app(tests)) as client:
        yield client


def test_running_page_shows_no_estimate(client: TestClient, tests: TestLibrary) -> None:
    """It shows the progress."""
    key = tests.open("first").key
    page = client.get("/results/first", params={"key": key}).text
    assert "6 raters finished within 1 hour" in page and "the places left (14)" in page
    assert "6 finished, 0 at it of 20 wanted, 14 places left" in page
    assert page.count("<svg") == 1 and "Which sounds decide?" not in page and "95 %" not in page
    assert tests.store.looks(tests.get("first").test) == []


def test_estimates_before_end_are_look(client: TestClient, tests: TestLibrary) -> None:
    """The look is recorded, once for the same answers."""
    opened = tests.open("second")
    for _ in range(2):  # at the same answers, which is one look
        page = client.post("/results/second/look", params={"key": opened.key}).text
        assert page.count("<svg") >= 3 and "Which sounds decide?" in page
    assert client.get("/results/second/report.pdf", params={"key": opened.key}).is_success
    assert tests.store.looks(opened.test) == [6]
    page = client.get(f"/results/second?key={opened.key}&estimates=true").text
    assert "Which sounds decide?" in page and "<base" not in page
    assert "You have looked 1 time before" in client.get(f"/results/second?key={opened.key}").text
    assert client.post("/results/second/look", params={"key": "x"}).status_code == 403


def test_estimates_without_look_are_not_shown(client: TestClient, tests: TestLibrary) -> None:
    opened = tests.open("first")
    page = client.get(f"/results/first?key={opened.key}&estimates=true").text
    assert "Which sounds decide?" not in page and tests.store.looks(opened.test) == []


def test_download_before_end_is_look(client: TestClient, tests: TestLibrary) -> None:
    """The look is recorded, once for all files."""
    opened = tests.open("taken")
    for file in ("ratings.csv", "answers.jsonl", "dataset.zip"):
        assert client.get(f"/results/taken/{file}", params={"key": opened.key}).is_success
    assert tests.store.looks(opened.test) == [6]


def test_reopening_makes_estimates_count_as_look(client: TestClient, tests: TestLibrary) -> None:
    """The estimates of a closed test are no look until it is opened again."""
    opened = tests.open("closed")
    client.post("/results/closed/close", params={"key": opened.key})
    page = client.get("/results/closed", params={"key": opened.key}).text
    assert page.count("<svg") >= 3 and "Which sounds decide?" in page
    assert tests.store.looks(opened.test) == []
    client.post("/results/closed/reopen", params={"key": opened.key})  # after the results
    client.post("/results/closed/reopen", params={"key": opened.key})  # twice, by mistake
    assert tests.store.looks(opened.test) == [6]


def test_report_stays_until_somebody_answers(
    client: TestClient, tests: TestLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is made once for the same answers."""
    opened, calls = tests.open("again"), list[Any]()

    def counted(make: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        calls.append(make)
        return make(*args, **kwargs)

    monkeypatch.setattr(report_cache, "report_process", lambda: counted)
    client.post("/results/again/look", params={"key": opened.key})  # which the report tells
    calls.clear()
    for _ in range(3):
        for path in ("", "/report.pdf"):
            assert client.get(f"/results/again{path}", params={"key": opened.key}).is_success
    assert report_cache.analyse_answers not in calls
    simulate(opened.test, tests.store, 7, 0)
    client.get("/results/again", params={"key": opened.key})
    assert calls.count(report_cache.analyse_answers) == 1


def test_report_of_too_much_waits(
    client: TestClient, tests: TestLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not tried again at once, and again, while others wait for theirs."""
    tried: list[Any] = []

    def too_much(make: Callable[..., Any], *_: object) -> None:
        tried.append(make)
        raise TooMuchError("This takes longer")

    monkeypatch.setattr(report_cache, "report_process", lambda: too_much)
    key = {"key": tests.open("taken").key}
    for path in ("report.pdf", "report.pdf", "dataset.zip"):
        refused = client.get(f"/results/taken/{path}", params=key)
        assert refused.status_code == 403 and "This takes longer" in refused.text
    assert tried == [report_cache.analyse_answers, report_cache.dataset_zip]


def test_results_of_busy_store_say_so(
    client: TestClient, tests: TestLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    def locked(*_: object) -> None:
        raise OperationalError("SELECT", {}, Exception("database is locked"))

    monkeypatch.setattr(report_cache, "report_process", lambda: locked)
    reply = client.get("/results/taken/ratings.csv", params={"key": tests.open("taken").key})
    assert reply.status_code == 503 and "cannot read the answers" in reply.text


def test_one_address_leaves_places_to_others(
    tests: TestLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on, params = threading.Event(), {"key": tests.open("first").key}
    monkeypatch.setattr(ReportCache, "pdf", lambda *_: go_on.wait(PATIENCE) and b"%PDF")
    served = app(tests)
    path = "/results/first/report.pdf"
    with TestClient(served) as one, ThreadPoolExecutor(9) as pool:
        other = TestClient(served, client=("192.0.2.9", 1))
        other.portal = one.portal
        replies = [pool.submit(one.get, path, params=params) for _ in range(8)]
        deadline = time.monotonic() + PATIENCE
        while sum(each.done() for each in replies) < 8 - MAX_OF_ADDRESS:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        waiting = pool.submit(other.get, path, params=params)
        time.sleep(0.2)
        assert not waiting.done()
        go_on.set()
        assert waiting.result().status_code == 200


def test_many_reports_leave_server_to_raters(
    tests: TestLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on, params = threading.Event(), {"key": tests.open("first").key}

    def slowly(*_: object) -> bytes:
        assert go_on.wait(PATIENCE)
        return b"%PDF"

    monkeypatch.setattr(ReportCache, "pdf", slowly)
    with TestClient(app(tests)) as client, ThreadPoolExecutor(60) as pool:
        path = "/results/first/report.pdf"
        replies = [pool.submit(client.get, path, params=params) for _ in range(60)]
        deadline = time.monotonic() + PATIENCE
        while sum(each.done() for each in replies) < 60 - MAX_AT_ONCE - MAX_WAITING:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        began = time.monotonic()
        assert client.get("/listen/pairs/session").status_code == 200
        assert time.monotonic() - began < 5
        go_on.set()
        codes = Counter(each.result().status_code for each in replies)
    assert codes[503] >= 60 - MAX_AT_ONCE - MAX_WAITING and codes[200] >= MAX_AT_ONCE


def test_files_are_refused_before_pages(
    client: TestClient, tests: TestLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both are asked for without end."""
    key = {"key": tests.open("first").key}
    file, page, compared = (
        partial(client.get, f"/results/first{end}", params=key)
        for end in ("/ratings.csv", "", "/compare")
    )
    now = time.monotonic()
    monkeypatch.setattr("earshot.core.limits.time", SimpleNamespace(monotonic=lambda: now))
    assert all(file().status_code == 200 for _ in range(60))
    now += 10
    assert [file().status_code for _ in range(2)] == [200, 429]  # six a minute
    assert compared().status_code == 429
    assert [page().status_code for _ in range(7)] == [200] * 7  # sixty a minute


def test_endless_requests_of_results_are_refused(
    client: TestClient, tests: TestLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are refused before the key is looked up, and raters come and go as before."""
    path, params = "/results/first", {"key": tests.open("first").key}
    assert all(client.get(path, params={"key": "x"}).status_code == 403 for _ in range(60))
    monkeypatch.setattr(TestLibrary, "with_key", None)
    refused = client.get(path, params=params)
    assert refused.status_code == 429 and "Try again in a minute" in refused.text
    assert client.get("/listen/first").status_code == 200  # raters come and go as before


def test_page_of_untaken_test_is_shown(client: TestClient, tests: TestLibrary) -> None:
    key = tests.open("pairs").key
    page = client.get("/results/pairs", params={"key": key})
    assert page.status_code == 200 and "Raters over time" not in page.text
    assert client.get("/results/pairs/report.pdf", params={"key": key}).status_code == 200


def test_report_as_pdf_takes_key(client: TestClient, tests: TestLibrary) -> None:
    report = client.get("/results/first/report.pdf", params={"key": tests.open("first").key})
    assert report.headers["content-type"] == "application/pdf"
    assert "first-report.pdf" in report.headers["content-disposition"]
    assert report.content.startswith(b"%PDF") and len(report.content) > 20_000
    assert client.get("/results/first/report.pdf", params={"key": "x"}).status_code == 403


def test_tests_are_compared_by_link(client: TestClient, tests: TestLibrary) -> None:
    key, other = tests.open("first").key, tests.open("second").key
    link = f"http://here/results/second?key={other}"
    page = client.get("/results/first/compare", params={"key": key, "other": link})
    assert page.status_code == 200 and "These raters are simulated" in page.text
    assert "A test of acr (second)" in page.text and "p, Holm" in page.text


def test_comparison_is_made_once(
    client: TestClient, tests: TestLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = {"key": tests.open("second").key}
    query["other"] = f"/results/closed?key={tests.open('closed').key}"
    first = client.get("/results/second/compare", params=query).raise_for_status()
    monkeypatch.setattr(comparison, "compare", None)
    assert client.get("/results/second/compare", params=query).text == first.text


@pytest.mark.parametrize("whole", [True, False], ids=["test", "answers"])
def test_deleted_answers_leave_the_memory(tmp_path: Path, whole: bool) -> None:
    write_test(tmp_path / "gone", "acr")
    if whole:
        (tmp_path / "gone" / MARK).write_text("2026-01-01")
    tests = library(tmp_path)
    opened, cache = tests.open("gone"), ReportCache(tests)
    simulate(opened.test, tests.store, 2, 0)
    cache.page(opened)
    left = weakref.ref(cache._reports[opened])
    publishing.delete("gone", tests)
    del opened
    gc.collect()
    assert left() is None


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        ("", "Paste the whole link"),
        ("second", "Paste the whole link"),
        ("/results/second", "key in this link"),
        ("/results/second?key=wrong", "key in this link"),
        ("/results/nobody?key=x", "no listening test"),
        ("/results/pairs?key={pairs}", "different designs"),
    ],
)
def test_comparison_with_unfit_test_is_refused(
    client: TestClient, tests: TestLibrary, other: str, reason: str
) -> None:
    """The other must be a test of the same design, and the link must have its key."""
    query = {"key": tests.open("first").key, "other": other.format(pairs=tests.open("pairs").key)}
    page = client.get("/results/first/compare", params=query)
    assert page.status_code == 403 and reason in page.text
    other_key = {"key": "x", "other": f"/results/second?key={tests.open('second').key}"}
    assert client.get("/results/first/compare", params=other_key).status_code == 403


def test_results_page_runs_own_script_only(client: TestClient, tests: TestLibrary) -> None:
    allowed, of_pages = set[str](), set[str]()
    for name in ("first", "closed"):
        reply = client.get(f"/results/{name}", params={"key": tests.open(name).key})
        hashes = [
            f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'"
            for script in re.findall(r"<script>(.*?)</script>", reply.text, re.DOTALL)
        ]
        policy = reply.headers["Content-Security-Policy"]
        scripts = re.findall(r"script-src ([^;]*);", policy)
        allowed |= {each for directive in scripts for each in directive.split()}
        assert hashes and {*hashes} <= allowed
        of_pages |= {*hashes}
        assert "default-src 'none'" in policy and "frame-ancestors 'self'" in policy
        assert not re.search(r"<script[^>]+src|\son\w+=", reply.text)
        assert reply.headers["X-Content-Type-Options"] == "nosniff"
    assert of_pages == allowed, "no page may run a script that none of them has"


def test_organisers_looking_leave_raters_alone(
    tests: TestLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server answers raters while many wait for a look."""
    go_on, params = threading.Event(), {"key": tests.open("first").key}
    monkeypatch.setattr(preregistration, "look", lambda *_: go_on.wait(PATIENCE))
    with TestClient(app(tests)) as client, ThreadPoolExecutor(60) as pool:
        path = "/results/first/ratings.csv"
        replies = [pool.submit(client.get, path, params=params) for _ in range(60)]
        deadline = time.monotonic() + PATIENCE
        while sum(each.done() for each in replies) < 60 - MAX_AT_ONCE - MAX_WAITING:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert client.get("/listen/pairs/session").status_code == 200
        go_on.set()
        assert {each.result().status_code for each in replies} == {200, 503}


def test_look_at_same_answers_locks_nothing(tests: TestLibrary) -> None:
    test = tests.open("taken").test
    tests.store.look(test)
    with tests.store.engine.execution_options(write=True).begin():  # somebody else writes
        began = time.monotonic()
        tests.store.look(test)
    assert time.monotonic() - began < 5
