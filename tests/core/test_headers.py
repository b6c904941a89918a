"""Headers that every answer has."""

import pytest
from fastapi.testclient import TestClient
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from earshot.core.headers import SafeHeaders


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
