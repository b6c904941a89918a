"""Files that a request names by http addresses, and answers that nobody fetches."""

import asyncio
import gzip
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import gradio as gr
import httpx
import pytest
from gradio.data_classes import PredictBodyInternal
from gradio.routes import App
from starlette.requests import Request

from earshot.app import launch
from earshot.tabs.shared import addresses, gradio_internals
from earshot.tabs.shared.gradio_internals import upload_folder
from tests.support.loops import run
from tests.support.serving import close, serving

pytestmark = pytest.mark.slow

PATIENCE = 30.0


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[str]:
    """A server of somebody else's: a file, one too large, one that drips, and gzip."""

    class Elsewhere(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(302 if self.path == "/moved" else 200)
            if self.path == "/moved":
                self.send_header("Location", "/file.wav")
            if self.path == "/gzip":
                self.send_header("Content-Encoding", "gzip")
            self.end_headers()
            if self.path == "/drip":
                for _ in range(100):
                    self.wfile.write(b"a")
                    time.sleep(0.1)
            bodies = {"/large": b"a" * 20_000, "/gzip": gzip.compress(b"a" * 9_000)}
            self.wfile.write(bodies.get(self.path, b"RIFF"))

        def log_message(self, format: str, *args: object) -> None:
            """Nothing."""

    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere)) as address:
        yield address


def _served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *options: str) -> Iterator[str]:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "temporary"))
    with gr.Blocks() as page:
        gr.Button().click(
            lambda path: Path(path).read_text() if path else "a" * 1000,
            gr.File(),
            gr.Textbox(),
            api_name="read",
            concurrency_id="one",
            concurrency_limit=1,
        )
        gr.Button().click(lambda path: path, gr.File(), gr.File(), api_name="hidden", queue=False)
    yield launch.launch(page, launch.options(options, {}), block=False)
    close(page)


@pytest.fixture
def closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    yield from _served(tmp_path, monkeypatch)


@pytest.fixture
def fetching(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A page that fetches addresses, to which this machine's is public."""

    async def public(host: str) -> str:
        return "127.0.0.1"

    monkeypatch.setattr(addresses.safehttpx, "async_validate_url", public)
    monkeypatch.setattr(addresses, "is_public", lambda _: True)
    monkeypatch.setattr(addresses, "MAX_FILE_BYTES", 10_000)
    monkeypatch.setattr(addresses, "MAX_SECONDS", 2.0)
    yield from _served(tmp_path, monkeypatch, "--allow-urls")


def _joined(address: str, path: str | None) -> httpx.Response:
    file = path and {"path": path, "meta": {"_type": "gradio.FileData"}}
    return httpx.post(f"{address}gradio_api/call/read", json={"data": [file]}, timeout=PATIENCE)


def test_address_is_refused_at_every_door(closed: str, elsewhere: str) -> None:
    """It is refused before it waits in the queue."""
    joined = _joined(closed, f"{elsewhere}/file.wav")
    assert (joined.status_code, joined.json()["detail"]) == (400, addresses.REFUSED)
    through = httpx.get(f"{closed}gradio_api/file={elsewhere}/file.wav")
    assert (through.status_code, through.json()["detail"]) == (403, addresses.REFUSED)


@pytest.mark.parametrize("path", ["/file.wav", "/moved"])
def test_address_is_fetched_where_allowed(fetching: str, elsewhere: str, path: str) -> None:
    event = _joined(fetching, elsewhere + path).json()["event_id"]
    answer = httpx.get(f"{fetching}gradio_api/call/read/{event}", timeout=PATIENCE)
    assert '"RIFF"' in answer.text


@pytest.mark.parametrize(
    ("path", "message"), [("/large", "larger"), ("/drip", "did not come"), ("/gzip", "no file")]
)
def test_large_or_slow_address_leaves_nothing(
    fetching: str, elsewhere: str, path: str, message: str
) -> None:
    """The message says what is wrong with it."""
    joined = _joined(fetching, elsewhere + path)
    assert joined.status_code == 400 and message in joined.json()["detail"]
    assert list(upload_folder().iterdir()) == []


def test_address_outside_the_queue_is_refused(fetching: str, elsewhere: str) -> None:
    file = {"path": f"{elsewhere}/file.wav", "meta": {"_type": "gradio.FileData"}}
    body = {"data": [file]}
    ran = httpx.post(f"{fetching}gradio_api/run/hidden", json=body, timeout=PATIENCE)
    assert (ran.status_code, ran.json()["error"]) == (500, addresses.REFUSED)


def test_one_address_fetches_one_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    rule, begun, files_kept = addresses.Addresses(fetched=True), list[str](), set[str]()
    monkeypatch.setattr(addresses.gradio.routes, "secure_url_stream_response", None)
    monkeypatch.setattr(addresses.processing_utils, "async_ssrf_protected_download", None)
    rule.install(files_kept)

    async def check() -> None:
        go_on = asyncio.Event()

        async def download(url: str, path: Path) -> None:
            begun.append(url)
            path.touch()
            await go_on.wait()

        monkeypatch.setattr(addresses, "_download", download)
        files = {who: {"path": f"http://{who}", "meta": {}} for who in ("many.org", "one.org")}
        requests = [rule.replaced(files["many.org"], "192.0.2.1") for _ in range(5)]
        tasks = [asyncio.create_task(each) for each in requests]
        tasks.append(asyncio.create_task(rule.replaced(files["one.org"], "192.0.2.2")))
        async with asyncio.timeout(PATIENCE):
            while "http://one.org" not in begun:
                await asyncio.sleep(0)
        assert begun.count("http://many.org") == 1
        go_on.set()
        assert {each["path"] for each in await asyncio.gather(*tasks)} == files_kept

    run(check())


def test_fetched_megabytes_count_for_visitor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As those of uploads do."""
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    monkeypatch.setattr(addresses, "FILE_CHARGE", 400_000_000)  # as if each were as large
    rule = addresses.Addresses(fetched=True)

    async def download(url: str, path: Path) -> None:
        path.touch()

    async def fetch(visitor: str) -> None:
        await rule.replaced({"path": "http://one.org/a.wav", "meta": {}}, visitor)

    monkeypatch.setattr(addresses, "_download", download)
    for visitor in ("192.0.2.1", "192.0.2.1", "192.0.2.2"):
        run(fetch(visitor))
    with pytest.raises(gr.Error, match="Too much was uploaded"):
        run(fetch("192.0.2.1"))
    assert len([*tmp_path.glob("*/*.wav")]) == 3


def test_joins_that_fetch_together_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    async def replaced(self: object, data: object, *_: object) -> object:
        await asyncio.sleep(0)
        return data

    monkeypatch.setattr(addresses.Addresses, "replaced", replaced)
    with gr.Blocks() as page:
        gr.Button().click(lambda: None)
    launch.limit_queue(page, 20)
    App.create_app(page)  # as at a launch: sessions are of it
    request = Request({"type": "http", "client": ("192.0.2.1", 1), "headers": []})

    async def join() -> bool:
        body = PredictBodyInternal(data=[], fn_index=0, session_hash="a")
        return (await page._queue.push(body, request, None))[0]

    async def together() -> list[bool]:
        return await asyncio.gather(*(join() for _ in range(5)))

    assert sum(run(together())) == launch.MAX_WAITING


def test_fetching_holds_no_place_in_queue(fetching: str, elsewhere: str) -> None:
    slow = threading.Thread(target=_joined, args=[fetching, f"{elsewhere}/drip"])
    slow.start()
    time.sleep(0.3)
    event = _joined(fetching, None).json()["event_id"]
    answer = httpx.get(f"{fetching}gradio_api/call/read/{event}", timeout=PATIENCE)
    assert "event: complete" in answer.text and slow.is_alive()
    slow.join()


def test_private_address_is_not_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, elsewhere: str
) -> None:
    for address in _served(tmp_path, monkeypatch, "--allow-urls"):
        joined = _joined(address, f"{elsewhere}/file.wav")
        assert (joined.status_code, joined.json()["detail"]) == (400, addresses.NOT_THERE)


@pytest.mark.parametrize("sessions", [1, 40])
def test_unfetched_answers_are_let_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sessions: int
) -> None:
    with gr.Blocks() as page:
        gr.Button().click(lambda: "a" * 1000, outputs=gr.Textbox(), queue=True)
    launch.limit_queue(page, 200)
    _, address, _ = page.launch(prevent_thread_lock=True)
    pending = page._queue.pending_messages_per_session
    try:
        for number in range(80):
            body = {"data": [], "fn_index": 0, "session_hash": f"s{number % sessions}"}
            reply = httpx.post(f"{address}gradio_api/queue/join", json=body, timeout=PATIENCE)
            time.sleep(0.02)
        # Nothing more is computed for whoever reads none of it.
        assert (launch.UNREAD in reply.text) == (sessions == 1)
        _wait_until_idle(page)
        held = [messages.qsize() for messages in pending.values()]
        assert len(held) == min(sessions, gradio_internals.MAX_SESSIONS)
        assert max(held) <= gradio_internals.MAX_UNREAD == 20
        with monkeypatch.context() as patch:
            patch.setattr(gradio_internals, "MAX_IDLE", 0.0)
            late = {"data": [], "fn_index": 0, "session_hash": "late"}
            httpx.post(f"{address}gradio_api/queue/join", json=late).raise_for_status()
            _wait_until_idle(page)
        assert not {*pending} & {f"s{number}" for number in range(sessions)}
        late = {"data": [], "fn_index": 0, "session_hash": "s0"}
        httpx.post(f"{address}gradio_api/queue/join", json=late).raise_for_status()
        response = httpx.get(f"{address}gradio_api/queue/data?session_hash=s0", timeout=PATIENCE)
        assert "process_completed" in response.text
    finally:
        close(page)


def _wait_until_idle(page: gr.Blocks) -> None:
    """Wait until every event has run."""
    queue, end = page._queue, time.monotonic() + PATIENCE
    lanes = queue.event_queue_per_concurrency_id.values()
    while any(queue.active_jobs) or any(lane.queue for lane in lanes):
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.parametrize(
    "address",
    "127.0.0.1 10.0.0.1 100.64.0.1 100.100.100.200 169.254.169.254 192.0.0.192 192.0.0.8 0.0.0.0 "
    "224.0.0.1 240.0.0.1 ::1 fe80::1 fec0::1 fc00::1 ::ffff:127.0.0.1 ::7f00:1 2002:7f00:1::1 "
    "64:ff9b::7f00:1 2001:0:1::1 ff02::1".split(),
)
def test_special_address_is_not_public(address: str) -> None:
    """Metadata of clouds, neighbours behind a provider, and this machine in other words."""
    assert not addresses.is_public(address)
    assert addresses.is_public("1.1.1.1") and addresses.is_public("2606:4700::1111")
