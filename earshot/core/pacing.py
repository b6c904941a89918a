"""ASGI middleware that serves the calls of programs at a pace that leaves room for people."""

import asyncio
from collections.abc import Sequence
from typing import Final

from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from earshot.core.http import LOCAL, RateLimit, address_of

BURST: Final = 60  # calls of one address, at once
PER_MINUTE: Final = 30  # thereafter
MAX_WAIT: Final = 30.0  # seconds until a call of an address that makes too many at once is refused
MANY: Final = (
    f"Programs of one address may make {BURST} calls at once here, then {PER_MINUTE} a minute. Try "
    "again in a minute, or run Earshot on a machine of your own."
)


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
