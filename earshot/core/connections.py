"""Connections of uvicorn's server: a client that stops talking, opens very many, or sends in very
small parts, holds up nobody.

Nothing of uvicorn's protocols, or of h11's buffer, is part of their public interfaces: check this
when they are upgraded.
"""

import argparse
import asyncio
import ipaddress
import resource
import socket
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

import h11
import uvicorn
from h11._receivebuffer import ReceiveBuffer, blank_line_regex
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware
from uvicorn.protocols.http.h11_impl import H11Protocol

from earshot.core.errors import InputError
from earshot.core.limits import LOCAL, counted_for

MAX_HEAD: Final = 10.0  # seconds in which the head of a request must have come
MAX_CONNECTIONS: Final = 300  # of one address: a conference of fifty, with six each
MAX_DEAD: Final = 60  # seconds in which the other side takes nothing of what is sent
MAX_LINES: Final = 100  # of a head: a browser sends 20 to 30, and proxies add some
MAX_SMALL_CHUNKS: Final = 256  # of a body, of any size
MIN_CHUNK: Final = 64  # bytes that the chunks of a body of more must have on average
BAD_REQUEST: Final = (
    b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\n"
    b"Connection: close\r\nContent-Length: %d\r\n\r\n"
)
NO_HANDSHAKE: Final = b"This is no WebSocket's first request, or a line of it is too long."
# A page that converts live sends 50 frames a second; those of half a minute come at once where its
# network was away.
MAX_FRAMES: Final = 2_000  # of a WebSocket at once, of any kind and size
MAX_FRAMES_PER_SECOND: Final = 200.0
MAX_READ: Final = 4_096  # bytes of frames that are read before they are counted
TOO_MANY_FRAMES: Final = 1008  # the close code of what breaks a server's rules
UNREACHABLE: Final = (
    "Others cannot reach this server: it listens to its own machine only. Start it with "
    "--host 0.0.0.0 to let those in the same network in."
)
UNSPECIFIED: Final = ("0.0.0.0", "::")  # of a server that listens to every network
# The networks that the proxy of a Space is in.
PRIVATE: Final = ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "127.0.0.0/8", "::1")


def network(text: str) -> str:
    """Check the address, or network, of a proxy on a command line."""
    try:
        return str(ipaddress.ip_network(text))
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text} is no address, such as 10.0.0.2") from error


def check_address(host: str, port: int | None = None) -> None:
    """Check that a server can listen at that address: uvicorn and Gradio end with a traceback, or
    after they have printed links. port: None for any that is free. Raises InputError."""
    try:
        if port is not None and not 0 < port < 65_536:
            raise OSError("there is no such port")
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with socket.socket(family, kind, protocol) as listening:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(address)
    except (OSError, OverflowError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(
            f"Nothing can be served at {host}, port {port or 'any'} ({reason}). Choose another "
            "with --port or --host."
        ) from error


def url_of(host: str, port: int) -> str:
    """Write the address of a server: that of an IPv6 host has brackets."""
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def machine_address() -> str | None:
    """Find this machine's address in its network; None where it is in none."""
    for family, far in ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1")):
        with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as asking:
            asking.connect((far, 9))  # which sends nothing, and chooses an address to send from
            own = ipaddress.ip_address(asking.getsockname()[0])
            if not (own.is_loopback or own.is_unspecified):
                return str(own)
    return None


def address_for_others(address: str, host: str | None) -> str | None:
    """Write the address of a page, as its visitor has it, so that others reach it: where that is
    this machine's name for itself, by the machine's address in the network. None where the server,
    at that host, listens to its own machine only, or is in no network."""
    try:
        parts = urlsplit(address)
        name, port = parts.hostname or "", parts.port
    except ValueError:  # no address at all: a header may hold anything
        return None
    if not is_local(name) and name not in UNSPECIFIED:
        return address
    if is_local(host or LOCAL[0]):
        return None
    listening = machine_address() if host in UNSPECIFIED else host
    if not listening:
        return None
    place = f"[{listening}]" if ":" in listening else listening
    return urlunsplit(parts._replace(netloc=f"{place}:{port}" if port else place))


def is_local(name: str) -> bool:
    """Whether this machine calls itself so."""
    return name in LOCAL or name.endswith(".localhost")


def believed_proxies(named: Sequence[str], environment: Mapping[str, str]) -> list[str]:
    """List the addresses and networks of proxies to believe: those named, and a Space's own."""
    return [*named, *(PRIVATE if "SPACE_ID" in environment else ())]


class _Forwarded(ProxyHeadersMiddleware):
    """ASGI middleware that believes proxies about whom they forward, also where several stand
    behind each other: the first scheme is the visitor's ("https, http")."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the request."""
        name = b"x-forwarded-proto"
        if any(key == name and b"," in value for key, value in scope.get("headers", ())):
            headers = [
                (key, value.partition(b",")[0].strip() if key == name else value)
                for key, value in scope["headers"]
            ]
            scope = {**scope, "headers": headers}
        await super().__call__(scope, receive, send)  # type: ignore[arg-type]


class _WithoutCookies:
    """ASGI middleware that passes no cookies on: nothing here sets one, but Starlette reads all
    that came, with each request, and Python before 3.11.10 and 3.12.6 takes quadratic time for a
    quoted one (CVE-2024-7592), while all others wait."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the request."""
        if "headers" in scope:
            headers = [each for each in scope["headers"] if each[0] != b"cookie"]
            scope = {**scope, "headers": headers}
        await self.app(scope, receive, send)


class Received(ReceiveBuffer):
    """The bytes that came on a connection and are not read yet. Each line of a head, or of what may
    follow a body, and each chunk is read in Python while all others wait: too many of them raise
    RemoteProtocolError.
    """

    _chunks, _size = 0, 0  # of the body that is read

    def maybe_extract_lines(self) -> list[bytearray] | None:
        """Extract the lines up to a blank one, if they are here."""
        end = -1
        for _ in range(MAX_LINES + 1):  # no further: what may follow is of any size
            end = self._data.find(b"\n", end + 1)
            if end < 0:
                break
        else:
            if not blank_line_regex.search(self._data, 0, end):
                raise h11.RemoteProtocolError("too many lines", 431)
        self._chunks = self._size = 0
        return super().maybe_extract_lines()

    def maybe_extract_next_line(self) -> bytearray | None:
        """Extract the line that begins a chunk, if it is here."""
        line = super().maybe_extract_next_line()
        self._chunks += line is not None
        if self._chunks > MAX_SMALL_CHUNKS and self._size < MIN_CHUNK * self._chunks:
            raise h11.RemoteProtocolError("too many small chunks", 400)
        return line

    def maybe_extract_at_most(self, count: int) -> bytearray | None:
        """Extract some of a body."""
        content = super().maybe_extract_at_most(count)
        self._size += len(content or b"")
        return content


def counting_frames(protocol: Any) -> Any:
    """Make a class of WebSockets, from uvicorn's own, whose frames are counted. Each is read in
    Python while all others wait, and a quarter of a megabyte, which comes at once, has room for
    40,000: too many end the connection.
    """

    class CountedFrames(protocol):
        """A WebSocket whose frames are counted."""

        _left, _counted_at = float(MAX_FRAMES), 0.0

        def data_received(self, data: bytes) -> None:
            """Read on, a little at a time."""
            for start in range(0, len(data), MAX_READ):
                if not self.transport.is_closing():
                    super().data_received(data[start : start + MAX_READ])
            if self.conn.handshake_exc and not self.transport.is_closing():
                # As of a line over 8 kB: uvicorn would say nothing, and wait without end.
                self.transport.write(BAD_REQUEST % len(NO_HANDSHAKE) + NO_HANDSHAKE)
                self.transport.close()

        def handle_events(self) -> None:
            """Handle the frames that have come, if they are not too many."""
            now = self.loop.time()
            earned = MAX_FRAMES_PER_SECOND * (now - self._counted_at)
            self._counted_at, self._left = now, min(self._left + earned, MAX_FRAMES)
            self._left -= sum(hasattr(event, "opcode") for event in self.conn.events)
            if self._left < 0:
                self.conn.send_close(TOO_MANY_FRAMES)
                self.transport.write(b"".join(self.conn.data_to_send()))
                self.transport.close()
            else:
                super().handle_events()

    return CountedFrames


def limit_connections(
    server: uvicorn.Server,
    proxies: Sequence[str] = (),
    head: float = MAX_HEAD,
    most: int = MAX_CONNECTIONS,
    dead: int = MAX_DEAD,
) -> None:
    """Limit what connections may do that come from now on to a server that runs.

    proxies: addresses and networks that are believed about whom they forward: the last entry of
    X-Forwarded-For that is none of them is the address; head: seconds for the head of a request;
    most: connections of one address that is no proxy; dead: seconds after which the kernel ends a
    connection whose other side takes nothing, or is gone.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, hard), hard))
    for listening in [each for one in server.servers for each in one.sockets]:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        # Where there are none of these (macOS, Windows), the system's own hours stay.
        for name, value in (
            ("TCP_KEEPIDLE", dead // 2),
            ("TCP_KEEPINTVL", max(1, dead // 6)),
            ("TCP_KEEPCNT", 3),
            ("TCP_USER_TIMEOUT", 1000 * dead),
        ):
            if option := getattr(socket, name, None):
                listening.setsockopt(socket.IPPROTO_TCP, option, value)
    config: Any = server.config
    app: Any = _WithoutCookies(config.loaded_app.app)
    forwarded = _Forwarded(app, list(proxies))
    config.loaded_app, believed = forwarded, forwarded.trusted_hosts
    open_now: Counter[str] = Counter()  # connections, by address

    # Not the server's own choice: that is httptools where it is installed, which takes heads of any
    # size, and gained nothing here (docs/reliability.md).
    class Limited(H11Protocol):
        """The server's protocol, which waits for a head no longer than that."""

        _timer: asyncio.TimerHandle | None = None
        _host = ""  # that it is counted for

        def connection_made(self, transport: asyncio.Transport) -> None:
            """Refuse one too many of an address, without a word, before anything is read."""
            super().connection_made(transport)
            self.conn._receive_buffer = Received()
            host = self.client[0] if self.client else ""
            if host and host not in believed:
                self._host = host = counted_for(host)
                open_now[host] += 1
                if open_now[host] > most:
                    transport.abort()
                    return
            self._watch()

        def data_received(self, data: bytes) -> None:
            """Read on, and see whether a head is complete now, or has begun."""
            super().data_received(data)
            self._watch()
            follower: Any = self.transport.get_protocol()
            if follower is not self:  # a WebSocket's, which is told of the end in place of this one
                lost = follower.connection_lost

                def connection_lost(exc: Exception | None) -> None:
                    lost(exc)
                    self._uncount()

                follower.connection_lost = connection_lost

        def send_400_response(self, msg: str) -> None:
            """Refuse what cannot be read, or end the connection where an answer has begun."""
            if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
                head = BAD_REQUEST % len(msg)  # at once: each write lets the threads of jobs go on
                self.transport.write(head + msg.encode())
                self.transport.close()
            else:
                self.transport.abort()

        def connection_lost(self, exc: Exception | None) -> None:
            """Wait no longer."""
            super().connection_lost(exc)
            if self._timer:
                self._timer.cancel()
            self._uncount()

        def _uncount(self) -> None:
            if self._host:
                open_now[self._host] -= 1
                if not open_now[self._host]:
                    del open_now[self._host]

        def _watch(self) -> None:
            serving = self.cycle is not None and not self.cycle.response_complete
            # A WebSocket's has another protocol from its head on.
            if serving or self.transport.get_protocol() is not self:
                if self._timer:
                    self._timer.cancel()
                self._timer = None
            elif not self._timer:
                self._timer = self.loop.call_later(head, self._end)

        def _end(self) -> None:
            self._timer = None
            if self.transport.get_protocol() is self:
                self.transport.close()

    config.http_protocol_class = Limited
    if config.ws_protocol_class:  # there is none where websockets is not installed
        config.ws_protocol_class = counting_frames(config.ws_protocol_class)
