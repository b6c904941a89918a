"""Serve listening tests on their own: `python -m earshot study serve FOLDER`."""

import os
import socket
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import APIRouter, FastAPI
from starlette.middleware import Middleware

from earshot.core.connections import (
    UNREACHABLE,
    address_for_others,
    check_address,
    limit_connections,
    url_of,
)
from earshot.core.errors import InputError
from earshot.core.http import AnswerHeads, CutStalledBodies, LimitBodies, SafeHeaders, local_only
from earshot.core.limits import TakeTurns
from earshot.study.design.document import SpecError
from earshot.study.library import TestLibrary
from earshot.study.storage.store import Store
from earshot.study.web import organiser_routes, rater_routes


def library(*folders: Path, database: str | None = None, **more: Any) -> TestLibrary:
    """Open the tests of the folders, with answers at the URL of a database, else in the first
    folder. more: see TestLibrary.
    """
    folders[0].mkdir(parents=True, exist_ok=True)
    store = Store(database or f"sqlite:///{folders[0] / 'answers.db'}")
    return TestLibrary(folders, store, **more)


def routers(tests: TestLibrary) -> list[APIRouter]:
    """Make the routes of raters and organisers."""
    return [rater_routes.router(tests), organiser_routes.router(tests)]


def app(tests: TestLibrary, local: Sequence[Middleware] = ()) -> FastAPI:
    """Make an app that serves the tests and nothing else. local: see core.http.local_only."""
    limits = [
        *local,
        Middleware(TakeTurns),
        Middleware(SafeHeaders, os.environ),
        Middleware(AnswerHeads),
        Middleware(CutStalledBodies),
        Middleware(LimitBodies),
    ]

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        tests.store.dispose()  # here: a signal ends the process as soon as the server has ended

    served = FastAPI(
        title="Listening tests", openapi_url=None, middleware=limits, lifespan=lifespan
    )
    for router in routers(tests):
        served.include_router(router)
    return served


def links(tests: TestLibrary, address: str) -> str:
    """Write the lines for the organiser: a test's links, or why it is not open."""
    lines = []
    for name in tests.files():
        try:
            opened = tests.open(name)
        except (SpecError, InputError) as error:
            lines += [f"{name}: not open", *(f"  {line}" for line in str(error).splitlines())]
            continue
        lines += [
            f"{name}: {opened.test.title}",
            f"  for raters    {address}/listen/{name}",
            f"  for you only  {address}/results/{name}?key={opened.key}",
        ]
    return "\n".join(lines) or "There is no test in this folder: a test is a folder with test.yaml."


class LimitedServer(uvicorn.Server):
    """A server whose connections are limited from the beginning. proxies: those to believe."""

    def __init__(self, config: uvicorn.Config, proxies: Sequence[str]) -> None:
        super().__init__(config)
        self._proxies = proxies

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and limit what comes."""
        await super().startup(sockets)
        limit_connections(self, self._proxies)


def serve(
    folder: Path,
    database: str | None = None,
    host: str = "127.0.0.1",
    port: int = 8000,
    proxies: Sequence[str] = (),
) -> None:
    """Serve the test in the folder, or the tests in its folders, until it is stopped. proxies:
    addresses and networks that are believed about whom they forward.
    """
    check_address(host, port)
    tests = library(folder, database=database)
    own = url_of(host, port)
    others = address_for_others(own, host)
    print(links(tests, others or own), flush=True)
    if not others and not proxies:
        print(UNREACHABLE, file=sys.stderr, flush=True)
    # No log of requests: it would hold addresses of raters.
    quiet: dict[str, Any] = {"access_log": False, "log_level": "warning"}
    served = app(tests, local_only(host, proxies))
    LimitedServer(uvicorn.Config(served, host, port, **quiet), proxies).run()
