"""Headers that every answer has, and paths of a framework that are served."""

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from earshot.core.http import (
    FRAMES,
    AnswerHeads,
    CompressAnswers,
    LocalOnly,
    SafeHeaders,
    ServeOnly,
    local_only,
)


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
    """Only who may frame it is added."""
    policy = client({}).get("/own").headers["Content-Security-Policy"]
    assert policy == f"default-src 'none'; frame-ancestors {FRAMES}"


def test_head_is_answered_as_get_without_body() -> None:
    """Of a router's paths, which refuse it; those of Gradio answer for themselves."""
    served = FastAPI(middleware=[Middleware(AnswerHeads, ("/gradio_api/",))])
    for path in ("/listen/a", "/gradio_api/a"):
        served.get(path)(lambda: {"there": True})
    visitor = TestClient(served)
    answer = visitor.head("/listen/a")
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["content-length"] == str(len(visitor.get("/listen/a").content))
    assert visitor.head("/listen/b").status_code == 404
    assert visitor.head("/gradio_api/a").status_code == 405


def test_long_answers_of_handlers_are_compressed() -> None:
    async def answer(request: Request) -> PlainTextResponse:
        return PlainTextResponse(int(request.path_params["size"]) * "a")

    app = Starlette(routes=[Route("/{kind}/{size}", answer)])
    client = TestClient(CompressAnswers(app, "/run/"))
    for path, encoding in (("run/5000", "gzip"), ("run/50", None), ("file/5000", None)):
        response = client.get(path)
        assert response.headers.get("content-encoding") == encoding
        assert response.text == int(path.split("/")[1]) * "a"


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


@pytest.mark.parametrize(
    ("method", "headers", "allowed"),
    [
        ("GET", {"host": "127.0.0.1:7860"}, True),
        ("GET", {"host": "localhost"}, True),
        ("GET", {"host": "[::1]:7860"}, True),
        ("GET", {"host": "evil.example:7860"}, False),  # a name that leads to this machine
        ("POST", {"host": "localhost.evil.example"}, False),
        ("POST", {"host": "127.0.0.1:7860", "origin": "http://localhost:3000"}, True),
        ("POST", {"host": "127.0.0.1:7860", "origin": "https://evil.example"}, False),
        ("POST", {"host": "127.0.0.1:7860", "origin": "null"}, False),
        ("POST", {"host": "127.0.0.1:7860"}, True),  # a program
        ("GET", {"host": "127.0.0.1:7860", "origin": "https://evil.example"}, True),  # a link
    ],
)
def test_server_of_this_machine_serves_its_pages_only(
    method: str, headers: dict[str, str], allowed: bool
) -> None:
    """Any page that a visitor opens could use their Earshot by its own name, or send uploads."""
    served = LocalOnly(Starlette(routes=[Route("/", _say, methods=["GET", "POST"])]))
    answer = TestClient(served).request(method, "/", headers=headers)
    assert answer.status_code == (200 if allowed else 403)
    assert allowed or "--proxy" in answer.json()["detail"]


def test_server_for_others_has_names() -> None:
    assert local_only(None, []) and local_only("127.0.0.1", [])
    assert not local_only("0.0.0.0", []) and not local_only(None, ["127.0.0.1"])


def test_own_policy_of_page_names_frames_too() -> None:
    """Raters' pages have a policy of their own."""
    own = {"Content-Security-Policy": "default-src 'self'"}
    for headers in ({}, own, own | {"Content-Security-Policy": "frame-ancestors 'none'"}):

        async def page(_: Request, headers: dict[str, str] = headers) -> PlainTextResponse:
            return PlainTextResponse("", headers=headers)

        served = SafeHeaders(Starlette(routes=[Route("/", page)]), {})
        policy = TestClient(served).get("/").headers["content-security-policy"]
        assert policy.count("frame-ancestors") == 1
        assert policy.startswith(headers.get("Content-Security-Policy", "default-src"))


async def _say(_: Request) -> PlainTextResponse:
    return PlainTextResponse("Hello")
