"""Headers that every answer has, and paths of a framework that are served."""

import pytest
from fastapi.testclient import TestClient
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from earshot.core.http import SafeHeaders, ServeOnly


def _own(request: Request) -> PlainTextResponse:
    return PlainTextResponse("a", headers={"Content-Security-Policy": "default-src 'none'"})


def client(environment: dict[str, str]) -> TestClient:
    routes = [Route("/", lambda _: PlainTextResponse("a")), Route("/own", _own)]
    return TestClient(Starlette(routes=routes, middleware=[Middleware(SafeHeaders, environment)]))


@pytest.mark.parametrize("path", ["/", "/nowhere"])
def test_answers_forbid_foreign_scripts(path: str) -> None:
    """Answers forbid guessed types, too."""
    headers = client({}).get(path).headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    policy = headers["Content-Security-Policy"]
    assert "default-src 'self'" in policy and "huggingface" not in policy
    assert "frame-ancestors 'self'" in policy


def test_answer_with_own_policy_keeps_it() -> None:
    assert client({}).get("/own").headers["Content-Security-Policy"] == "default-src 'none'"


def test_pages_of_hub_may_frame_space() -> None:
    policy = client({"SPACE_ID": "a/b"}).get("/").headers["Content-Security-Policy"]
    assert "https://huggingface.co https://*.huggingface.co https://*.hf.space" in policy


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
