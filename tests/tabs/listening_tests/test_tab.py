"""The tab as the server holds it: what visitors may open, and how much at a time."""

import threading
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import gradio as gr
import pytest
from gradio.components import Component

from benchmarks.support.listening import write_test
from earshot.app import launch, site
from earshot.core.errors import InputError
from earshot.core.limits import BUDGETS, RateLimit
from earshot.study import publishing
from earshot.study.design.folder import describe
from earshot.study.design.form import Form
from earshot.study.design.spec import load
from earshot.study.library import TestLibrary
from earshot.study.report_process import ReportProcess
from earshot.tabs import listening_tests
from earshot.tabs.listening_tests import events, form, workspace
from earshot.tabs.listening_tests.events import StudyComponents, StudyEvents
from earshot.tabs.listening_tests.workspace import Workspace
from earshot.tabs.shared.services import Drafts, Services
from earshot.tabs.shared.sessions import SessionStore
from tests.support.studies import make_test

pytestmark = pytest.mark.slow


@pytest.fixture
def tests(tmp_path: Path) -> TestLibrary:
    return listening_tests.opened(tmp_path / "studies", None)


@pytest.fixture
def handlers(tests: TestLibrary) -> Iterator[StudyEvents]:
    with gr.Blocks():
        components = (gr.State(), gr.HTML(), gr.Code(), gr.HTML(), gr.HTML(), gr.DownloadButton())
        parts = StudyComponents(*components, gr.File(), form.build(gr.HTML()), gr.Textbox())
        yield StudyEvents(tests, Drafts(), SessionStore(Workspace.new), parts)


def _open_button(page: gr.Blocks) -> gr.Button:
    buttons = [block for block in page.blocks.values() if isinstance(block, gr.Button)]
    return next(button for button in buttons if button.value == "Open it to raters")


def _presses(page: gr.Blocks, button: gr.Button) -> list[Any]:
    return [fn for fn in page.fns.values() if (button._id, "click") in fn.targets]


def test_address_opens_no_sixth_test(
    tmp_path: Path, handlers: StudyEvents, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It opens five a day, in whatever visit."""
    folder = write_test(tmp_path / "workspace", "ab", 0.1)
    yaml = (folder / "test.yaml").read_text()
    published: list[Path] = []
    monkeypatch.setattr(events, "publish", lambda folder, *_: published.append(folder) or "x")
    monkeypatch.setattr(events, "links", lambda *_, **more: "")
    request = gr.Request(headers={"referer": "http://here"})
    for _ in range(BUDGETS["tests"].burst):
        handlers.open(Workspace(folder), yaml, "", request)
    with pytest.raises(InputError, match="opens 5 tests a day"):
        handlers.open(Workspace(folder), yaml, "", request)
    assert len(published) == BUDGETS["tests"].burst == 5


def test_unopened_test_is_not_counted(
    tmp_path: Path, handlers: StudyEvents, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_test(tmp_path / "workspace", "ab", 0.1)

    def full(*_: object) -> str:
        raise InputError("no room")

    monkeypatch.setattr(events, "publish", full)
    for _ in range(2 * BUDGETS["tests"].burst):
        with pytest.raises(InputError, match="no room"):
            yaml = (folder / "test.yaml").read_text()
            handlers.open(Workspace(folder), yaml, "", gr.Request(headers={}))


@pytest.mark.parametrize("content", [b"no database at all" * 300, None])
def test_unreadable_answers_spare_other_tabs(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    content: bytes | None,
) -> None:
    """A damaged file, and a folder in its place."""
    answers = tmp_path / "answers.db"
    answers.write_bytes(content) if content else answers.mkdir()
    built: list[object] = []
    monkeypatch.setattr(launch, "build", lambda services, **more: built.append(services.tests))
    monkeypatch.setattr(launch, "launch", lambda *_, **more: None)
    monkeypatch.setattr("sys.argv", ["app.py", "--studies", str(tmp_path)])
    monkeypatch.setattr("signal.signal", lambda *_: None)
    launch.main()
    assert built == [None] and "no listening tests" in capsys.readouterr().err


@pytest.mark.parametrize("headers", [{}, {"referer": "http://here/?__theme=dark"}])
def test_links_of_test_can_be_shared(
    tmp_path: Path, handlers: StudyEvents, headers: dict[str, str]
) -> None:
    """They are whole addresses of this server."""
    folder = write_test(tmp_path / "workspace", "ab", 0.1)
    request = gr.Request(headers=headers, base_url="http://here/")
    update = handlers.open(Workspace(folder), (folder / "test.yaml").read_text(), "", request)
    links = update[handlers.components.links]
    assert 'href="http://here/listen/' in links and 'href="http://here/results/' in links


def test_preview_lets_nobody_in(tmp_path: Path, handlers: StudyEvents) -> None:
    """Its link goes on when it is changed, and when it is opened, from when on raters come."""
    folder = write_test(tmp_path / "workspace", "ab", 0.1)
    workspace, yaml = Workspace(folder), (folder / "test.yaml").read_text()
    request = gr.Request(headers={}, base_url="http://here/")
    links = handlers.preview(workspace, yaml, "", request)[handlers.components.links]
    assert "?rater=preview-" in links and links.count("<a ") == 1
    first = workspace.preview
    assert first and handlers.tests.store.places(handlers.tests.open(first.name).test).closed
    key = handlers.tests.open(first.name).key
    changed = yaml.replace("design: ab", "design: ab\ntrials: 2")
    handlers.preview(workspace, changed, "", request)
    assert workspace.preview and workspace.preview.name == first.name
    assert handlers.tests.store.places(handlers.tests.open(first.name).test).closed
    links = handlers.open(workspace, changed, "", request)[handlers.components.links]
    assert "QR code" in links and links.count("<a ") == 2 and f"/{first.name}" in links
    opened = handlers.tests.open(first.name)
    assert opened.key == key and opened.test.trials_per_rater == 2
    assert not handlers.tests.store.places(opened.test).closed
    assert workspace.preview is None and [*handlers.tests.files()].count(first.name) == 1
    later = datetime.now(UTC) + timedelta(days=6)
    assert publishing.expire(handlers.tests, later) == []  # it is a preview no more


def test_preview_goes_with_its_workspace(tmp_path: Path, handlers: StudyEvents) -> None:
    workspace = Workspace(write_test(tmp_path / "workspace", "ab", 0.1))
    yaml = (workspace.folder / "test.yaml").read_text()
    handlers.preview(workspace, yaml, "", gr.Request(headers={}, base_url="http://here/"))
    preview, before = workspace.preview, {*threading.enumerate()}
    workspace.clear()
    for thread in {*threading.enumerate()} - before:
        thread.join()
    assert preview and preview.name not in handlers.tests.files()


@pytest.fixture
def brought(
    tmp_path: Path, handlers: StudyEvents, monkeypatch: pytest.MonkeyPatch
) -> dict[Component, Any]:
    """What a visitor has given who brought one sound."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    parts, folder = handlers.components, write_test(tmp_path / "made", "acr", 0.1)
    sound = (folder / "fine" / "bird.wav").rename(folder / "fine_bird.wav")
    values: dict[Component, Any] = {each: each.value for each in parts.form.components}
    return values | {parts.workspace: None, parts.yaml: "", parts.files: [str(sound)]}


@pytest.mark.parametrize(("limit", "value"), [("MAX_ALL_BYTES", 1_000), ("MIN_FREE_BYTES", 2**62)])
def test_sounds_without_room_are_not_unpacked(
    handlers: StudyEvents,
    brought: dict[Component, Any],
    monkeypatch: pytest.MonkeyPatch,
    limit: str,
    value: int,
) -> None:
    request = gr.Request(headers={})
    of_others = handlers.from_upload(brought, request)[handlers.components.workspace]
    monkeypatch.setattr(workspace, limit, value)
    with pytest.raises(InputError, match="no room for another test"):
        handlers.from_upload(brought, request)
    with pytest.raises(InputError, match="no room for another test"):
        handlers.download(of_others, "", request)


def test_sounds_of_a_test_are_downloaded_as_a_page(
    handlers: StudyEvents, brought: dict[Component, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    request = gr.Request(headers={})
    own = handlers.from_upload(brought, request)[handlers.components.workspace]
    assert handlers.page(own, request)[handlers.components.zip].visible
    with zipfile.ZipFile(own.zip.with_name("samples.zip")) as archive:
        assert {"index.html", "sounds/001-01.mp3", "pictures/001-01.svg"} <= {*archive.namelist()}
        assert "bird" in archive.read("index.html").decode()
    monkeypatch.setattr(events, "MAX_PAGE_SOUNDS", 0)
    with pytest.raises(InputError, match="0 are the most on a page"):
        handlers.page(own, request)
    with pytest.raises(InputError, match="Upload your sounds first"):
        handlers.page(None, request)


def test_megabytes_of_an_address_are_limited(
    tmp_path: Path,
    handlers: StudyEvents,
    brought: dict[Component, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    request = gr.Request(headers={})
    own = handlers.from_upload(brought, request)[handlers.components.workspace]
    monkeypatch.setattr(events, "MB", 10)
    for again in (
        lambda: handlers.from_upload(brought, request),
        lambda: handlers.download(own, "", request),
    ):
        few = BUDGETS["files of tests, MB"]._replace(burst=2, per_minute=1)
        monkeypatch.setattr(handlers, "_megabytes", RateLimit(*few))
        with pytest.raises(InputError, match="Too much was made"):
            again()
    assert {*tmp_path.glob("earshot-test-*/fine")} == {own.folder / "fine"}
    assert not own.zip.exists()


@pytest.mark.parametrize("name", ["trials", "raters"])
def test_zero_is_no_number_of_anything(
    handlers: StudyEvents, brought: dict[Component, Any], name: str
) -> None:
    """An empty field means as many as fit, or any number, as it says itself."""
    field = getattr(handlers.components.form, name)
    for number in ("0", "-3", "many", "nan"):
        with pytest.raises(InputError, match=r"1 or more, or nothing for"):
            handlers.components.form.read(brought | {field: number})
    assert getattr(handlers.components.form.read(brought | {field: " "}), name) is None
    assert getattr(handlers.components.form.read(brought | {field: "7"}), name) == 7


def test_form_writes_the_yaml(tmp_path: Path) -> None:
    folder = write_test(tmp_path / "made", "ab", 0.1)
    fields = Form(
        design="mushra",
        title='A "title": of \u00fc',
        question="Which?",
        trials=2,
        instructions=" one\n\n\ttwo: 3 # 4",
        consent="We\x07 ask",
        agree="- a\n\nb: c",
        approval="2026-17",
        raters=12,
    )
    (folder / "test.yaml").write_text(describe(folder, fields))
    test = load(folder)
    assert (test.design.name, test.title, test.question) == ("mushra", fields.title, "Which?")
    assert (test.trials_per_rater, test.raters, test.approval) == (2, 12, "2026-17")
    assert test.agree == ("- a", "b: c") and test.consent == "We  ask" and not test.unwritten
    assert test.instructions == "one\n\ntwo: 3 # 4"
    (folder / "test.yaml").write_text(describe(folder, Form()))
    assert load(folder).unwritten


def test_zips_are_queued_one_by_one(tests: TestLibrary) -> None:
    """Those of results, and those of pages of samples."""
    page = site.build(Services(device="cpu", tests=tests), Path("/nowhere"))
    makers = [
        fn
        for fn in page.fns.values()
        if any(isinstance(out, gr.DownloadButton) for out in fn.outputs) and len(fn.outputs) == 2
    ]
    launch.limit_queue(page, 20)
    assert len(makers) == 2
    for fn in makers:
        assert fn.queue
        page._queue.create_event_queue_for_fn(fn)
        queue = page._queue.event_queue_per_concurrency_id[fn.concurrency_id]
        assert queue.concurrency_limit == 1


def test_open_without_publishing_is_impossible(tests: TestLibrary) -> None:
    """Its button is not shown, either."""
    page = site.build(Services(device="cpu", tests=tests), Path("/nowhere"))
    assert _open_button(page).visible and _presses(page, _open_button(page))
    closed = site.build(Services(device="cpu", tests=tests, publishing=False), Path("/nowhere"))
    assert not _open_button(closed).visible and not _presses(closed, _open_button(closed))


def test_open_test_is_changed_by_form(tmp_path: Path, handlers: StudyEvents) -> None:
    """It comes back by its link, until somebody has begun."""
    parts, request = handlers.components, gr.Request(headers={}, base_url="http://here/")
    folder = write_test(tmp_path / "workspace", "ab", 0.1, title="Before")
    workspace = Workspace(folder)
    handlers.open(workspace, (folder / "test.yaml").read_text(), "", request)
    name = workspace.open
    link = f"http://here/results/{name}?key={handlers.tests.open(name).key}"
    values: dict[Component, Any] = dict.fromkeys(parts.form.components)
    values |= {parts.workspace: None, parts.files: None, parts.link: link, parts.yaml: ""}
    back = handlers.edit(values, request)
    assert back[parts.form.title] == "Before" and back[parts.form.design] == "ab"
    other = back[parts.workspace]
    values |= {each: back[each] for each in parts.form.components}
    values |= {parts.workspace: other, parts.yaml: back[parts.yaml], parts.form.title: "After"}
    update = handlers.from_upload(values, request)
    assert "systems:" in update[parts.yaml]
    opened = handlers.open(other, update[parts.yaml], "", request)
    assert f"/listen/{name}" in opened[parts.links] and "changed" in opened[parts.message]
    test = handlers.tests.open(name).test
    assert test.title == "After"
    handlers.tests.store.enrol(test)
    with pytest.raises(InputError, match="Somebody has begun"):
        handlers.edit(values, request)
    with pytest.raises(InputError, match="key in this link"):
        handlers.edit({**values, parts.link: f"{link}x"}, request)


def test_workspace_nobody_clears_deletes_its_files() -> None:
    workspace = Workspace.new()
    places = [workspace.folder, workspace.zip.parent, workspace.reports()]
    workspace.zip.parent.mkdir()
    assert all(place.exists() for place in places)
    del workspace
    assert not any(place.exists() for place in places)


def test_rehearsal_that_takes_too_much_ends(
    tmp_path: Path, handlers: StudyEvents, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is made in a process of its own: others' work goes on."""
    folder = write_test(tmp_path / "workspace", "ab", 0.1)
    monkeypatch.setattr(events, "trial_process", lambda: ReportProcess(seconds=0.01))
    html = handlers.rehearse(Workspace(folder), (folder / "test.yaml").read_text())
    assert "takes longer, or more memory" in html


def test_one_trial_is_counted_as_one() -> None:
    one, several = make_test("acr", systems=1, stimuli=1), make_test("acr", systems=2, stimuli=2)
    assert "<b>1</b> system · <b>1</b> trial, " in events._numbers(one)
    assert "<b>2</b> systems · <b>4</b> trials, " in events._numbers(several)


def test_rehearsal_is_of_whole_test_only(tmp_path: Path, handlers: StudyEvents) -> None:
    folder = write_test(tmp_path / "workspace", "ab", 0.1)
    yaml = (folder / "test.yaml").read_text()
    assert "These raters are simulated" in handlers.rehearse(Workspace(folder), yaml)
    assert handlers.rehearse(Workspace(folder), "title: [") == ""
    assert handlers.rehearse(None, yaml) == ""
