"""ASGI middleware for the bodies of requests: how long they may take, and what they may hold.

A body is parsed where all others wait: what is too large, too deep or never ends is refused first.
"""

import asyncio
import os
import shutil
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path
from typing import Final

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from earshot.core.errors import InputError
from earshot.core.http import RateLimit, address_of
from earshot.core.json_limits import MAX_BYTES, check_json

SILENT: Final = 30.0  # seconds without a byte of a body that has begun
WHOLE: Final = 1800.0  # seconds for all of it: 100 MB at 0.5 Mbit/s
MB: Final = 1_000_000
MAX_UPLOADED: Final = 5_000 * MB  # of the uploads of all visitors that are there at a time
SHARED: Final = 0.5  # of that: what is left beyond it is for addresses that upload little
SPARE: Final = 1_000 * MB  # of the disk, for answers of raters
OF_FILE: Final = 8_000  # bytes of disk that a file takes beyond its own
CHARGED: Final = 100_000  # bytes that a file counts for, beyond its own: it takes time, also empty
PART: Final = b"content-disposition"  # what each file, or field, of an upload begins with
RECENT: Final = 1.0  # seconds for which uploads that were counted count
MIN_EMPTY: Final = 60.0  # seconds until an empty folder waits for no file that is arriving
TOO_LARGE: Final = f"This request has more than {MAX_BYTES // 1000:,} kB. Upload a file instead."
FORM: Final = "multipart/form-data"
NO_FORM: Final = "Send JSON. Forms are for uploads only."
TWO_LENGTHS: Final = "This request has two lengths. Send one."
BROKE_OFF: Final = "This request broke off. Send it again."
NO_ROOM: Final = "This server has no room for more uploads just now. Try again in an hour."
MANY: Final = "Too much was uploaded from your network. Try again in a few minutes."


class CutStalledBodies:
    """ASGI middleware that takes a request whose body stops coming for one whose sender has
    left.
    """

    def __init__(self, app: ASGIApp, silent: float = SILENT, whole: float = WHOLE) -> None:
        self.app, self.silent, self.whole = app, silent, whole

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the request."""
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


class LimitBodies:
    """ASGI middleware that refuses a body over MAX_BYTES while it is read, whatever length it
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
            await _refuse(400, TWO_LENGTHS, {"Connection": "close"})(scope, receive, send)
            return
        if scope["type"] != "http" or scope["path"].rstrip("/") in self.uploads:
            await self.app(scope, receive, send)
            return
        if headers.get("content-type", "").partition(";")[0].strip().lower() == FORM:
            await _refuse(415, NO_FORM)(scope, receive, send)
            return
        body, more = bytearray(), True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                await _refuse(400, BROKE_OFF)(scope, receive, send)
                return
            body += message.get("body", b"")
            more = message.get("more_body", False)
            if len(body) > MAX_BYTES:
                await _refuse(413, TOO_LARGE)(scope, receive, send)
                return
        try:
            check_json(bytes(body))
        except InputError as error:
            await _refuse(413, str(error))(scope, receive, send)
            return
        given = False

        async def whole() -> Message:
            nonlocal given
            if given:  # now it tells when the visitor leaves
                return await receive()
            given = True
            return {"type": "http.request", "body": bytes(body), "more_body": False}

        await self.app(scope, whole, send)


class LimitUploads:
    """ASGI middleware that ends an upload that finds no room, and those of an address that uploads
    without end, or much while the room for all runs short: three of them would fill it for an hour.

    paths: of uploads; folder: gives the folder in which they lie, each in a folder "upload-…".
    """

    def __init__(self, app: ASGIApp, paths: Collection[str], folder: Callable[[], Path]) -> None:
        self.app, self.paths, self.folder = app, paths, folder
        self._megabytes = RateLimit(burst=1_000, per_minute=50)  # of one address
        self._little = RateLimit(burst=100, per_minute=5)  # the same, of what counts as little
        self._arriving = 0  # bytes of uploads that have not ended
        self._counting, self._counted = asyncio.Lock(), -RECENT
        self._there = 0  # bytes of those that had, when they were counted, or have since

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the request."""
        asked = scope["type"] == "http" and scope["path"].rstrip("/") in self.paths
        if not asked or scope["method"] != "POST":
            await self.app(scope, receive, send)
            return
        address, size, charged, last = address_of(HTTPConnection(scope)), 0, 0, b""
        before = await self._count()
        refusal = self._refusal(address, before, 1)

        async def body() -> Message:
            nonlocal refusal, size, charged, last
            message = await receive()
            piece = message.get("body", b"")
            heads = last + piece.lower()  # a head may come in two pieces
            files, last = heads.count(PART), heads[-len(PART) + 1 :]
            charge = charged + len(piece) + files * CHARGED
            whole = charge // MB - charged // MB
            charged = charge
            size += len(piece)
            self._arriving += len(piece)
            refusal = refusal or self._refusal(address, before, whole)
            return {"type": "http.disconnect"} if refusal else message

        async def answer(message: Message) -> None:
            if not refusal:
                await send(message)

        try:
            if not refusal:
                await self.app(scope, body, answer)
        finally:
            self._arriving -= size
            self._there += size
        if refusal:
            await _refuse(429 if refusal == MANY else 507, refusal)(scope, receive, send)

    async def _count(self) -> int:
        """Count the bytes that lie there, once for all who ask within a second."""
        async with self._counting:
            if time.monotonic() - self._counted >= RECENT:
                self._there = await asyncio.to_thread(bytes_of_uploads, self.folder())
                self._counted = time.monotonic()
        return self._there

    def _refusal(self, address: str, before: int, megabytes: int) -> str:
        """Count what arrives → why it may not, or ""."""
        taken = before + self._arriving
        if not _fits(self.folder(), taken):
            return NO_ROOM
        many = [self._megabytes.take(address) for _ in range(megabytes)]
        much = [self._little.take(address) for _ in range(megabytes)]
        return MANY if any(many) or (any(much) and taken > SHARED * MAX_UPLOADED) else ""


def has_room(folder: Path) -> bool:
    """Tell whether one more file may come into the folder of uploads."""
    return _fits(folder, bytes_of_uploads(folder))


def _fits(folder: Path, size: int) -> bool:
    return size <= MAX_UPLOADED and shutil.disk_usage(folder).free >= SPARE


def bytes_of_uploads(folder: Path) -> int:
    """Add up the uploads that lie in a folder, each in a folder "upload-…", and delete those
    folders whose uploads are gone."""
    folder.mkdir(parents=True, exist_ok=True)
    total = 0
    for place in folder.glob("upload-*"):
        with suppress(OSError):  # used, and deleted, just now
            sizes = [each.stat().st_size for each in os.scandir(place)]
            total += sum(sizes) + OF_FILE * len(sizes)
            if not sizes and time.time() - place.stat().st_mtime > MIN_EMPTY:
                place.rmdir()
    return total


def _refuse(status: int, sentence: str, headers: dict[str, str] | None = None) -> JSONResponse:
    return JSONResponse({"detail": sentence}, status, headers)
