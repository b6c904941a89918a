"""Damaged calls of the endpoints for programs, to the whole app with its real models."""

import tempfile
from functools import cache
from pathlib import Path
from typing import Final

import httpx

from benchmarks.support.hostile import JSON
from earshot.app import launch, site
from earshot.core.errors import InputError
from earshot.tabs import listening_tests
from earshot.tabs.shared.services import Services

PREFIX: Final = "api/"
SECONDS: Final = 60.0  # that an answer is waited for


def call(name: str, body: bytes) -> None:
    """Calls the endpoint of that name, out of seeds.CALLS, with this body.

    Raises InputError where it is refused or fails with a sentence, and RuntimeError where the
    server fails. What nobody foresaw in a handler is in the log.
    """
    client = served()
    endpoint = name.removeprefix(PREFIX)
    joined = client.post(f"/call/{endpoint}", content=body, headers=JSON)
    if joined.status_code >= httpx.codes.INTERNAL_SERVER_ERROR:
        raise RuntimeError(f"{joined.status_code}: {joined.text[:200]}")
    if joined.status_code != httpx.codes.OK:
        raise InputError(joined.text[:200])
    with client.stream("GET", f"/call/{endpoint}/{joined.json()['event_id']}") as events:
        for line in events.iter_lines():
            if line == "event: error":
                raise InputError("the endpoint says what is wrong")
            if line == "event: complete":
                return
    raise RuntimeError("there is no answer")


@cache
def served() -> httpx.Client:
    """A client of the app, which is served to it alone."""
    # Deleted with the object, at the end of the process.
    folder = tempfile.TemporaryDirectory(prefix="fuzz-")
    tests = listening_tests.opened(Path(folder.name), None)
    services = Services(device="cpu", tests=tests, transcriber=site.transcriber("", "cpu"))
    page = site.build(services)
    address = launch.launch(page, launch.options(["--max-queue", "100"], {}), block=False)
    page.fuzz_folder = folder  # type: ignore[attr-defined]
    return httpx.Client(base_url=f"{address}gradio_api", timeout=SECONDS)
