"""The first page before it is opened: description, picture, size and QR code."""

import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import gradio as gr
import httpx
import numpy as np
import pytest
from fastapi.testclient import TestClient
from gradio import route_utils
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse
from starlette.types import Receive, Scope, Send

import earshot
from earshot.app import front_page, launch, site
from earshot.app.front_page import (
    DESCRIPTION,
    FIRST_FILES,
    LATER_FILES,
    MAX_KEPT,
    SHORTER_CODE,
    TITLE,
    UNUSED,
    FrontPage,
    saving,
)
from earshot.core.limits import BUDGETS
from earshot.core.paths import ASSETS
from earshot.core.templates import qr_code
from earshot.tabs.shared.gradio_internals import FRONTEND
from earshot.tabs.shared.services import Services
from tests.support.serving import close

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    page = site.build(Services(device="cpu"), tmp_path_factory.mktemp("none"))
    yield launch.launch(page, launch.options(["--proxy", "10.0.0.2"], {}), block=False)
    close(page)


def test_page_is_described_as_ours(address: str) -> None:
    """The picture of the page is there."""
    page = httpx.get(address).text
    head = page[: page.index("</head>")]
    assert f'<meta name="description" content="{DESCRIPTION}">' in head
    assert f'<meta property="og:image" content="{address}preview.png">' in head
    assert 'content="Gradio"' not in head and "gradio-app/gradio/main" not in head
    assert httpx.get(f"{address}preview.png").headers["content-type"] == "image/png"


@pytest.mark.parametrize("path", ["", "config"])
def test_large_answers_are_compressed_where_readable(address: str, path: str) -> None:
    plain = httpx.get(address + path, headers={"Accept-Encoding": "identity"})
    packed = httpx.get(address + path, headers={"Accept-Encoding": "gzip"})
    assert "content-encoding" not in plain.headers
    assert packed.headers["content-encoding"] == "gzip" and packed.text == plain.text
    assert int(packed.headers["content-length"]) < 0.4 * len(plain.content)


def test_page_is_made_once_per_name(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page is made once for each name that it is asked for by."""
    named = {"Host": "earshot.example"}
    here, there = httpx.get(address), httpx.get(address, headers=named)
    assert "http://earshot.example" in there.text and "earshot.example" not in here.text
    monkeypatch.setattr(route_utils, "update_root_in_config", None)  # of which Gradio makes it
    again = httpx.get(address)
    assert (again.content, again.headers["content-type"]) == (
        here.content,
        here.headers["content-type"],
    )
    assert len(again.headers.multi_items()) == len(here.headers.multi_items())
    assert httpx.get(address, headers=named).content == there.content


def test_page_for_a_long_name_is_refused(address: str) -> None:
    """It stands in the page hundreds of times: 1.3 s, and 10 MB that were kept."""
    reply = httpx.get(address, headers={"X-Forwarded-Host": 50_000 * "'"})
    assert reply.status_code == 400 and "too long" in reply.text


def test_card_is_in_the_page_until_gradio_has_made_it() -> None:
    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        await HTMLResponse("<head></head><body style='a'><p>Page</p>")(scope, receive, send)

    client = TestClient(FrontPage(answer, threading.Event(), "<section>Card \\1</section>"))
    assert "<body style='a'><section>Card \\1</section><p>Page" in client.get("/").text


def test_sounds_of_the_card_are_served_and_nothing_else(address: str) -> None:
    for name in ("finished-source.ogg", "finished-converted.ogg"):
        sound = httpx.get(f"{address}{front_page.EXAMPLE}/{name}")
        assert sound.content == (ASSETS / "examples" / name).read_bytes()
    for name in ("finished.json", "..%2Fexamples%2Ffinished-source.ogg", "none.ogg"):
        assert httpx.get(f"{address}{front_page.EXAMPLE}/{name}").status_code == 404
    assert "first-card" not in httpx.get(address).text  # a page without voice conversion


def test_pages_that_are_kept_are_few() -> None:
    answers: list[int] = []

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        answers.append(1)
        await PlainTextResponse("a")(scope, receive, send)

    client = TestClient(FrontPage(answer, threading.Event()))
    for number in range(2 * MAX_KEPT):
        assert client.get(f"/config?{number}").text == "a"
    client.get(f"/config?{2 * MAX_KEPT - 1}")
    assert len(answers) == 2 * MAX_KEPT
    client.get("/config?0")  # it was let go
    assert len(answers) == 2 * MAX_KEPT + 1


@pytest.mark.parametrize("paths", [("/", "/?1", "/?__theme=dark"), ("/config", "/config/")])
def test_page_is_one_for_any_query(paths: tuple[str, ...]) -> None:
    answers: list[str] = []

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        answers.append(Request(scope).url.path)
        await PlainTextResponse("a")(scope, receive, send)

    client = TestClient(FrontPage(answer, threading.Event()))
    assert [client.get(path).text for path in paths] == ["a"] * len(paths)
    assert answers == [paths[0]]


def test_pages_made_for_address_are_limited() -> None:
    page = FrontPage(PlainTextResponse("a"), threading.Event())
    visitor, other = (TestClient(page, client=(f"192.0.2.{last}", 1)) for last in (1, 2))
    burst = BUDGETS["first pages"].burst
    for number in range(burst):
        assert visitor.get("/", headers={"Host": f"{number}.example"}).text == "a"
    refused = visitor.get("/", headers={"Host": "more.example"})
    assert (refused.status_code, "Try again" in refused.text) == (429, True)
    answer = visitor.get("/", headers={"Host": f"{burst - 1}.example"})
    assert (answer.text, other.get("/").text) == ("a", "a")


def test_info_names_server_as_asked() -> None:
    with gr.Blocks() as page:
        gr.Button().click(lambda: None, api_name="say")
    address = launch.launch(page, launch.options(["--proxy", "10.0.0.2"], {}), block=False)
    try:
        path = f"{address}gradio_api/info"
        theirs = httpx.get(path, headers={"Host": "theirs.example"}).text
        ours = httpx.get(path).text
    finally:
        close(page)
    assert "theirs.example" in theirs and "theirs.example" not in ours
    assert address.removesuffix("/") in ours


@pytest.mark.parametrize("text", ["http://192.168.1.7:7860/", "https://user-name.hf.space/" * 3])
def test_qr_code_is_read_as_text(text: str) -> None:
    code = qr_code(text)
    side = int(re.findall(r'viewBox="0 0 (\d+)', code)[0])
    image = np.full((side, side), 255, np.uint8)
    for x, y in re.findall(r"M(\d+) (\d+)h1", code):
        image[int(y), int(x)] = 0
    large = cv2.resize(image, None, fx=8, fy=8, interpolation=cv2.INTER_NEAREST)
    assert cv2.QRCodeDetector().detectAndDecode(large)[0] == text


def test_qr_code_of_page_has_address(address: str) -> None:
    """The page's code has the page's own address."""
    named = {"Host": "earshot.example:81"}
    code = qr_code("http://earshot.example:81/")
    assert httpx.get(f"{address}qr.svg", headers=named).text == code
    refused = httpx.get(f"{address}qr.svg", headers={"Host": "a" * 5000})
    assert refused.status_code == 414 and "too long" in refused.text


def test_page_says_how_a_phone_comes_to_it(address: str) -> None:
    """Not by this machine's own name for itself, and not without HTTPS to speak."""
    local = httpx.get(f"{address}phone").text
    assert "--host 0.0.0.0" in local and "--https" in local and "<img" not in local
    assert httpx.get(f"{address}qr.svg").status_code == 404
    named = httpx.get(f"{address}phone", headers={"Host": "earshot.example:81"}).text
    assert "<img" in named and ">http://earshot.example:81/</a>" in named and "--https" in named
    hostile = httpx.get(f"{address}phone", headers={"Host": "a<script>"})
    assert "<script>" not in hostile.text


def test_examples_are_served_before_any_page(address: str) -> None:
    """A page that was open before the app was started again needs them, too."""
    example = ASSETS / "examples" / "finished-lips.mp4"
    assert httpx.get(f"{address}gradio_api/file={example}").content == example.read_bytes()


def test_kiosk_keeps_files_for_minutes_only(tmp_path: Path) -> None:
    chosen = launch.options(["--kiosk"], {})
    assert site.build(
        Services(device="cpu"), tmp_path, delete_after=chosen.delete_after
    ).delete_cache == (100, 500)


def test_files_go_within_asked_time(tmp_path: Path) -> None:
    seconds = launch.options(["--delete-after", "10m"], {}).delete_after
    often, age = site.build(
        Services(device="cpu"), tmp_path, delete_after=seconds
    ).delete_cache or (
        0,
        0,
    )
    assert often + age == seconds == 600


@pytest.mark.parametrize("time", ["soon", "10", "0m", "2h"])
def test_invalid_times_are_refused(time: str) -> None:
    """No time is refused, and so is more than the footer promises."""
    with pytest.raises(SystemExit):
        launch.options(["--delete-after", time], {})


def test_page_asks_at_once_for_the_files_that_it_needs(address: str) -> None:
    """All are there; where Gradio has others, python -m scripts.list_frontend lists them."""
    head = httpx.get(address).text.partition("<script")[0]
    files = re.findall(r'href="\./assets/([^"]+)"', head)
    assert tuple(files) == FIRST_FILES and len(files) > 50
    assert [name for name in files if not (FRONTEND / name).exists()] == []


def configuration(page: str) -> dict[str, Any]:
    return json.JSONDecoder().raw_decode(page.partition(front_page.START.decode())[2])[0]


def test_configuration_in_the_page_has_code_once_and_nothing_unread(address: str) -> None:
    """What each component runs, and how it looks, is what Gradio says; the rest is as it was."""
    page = httpx.get(address).text
    whole, lean = httpx.get(f"{address}config").json(), configuration(page)
    shared = page.partition("window.shared_code=[")[2].partition(front_page.START.decode())[0]
    for component, full in zip(lean["components"], whole["components"], strict=True):
        for name in front_page.UNREAD:
            full.pop(name, None)
        for name in ("js_on_load", "css_template"):
            code = full["props"].get(name) or ""
            if len(code) >= front_page.MIN_SHARED:
                assert "shared_code[" in component["props"].pop(name)
                written = code if name == "js_on_load" else json.dumps(code)
                assert shared.count(written) == 1
                del full["props"][name]
        assert component == full
    assert lean["dependencies"] == whole["dependencies"]


def test_lean_page_is_the_same_page_in_html() -> None:
    code = "if (1 < 2) { element.innerHTML = '</script>'; }" + 300 * " "
    style = ".a::before { content: '\\201c'; }" + 300 * " "
    props = [
        {"js_on_load": code, "css_template": style, "value": "<b>'&amp;'</b>"},
        {"js_on_load": code, "css_template": "a { width: ${value}px; }" + 300 * " "},
        {"js_on_load": "short"},
    ]
    config = {"components": [{"id": i, "props": each} for i, each in enumerate(props)]}
    text = f"<script>{front_page.START.decode()}{json.dumps(config)};</script><p>é</p>"
    page = front_page.lean(text.encode()).decode()
    first, second, third = [each["props"] for each in configuration(page)["components"]]
    assert first["value"] == "<b>'&amp;'</b>" and third == {"js_on_load": "short"}
    assert first["js_on_load"] == second["js_on_load"]
    assert "${value}" in second["css_template"] and "shared_code" in first["css_template"]
    assert page.count("</script>") == 1 and page.endswith(";</script><p>é</p>")
    assert front_page.lean(b"<p>none</p>") == b"<p>none</p>"


def test_savings_fit_the_installed_gradio() -> None:
    """Each is made once. Where Gradio has changed, look whether it is still needed."""
    for beginning, changes in SHORTER_CODE.items():
        for old, new in changes:
            texts = [file.read_text() for file in FRONTEND.glob(f"{beginning}*.js")]
            scripts = [text for text in texts if old in text]
            assert len(scripts) == 1 and scripts[0].count(old) == 1, old
            assert new in saving(scripts[0], f"{beginning}1.js")


def test_unused_scripts_are_replaced(address: str) -> None:
    for beginning, instead in UNUSED.items():
        (file,) = FRONTEND.glob(f"{beginning}*.js")
        assert httpx.get(f"{address}assets/{file.name}").text == instead
        exported = set(re.findall(r"\w+ as (\w+)", file.read_text().rpartition("export{")[2]))
        assert exported == set(instead.rpartition("export{")[2].rstrip("};").split(","))
    # No sound or video here streams over HTTP, which is what the player is for.
    files = Path(earshot.__file__).parent.rglob("*.py")
    assert not [file for file in files if "streaming=" in file.read_text()]


def test_code_of_other_tabs_comes_when_a_pointer_is_over_them(address: str) -> None:
    page = httpx.get(address).text
    assert LATER_FILES and not set(LATER_FILES) & set(FIRST_FILES)
    for name in LATER_FILES:
        assert f'"{name}"' in page and f'href="./assets/{name}"' not in page
        assert (FRONTEND / name).exists()


@pytest.mark.parametrize("encoding", ["br", "gzip", "identity"])
def test_page_is_compressed_as_the_browser_can(address: str, encoding: str) -> None:
    answer = httpx.get(address, headers={"Accept-Encoding": encoding})
    assert answer.headers.get("content-encoding", "identity") == encoding
    assert "accept-encoding" in answer.headers["vary"].lower() and TITLE in answer.text


def test_files_of_the_frontend_are_served_compressed_and_for_good(address: str) -> None:
    for name in (*FIRST_FILES[:2], *FIRST_FILES[-2:]):
        content = saving((FRONTEND / name).read_text(), name).encode()
        for encoding in ("br", "identity"):
            file = httpx.get(f"{address}assets/{name}", headers={"Accept-Encoding": encoding})
            assert file.content == content and "immutable" in file.headers["cache-control"]
            assert file.headers.get("content-encoding", "identity") == encoding
            kind = file.headers["content-type"].partition(";")[0]
            assert kind in ("text/javascript", "application/javascript", "text/css")
    for path in ("assets/none-12345678.js", "assets/..%2findex.html"):
        assert httpx.get(address + path).status_code in (403, 404)
