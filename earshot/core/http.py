"""HTTP of every page: which paths there are, what browsers may do with an answer, and what the body
of a request may hold, and how long it may take.

A body is parsed where all others wait: what is too large, too deep or never ends is refused first.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from typing import Final
from urllib.parse import urlsplit

from fastapi import HTTPException, Request
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from earshot.core.connections import is_local
from earshot.core.errors import InputError
from earshot.core.json_limits import MAX_JSON_BYTES, check_json
from earshot.core.limits import LOCAL

# Gradio's page needs scripts of its own in the page, and makes functions of our handlers' text.
POLICY: Final = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; media-src 'self' data: blob:; "
    "font-src 'self' data:; connect-src 'self' data: blob: ws: wss:; worker-src 'self' blob:; "
    "object-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors "
)
# Pages that may show this one in a frame: those of this machine; on a Space also the hub's.
FRAMES: Final = "'self' http://localhost:* http://127.0.0.1:*"
HUB: Final = "https://huggingface.co https://*.huggingface.co https://*.hf.space"
MAX_REQUEST_BYTES: Final = 16_384  # of what a rater sends; the longest of it has 500
TOO_LONG: Final = "This request is too long."
MAX_SILENCE: Final = 30.0  # seconds without a byte of a body that has begun
MAX_WHOLE: Final = 1800.0  # for all of it: 100 MB at 0.5 Mbit/s
TOO_LARGE: Final = (
    f"This request has more than {MAX_JSON_BYTES // 1000:,} kB. Upload a file instead."
)
FORM: Final = "multipart/form-data"
NO_FORM: Final = "Send JSON. Forms are for uploads only."
TWO_LENGTHS: Final = "This request has two lengths. Send one."
NOT_LOCAL: Final = (
    "This server answers pages of its own machine only. Start it with --host for others, or name "
    "the proxy in front of it with --proxy."
)
MIN_COMPRESSED: Final = 1000  # bytes of an answer
COMPRESSION: Final = 4  # of 9
BROKE_OFF: Final = "This request broke off. Send it again."


class ServeOnly:
    """ASGI middleware that finds nothing under a prefix but the paths that are listed: a framework
    has routes that no page of ours asks, and gets more with each release.

    prefix: as in "/api/". served: what may come after it; whatever may follow what ends with "/" or
    "=".
    """

    def __init__(self, app: ASGIApp, prefix: str, served: Collection[str]) -> None:
        self.app, self.prefix = app, prefix
        self.whole = frozenset(path for path in served if not path.endswith(("/", "=")))
        self.begun = tuple(path for path in served if path.endswith(("/", "=")))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the request."""
        path: str = scope.get("path", "")
        rest = path.removeprefix(self.prefix)
        unlisted = rest.rstrip("/") not in self.whole and not f"{rest}/".startswith(self.begun)
        if path.startswith(self.prefix) and unlisted:
            await PlainTextResponse("Not found", 404)(scope, receive, send)
        else:
            await self.app(scope, receive, send)


class SafeHeaders:
    """ASGI middleware that lets no browser guess types, and only our own scripts run, in our own
    frames. What an answer sets itself stays.
    """

    def __init__(self, app: ASGIApp, environment: Mapping[str, str]) -> None:
        self.app = app
        self.frames = f"{FRAMES} {HUB}" if "SPACE_ID" in environment else FRAMES
        self.policy = POLICY + self.frames

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the request."""

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.setdefault("X-Content-Type-Options", "nosniff")
                headers.setdefault("Content-Security-Policy", self.policy)
                own = headers["Content-Security-Policy"]
                if "frame-ancestors" not in own:
                    headers["Content-Security-Policy"] = f"{own}; frame-ancestors {self.frames}"
            await send(message)

        await self.app(scope, receive, answer)


class AnswerHeads:
    """ASGI middleware that answers HEAD as GET, without the body: monitors and previews of links
    ask so whether a page is there.

    others: how the paths begin that have answers of their own, or none that end.
    """

    def __init__(self, app: ASGIApp, others: tuple[str, ...] = ()) -> None:
        self.app, self._others = app, others

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the request."""
        if scope.get("method") != "HEAD" or scope["path"].startswith(self._others):
            await self.app(scope, receive, send)
            return

        async def answer(message: Message) -> None:
            await send({**message, "body": b""} if "body" in message else message)

        await self.app({**scope, "method": "GET"}, receive, answer)


class LocalOnly:
    """ASGI middleware of a server on this machine, for pages of this machine: another page, which
    gives its own name this machine's address or sends a form, may not use a visitor's Earshot."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the request."""
        headers = Headers(scope=scope) if scope["type"] in ("http", "websocket") else Headers()
        places = [f"//{headers['host']}"] if "host" in headers else []
        if scope.get("method", "POST") not in ("GET", "HEAD", "OPTIONS") and "origin" in headers:
            places.append(headers["origin"])
        if all(_is_local(place) for place in places):
            await self.app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            await refuse(403, NOT_LOCAL)(scope, receive, send)


def _is_local(address: str) -> bool:
    try:
        return is_local(urlsplit(address).hostname or "")
    except ValueError:
        return False


def local_only(host: str | None, proxies: Sequence[str]) -> list[Middleware]:
    """List the middleware of a server at that address: none where others may reach it, by
    themselves or through a proxy that is believed."""
    return [Middleware(LocalOnly)] if (host or LOCAL[0]) in LOCAL and not proxies else []


class CompressAnswers(GZipMiddleware):
    """ASGI middleware that compresses what is answered under a prefix: pictures as SVG, a tenth of
    their size then."""

    def __init__(self, app: ASGIApp, prefix: str) -> None:
        """Wrap the app. prefix: of the paths."""
        super().__init__(app, MIN_COMPRESSED, COMPRESSION)
        self._prefix = prefix

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the request."""
        here = scope["type"] == "http" and scope["path"].startswith(self._prefix)
        await (super().__call__ if here else self.app)(scope, receive, send)


class SmallRequest(Request):
    """A request whose body is refused (413) while it is read, whatever length it declares: a body
    is parsed and checked where all others wait."""

    async def stream(self) -> AsyncGenerator[bytes, None]:
        size = 0
        async for chunk in super().stream():
            size += len(chunk)
            if size > MAX_REQUEST_BYTES:
                raise HTTPException(413, TOO_LONG)
            yield chunk


class CutStalledBodies:
    """ASGI middleware that ends a request whose body stops coming, as if its sender had left."""

    def __init__(self, app: ASGIApp, silent: float = MAX_SILENCE, whole: float = MAX_WHOLE) -> None:
        self.app, self.silent, self.whole = app, silent, whole

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        complete, ends = False, time.monotonic() + self.whole

        async def body() -> Message:
            nonlocal complete
            if complete:  # what comes now is that the visitor leaves, which may be hours later
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


class LimitBodies:
    """ASGI middleware that refuses a body over MAX_JSON_BYTES while it is read, whatever length it
    declares, JSON that holds too much before anything is built of it, and forms of
    parts, whose senders choose how these are decoded.

    uploads: paths whose bodies are files, and pass.
    """

    def __init__(self, app: ASGIApp, uploads: Collection[str] = ()) -> None:
        self.app, self.uploads = app, uploads

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the request."""
        headers = Headers(scope=scope) if scope["type"] == "http" else {}
        if "transfer-encoding" in headers and "content-length" in headers:
            # A proxy may take the other, and the rest for the next request (RFC 9112, 6.3).
            await refuse(400, TWO_LENGTHS, {"Connection": "close"})(scope, receive, send)
            return
        if scope["type"] != "http" or scope["path"].rstrip("/") in self.uploads:
            await self.app(scope, receive, send)
            return
        if headers.get("content-type", "").partition(";")[0].strip().lower() == FORM:
            await refuse(415, NO_FORM)(scope, receive, send)
            return
        body, more = bytearray(), True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                await refuse(400, BROKE_OFF)(scope, receive, send)
                return
            body += message.get("body", b"")
            more = message.get("more_body", False)
            if len(body) > MAX_JSON_BYTES:
                await refuse(413, TOO_LARGE)(scope, receive, send)
                return
        try:
            check_json(bytes(body))
        except InputError as error:
            await refuse(413, str(error))(scope, receive, send)
            return
        read = False

        async def whole() -> Message:
            nonlocal read
            if read:  # what comes now is that the visitor leaves
                return await receive()
            read = True
            return {"type": "http.request", "body": bytes(body), "more_body": False}

        await self.app(scope, whole, send)


def refuse(status: int, sentence: str, headers: dict[str, str] | None = None) -> JSONResponse:
    """Make an answer that says why there is no other."""
    return JSONResponse({"detail": sentence}, status, headers)
