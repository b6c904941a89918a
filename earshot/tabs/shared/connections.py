"""Connections that stall: whoever stops sending or reading does not hold them for ever."""

import asyncio
import time
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

SILENT: Final = 30.0  # seconds without a byte of a body that has begun
WHOLE: Final = 1800.0  # seconds for all of it: 100 MB at 0.5 Mbit/s
DEAD: Final = 60  # seconds in which the other side takes nothing of what is sent


class CutStalledBodies:
    """ASGI middleware: takes a request whose body stops coming for one whose sender has left."""

    def __init__(self, app: ASGIApp, silent: float = SILENT, whole: float = WHOLE) -> None:
        self.app, self.silent, self.whole = app, silent, whole

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves the request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        complete, ends = False, time.monotonic() + self.whole

        async def body() -> Message:
            nonlocal complete
            if complete:  # now it tells when the visitor leaves, which may be hours later
                return await receive()
            try:
                left = min(self.silent, ends - time.monotonic())
                message = await asyncio.wait_for(receive(), left)
            except TimeoutError:
                complete = True
                return {"type": "http.disconnect"}
            complete = not message.get("more_body", False)
            return message

        await self.app(scope, body, send)
