"""A visitor's state and uploads: isolation, expiry and deletion."""

import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gradio as gr
import pytest
from fastapi.testclient import TestClient
from gradio.processing_utils import save_bytes_to_cache
from gradio.routes import App

from earshot.tabs.shared import sessions
from earshot.tabs.shared.gradio_internals import keep_uploads_apart
from earshot.tabs.shared.sessions import SessionStore, delete_after_use


class Words(list):
    """A list that can be found by a weak reference."""


def visitor(name: str) -> Any:
    return SimpleNamespace(session_hash=name)


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "GRACE", 0.05)


def wait_until(done: Callable[[], bool]) -> bool:
    ends = time.monotonic() + 5
    while not done() and time.monotonic() < ends:
        time.sleep(0.01)
    return done()


def test_leave_forgets_this_visitor_only(soon: None) -> None:
    store = SessionStore(Words)
    mine, yours = store.of(None, visitor("a")), store.of(None, visitor("b"))
    mine.append("lamp")
    yours.append("fan")
    assert store.of(mine, visitor("a")) is mine
    store.leave(visitor("a"))
    store.leave(visitor("never here"))
    assert wait_until(lambda: not mine)
    assert list(yours) == ["fan"]


def test_lost_connection_keeps_visitors_work() -> None:
    """It was lost for an instant only."""
    store = SessionStore(Words)
    mine = store.of(None, visitor("a"))
    mine.append("lamp")
    store.leave(visitor("a"))
    assert list(mine) == ["lamp"]
    (timer,) = store._leaving.values()
    assert timer.interval == sessions.GRACE == 300
    store.of(mine, visitor("a"))
    assert not store._leaving
    timer.join(5)
    assert list(mine) == ["lamp"]


def test_state_is_forgotten_with_page() -> None:
    """It is forgotten when its time is up, too."""
    store = SessionStore(Words)
    with gr.Blocks() as page, gr.Blocks():
        state = store.state()
    left = [fn for fn in page.fns.values() if any(t[1] == "unload" for t in fn.targets)]
    assert [fn.fn for fn in left] == [store.leave]
    words = Words(["lamp"])
    state.delete_callback(words)
    assert not words


@pytest.fixture
def uploads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "gradio"))
    (tmp_path / "gradio").mkdir()
    return tmp_path / "gradio"


def test_delete_after_use_deletes_upload(uploads: Path) -> None:
    """An upload that was of no use is deleted, too."""
    for problem in (False, True):
        file = uploads / "word.wav"
        file.write_bytes(b"RIFF")
        outcome = pytest.raises(ValueError) if problem else nullcontext()
        with outcome, delete_after_use(str(file)):
            if problem:
                raise ValueError
        assert not file.exists()


def test_delete_after_use_keeps_other_files(uploads: Path) -> None:
    ours = uploads.parent / "ours.wav"
    ours.write_bytes(b"RIFF")
    for path in (str(ours), str(uploads / ".." / "ours.wav"), None):
        with delete_after_use(path):
            pass
    assert ours.exists()


def test_delete_after_use_keeps_shared_file(uploads: Path) -> None:
    shared = Path(save_bytes_to_cache(b"RIFF", "example.wav", str(uploads)))
    with delete_after_use(str(shared)):
        pass
    assert shared.exists()


@pytest.fixture
def client(uploads: Path) -> TestClient:
    """Of a page that takes files."""
    keep_uploads_apart()
    with gr.Blocks() as page:
        gr.File()
    page.max_file_size = None  # as launch sets it
    return TestClient(App.create_app(page))


def sent(client: TestClient, name: str) -> Path:
    """An upload of that name."""
    return Path(client.post("/gradio_api/upload", files={"files": (name, b"RIFF")}).json()[0])


def test_same_upload_is_each_visitors_own(client: TestClient) -> None:
    mine, yours = sent(client, "word.wav"), sent(client, "word.wav")
    assert mine != yours and mine.name == yours.name == "word.wav"
    with delete_after_use(str(mine)):
        pass
    assert not mine.exists() and yours.read_bytes() == b"RIFF"


@pytest.mark.parametrize("name", ["a\"b'c.wav", "100%25.wav", "take #2?.wav"])
def test_upload_of_any_name_is_found(client: TestClient, name: str) -> None:
    """Its path is its address, as it is."""
    path = sent(client, name)
    assert client.get(f"/gradio_api/file={path}").content == path.read_bytes() == b"RIFF"
