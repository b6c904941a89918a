"""Damaged requests to the framework's own routes, on the whole app with its real models."""

import socket
from typing import Final
from urllib.parse import urlsplit

import httpx

from benchmarks.support.hostile import FORM, JSON, MCP
from earshot.core.errors import InputError
from tests.fuzz.endpoints import SECONDS, served

HEADS: Final = ("web/head", "web/progress", "web/heartbeat", "web/messages", "web/result")
# By the name of the request, out of seeds.FRAMEWORK: where it goes, and its headers.
ROUTES: Final = {
    "web/join": ("queue/join", JSON),
    "web/named": ("call/v2/embed_text", JSON),
    "web/run": ("run/embed_text", JSON),
    "web/cancel": ("cancel", JSON),
    "web/reset": ("reset", JSON),
    "web/mcp": ("mcp/", MCP),
    "web/upload": ("upload", FORM),
}


def send(name: str, body: bytes) -> None:
    """Sends the request of that name with this body; nobody reads what comes of it.

    Raises InputError where it is refused, and RuntimeError where the server fails, or no longer
    serves others.
    """
    client = served()
    if name in HEADS:
        _send_head(body)
        status = client.get("/info").status_code
    else:
        path, headers = ROUTES[name]
        # Kept open, it could be closed for silence just as the next request begins.
        headers = {**headers, "Connection": "close"}
        status = client.post(path, content=body, headers=headers).status_code
    if status >= httpx.codes.INTERNAL_SERVER_ERROR:
        raise RuntimeError(f"{status}")
    if status >= httpx.codes.BAD_REQUEST:
        raise InputError(f"{status}")


def _send_head(head: bytes) -> None:
    """The bytes as they are on a connection, which then says no more."""
    place = urlsplit(str(served().base_url))
    with socket.create_connection((place.hostname, place.port), SECONDS) as connection:
        connection.sendall(head)
        connection.shutdown(socket.SHUT_WR)
        try:
            while connection.recv(65_536):
                pass
        except ConnectionResetError:
            return
