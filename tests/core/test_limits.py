"""Budgets, turns and the pace of requests: an address that sends many, or fast, keeps no other
waiting.
"""

import asyncio
import re
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from functools import wraps

import httpx
import pytest
from fastapi.testclient import TestClient
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from earshot.core import limits
from earshot.core.limits import (
    BUDGETS,
    LOCAL,
    PaceCalls,
    RateLimit,
    ShareHandlers,
    TakeTurns,
    address_of,
)
from tests.support.loops import run


def test_rate_limit_after_pause_allows_again() -> None:
    limit = RateLimit(burst=2, per_minute=6)
    assert [limit.take("a", 0), limit.take("a", 0)] == [0, 0]
    assert limit.take("a", 0) == 10 and limit.take("b", 0) == 0
    assert limit.take("a", 10) == 0 and limit.take("a", 10) == 10


@pytest.mark.parametrize("name", BUDGETS)
def test_refusal_of_budget_names_its_own_numbers(name: str) -> None:
    budget = BUDGETS[name]
    numbers = {float(number) for number in re.findall(r"\d+", budget.refusal)}
    assert numbers <= {budget.burst, budget.per_minute}


@pytest.mark.parametrize(
    ("host", "counted"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:0:1::1", "2001:db8:0:1::/64"),
        ("2001:db8:0:1:ffff::2", "2001:db8:0:1::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::1", "::1"),
        ("::ffff:127.0.0.1", "127.0.0.1"),
        ("testclient", "testclient"),
    ],
)
def test_addresses_of_one_host_are_one(host: str, counted: str) -> None:
    assert address_of(Request({"type": "http", "client": (host, 1)})) == counted


FAST = 600.0  # a minute
SLOW = 6.0


def client(address: str, per_minute: float) -> TestClient:
    """A program at this address, of a server that lets one make two calls at once."""

    async def echo(request: Request) -> PlainTextResponse:
        return PlainTextResponse(await request.body())

    routes = [Route(path, echo, methods=["GET", "POST"]) for path in ("/call/convert", "/listen")]
    paced = Middleware(PaceCalls, ["/call/"], RateLimit(2, per_minute))
    return TestClient(Starlette(routes=routes, middleware=[paced]), client=(address, 1))


def test_fast_calls_wait() -> None:
    """Calls that come faster are answered in full."""
    begun = time.monotonic()
    program = client("192.0.2.1", FAST)
    answers = [program.post("/call/convert", content=str(n)).text for n in range(5)]
    assert answers == ["0", "1", "2", "3", "4"]
    assert time.monotonic() - begun >= 0.25  # three waited for a tenth of a second each


def test_calls_at_once_are_all_answered() -> None:
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


def test_call_waiting_long_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A call that would wait long is refused with a sentence."""
    monkeypatch.setattr(limits, "MAX_WAIT", 1.0)
    program = client("192.0.2.1", SLOW)
    replies = [program.post("/call/convert") for _ in range(3)]
    assert [reply.status_code for reply in replies] == [200, 200, 429]
    assert "Try again in a minute" in replies[-1].json()["detail"]
    assert replies[-1].headers["Retry-After"] == "60"


def test_results_and_owner_never_wait() -> None:
    """Visitors' results and the owner of the machine never wait."""
    visitor, owner = client("192.0.2.1", SLOW), client("127.0.0.1", SLOW)
    for _ in range(4):
        assert visitor.post("/listen").is_success
        assert visitor.get("/call/convert").is_success
        assert owner.post("/call/convert").is_success


def in_a_thread(check: Callable[..., Coroutine[None, None, None]]) -> Callable[..., None]:
    """Make a test of one that waits: Playwright's loop may run in this thread."""

    @wraps(check)
    def test(**fixtures: object) -> None:
        run(check(**fixtures))

    return test


class Slow:
    """A server behind TakeTurns, whose answers come when they may. begun: by their address."""

    def __init__(self, turn: float = 60, limit: RateLimit | None = None) -> None:
        self.begun: list[str] = []
        self.may_answer = asyncio.Event()
        routes = [Route("/", self._answer), Route("/stream", self._stream)]
        middleware = [Middleware(TakeTurns, 2, turn, limit)]
        self._served = Starlette(routes=routes, middleware=middleware)

    async def ask(self, address: str, path: str = "/") -> int:
        """Send a request from this address → the answer's status."""
        transport = httpx.ASGITransport(self._served, client=(address, 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://earshot") as client:
            return (await client.get(path)).status_code

    async def _answer(self, request: Request) -> PlainTextResponse:
        self.begun.append(request.client.host if request.client else "")
        await self.may_answer.wait()
        return PlainTextResponse("")

    async def _stream(self, request: Request) -> StreamingResponse:
        self.begun.append(request.client.host if request.client else "")

        async def parts() -> AsyncIterator[bytes]:
            yield b"a"
            await self.may_answer.wait()

        return StreamingResponse(parts())


MANY_ASK = "192.0.2.1"
ONE_ASKS = "192.0.2.2"


@in_a_thread
async def test_request_of_another_begins_sooner() -> None:
    """Another's request begins before the rest of many."""
    server = Slow()
    many = [asyncio.create_task(server.ask(MANY_ASK)) for _ in range(5)]
    await asyncio.sleep(0.05)
    other = asyncio.create_task(server.ask(ONE_ASKS))
    await asyncio.sleep(0.05)
    assert server.begun == [MANY_ASK, MANY_ASK, ONE_ASKS]
    server.may_answer.set()
    assert await asyncio.gather(*many, other) == [200] * 6
    assert server.begun.count(MANY_ASK) == 5


@pytest.mark.parametrize(("path", "turn"), [("/", 0.02), ("/stream", 60)], ids=["slow", "begun"])
@in_a_thread
async def test_slow_requests_hold_up_none(path: str, turn: float) -> None:
    """Answers that have begun hold up none either."""
    server = Slow(turn)
    many = [asyncio.create_task(server.ask(MANY_ASK, path)) for _ in range(5)]
    await asyncio.sleep(0.3)
    assert len(server.begun) == 5
    server.may_answer.set()
    assert await asyncio.gather(*many) == [200] * 5


@in_a_thread
async def test_few_handlers_of_address_compute() -> None:
    """Those that wait in no queue took .3 s each, of thirty at a time."""
    computing, most = 0, 0

    async def handler(_: Request) -> PlainTextResponse:
        nonlocal computing, most
        computing += 1
        most = max(most, computing)
        await asyncio.sleep(0.01)
        computing -= 1
        return PlainTextResponse("")

    routes = [Route(path, handler, methods=["POST"]) for path in ("/run/a", "/other")]
    limits = [Middleware(ShareHandlers, "/run/", 2)]
    app = Starlette(routes=routes, middleware=limits)

    async def ask(path: str, address: str) -> int:
        transport = httpx.ASGITransport(app, client=(address, 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://earshot") as client:
            return (await client.post(path)).status_code

    assert await asyncio.gather(*(ask("/run/a", MANY_ASK) for _ in range(9))) == [200] * 9
    assert most == 2
    both = (MANY_ASK, ONE_ASKS)
    await asyncio.gather(*(ask("/run/a", address) for address in both for _ in range(3)))
    assert most == 2  # of all as well
    await asyncio.gather(*(ask("/other", MANY_ASK) for _ in range(9)))
    assert most == 9


@in_a_thread
async def test_waiting_handlers_hold_up_no_other_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """As while models load: two that hang would keep all others from computing."""
    monkeypatch.setattr(limits, "MAX_COMPUTING", 0.1)
    may_answer = asyncio.Event()

    async def handler(_: Request) -> PlainTextResponse:
        await may_answer.wait()
        return PlainTextResponse("")

    routes = [Route("/run/a", handler), Route("/run/b", lambda _: PlainTextResponse(""))]
    app = Starlette(routes=routes, middleware=[Middleware(ShareHandlers, "/run/")])

    async def ask(path: str, address: str) -> int:
        transport = httpx.ASGITransport(app, client=(address, 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://earshot") as client:
            return (await client.get(path)).status_code

    hang = [asyncio.create_task(ask("/run/a", MANY_ASK)) for _ in range(2)]
    await asyncio.sleep(0.01)
    assert await asyncio.wait_for(ask("/run/b", ONE_ASKS), 5) == 200
    may_answer.set()
    assert await asyncio.gather(*hang) == [200, 200]


@in_a_thread
async def test_handlers_of_address_compute_for_seconds_of_a_minute() -> None:
    """Two at a time, without an end, took a quarter of a core; this machine's own page waits for
    nothing."""

    async def handler(_: Request) -> PlainTextResponse:
        await asyncio.sleep(0.05)
        return PlainTextResponse("")

    seconds = RateLimit(0, 6)  # .1 s a second
    app = Starlette(
        routes=[Route("/run/a", handler)],
        middleware=[Middleware(ShareHandlers, "/run/", 2, seconds)],
    )

    async def ask(address: str) -> float:
        transport = httpx.ASGITransport(app, client=(address, 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://earshot") as client:
            began = time.monotonic()
            assert (await client.get("/run/a")).status_code == 200
            return time.monotonic() - began

    await ask(MANY_ASK)
    waits = asyncio.create_task(ask(MANY_ASK))
    await ask(ONE_ASKS)
    assert not waits.done()  # it owes half a second
    assert await waits >= 0.3
    assert sum([await ask(LOCAL[0]) for _ in range(5)]) < 1.5  # two seconds were owed in between


@in_a_thread
async def test_endless_requests_of_network_are_paced() -> None:
    """One network has so many requests a second."""
    server = Slow(limit=RateLimit(2, FAST))
    server.may_answer.set()
    began = time.monotonic()
    assert await asyncio.gather(*(server.ask(MANY_ASK) for _ in range(5))) == [200] * 5
    assert time.monotonic() - began >= 0.25  # three waited for a tenth of a second each


@in_a_thread
async def test_paced_network_holds_up_no_other() -> None:
    server = Slow(limit=RateLimit(2, SLOW))
    server.may_answer.set()
    many = [asyncio.create_task(server.ask(MANY_ASK)) for _ in range(3)]
    await asyncio.sleep(0.1)
    assert await server.ask(ONE_ASKS) == 200 and [each.done() for each in many] == [
        True,
        True,
        False,
    ]
    many[-1].cancel()


def test_sockets_of_one_network_are_paced() -> None:
    async def hang_up(socket: WebSocket) -> None:
        await socket.accept()
        await socket.close()

    paced = Middleware(TakeTurns, limit=RateLimit(2, FAST))
    program = TestClient(Starlette(routes=[WebSocketRoute("/", hang_up)], middleware=[paced]))
    began = time.monotonic()
    for _ in range(5):
        with program.websocket_connect("/"):
            pass
    assert time.monotonic() - began >= 0.25


def test_requests_have_turns_in_any_loop() -> None:
    """Requests that each come in an event loop of their own all have their turn."""
    served = Starlette(middleware=[Middleware(TakeTurns, 1)])
    assert [TestClient(served).get("/").status_code for _ in range(3)] == [404] * 3
