"""Calls of programs, served at a pace that leaves room for people."""

import threading
import time

import pytest
from fastapi.testclient import TestClient
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from earshot.core import pacing
from earshot.core.http import RateLimit
from earshot.core.pacing import PaceCalls

FAST = 600.0  # a minute
SLOW = 6.0


def client(address: str, per_minute: float) -> TestClient:
    """A program at this address, of a server that lets one make two calls at once."""

    async def echo(request: Request) -> PlainTextResponse:
        return PlainTextResponse(await request.body())

    routes = [Route(path, echo, methods=["GET", "POST"]) for path in ("/call/convert", "/listen")]
    paced = Middleware(PaceCalls, ["/call/"], RateLimit(2, per_minute))
    return TestClient(Starlette(routes=routes, middleware=[paced]), client=(address, 1))


def test_calls_that_come_faster_wait_and_are_answered_in_full() -> None:
    begun = time.monotonic()
    program = client("192.0.2.1", FAST)
    said = [program.post("/call/convert", content=str(n)).text for n in range(5)]
    assert said == ["0", "1", "2", "3", "4"]
    assert time.monotonic() - begun >= 0.25  # three waited for a tenth of a second each


def test_calls_at_once_are_all_answered_in_the_end() -> None:
    program = client("192.0.2.1", FAST)
    replies: list[int] = []
    threads = [
        threading.Thread(target=lambda: replies.append(program.post("/call/convert").status_code))
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert replies == [200] * 6


def test_call_that_would_wait_long_is_refused_with_a_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pacing, "MAX_WAIT", 1.0)
    program = client("192.0.2.1", SLOW)
    replies = [program.post("/call/convert") for _ in range(3)]
    assert [reply.status_code for reply in replies] == [200, 200, 429]
    assert "Try again in a minute" in replies[-1].json()["detail"]
    assert replies[-1].headers["Retry-After"] == "60"


def test_visitors_results_and_the_owner_of_the_machine_never_wait() -> None:
    visitor, owner = client("192.0.2.1", SLOW), client("127.0.0.1", SLOW)
    for _ in range(4):
        assert visitor.post("/listen").is_success
        assert visitor.get("/call/convert").is_success
        assert owner.post("/call/convert").is_success
