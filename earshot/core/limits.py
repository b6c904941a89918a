"""Limits of one network address: budgets, turns and a pace, by which an address that sends much, or
fast, keeps no other waiting.
"""

import asyncio
import hashlib
import ipaddress
import secrets
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Final, NamedTuple
from weakref import WeakValueDictionary

from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MINUTES_OF_A_DAY: Final = 24 * 60
MAX_ADDRESSES: Final = 10_000
LOCAL: Final = ("127.0.0.1", "localhost", "::1")  # this machine
MAX_WAIT: Final = 30.0  # seconds until a call of an address that makes too many at once is refused
MAX_AT_ONCE: Final = 6  # requests of one address: what a browser sends at once
MAX_TURN: Final = 0.1  # seconds
MAX_COMPUTING: Final = 1.0  # seconds of a handler; then it waits for something, such as a model
MAX_HANDLERS: Final = 2  # that compute at a time in no queue, of one address and of all
RESULTS_ASKED: Final = (
    "Results were asked for many times from your network just now. Try again in a minute."
)
UPLOADED: Final = "Too much was uploaded from your network. Try again in a few minutes."


class Budget(NamedTuple):
    """An allowance of one address for something: ``burst`` at once, then ``per_minute``.

    refusal: the sentence for more, where there is a reader.
    """

    burst: int
    per_minute: float
    refusal: str = ""


BUDGETS: Final[Mapping[str, Budget]] = {
    "requests": Budget(6_000, 18_000),  # fifty first pages, then 300 a second
    "calls": Budget(
        60,
        30,
        "Programs of one address may make 60 calls at once here, then 30 a minute. Try again in a "
        "minute, or run Earshot on a machine of your own.",
    ),
    "first pages": Budget(  # that are not in the cache
        60, 10, "Your network asks for too many pages just now. Try again in a minute."
    ),
    "handlers, s": Budget(30, 6),  # that compute in no queue; a visit takes some .3 s
    "jobs, s": Budget(20, 10),  # in queues: who had more waits where others would for them
    "live conversions": Budget(
        30, 30, "Too many live conversions come from your network. Try again in a minute."
    ),
    "uploaded MB": Budget(1_000, 50, UPLOADED),
    "uploaded MB, short of room": Budget(100, 5, UPLOADED),
    "results, MB": Budget(  # short of room
        200,
        20,
        "Much was made for your network, and this server is short of room. Try again later.",
    ),
    "files of tests, MB": Budget(
        1_000, 50, "Too much was made for your network. Try again in a few minutes."
    ),
    "texts to read": Budget(  # that are not read, with which one could look for a fitting one
        5,
        1 / 10,
        "Many texts to read were drawn for your network, and not read. Try again in ten minutes.",
    ),
    "keys": Budget(  # that are wrong
        5, 1, "Wrong keys came from your network just now. Try again in a minute."
    ),
    "tests": Budget(
        5,
        5 / MINUTES_OF_A_DAY,
        "One network opens 5 tests a day here, and yours has. Come back tomorrow, or download "
        "yours and serve it yourself.",
    ),
    "previews": Budget(
        30,
        30 / MINUTES_OF_A_DAY,
        "30 previews and changes a day are made for one network. Come back tomorrow.",
    ),
    "raters": Budget(  # a class, then one in 10 s
        30, 6, "Many people began this test from your network just now. Try again in a minute."
    ),
    "visits": Budget(100, 30),  # that are counted
    "pages of results": Budget(60, 60, RESULTS_ASKED),
    "files of results": Budget(60, 6, RESULTS_ASKED),  # which take longer to make than a page
}


@dataclass
class RateLimit:
    """A limit of how often something is allowed to one address: see Budget.

    Addresses are kept in memory only, as hashes with a salt of this process.
    """

    burst: int
    per_minute: float
    refusal: str = ""
    _salt: bytes = field(default_factory=lambda: secrets.token_bytes(16))
    _left: dict[bytes, tuple[float, float]] = field(default_factory=dict)  # how often, and when
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def of(cls, name: str) -> "RateLimit":
        """Make the limit of a budget, of BUDGETS."""
        return cls(*BUDGETS[name])

    def take(self, address: str, now: float | None = None, amount: float = 1.0) -> float:
        """Count one, or an amount, and return the seconds until as much is allowed; 0 for now."""
        now = time.monotonic() if now is None else now
        who = self._hash(address)
        with self._lock:
            left, then = self._left.get(who, (float(self.burst), now))
            left = min(self.burst, left + (now - then) * self.per_minute / 60)
            allowed = left >= amount
            if who not in self._left and len(self._left) >= MAX_ADDRESSES:
                self._left.pop(next(iter(self._left)))
            self._left[who] = left - amount * allowed, now
        return 0.0 if allowed else (amount - left) * 60 / self.per_minute

    def give_back(self, address: str, amount: float = 1.0) -> None:
        """Take one back that came to nothing, or an amount. A negative one is owed, of what an
        address used before it was known how much that would be."""
        who = self._hash(address)
        with self._lock:
            if who in self._left:
                left, then = self._left[who]
                self._left[who] = min(self.burst, left + amount), then

    def _hash(self, address: str) -> bytes:
        return hashlib.blake2b(address.encode(), key=self._salt).digest()


def address_of(request: HTTPConnection) -> str:
    """Return the address that limits count a request, or a WebSocket, for. A proxy's account
    of it counts where the server was told to believe that proxy (earshot.core.connections)."""
    return counted_for(request.client.host) if request.client else ""


def counted_for(host: str) -> str:
    """Return the address that limits count a host for. A host has a whole /64 of IPv6 addresses to
    itself; an IPv4 address stays the same where a socket of IPv6 writes it as ::ffff:192.0.2.1."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv6Address) and not address.is_loopback:
        mapped = address.ipv4_mapped
        return str(mapped or ipaddress.IPv6Network((int(address), 64), strict=False))
    return str(address)


class Turns:
    """The turns in a line, by start-time fair queueing (Goyal, Vin & Cheng, 1996): addresses that
    wait are served in turn, however many jobs one of them has waiting, and however long these take.
    """

    def __init__(self) -> None:
        self._now = 0.0  # the turn that is served
        self._next: dict[str, float] = {}  # by address: the turn of its next job, if that is later

    def take(self, address: str) -> float:
        """Give a job that comes its turn: that which is served now, or after those of its own
        address, as if each took 1."""
        turn = self.of(address)
        self._next[address] = turn + 1
        return turn

    def of(self, address: str) -> float:
        """Return the turn of an address's next job."""
        return max(self._now, self._next.get(address, 0.0))

    def serve(self, turn: float) -> None:
        """Go on to the turn of a job that begins."""
        self._now = turn
        self._next = {who: later for who, later in self._next.items() if later > turn}

    def charge(self, address: str, turn: float, seconds: float) -> None:
        """Note how long a job took that began in its turn: so much later is its address's next."""
        self._next[address] = turn + seconds


class PaceCalls:
    """ASGI middleware that lets calls wait, before anything of them is read, where those of their
    address come faster than the limit. Programs on this machine are its owner's: theirs pass.

    paths: how the paths of calls begin. Reading what a call has come to is none.
    """

    def __init__(self, app: ASGIApp, paths: Sequence[str], limit: RateLimit | None = None) -> None:
        self.app, self._paths = app, tuple(paths)
        self._calls = limit or RateLimit.of("calls")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the request."""
        if scope["type"] == "http" and scope["method"] == "POST":
            address = address_of(HTTPConnection(scope))
            if scope["path"].startswith(self._paths) and address not in LOCAL:
                ends = asyncio.get_running_loop().time() + MAX_WAIT
                while wait := self._calls.take(address):
                    if asyncio.get_running_loop().time() + wait > ends:
                        sentence = {"detail": BUDGETS["calls"].refusal}
                        refusal = JSONResponse(sentence, 429, {"Retry-After": "60"})
                        await refusal(scope, receive, send)
                        return
                    await asyncio.sleep(wait)
        await self.app(scope, receive, send)


class ShareHandlers:
    """ASGI middleware that lets few handlers compute at a time, of one address and of all, and for
    so many seconds a minute of an address, of those that wait in no queue: they share Python's one
    lock with whatever serves others. One that takes longer than MAX_COMPUTING waits for something
    meanwhile: no other waits for it, and the rest is not counted. On this machine seconds are its
    owner's: a busy one would keep its own page waiting for minutes.

    prefix: of their paths. To stand behind what reads bodies, so that a slow one holds nothing.
    """

    def __init__(
        self,
        app: ASGIApp,
        prefix: str,
        at_once: int = MAX_HANDLERS,
        limit: RateLimit | None = None,
    ) -> None:
        self.app, self._prefix, self._at_once = app, prefix, at_once
        self._seconds = limit or RateLimit.of("handlers, s")
        self._addresses: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the request."""
        if scope["type"] != "http" or not scope["path"].startswith(self._prefix):
            await self.app(scope, receive, send)
            return
        address = address_of(HTTPConnection(scope))
        places = self._addresses.setdefault(address, asyncio.Semaphore(self._at_once))
        all_places = self._addresses.setdefault("", asyncio.Semaphore(self._at_once))
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(places)
            while address not in LOCAL and (wait := self._seconds.take(address, amount=0.0)):
                await asyncio.sleep(wait)
            await all_places.acquire()
            began, computes = time.monotonic(), True

            def stop_computing() -> None:
                nonlocal computes
                if computes:
                    computes = False
                    all_places.release()
                    owed = time.monotonic() - began
                    self._seconds.give_back(address, -owed)

            timer = asyncio.get_running_loop().call_later(MAX_COMPUTING, stop_computing)
            stack.callback(timer.cancel)
            stack.callback(stop_computing)

            async def answer(message: Message) -> None:
                await stack.aclose()  # what is left is to send
                await send(message)

            await self.app(scope, receive, answer)


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
        at_once: int = MAX_AT_ONCE,
        max_turn: float = MAX_TURN,
        limit: RateLimit | None = None,
    ) -> None:
        self.app, self._at_once, self._max_turn = app, at_once, max_turn
        self._requests = limit or RateLimit.of("requests")
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
