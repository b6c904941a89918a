"""Damaged requests of the rater's page, to a server with one test of several designs."""

import tempfile
from functools import cache
from pathlib import Path
from typing import Final

from fastapi.testclient import TestClient

from benchmarks.support.hostile import JSON
from benchmarks.support.listening import Rater, write_test
from earshot.core.errors import InputError
from earshot.study.web.server import app, library
from tests.fuzz.seeds import REQUESTS, TOKEN

SERVER_ERROR: Final = 500
REFUSED: Final = 400


def send(name: str, body: bytes) -> None:
    """Sends the request of that name, out of seeds.REQUESTS, with this body.

    Raises InputError where it is refused with a sentence, and whatever the server raises.
    """
    design, route = name.split("/")
    reply = _server().post(f"/listen/{design}/{route}", content=body, headers=JSON)
    if reply.status_code >= SERVER_ERROR:
        raise RuntimeError(f"{reply.status_code}: {reply.text[:200]}")
    if reply.status_code >= REFUSED:
        raise InputError(reply.json()["detail"])


@cache
def _server() -> TestClient:
    """A server whose raters have agreed, and need not listen to the end."""
    # Deleted with the object, at the end of the process.
    folder = tempfile.TemporaryDirectory(prefix="fuzz-")
    root = Path(folder.name)
    for design in {name.split("/")[0] for name in REQUESTS}:
        write_test(root / design, design, 0.1)
    client = TestClient(app(library(root, min_time=0)))
    client.folder = folder  # type: ignore[attr-defined]
    for name, body in REQUESTS.items():
        Rater(client, name.split("/")[0], body.get("rater", TOKEN))
    return client
