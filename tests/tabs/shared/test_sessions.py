"""A visitor's state and uploads: isolation, expiry and deletion."""

import asyncio
import time
from collections.abc import Callable
from contextlib import nullcontext
from datetime import datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gradio as gr
import pytest
from fastapi import Request
from fastapi.testclient import TestClient
from gradio import processing_utils, route_utils, routes
from gradio.data_classes import PredictBodyInternal
from gradio.processing_utils import save_bytes_to_cache
from gradio.routes import App
from gradio.state_holder import SessionState
from gradio_client import utils as client_utils

from earshot.core.limits import address_of
from earshot.tabs.shared import gradio_internals, sessions
from earshot.tabs.shared.gradio_internals import (
    MAX_TRACKED,
    delete_while_files_come,
    expire_sessions_in_turn,
    keep_uploads_apart,
    share_sessions,
    take_own_files,
)
from earshot.tabs.shared.sessions import SessionStore, delete_after_use
from tests.support.loops import run


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
    sessions.used("a")  # by whatever they do, in any tab
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


def test_expired_states_go_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server answers between two of them."""
    monkeypatch.setattr(route_utils, "_delete_state", route_utils._delete_state)
    monkeypatch.setattr(gradio_internals, "SESSION_INTERVAL", 0)
    expire_sessions_in_turn()
    deleted: list[str] = []
    with gr.Blocks() as page:
        state = gr.State(time_to_live=0, delete_callback=deleted.append)
    app = App.create_app(page)
    for name in ("one", "two"):
        app.state_holder[name][state._id] = name

    async def turns() -> list[int]:
        deleting = asyncio.create_task(route_utils._delete_state(app))
        seen = []
        for _ in range(4):
            await asyncio.sleep(0)
            seen.append(len(deleted))
        deleting.cancel()
        return seen

    assert run(turns()) == [1, 2, 2, 2]
    assert deleted == ["one", "two"]


def test_eviction_is_of_fullest_address() -> None:
    share_sessions(address_of, sessions.used)
    deleted: list[str] = []
    with gr.Blocks() as page:
        state = gr.State(delete_callback=deleted.append)
        gr.Button().click(lambda text: text, gr.Textbox(), state, queue=False)
    page.state_session_capacity = 3
    app = App.create_app(page)
    sent = [("192.0.2.1", "mine"), *(("192.0.2.2", f"theirs-{number}") for number in range(5))]
    for address, session in sent:
        body = {"data": [session], "fn_index": 0, "session_hash": session}
        client = TestClient(app, client=(address, 1))
        assert client.post("/gradio_api/run/keep", json=body).status_code == 200
    assert [*app.state_holder.session_data] == ["mine", "theirs-3", "theirs-4"]
    assert deleted == ["theirs-0", "theirs-1", "theirs-2"]


def test_results_of_one_address_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each session keeps some MB of results for an hour, and one address had room for a thousand;
    those without results, and others', stay."""
    monkeypatch.setattr(gradio_internals, "MAX_WITH_WORK", 2)
    share_sessions(address_of, sessions.used)
    deleted: list[str] = []
    with gr.Blocks() as page:
        state = gr.State(delete_callback=deleted.append)
        gr.Button().click(lambda text: text or None, gr.Textbox(), state, queue=False)
    app = App.create_app(page)
    sent = [("192.0.2.1", "mine", "work"), *(("192.0.2.2", name, "") for name in "ab")]
    sent += [("192.0.2.2", name, name) for name in ("first", "second", "third", "fourth")]

    def keep(address: str, session: str, work: str) -> int:
        body = {"data": [work], "fn_index": 0, "session_hash": session}
        client = TestClient(app, client=(address, 1))
        return client.post("/gradio_api/run/keep", json=body).status_code

    assert [keep(*each) for each in sent] == [200] * len(sent)
    app.state_holder["mine"]  # the next event of anybody
    keep(*sent[-1])
    assert "first" in deleted and "fourth" not in deleted
    assert {"mine", "a", "b", "fourth"} <= {*app.state_holder.session_data}


def test_busy_visitor_keeps_their_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """What they do for an hour sets it anew in none of the events."""
    here: list[str] = []
    share_sessions(address_of, here.append)
    with gr.Blocks() as page:
        state = gr.State(time_to_live=3600)
    app = App.create_app(page)
    session = app.state_holder["mine"]
    session[state._id] = "work"
    long_ago = datetime.now() - timedelta(minutes=90)
    session._state_ttl[state._id] = 3600, long_ago
    assert [expired for _, _, expired in session.state_components] == [True]
    body = PredictBodyInternal(session_hash="mine", data=[], fn_index=0)
    route_utils.restore_session_state(app=app, body=body)
    assert [expired for _, _, expired in session.state_components] == [False] and here == ["mine"]


def test_closed_page_is_left_by_all_stores(soon: None) -> None:
    """Each has an event of its own for that, which is nothing that the visitor does."""
    share_sessions(address_of, sessions.used)
    stores = [SessionStore(Words) for _ in range(3)]
    with gr.Blocks() as page:
        for store in stores:
            store.state()
    app = App.create_app(page)
    things = [store.of(None, visitor("mine")) for store in stores]
    for words in things:
        words.append("lamp")
    scope = {"type": "http", "client": ("192.0.2.1", 1), "path": "/", "headers": []}
    request = Request(scope | {"server": ("here", 80), "method": "GET", "query_string": b""})
    body = PredictBodyInternal(session_hash="mine", data=[], request=request)
    web_request = gr.Request(request, None, session_hash="mine")
    for fn in page.fns.values():  # as Gradio does when the connection of a page ends
        call = route_utils.call_process_api(app, body, web_request, fn, root_path="")
        run(call)
    assert wait_until(lambda: not any(things))


def test_session_without_events_is_evicted_first() -> None:
    share_sessions(address_of, sessions.used)
    app = App.create_app(gr.Blocks())
    app.state_holder.capacity = 2
    request = Request({"type": "http", "client": ("192.0.2.1", 1)})
    mine = PredictBodyInternal(session_hash="mine", data=[], request=request)
    route_utils.restore_session_state(app=app, body=mine)
    for session in ("asked-0", "asked-1"):
        app.state_holder[session]
    assert [*app.state_holder.session_data] == ["mine", "asked-1"]


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


def test_progress_of_no_upload_leaves_nothing() -> None:
    keep_uploads_apart()
    progress = routes.file_upload_statuses
    with pytest.raises(TimeoutError):
        run(asyncio.wait_for(progress.is_tracked("none"), 0.01))
    assert not progress._signals
    for number in range(MAX_TRACKED + 1):  # whose progress nobody reads
        progress.set_done(f"upload-{number}")
    assert len(progress._signals) == len(progress._statuses) == MAX_TRACKED


def test_progress_asked_before_its_upload_comes() -> None:
    keep_uploads_apart()
    progress = routes.file_upload_statuses

    async def is_tracked() -> bool:
        before = asyncio.create_task(progress.is_tracked("mine"))
        await asyncio.sleep(0)  # it waits
        progress.append("mine", "word.wav", b"RIFF")
        return await before and await progress.is_tracked("mine")

    assert run(is_tracked()) and progress.pop("mine").chunk_size == 4


@pytest.mark.parametrize("name", ["a\"b'c.wav", "100%25.wav", "take #2?.wav"])
def test_upload_of_any_name_is_found(client: TestClient, name: str) -> None:
    """Its path is its address, as it is."""
    path = sent(client, name)
    assert client.get(f"/gradio_api/file={path}").content == path.read_bytes() == b"RIFF"


def test_deletion_goes_on_after_folder(uploads: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be deleted keeps nothing of others."""
    monkeypatch.setattr(route_utils, "delete_files_created_by_app", None)
    delete_while_files_come()
    folder, file = uploads / "upload-a", uploads / "upload-b" / "a.wav"
    folder.mkdir(parents=True)
    file.parent.mkdir()
    file.write_bytes(b"RIFF")
    files = {str(folder), str(file)}
    page: Any = SimpleNamespace(blocks={}, temp_file_sets=[files])
    route_utils.delete_files_created_by_app(page, None)
    assert not file.exists() and not files


def test_request_names_own_files_only(
    client: TestClient, uploads: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No folder, none of the app's files, and none by way of /proc."""
    monkeypatch.setattr(processing_utils, "_check_allowed", processing_utils._check_allowed)
    take_own_files()
    own = sent(client, "word.wav")
    (uploads / "lock").write_bytes(b"")
    processing_utils._check_allowed(own, True)
    processing_utils._check_allowed(own.parent / "gone.wav", True)
    with own.open("rb") as file:
        names = [
            own.parent,
            uploads / "lock",
            f"/proc/self/fd/{file.fileno()}",
            "a\0b",
            "",
            uploads,
        ]
        for name in names:
            with pytest.raises(gr.Error, match="Upload it again"):
                processing_utils._check_allowed(name, True)


@pytest.mark.parametrize("kind", [{}, {"is_stream": True}])
def test_thousands_of_files_let_others_pass(
    client: TestClient, uploads: Path, monkeypatch: pytest.MonkeyPatch, kind: dict[str, bool]
) -> None:
    """Nothing is left of them either."""
    monkeypatch.setattr(processing_utils, "_check_allowed", processing_utils._check_allowed)
    monkeypatch.setattr(client_utils, "async_traverse", client_utils.async_traverse)
    take_own_files()
    own = sent(client, "word.wav")
    with gr.Blocks() as page:
        files = gr.File(file_count="multiple")
        several = gr.UploadButton(file_count="multiple")
        gr.Button().click(lambda *_: None, [files, several], None)
    named = [{"path": str(own), "meta": {"_type": "gradio.FileData"}, **kind}] * 200

    async def preprocess() -> tuple[list[list[str]], int]:
        turns = 0

        async def others() -> None:
            nonlocal turns
            while True:
                await asyncio.sleep(0)
                turns += 1

        waiting = asyncio.create_task(others())
        inputs = await page.preprocess_data(page.fns[0], [named, named], SessionState(page))
        waiting.cancel()
        return inputs, turns

    inputs, turns = run(preprocess())
    assert inputs == [[str(own)] * 200] * 2 and turns >= 400
    assert [each for each in uploads.rglob("*") if each.is_file()] == [own]
