"""Connections that stall, that are very many, and that come through a proxy."""

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from http.client import HTTPResponse
from typing import Any
from urllib.parse import urlsplit

import gradio as gr
import httpx
import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from benchmarks.support.hostile import HALF_HEADS
from earshot.core.connections import (
    MAX_DEAD,
    MAX_HEAD,
    PRIVATE,
    believed_proxies,
    limit_connections,
)
from earshot.core.limits import address_of
from tests.support.serving import close

pytestmark = pytest.mark.slow

PATIENCE = 30.0
QUICK = 1.0  # seconds for a head
FEW = 5  # connections


def _address(request: Request) -> PlainTextResponse:
    return PlainTextResponse(address_of(request))


async def _listen(socket: WebSocket) -> None:
    """Counts what comes, and tells it whoever asks."""
    await socket.accept()
    count = 0
    while (message := await socket.receive())["type"] != "websocket.disconnect":
        if message.get("text"):
            await socket.send_text(str(count))
        count += 1


def _served(**limits: Any) -> Iterator[str]:
    with gr.Blocks() as page:
        gr.Markdown("Hello")
    routes = [Route("/address", _address), WebSocketRoute("/socket", _listen)]
    _, address, _ = page.launch(prevent_thread_lock=True, app_kwargs={"routes": routes})
    limit_connections(page.server, **limits)
    yield address
    close(page)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    yield from _served(head=QUICK, most=FEW, dead=2)


@pytest.fixture(scope="module")
def behind_proxy() -> Iterator[str]:
    yield from _served(proxies=["127.0.0.1", "10.0.0.0/8"], most=FEW)


def _connect(address: str) -> socket.socket:
    place = urlsplit(address)
    return socket.create_connection((place.hostname, place.port), PATIENCE)


def _ended(connection: socket.socket) -> float:
    """Seconds until the server ends the connection."""
    begun = time.monotonic()
    try:
        while connection.recv(65_536):
            pass
    except ConnectionResetError:
        pass
    return time.monotonic() - begun


@pytest.mark.parametrize("sent", HALF_HEADS)
def test_connection_without_whole_head_is_ended(address: str, sent: bytes) -> None:
    assert MAX_HEAD == 10
    with _connect(address) as connection:
        connection.sendall(sent)
        assert 0.5 < _ended(connection) < PATIENCE / 2


def test_half_head_after_request_is_ended(address: str) -> None:
    with _connect(address) as connection:
        connection.sendall(b"GET /address HTTP/1.1\r\nHost: here\r\n\r\n")
        assert b" 200 " in connection.recv(10_000)
        connection.sendall(b"GET / HT")
        assert _ended(connection) < PATIENCE / 2


def test_websocket_with_long_line_is_refused(address: str) -> None:
    """It was kept open without end, and without a word."""
    place = f"{address.replace('http', 'ws')}socket"
    long = {"A": 9_000 * "a"}
    with pytest.raises(InvalidStatus, match="400"), connect(place, additional_headers=long):
        pass


def test_large_head_is_refused(address: str) -> None:
    """Heads are bounded whatever parser the environment has: httptools takes any size."""
    with pytest.raises((httpx.TransportError, httpx.HTTPStatusError)):
        httpx.get(f"{address}address", headers={"A": 1_000_000 * "a"}).raise_for_status()


@pytest.mark.parametrize(
    "sent",
    [
        b"POST /address HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\n"
        + 40_000 * b"1\r\nx\r\n",
        b"GET /address HTTP/1.1\r\nHost: here\r\n" + 11_000 * b"a: b\r\n" + b"\r\n",
    ],
    ids=["small chunks", "many lines"],
)
def test_request_in_small_parts_is_ended(address: str, sent: bytes) -> None:
    with _connect(address) as connection:
        connection.sendall(sent)
        assert _ended(connection) < QUICK


def test_refusal_is_whole(address: str) -> None:
    with _connect(address) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nno field\r\n\r\n")
        response = HTTPResponse(connection)
        response.begin()
        assert response.status == 400
        assert response.getheader("Connection") == "close"
        assert response.read() == b"Invalid HTTP request received."
        assert _ended(connection) < QUICK


def test_slow_body_after_head_stays(address: str) -> None:
    with _connect(address) as connection:
        connection.sendall(b"POST /address HTTP/1.1\r\nHost: here\r\nContent-Length: 2\r\n\r\n")
        assert b" 405 " in connection.recv(10_000)


def test_connections_of_address_are_limited(address: str) -> None:
    """Connections are taken again when others have ended."""
    many = [_connect(address) for _ in range(FEW + 3)]
    try:
        with pytest.raises(httpx.TransportError):
            httpx.get(f"{address}address", timeout=PATIENCE)
    finally:
        for connection in many:
            connection.close()
    time.sleep(0.5)
    assert httpx.get(f"{address}address", timeout=PATIENCE).status_code == 200


def test_sockets_count_until_they_are_closed(address: str) -> None:
    place = f"ws{address.removeprefix('http')}"
    for _ in range(FEW + 3):
        with connect(f"{place}socket", open_timeout=PATIENCE):
            pass
        with (
            pytest.raises(InvalidStatus),
            connect(f"{place}nowhere", open_timeout=PATIENCE),
        ):
            pass
    assert httpx.get(f"{address}address", timeout=PATIENCE).status_code == 200
    time.sleep(0.5)
    with ExitStack() as many:
        for _ in range(FEW):
            many.enter_context(connect(f"{place}socket", open_timeout=PATIENCE))
        with pytest.raises(httpx.TransportError):
            httpx.get(f"{address}address", timeout=PATIENCE)


@pytest.mark.parametrize(
    ("first", "more"),
    [(b"\x89", b"\x89"), (b"\x8a", b"\x8a"), (b"\x82", b"\x82"), (b"\x01", b"\x00")],
    ids=["ping", "pong", "sound", "parts of a text"],
)
def test_many_small_frames_end_socket(address: str, first: bytes, more: bytes) -> None:
    """Of any kind: each is read while all others wait."""
    rest = b"\x80" + bytes(4)  # no bytes, under a mask of zeros
    with connect(address.replace("http", "ws") + "socket") as opened:
        with suppress(OSError):
            opened.socket.sendall(first + rest + (more + rest) * 40_000)
        with pytest.raises(ConnectionClosed):
            opened.recv(timeout=PATIENCE)


def test_frames_of_half_a_minute_are_read(address: str) -> None:
    """They come at once where the network was away."""
    with connect(address.replace("http", "ws") + "socket") as opened:
        for _ in range(30 * 50):
            opened.send(bytes(1_928))
        opened.send("How many?")
        assert opened.recv(timeout=PATIENCE) == str(30 * 50)


def test_connections_of_proxy_are_not_limited(behind_proxy: str) -> None:
    many = [_connect(behind_proxy) for _ in range(FEW + 3)]
    assert httpx.get(f"{behind_proxy}address", timeout=PATIENCE).status_code == 200
    for connection in many:
        connection.close()


def test_address_without_proxy_is_of_peer(address: str) -> None:
    headers = {"X-Forwarded-For": "192.0.2.1"}
    assert httpx.get(f"{address}address", headers=headers).text == "127.0.0.1"


@pytest.mark.parametrize(
    ("forwarded", "seen"),
    [
        ([], "127.0.0.1"),
        (["192.0.2.1"], "192.0.2.1"),
        (["198.51.100.1, 192.0.2.1"], "192.0.2.1"),
        (["198.51.100.1", "192.0.2.1"], "192.0.2.1"),
        (["198.51.100.1, 192.0.2.1, 10.0.0.7"], "192.0.2.1"),
    ],
)
def test_address_behind_proxy_is_last(behind_proxy: str, forwarded: list[str], seen: str) -> None:
    """The address is the last that is no proxy."""
    headers = [("X-Forwarded-For", line) for line in forwarded]
    assert httpx.get(f"{behind_proxy}address", headers=headers).text == seen


def test_proxies_of_space_are_private() -> None:
    """The proxies of a Space are those of its private network."""
    assert believed_proxies(["192.0.2.9"], {}) == ["192.0.2.9"]
    assert believed_proxies([], {"SPACE_ID": "a/b"}) == list(PRIVATE)


@pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="Linux only")
def test_dead_connection_is_ended_by_kernel(address: str) -> None:
    assert MAX_DEAD == 60
    with socket.socket() as reader:
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        reader.settimeout(PATIENCE)
        place = urlsplit(address)
        reader.connect((place.hostname, place.port))
        # More than the buffers between hold, and none of it is read.
        reader.sendall(50 * f"GET / HTTP/1.1\r\nHost: {place.netloc}\r\n\r\n".encode())
        time.sleep(6)
        with pytest.raises(ConnectionResetError):
            while reader.recv(65_536):
                pass
