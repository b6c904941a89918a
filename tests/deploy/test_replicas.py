"""Two processes behind HAProxy on one database; one of them is killed under visitors and raters."""

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from websockets.sync.client import connect

from benchmarks.load.visitor import Visitor
from benchmarks.raters import Raters, write
from benchmarks.support.postgres import Postgres
from benchmarks.support.replicas import Replicas

pytestmark = pytest.mark.slow

TASK = "convert"


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    try:
        server = Postgres()
    except FileNotFoundError as error:
        pytest.skip(str(error))
    yield server.url("postgres")
    server.close()


@pytest.fixture(scope="module")
def studies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("studies")
    write(folder)
    return folder


@pytest.fixture(scope="module")
def replicas(studies: Path, database: str) -> Iterator[Replicas]:
    options = ["--studies", str(studies), "--database", database]
    try:
        running = Replicas("-m", "benchmarks.support.replica", *options, number=2)
    except FileNotFoundError as error:
        pytest.skip(str(error))
    with running:
        yield running


def place(visitor: Visitor) -> str:
    """The number of the process that keeps the visitor's session."""
    return visitor.client.cookies["replica"]


def visitors_of_both(address: str) -> dict[str, Visitor]:
    """A visitor of each process, by its number."""
    visitors: dict[str, Visitor] = {}
    for number in range(20):
        visitor = Visitor(address, number)
        visitor.open_page()
        visitors.setdefault(place(visitor), visitor)
        if len(visitors) == 2:
            return visitors
    raise AssertionError("All visitors were sent to one process.")


def test_proxy_keeps_visitor_at_one_process(replicas: Replicas) -> None:
    for number, visitor in visitors_of_both(replicas.address).items():
        visitor.call(TASK)  # an upload, the queue, and its events: each would fail elsewhere
        assert place(visitor) == number


def test_proxy_sends_programs_by_address(replicas: Replicas) -> None:
    """Programs without cookies stay at one process by their address."""
    for number in range(4):
        program = Visitor(replicas.address, number)
        program.call(TASK)
        assert not program.client.cookies


def test_proxy_passes_websockets(replicas: Replicas) -> None:
    with connect(replicas.address.replace("http", "ws") + "/live", legacy=True) as socket:
        socket.send("rubbish")
        assert json.loads(socket.recv(timeout=60))["state"] == "ended"


def test_proxy_tells_app_who_asks(replicas: Replicas) -> None:
    """A proxy for TLS on the same machine is believed, and only about the last address."""
    for role, address in (
        ("203.0.113.9", "203.0.113.9"),
        ("10.0.0.1, 203.0.113.9", "203.0.113.9"),
        (None, "127.0.0.1"),
    ):
        headers = {"X-Forwarded-For": role} if role else {}
        seen = httpx.get(f"{replicas.address}/address", headers=headers, timeout=60).text
        assert seen == address


def test_killed_process_disturbs_only_own_visitors(
    replicas: Replicas, studies: Path, database: str
) -> None:
    visitors = visitors_of_both(replicas.address)
    with Raters(replicas.address, number=6) as raters:
        raters.answer(20)
        replicas.processes[0].kill()
        visitors["2"].call(TASK)
        raters.answer(20)
        visitors["1"].open_page()  # as after any error: a new page, at the process that is left
        assert place(visitors["1"]) == "2"
        visitors["1"].call(TASK)
    assert raters.lost(studies, database, replicas.address) == 0
