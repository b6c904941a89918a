"""Files that a request names by their http address: refused, or fetched within limits.

Nothing that this replaces is part of Gradio's public interface: check it when Gradio is upgraded.
"""

import asyncio
import ipaddress
import secrets
import shutil
from pathlib import Path
from typing import Any, Final
from urllib.parse import urljoin, urlsplit
from weakref import WeakValueDictionary

import gradio as gr
import gradio.routes
import httpx
import safehttpx
from fastapi import HTTPException
from gradio import processing_utils
from gradio.utils import get_upload_folder
from gradio_client.utils import is_http_url_like, strip_invalid_filename_characters

from earshot.core.limits import RateLimit
from earshot.core.uploads import FILE_CHARGE, MB, has_room

# Addresses that some releases of ipaddress take for global, and that lead elsewhere: services of a
# network, IPv6 of one site, and IPv4 inside IPv6 (compatible, mapped, NAT64, Teredo, 6to4).
SPECIAL: Final = tuple(
    ipaddress.ip_network(text)
    for text in (
        *("100.64.0.0/10", "192.0.0.0/24", "192.88.99.0/24", "fec0::/10", "::/96", "::ffff:0:0/96"),
        *("64:ff9b::/96", "64:ff9b:1::/48", "2001::/23", "2002::/16"),
    )
)
MAX_FILE_BYTES: Final = 100_000_000
MAX_URL: Final = 2_000  # letters; signed addresses of clouds have 1,500
MAX_SECONDS: Final = 20.0  # for all files of a request
MAX_REDIRECTS: Final = 5
MAX_AT_ONCE: Final = 4  # for all visitors, of whom those of one address have one
REFUSED: Final = "This server fetches no addresses. Upload the file instead."
TOO_LARGE: Final = f"The file at this address is larger than {MAX_FILE_BYTES // 1_000_000} MB."
TOO_SLOW: Final = f"The file at this address did not come within {MAX_SECONDS:.0f} s."
NOT_THERE: Final = "There is no file at this address that this server can fetch."
NO_ROOM: Final = "This server has no room for more files just now. Try again in an hour."


class Addresses:
    """The rule for files that are given as addresses. fetched: whether they are fetched."""

    def __init__(self, fetched: bool) -> None:
        self.fetched = fetched
        self._places = asyncio.Semaphore(MAX_AT_ONCE)
        self._turns: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()
        self._files: set[str] = set()
        self._megabytes = RateLimit.of("uploaded MB")

    def install(self, files: set[str]) -> None:
        """Let Gradio fetch nothing by itself from now on, for any of its inputs. files: where it
        notes the uploads that it is to delete, of which what is fetched here is one."""
        processing_utils.async_ssrf_protected_download = _refuse_file
        gradio.routes.secure_url_stream_response = _refuse  # type: ignore[attr-defined]
        self._files = files

    async def replaced(self, data: Any, visitor: str) -> Any:
        """Put files in place of their addresses in the inputs of a request. visitor: the address
        that it comes from.

        Raises gr.Error where addresses are refused, and where one cannot be fetched.
        """
        turn = self._turns.setdefault(visitor, asyncio.Semaphore(1))
        try:
            async with asyncio.timeout(MAX_SECONDS):
                return await self._replaced(data, turn, visitor)
        except TimeoutError:
            raise gr.Error(TOO_SLOW, print_exception=False) from None

    async def _replaced(self, data: Any, turn: asyncio.Semaphore, visitor: str) -> Any:
        if isinstance(data, list):
            return [await self._replaced(each, turn, visitor) for each in data]
        if not isinstance(data, dict):
            return data
        path = data.get("path")
        if isinstance(path, str) and is_http_url_like(path) and "meta" in data:
            return {**data, "path": await self._fetch(path, turn, visitor), "url": None}
        return {key: await self._replaced(value, turn, visitor) for key, value in data.items()}

    async def _fetch(self, url: str, turn: asyncio.Semaphore, visitor: str) -> str:
        """Fetch what is at a public address into a folder of its own → its path.

        Raises gr.Error where that is refused, and for what is not there, or too large, or too much
        for one visitor.
        """
        if not self.fetched:
            raise gr.Error(REFUSED, print_exception=False)
        if len(url) > MAX_URL:
            raise gr.Error(NOT_THERE, print_exception=False)
        uploads = Path(get_upload_folder())
        if not await asyncio.to_thread(has_room, uploads):
            raise gr.Error(NO_ROOM, print_exception=False)
        folder = uploads / f"upload-{secrets.token_hex(16)}"
        name = strip_invalid_filename_characters(Path(urlsplit(url).path).name) or "file"
        try:
            async with turn, self._places:
                folder.mkdir()
                await _download(url, folder / name)
            size = (folder / name).stat().st_size + FILE_CHARGE
            if self._megabytes.take(visitor, amount=size / MB):
                raise gr.Error(self._megabytes.refusal, print_exception=False)
        except BaseException as error:
            shutil.rmtree(folder, ignore_errors=True)
            failed = isinstance(error, httpx.HTTPError | httpx.InvalidURL | ValueError | OSError)
            if failed and not isinstance(error, gr.Error):
                raise gr.Error(NOT_THERE, print_exception=False) from error
            raise
        self._files.add(str(folder / name))
        return str(folder / name)


def is_public(address: str) -> bool:
    """Whether an IP address is of the public network, and stands for no other: services of clouds,
    neighbours behind one provider and this machine have addresses too."""
    place = ipaddress.ip_address(address)
    special = any(place in network for network in SPECIAL if network.version == place.version)
    return place.is_global and not place.is_multicast and not special


async def _download(url: str, path: Path) -> None:
    """Write what is at a public address to a path; addresses that it leads to are public too."""
    for _ in range(MAX_REDIRECTS):
        address = await safehttpx.async_validate_url(httpx.URL(url).host)
        if not is_public(address):
            raise ValueError(f"{address} is no public address")
        transport = safehttpx.AsyncSecureTransport(address)
        # As it is: what is compressed could grow without end.
        headers = {"Accept-Encoding": "identity"}
        async with (
            httpx.AsyncClient(transport=transport) as client,
            client.stream("GET", url, headers=headers) as response,
        ):
            if response.has_redirect_location:
                url = urljoin(url, response.headers["Location"])
                continue
            if response.status_code != httpx.codes.OK or "Content-Encoding" in response.headers:
                raise ValueError(f"{response.status_code} at an address")
            size = 0
            with path.open("wb") as file:
                async for chunk in response.aiter_raw():
                    size += len(chunk)
                    if size > MAX_FILE_BYTES:
                        raise gr.Error(TOO_LARGE, print_exception=False)
                    file.write(chunk)
            return
    raise ValueError("too many redirects")


async def _refuse_file(url: str, cache_dir: str) -> str:
    """Close the door of requests that wait in no queue. No page sends an address in them."""
    raise gr.Error(REFUSED, print_exception=False)


async def _refuse(url: str, request: Any) -> None:
    """Close Gradio's door through which anybody could fetch any public address."""
    raise HTTPException(403, REFUSED)
