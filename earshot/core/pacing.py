"""Turns, and a pace, by which nobody who asks much, or fast, keeps others waiting."""

import asyncio
from collections.abc import Sequence
from typing import Final
from weakref import WeakValueDictionary

from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from earshot.core.http import LOCAL, RateLimit, address_of

BURST: Final = 60  # calls of one address, at once
PER_MINUTE: Final = 30  # thereafter
MAX_WAIT: Final = 30.0  # seconds until a call of an address that makes too many at once is refused
AT_ONCE: Final = 6  # requests of one address: what a browser sends at once
MAX_TURN: Final = 0.1  # seconds
OPENING: Final = 6_000  # requests of one address before it is paced: fifty first pages
PER_SECOND: Final = 300  # thereafter
MANY: Final = (
    f"Programs of one address may make {BURST} calls at once here, then {PER_MINUTE} a minute. Try "
    "again in a minute, or run Earshot on a machine of your own."
)


class Turns:
    """The turns in a line, by start-time fair queueing (Goyal, Vin & Cheng, 1996): addresses that
    wait are served in turn, however many jobs one of them has waiting.
    """

    def __init__(self) -> None:
        self._now = 0  # the turn that is served
        self._next: dict[str, int] = {}  # by address: the turn of its next job, if that is later

    def take(self, address: str) -> int:
        """Give a job that comes its turn: that which is served now, or after those of its own
        address."""
        turn = max(self._now, self._next.get(address, 0))
        self._next[address] = turn + 1
        return turn

    def serve(self, turn: int) -> None:
        """Go on to the turn of a job that begins."""
        self._now = turn
        self._next = {who: later for who, later in self._next.items() if later > turn}


class PaceCalls:
    """ASGI middleware that lets calls wait, before anything of them is read, where those of their
    address come faster than PER_MINUTE. Programs on this machine are its owner's: theirs pass.

    paths: how the paths of calls begin. Reading what a call has come to is none.
    """

    def __init__(self, app: ASGIApp, paths: Sequence[str], limit: RateLimit | None = None) -> None:
        self.app, self._paths = app, tuple(paths)
        self._calls = limit or RateLimit(BURST, PER_MINUTE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the request."""
        if scope["type"] == "http" and scope["method"] == "POST":
            address = address_of(HTTPConnection(scope))
            if scope["path"].startswith(self._paths) and address not in LOCAL:
                ends = asyncio.get_running_loop().time() + MAX_WAIT
                while wait := self._calls.take(address):
                    if asyncio.get_running_loop().time() + wait > ends:
                        refusal = JSONResponse({"detail": MANY}, 429, {"Retry-After": "60"})
                        await refusal(scope, receive, send)
                        return
                    await asyncio.sleep(wait)
        await self.app(scope, receive, send)


class TakeTurns:
    """ASGI middleware that begins few requests of one address at a time, and so many a second, so
    that those of others come in between where one sends very many.

    A request has its turn until it begins to answer, but for MAX_TURN at most: then it waits for
    something or works in a thread, and many visitors of one network go on. A WebSocket, which is
    answered at once, is paced only.
    """

    def __init__(
        self,
        app: ASGIApp,
        at_once: int = AT_ONCE,
        max_turn: float = MAX_TURN,
        limit: RateLimit | None = None,
    ) -> None:
        self.app, self._at_once, self._max_turn = app, at_once, max_turn
        self._requests = limit or RateLimit(OPENING, 60 * PER_SECOND)
        self._addresses: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the request."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        address = address_of(HTTPConnection(scope))
        if scope["type"] == "websocket":
            await self._pace(address)
            await self.app(scope, receive, send)
            return
        turns = self._addresses.setdefault(address, asyncio.Semaphore(self._at_once))
        await turns.acquire()
        in_turn = True

        def end_turn() -> None:
            nonlocal in_turn
            if in_turn:
                in_turn = False
                turns.release()

        async def answer(message: Message) -> None:
            end_turn()
            await send(message)

        timer = None
        try:
            await self._pace(address)
            timer = asyncio.get_running_loop().call_later(self._max_turn, end_turn)
            await self.app(scope, receive, answer)
        finally:
            if timer:
                timer.cancel()
            end_turn()

    async def _pace(self, address: str) -> None:
        while wait := self._requests.take(address):
            await asyncio.sleep(wait)
