"""A served process under load, and killed in the middle."""

import itertools
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from benchmarks.support.listening import Rater, write_test
from benchmarks.support.served import MAX_START, PROXY, Served
from earshot.core.connections import MAX_HEAD
from earshot.study.web.server import library, links

pytestmark = pytest.mark.slow

RATERS = 50
SHORT = 0.02  # seconds of a sound

Start = Callable[..., Served]


@pytest.fixture
def start() -> Iterator[Start]:
    started: list[Served] = []

    def run(folder: Path, *options: str) -> Served:
        command = ["-m", "earshot.study", "serve", str(folder), *options]
        started.append(Served(*command, path="/listen/ab"))
        return started[-1]

    yield run
    for served in started:
        served.kill()


def test_server_under_load_stores_every_answer(tmp_path: Path, start: Start) -> None:
    """Fifty raters take the test at once."""
    write_test(tmp_path / "ab", "ab", SHORT)
    served = start(tmp_path, *PROXY)
    key = library(tmp_path).open("ab").key
    together = threading.Barrier(RATERS)

    def take(number: int) -> str:
        with httpx.Client(base_url=served.address, timeout=MAX_START) as client:
            client.headers["X-Forwarded-For"] = f"192.0.2.{number}"
            together.wait()
            rater = Rater(client, "ab")
            rater.check(key)
            code = None
            for trial in rater.session()["trials"]:
                for place in range(trial["sounds"]):
                    assert rater.get(f"sound/{trial['order']}/{place}").status_code == 200
                time.sleep(trial["sounds"] * SHORT)
                code = rater.answer(trial, "a").raise_for_status().json()["code"]
            assert code
            return rater.token

    with ThreadPoolExecutor(RATERS) as pool:
        tokens = set(pool.map(take, range(RATERS)))
    assert len(tokens) == RATERS
    served.kill()
    output = served.printed()
    assert not any(token in output for token in tokens) and "127.0.0.1 -" not in output

    tests = library(tmp_path)
    ratings = tests.store.ratings(tests.open("ab").test)
    scored = ratings[ratings["kind"] == "trial"]
    assert len(scored) == RATERS * 4
    assert {*scored["finished"]} == {*scored["headphones"]} == {True}
    assert set(scored.groupby("trial").size()) == {RATERS}
    # Each side first equally often, give or take chance.
    assert abs(list(scored["position"]).count(0) / len(scored) - 0.5) < 0.15


def test_killed_server_loses_no_acknowledged_answer(tmp_path: Path, start: Start) -> None:
    write_test(tmp_path / "ab", "ab", SHORT)
    acknowledged: set[tuple[str, int]] = set()
    numbers = itertools.count()
    for moment in (0.3, 0.7, 1.1):
        served = start(tmp_path, *PROXY)
        going = threading.Event()

        def answer_on(address: str = served.address, going: threading.Event = going) -> None:
            try:
                while True:
                    with httpx.Client(base_url=address, timeout=MAX_START) as client:
                        client.headers["X-Forwarded-For"] = f"192.0.2.{next(numbers)}"
                        rater = Rater(client, "ab")
                        for trial in rater.session()["trials"]:
                            time.sleep(trial["sounds"] * SHORT)
                            rater.answer(trial, "b").raise_for_status()
                            acknowledged.add((rater.token, trial["order"]))
                            going.set()
            except httpx.TransportError:
                return  # killed, as is meant

        threads = [threading.Thread(target=answer_on) for _ in range(4)]
        for thread in threads:
            thread.start()
        assert going.wait(MAX_START)
        time.sleep(moment)
        served.kill()
        for thread in threads:
            thread.join(MAX_START)
    assert len(acknowledged) > 10

    tests = library(tmp_path)
    test = tests.open("ab").test
    for token in {token for token, _ in acknowledged}:
        rater = tests.store.resume(test, token)
        assert rater is not None
        assert {order for t, order in acknowledged if t == token} <= rater.answered


def test_links_gives_links_or_mistakes(tmp_path: Path) -> None:
    write_test(tmp_path / "good", "acr")
    write_test(tmp_path / "bad", "acrobatics")
    tests = library(tmp_path)
    text = links(tests, "http://here")
    assert f"http://here/results/good?key={tests.open('good').key}" in text
    assert "http://here/listen/good" in text
    assert "bad: not open" in text and "test.yaml, line" in text
    assert "no test" in links(library(tmp_path / "empty"), "")


def test_address_is_forged_by_nobody(tmp_path: Path, start: Start) -> None:
    """Only a named proxy may tell the address of a rater."""
    write_test(tmp_path / "ab", "ab", SHORT)

    def consents(*options: str) -> list[int]:
        address = f"{start(tmp_path, *options).address}/listen/ab/consent"
        with httpx.Client(timeout=MAX_START) as client:
            forged = ({"X-Forwarded-For": f"192.0.2.{number}"} for number in range(32))
            return [client.post(address, json={}, headers=each).status_code for each in forged]

    assert consents() == [200] * 30 + [429] * 2
    assert consents(*PROXY) == [200] * 32


def test_server_limits_bodies_and_heads(tmp_path: Path, start: Start) -> None:
    """It forbids browsers to guess types."""
    write_test(tmp_path / "ab", "ab", SHORT)
    served = start(tmp_path)
    assert httpx.get(f"{served.address}/listen/ab").headers["X-Content-Type-Options"] == "nosniff"
    large = httpx.post(f"{served.address}/results/ab/delete", content=b"a" * 2_000_000)
    assert large.status_code == 413
    with socket.create_connection(("127.0.0.1", served.port), 3 * MAX_HEAD) as connection:
        connection.sendall(b"GET / HT")
        assert connection.recv(1) == b""
