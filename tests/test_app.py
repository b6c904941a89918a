"""Options, import, and what the page does where models are missing."""

import gc
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import gradio as gr
import httpx
import pytest
from gradio import http_server
from gradio.exceptions import ServerFailedToStartError
from gradio.http_server import Server
from gradio.state_holder import SessionState

from benchmarks.support.served import free_port
from earshot.app import launch, site
from earshot.app.health import Health
from earshot.core.computing import NICE, NICE_OF_LAST
from earshot.core.connections import limit_connections
from earshot.core.limits import BUDGETS, Budget, address_of
from earshot.core.paths import CHECKPOINTS
from earshot.systems.registry import TASKS
from earshot.tabs.shared.addresses import Addresses
from earshot.tabs.shared.events import stoppable
from earshot.tabs.shared.gradio_internals import (
    MAX_SESSIONS,
    Waiting,
    limit_waiting,
    wait_for_server,
)
from earshot.tabs.shared.page import model_cards
from earshot.tabs.shared.services import Services
from tests.support.serving import close

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent


WAITS = """
import signal, tempfile, time
from earshot.app import import_gradio
import_gradio()
from earshot.app import launch, site
signal.signal(signal.SIGINT, signal.SIG_IGN)  # as where a shell starts it in the background
site.build = lambda *_, **__: None
launch.launch = lambda *_, **__: (print(tempfile.gettempdir(), flush=True), time.sleep(60))
launch.main()
"""


def test_sigterm_ends_app_and_deletes_files() -> None:
    """The app deletes what it kept."""
    running = subprocess.Popen([sys.executable, "-c", WAITS], cwd=ROOT, stdout=subprocess.PIPE)
    assert running.stdout
    folder = Path(running.stdout.readline().decode().strip())
    assert folder.exists()
    running.terminate()
    running.wait(timeout=30)
    assert not folder.exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux only")
def test_sigterm_ends_app_with_full_disk(tmp_path: Path) -> None:
    """The log is on the full disk."""
    port = free_port()
    command = [sys.executable, "app.py", "--port", str(port), "--studies", str(tmp_path)]
    with Path("/dev/full").open("wb") as full:
        running = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=full)
    try:
        state, end = {}, time.monotonic() + 300
        while not state and time.monotonic() < end:
            time.sleep(0.2)
            with suppress(httpx.TransportError):
                state = httpx.get(f"http://127.0.0.1:{port}/healthz", timeout=60).json()
        assert state and {*state.values()} == {"ok"}  # models load, whose bars cannot be drawn
        running.terminate()
        running.wait(timeout=60)
    finally:
        running.kill()


def test_page_answering_late_is_served(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The page answers late at first."""
    monkeypatch.setattr("gradio.networking.url_ok", lambda _: False)
    with gr.Blocks() as page:
        gr.Markdown("Hello")
    address = launch.launch(page, launch.options([], {}), block=False)
    try:
        assert httpx.get(address, timeout=60).status_code == 200
    finally:
        close(page)


@pytest.mark.parametrize("begins", [True, False])
def test_late_server_is_waited_for(begins: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that takes long to begin is, and not one that has ended, as where its port is taken."""
    clock = SimpleNamespace(time=count(step=10).__next__, sleep=time.sleep)
    monkeypatch.setattr(http_server, "time", clock)  # Gradio's patience is over at once
    monkeypatch.setattr(Server, "run_in_thread", Server.run_in_thread)
    wait_for_server()
    server: Any = SimpleNamespace(started=False)

    def run() -> None:
        time.sleep(0.1)
        server.started = begins

    server.run = run
    with nullcontext() if begins else pytest.raises(ServerFailedToStartError):
        Server.run_in_thread(server)
    assert server.started == begins


def test_first_model_loads_behind_served_page(tmp_path: Path) -> None:
    called, served = threading.Event(), threading.Event()
    health = Health()
    page = site.build(Services(device="cpu"), tmp_path, health=health)
    health.watch({"voice_conversion": lambda: (served.wait(60), called.set())})
    address = launch.launch(page, launch.options([], {}), block=False)
    try:
        assert httpx.get(address, timeout=60).status_code == 200
        assert not called.is_set()
        served.set()
        assert called.wait(60)
    finally:
        close(page)


def test_live_loads_while_page_is_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    processes = Mock(checkpoint=tmp_path)
    built = Mock(side_effect=lambda *_, **__: processes.warm_up.assert_called_once())
    served = Mock()
    monkeypatch.setattr(launch, "LiveProcesses", lambda _: processes)
    monkeypatch.setattr(launch, "build", built)
    monkeypatch.setattr(launch, "launch", served)
    monkeypatch.setattr(launch.signal, "signal", Mock())
    monkeypatch.setattr(sys, "argv", ["app.py", "--studies", str(tmp_path / "studies")])
    launch.main()
    built.assert_called_once()
    assert served.call_args.kwargs["processes"] is processes


def test_options_without_arguments_are_the_defaults() -> None:
    chosen = launch.options([], {})
    assert (chosen.host, chosen.port, chosen.device) == (None, None, "auto")
    assert not chosen.share and not chosen.preload
    assert chosen.max_queue == 20


def test_environment_options_yield_to_arguments() -> None:
    environment = {
        "EARSHOT_HOST": "0.0.0.0",
        "EARSHOT_PORT": "8000",
        "EARSHOT_DEVICE": "cpu",
        "EARSHOT_MAX_QUEUE": "3",
        "EARSHOT_SOUND_MODEL": "laion/clap-htsat-unfused",
        "EARSHOT_SOUNDS": "/my sounds",
        "EARSHOT_INDEX_BACKEND": "disk",
        "EARSHOT_STUDIES": "/my tests",
        "EARSHOT_DATABASE": "postgresql+pg8000://me@here/answers",
        "EARSHOT_SHARE": "1",
        "EARSHOT_PRELOAD": "true",
        "EARSHOT_NO_PUBLISH": "yes",
    }
    chosen = launch.options([], environment)
    assert (chosen.host, chosen.port, chosen.device) == ("0.0.0.0", 8000, "cpu")
    assert chosen.share and chosen.preload and chosen.no_publish and chosen.max_queue == 3
    assert chosen.sound_model == ["laion/clap-htsat-unfused"]
    assert chosen.sounds == "/my sounds" and chosen.index_backend == "disk"
    assert chosen.studies == "/my tests" and chosen.database.endswith("/answers")
    assert launch.options(["--port", "9000"], environment).port == 9000


@pytest.mark.parametrize("value", ["0", "false", ""])
def test_switch_in_environment_can_be_off(value: str) -> None:
    assert not launch.options([], {"EARSHOT_SHARE": value}).share


@pytest.mark.parametrize(
    ("value", "name"),
    [("0", None), ("off", None), ("1", ""), ("USER/moonshine-base", "USER/moonshine-base")],
)
def test_options_name_what_writes_transcripts(value: str, name: str | None) -> None:
    assert launch.options([], {"EARSHOT_TRANSCRIPTS": value}).transcripts == name
    arguments = ["--no-transcripts"] if name is None else ["--transcripts", *filter(None, [name])]
    assert launch.options(arguments, {}).transcripts == name


@pytest.mark.parametrize(("cores", "name"), [(1, None), (2, "")])
def test_transcripts_are_written_where_the_machine_keeps_up(
    cores: int, name: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("earshot.app.options.cores", lambda: cores)
    assert launch.options([], {}).transcripts == name
    assert launch.options([], {"EARSHOT_TRANSCRIPTS": "1"}).transcripts == ""
    assert launch.options(["--no-transcripts"], {"EARSHOT_TRANSCRIPTS": "1"}).transcripts is None


def test_options_lend_voices_where_asked_only() -> None:
    """Other people's voices are lent only where it is asked for."""
    assert not launch.options([], {}).allow_reference
    assert launch.options(["--allow-reference"], {}).allow_reference
    assert launch.options([], {"EARSHOT_ALLOW_REFERENCE": "1"}).allow_reference


@pytest.mark.parametrize(("name", "value"), [("DEVICE", "tpu"), ("PORT", "http")])
def test_invalid_environment_value_exits(name: str, value: str) -> None:
    with pytest.raises(SystemExit):
        launch.options([], {f"EARSHOT_{name}": value})


def test_app_import_loads_no_model_library() -> None:
    """Nor do the files of systems; nor is Gradio's own source parsed. How long it takes:
    benchmarks/start.py."""
    script = (
        "import ast, sys; ast.get_source_segment = None;"
        "from earshot.app import import_gradio; import_gradio();"
        "import earshot.app.launch as launch;"
        "from earshot.systems.registry import load_board;"
        "assert not load_board(*launch.FOLDERS).faults;"
        "print({'torch', 'librosa', 'scipy', 'matplotlib', 'mediapipe', 'av'} & set(sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert (run.returncode, run.stdout.strip()) == (0, "set()"), run.stderr


def test_build_without_checkpoints_explains_training(tmp_path: Path) -> None:
    """The page says how to train them."""
    page = site.build(Services(device="cpu"), tmp_path)
    texts = " ".join(str(getattr(block, "value", "")) for block in page.blocks.values())
    assert "python -m training.voice_conversion train" in texts
    assert "python -m training.sound_search train" in texts
    assert "Earshot" in texts


def test_page_creates_its_app_at_its_launch(tmp_path: Path) -> None:
    """Gradio creates a dozen others while a page is built, of which each takes 0.1 s."""
    assert site.build(Services(device="cpu"), tmp_path).app is None


def test_model_cards_lose_front_matter(tmp_path: Path) -> None:
    """Model cards lose heading levels, and links into the repository, too."""
    (tmp_path / "a").mkdir()
    card = (
        "---\nlicense: cc-by-4.0\n---\n# Model A\nSee [it](../b/README.md), [that](https://x.org)."
    )
    (tmp_path / "a" / "README.md").write_text(card)
    expected = "### Model A\nSee it, [that](https://x.org)."
    assert model_cards(tmp_path, "voice_conversion") == expected
    assert "No model" in model_cards(tmp_path, "words")
    assert "No model" in model_cards(tmp_path / "a", "voice_conversion")


def test_each_tab_has_the_cards_of_its_models() -> None:
    """With their pictures in them: a page has no address for those of a checkpoint."""
    cards = {task: model_cards(CHECKPOINTS, task) for task in TASKS}
    headings = {task: re.findall("^### ([^:\n]+)", text, re.M) for task, text in cards.items()}
    assert {"words", "g2p", "words-states"} <= {*headings["words"]}
    assert {"any-voice", "vocoder", "vqvae-64"} <= {*headings["voice_conversion"]}
    assert {"lip-to-speech", "vocoder-lips"} == {*headings["lip_to_speech"]}
    assert {"sound-cnn", "sound-effects", "sound-passt"} == {*headings["sound_search"]}
    assert sum(map(len, headings.values())) == len([*CHECKPOINTS.glob("*/README.md")])
    assert "](data:image/svg+xml;base64," in cards["words"]
    assert not re.search(r"\]\((?!https?:|data:)", " ".join(cards.values()))


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """The page, without models."""
    page = site.build(Services(device="cpu"), tmp_path)
    yield launch.launch(page, launch.options([], {}), block=False)
    close(page)


def test_launch_refuses_calls_around_queue(address: str) -> None:
    """Deep links are refused as well."""
    assert httpx.get(f"{address}gradio_api/deep_link?session_hash=x").status_code == 404
    assert httpx.get(f"{address}gradio_api/deep_link").status_code == 404
    config = httpx.get(f"{address}config").json()
    queued = [fn["id"] for fn in config["dependencies"] if fn["queue"]]
    for number in queued[:1]:
        direct = httpx.post(
            f"{address}gradio_api/run/predict", json={"data": [], "fn_index": number}
        )
        assert direct.status_code == 404


@pytest.mark.slow
def test_launch_forgets_pages_of_old_visits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch, "MAX_SESSIONS", 3)
    page = site.build(Services(device="cpu"), tmp_path)
    address = launch.launch(page, launch.options([], {}), block=False)
    try:
        for number in range(8):
            visit = {"session_hash": f"visit-{number}"}
            body = {"data": [], "fn_index": 0, **visit}
            httpx.post(f"{address}gradio_api/queue/join", json=body).raise_for_status()
            stream = httpx.get(f"{address}gradio_api/queue/data", params=visit, timeout=60)
            assert "process_completed" in stream.text
        gc.collect()
        states = [each for each in gc.get_objects() if type(each) is SessionState]
        assert sum(each.blocks_config.root_block is page for each in states) == 3
        assert page._queue.event_analytics == {}
    finally:
        close(page)


def test_waiting_jobs_are_limited() -> None:
    """A sentence says that a visitor, an address or all have too many jobs waiting."""
    release = threading.Event()
    with gr.Blocks() as page:
        gr.Button().click(
            lambda: (release.wait(), None)[1], concurrency_id="model", concurrency_limit=1
        )
    page.queue(max_size=5, api_open=False)
    limits = Waiting(launch.MAX_WAITING, 4, launch.WAITING, launch.UNREAD, launch.FULL, address_of)
    limit_waiting(page, limits, Addresses(fetched=False))
    _, address, _ = page.launch(prevent_thread_lock=True)

    def join(visitor: str, place: str = "192.0.2.1") -> httpx.Response:
        body = {"data": [], "fn_index": 0, "session_hash": visitor}
        headers = {"X-Forwarded-For": place}
        return httpx.post(f"{address}gradio_api/queue/join", json=body, headers=headers)

    try:
        assert join("a").status_code == 200
        time.sleep(1)  # it runs
        assert [join("a").status_code for _ in range(3)] == [200, 200, 503]
        assert "jobs waiting already" in join("a").text
        # Others at the same place have room left, and then only others elsewhere.
        assert [join(visitor).status_code for visitor in "bcd"] == [200, 200, 503]
        assert "Too many people" in join("e").text
        assert [join(v, "192.0.2.2").status_code for v in "fgh"] == [200, 503, 503]
        assert "Too many people" in join("i", "192.0.2.3").text
    finally:
        release.set()
        close(page)


class Line:
    """A line of jobs that wait until they are released, on a page of its own."""

    def __init__(self, places: int) -> None:
        """Serve it. places: for jobs that run at once."""
        self.begun: list[str] = []
        self.nice: dict[str, int] = {}  # of the threads in which they run
        self.release = threading.Event()
        with gr.Blocks() as self.page:
            job = gr.Button().click
            run = stoppable(self._work)
            job(run, gr.Textbox(), concurrency_id="model", concurrency_limit=places)
        launch.limit_queue(self.page, 20)
        _, self.address, _ = self.page.launch(prevent_thread_lock=True)
        limit_connections(self.page.server, ["127.0.0.1"])

    def _work(self, name: str) -> None:
        self.begun.append(name)
        self.nice[name] = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
        self.release.wait(60)

    def join(self, name: str, place: str) -> None:
        body = {"data": [name], "fn_index": 0, "session_hash": name}
        headers = {"X-Forwarded-For": place}
        joined = httpx.post(f"{self.address}gradio_api/queue/join", json=body, headers=headers)
        joined.raise_for_status()

    def wait_for(self, count: int) -> None:
        end = time.monotonic() + 60
        while len(self.begun) < count and time.monotonic() < end:
            time.sleep(0.05)

    def end(self) -> None:
        self.release.set()
        close(self.page)


def test_address_has_one_job_at_a_time() -> None:
    """A long job of one address, and those behind it, leave the other place of a line to others."""
    line = Line(places=2)
    try:
        for number in range(3):
            line.join(f"many {number}", "192.0.2.1")
        line.join("one", "192.0.2.2")
        line.wait_for(2)
        time.sleep(0.5)
        assert line.begun == ["many 0", "one"]
        line.release.set()
        line.wait_for(4)
        assert line.begun[2:] == ["many 1", "many 2"]
    finally:
        line.end()


def test_last_place_is_for_who_had_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two addresses whose jobs took long share one of two places; a third waits for neither."""
    monkeypatch.setitem(BUDGETS, "jobs, s", Budget(0.1, 0.1))  # type: ignore[arg-type]
    line = Line(places=2)
    try:
        line.join("many 0", "192.0.2.1")
        line.join("more 0", "192.0.2.2")
        line.wait_for(2)
        time.sleep(0.5)
        line.release.set()
        time.sleep(0.5)
        line.release.clear()
        for number in (1, 2):
            line.join(f"many {number}", "192.0.2.1")
            line.join(f"more {number}", "192.0.2.2")
        time.sleep(0.5)
        line.join("one", "192.0.2.3")
        line.wait_for(4)
        time.sleep(0.5)
        assert line.begun[2:] == ["many 1", "one"]
        line.release.set()
        line.wait_for(7)
        assert {*line.begun[4:]} == {"many 2", "more 1", "more 2"}
        if sys.platform == "linux":
            nice = {name: max(NICE, os.nice(0)) for name in ("many 0", "more 0", "one")}
            last = max(NICE_OF_LAST, os.nice(0))
            assert line.nice == dict.fromkeys(line.begun, last) | nice
    finally:
        line.end()


def test_session_has_no_page_copy() -> None:
    with gr.Blocks() as page:
        counter, output = gr.State(0), gr.Number()
        gr.Button().click(lambda n: (n + 1, n + 1), counter, [counter, output])
    address = launch.launch(page, launch.options([], {}), block=False)
    try:
        for number in (1, 2):
            body = {"data": [None], "fn_index": 0, "session_hash": "a"}
            httpx.post(f"{address}gradio_api/queue/join", json=body).raise_for_status()
            seen = {"session_hash": "a"}
            reply = httpx.get(f"{address}gradio_api/queue/data", params=seen, timeout=60)
            assert f'"data":[null,{number}]' in reply.text.replace(" ", "")
        assert page.state_holder["a"].config_values.keys() <= {counter._id}
    finally:
        close(page)


def test_programs_keep_few_sessions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Calls without a page keep no more sessions than pages do."""
    monkeypatch.setattr(launch, "MAX_SESSIONS", 3)
    with gr.Blocks() as page:
        gr.Button().click(lambda n: n, gr.State(0), gr.State(0), api_name="keep")
    address = launch.launch(page, launch.options([], {}), block=False)
    try:
        for _ in range(30):
            joined = httpx.post(f"{address}gradio_api/call/keep", json={"data": []})
            event = joined.raise_for_status().json()["event_id"]
            stream = httpx.get(f"{address}gradio_api/call/keep/{event}", timeout=60)
            assert "event: complete" in stream.text
        assert len(page.state_holder.session_data) == 3
        # The last call may still be about to go, on a busy machine.
        assert len(page._queue.pending_messages_per_session) <= MAX_SESSIONS + 1
        assert len(page._queue.pending_event_ids_session) <= MAX_SESSIONS + 1
    finally:
        close(page)


def test_omitted_parameters_have_first_values() -> None:
    """A program that was written before later parameters were added has their first values."""
    with gr.Blocks() as page:
        inputs = [gr.Textbox(), gr.State(1), gr.Radio(["neural", "old"], value="neural")]
        gr.Button().click(lambda *argumentss: str(argumentss), inputs, gr.Textbox(), api_name="say")
    address = launch.launch(page, launch.options([], {}), block=False)
    try:
        for argumentss, answer in (
            (["a"], "('a', 1, 'neural')"),
            (["a", "old"], "('a', 1, 'old')"),
        ):
            joined = httpx.post(f"{address}gradio_api/call/say", json={"data": argumentss})
            event = joined.raise_for_status().json()["event_id"]
            assert answer in httpx.get(f"{address}gradio_api/call/say/{event}", timeout=60).text
    finally:
        close(page)


def test_addresses_take_turns() -> None:
    """Addresses take turns however many jobs one has waiting, and by the time that theirs took."""
    line = Line(places=1)
    try:
        line.join("many 0", "192.0.2.1")
        line.wait_for(1)
        for number in range(1, 5):
            line.join(f"many {number}", "192.0.2.1")
        line.join("one", "192.0.2.2")
        line.join("another", "192.0.2.3")
        line.join("one again", "192.0.2.2")
        line.release.set()
        line.wait_for(8)
        assert line.begun == [
            "many 0", "one", "another", "one again", "many 1", "many 2", "many 3", "many 4",
        ]  # fmt: skip
    finally:
        line.end()
