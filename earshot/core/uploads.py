"""Uploads of visitors: how much of the disk they may take, and how much one address may send."""

import asyncio
import os
import shutil
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path
from typing import Final

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from earshot.core.http import refuse
from earshot.core.limits import UPLOADED, RateLimit, address_of

MB: Final = 1_000_000
MAX_BYTES_OF_UPLOADS: Final = 5_000 * MB  # of all visitors, that are there at a time
MAX_SHARE: Final = 0.5  # of that, for addresses that upload much
MIN_FREE: Final = 1_000 * MB  # of the disk, for answers of raters
FILE_OVERHEAD: Final = 8_000  # bytes of disk that a file takes beyond its own
FILE_CHARGE: Final = (
    100_000  # bytes that a file counts for, beyond its own: it takes time, also empty
)
PART: Final = b"content-disposition"  # what each file, or field, of an upload begins with
MAX_AGE: Final = 1.0  # seconds of a count of the uploads
MIN_EMPTY: Final = 60.0  # seconds until an empty folder waits for no file that is arriving
NO_ROOM: Final = "This server has no room for more uploads just now. Try again in an hour."


class LimitUploads:
    """ASGI middleware that ends an upload that finds no room, and those of an address that uploads
    without end, or much while the room for all runs short: three of them would fill it for an hour.

    paths: of uploads; folder: gives the folder in which they lie, each in a folder "upload-…".
    """

    def __init__(self, app: ASGIApp, paths: Collection[str], folder: Callable[[], Path]) -> None:
        self.app, self.paths, self.folder = app, paths, folder
        self._megabytes = RateLimit.of("uploaded MB")
        self._little = RateLimit.of("uploaded MB, short of room")
        self._arriving = 0  # bytes of uploads that have not ended
        self._counting, self._counted = asyncio.Lock(), -MAX_AGE
        self._there = 0  # bytes of those that had, when they were counted, or have since

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the request."""
        here = scope["type"] == "http" and scope["path"].rstrip("/") in self.paths
        if not here or scope["method"] != "POST":
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
            charge = charged + len(piece) + files * FILE_CHARGE
            whole = charge // MB - charged // MB
            charged = charge
            size += len(piece)
            self._arriving += len(piece)
            if whole and not refusal:
                refusal = self._refusal(address, before, whole)
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
            await refuse(429 if refusal == UPLOADED else 507, refusal)(scope, receive, send)

    async def _count(self) -> int:
        """Count the bytes that lie there, once for all who ask within a second."""
        async with self._counting:
            if time.monotonic() - self._counted >= MAX_AGE:
                self._there = await asyncio.to_thread(bytes_of_uploads, self.folder())
                self._counted = time.monotonic()
        return self._there

    def _refusal(self, address: str, before: int, megabytes: int) -> str:
        """Count what arrives, and return the sentence that refuses it, or ""."""
        taken = before + self._arriving
        if not _fits(self.folder(), taken):
            return NO_ROOM
        many = [self._megabytes.take(address) for _ in range(megabytes)]
        much = [self._little.take(address) for _ in range(megabytes)]
        short = any(much) and taken > MAX_SHARE * MAX_BYTES_OF_UPLOADS
        return UPLOADED if any(many) or short else ""


def has_room(folder: Path) -> bool:
    """Whether one more file may come into the folder of uploads."""
    return _fits(folder, bytes_of_uploads(folder))


def _fits(folder: Path, size: int) -> bool:
    return size <= MAX_BYTES_OF_UPLOADS and shutil.disk_usage(folder).free >= MIN_FREE


def bytes_of_uploads(folder: Path) -> int:
    """Add up the uploads that lie in a folder, each in a folder "upload-…", and delete those
    folders whose uploads are gone."""
    folder.mkdir(parents=True, exist_ok=True)
    total = 0
    for place in folder.glob("upload-*"):
        with suppress(OSError):  # used, and deleted, just now
            sizes = [each.stat().st_size for each in os.scandir(place)]
            total += sum(sizes) + FILE_OVERHEAD * len(sizes)
            if not sizes and time.time() - place.stat().st_mtime > MIN_EMPTY:
                place.rmdir()
    return total
