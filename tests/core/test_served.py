"""Paths of a framework that are served."""

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from earshot.core.served import ServeOnly


@pytest.fixture
def program() -> TestClient:
    """A program that asks a server which answers every path with it."""

    async def echo(request: Request) -> PlainTextResponse:
        return PlainTextResponse(request.url.path)

    only = Middleware(ServeOnly, "/api/", ["upload", "call/", "file="])
    return TestClient(Starlette(routes=[Route("/{rest:path}", echo)], middleware=[only]))


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/other",
        "/api",
        "/api/upload",
        "/api/upload/",
        "/api/call",
        "/api/call/a/b",
        "/api/file=/a",
    ],
)
def test_listed_and_other_paths_are_served(program: TestClient, path: str) -> None:
    assert program.get(path).text == path


@pytest.mark.parametrize(
    "path",
    ["/api/", "/api/uploads", "/api/upload/a", "/api/proxy=a", "/api/%66iles", "/api//call/a"],
)
def test_unlisted_path_is_not_found(program: TestClient, path: str) -> None:
    reply = program.get(path)
    assert (reply.status_code, reply.text) == (404, "Not found")
