"""Limits of what one request, and one address, may ask of the server."""

import hashlib
import ipaddress
import secrets
import threading
import time
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Final

from fastapi import HTTPException, Request
from starlette.requests import HTTPConnection

MAX_BYTES: Final = 16_384  # of a request; the longest that the page sends has 500
TOO_LONG: Final = "This request is too long."
MAX_ADDRESSES: Final = 10_000
LOCAL: Final = ("127.0.0.1", "localhost", "::1")  # this machine


class SmallRequest(Request):
    """A request whose body is refused (413) while it is read, whatever length it declares: a body
    is parsed and checked where all others wait."""

    async def stream(self) -> AsyncGenerator[bytes, None]:
        size = 0
        async for chunk in super().stream():
            size += len(chunk)
            if size > MAX_BYTES:
                raise HTTPException(413, TOO_LONG)
            yield chunk


@dataclass
class RateLimit:
    """A limit of how often something is allowed to one address: `burst` times at once, then
    `per_minute`.

    Addresses are kept in memory only, as hashes with a salt of this process.
    """

    burst: int
    per_minute: float
    _salt: bytes = field(default_factory=lambda: secrets.token_bytes(16))
    _left: dict[bytes, tuple[float, float]] = field(default_factory=dict)  # how often, and when
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, address: str, now: float | None = None, amount: float = 1.0) -> float:
        """Count one, or an amount → seconds until as much is allowed, 0 where it is now."""
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

    def give_back(self, address: str) -> None:
        """Take one back that came to nothing."""
        who = self._hash(address)
        with self._lock:
            if who in self._left:
                left, then = self._left[who]
                self._left[who] = min(self.burst, left + 1), then

    def _hash(self, address: str) -> bytes:
        return hashlib.blake2b(address.encode(), key=self._salt).digest()


def address_of(request: HTTPConnection) -> str:
    """Tell whom a request, or a WebSocket, comes from, as limits count them. What a proxy says of
    it counts where the server was told to believe that proxy (earshot.core.connections)."""
    return counted_for(request.client.host) if request.client else ""


def counted_for(host: str) -> str:
    """Tell whom limits count a host's address for. A host has a whole /64 of IPv6 addresses to
    itself; an IPv4 address stays the same where a socket of IPv6 writes it as ::ffff:192.0.2.1."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv6Address) and not address.is_loopback:
        mapped = address.ipv4_mapped
        return str(mapped or ipaddress.IPv6Network((int(address), 64), strict=False))
    return str(address)
