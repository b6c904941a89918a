"""The tab as the server holds it: what visitors may open, and how much at a time."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gradio as gr
import pytest

from benchmarks.support.listening import write_test
from earshot.app import launch, site
from earshot.core.errors import InputError
from earshot.study.library import Library
from earshot.tabs import listening_tests
from earshot.tabs.listening_tests import events
from earshot.tabs.listening_tests.events import MAX_OPENED, Parts, StudyEvents
from earshot.tabs.listening_tests.workspace import Workspace
from earshot.tabs.shared.drafts import Drafts
from earshot.tabs.shared.sessions import SessionStore

pytestmark = pytest.mark.slow


@pytest.fixture
def tests(tmp_path: Path) -> Library:
    return listening_tests.opened(tmp_path / "studies", None)


@pytest.fixture
def handlers(tests: Library) -> Iterator[StudyEvents]:
    with gr.Blocks():
        parts = Parts(gr.State(), gr.HTML(), gr.Code(), gr.HTML(), gr.HTML(), gr.DownloadButton())
        yield StudyEvents(tests, Drafts(), SessionStore(Workspace), parts)


def _open_button(page: gr.Blocks) -> gr.Button:
    buttons = [block for block in page.blocks.values() if isinstance(block, gr.Button)]
    return next(button for button in buttons if button.value == "Open it to raters")


def _presses(page: gr.Blocks, button: gr.Button) -> list[Any]:
    return [fn for fn in page.fns.values() if (button._id, "click") in fn.targets]


def test_visit_that_opened_five_tests_opens_no_sixth(
    tmp_path: Path, handlers: StudyEvents, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_test(tmp_path / "workspace", "ab", 0.1)
    workspace, yaml = Workspace(folder), (folder / "test.yaml").read_text()
    published: list[Path] = []
    monkeypatch.setattr(events, "publish", lambda folder, *_: published.append(folder) or "x")
    monkeypatch.setattr(events, "links", lambda *_: "")
    request = gr.Request(headers={"referer": "http://here"})
    for _ in range(MAX_OPENED):
        handlers.open(workspace, yaml, "", request)
    with pytest.raises(InputError, match=f"have opened {MAX_OPENED} tests"):
        handlers.open(workspace, yaml, "", request)
    assert len(published) == MAX_OPENED == 5


@pytest.mark.parametrize("headers", [{}, {"referer": "http://here/?__theme=dark"}])
def test_links_of_an_opened_test_can_be_handed_on(
    tmp_path: Path, handlers: StudyEvents, headers: dict[str, str]
) -> None:
    folder = write_test(tmp_path / "workspace", "ab", 0.1)
    request = gr.Request(headers=headers, base_url="http://here/")
    shown = handlers.open(Workspace(folder), (folder / "test.yaml").read_text(), "", request)
    links = shown[handlers.parts.links]
    assert 'href="http://here/listen/' in links and 'href="http://here/results/' in links


def test_zips_to_download_are_queued_one_at_a_time(tests: Library) -> None:
    page = site.build("cpu", Path("/nowhere"), tests=tests)
    (pack,) = [
        fn
        for fn in page.fns.values()
        if any(isinstance(out, gr.DownloadButton) for out in fn.outputs) and len(fn.outputs) == 2
    ]
    launch.limit_queue(page, 20)
    assert pack.queue
    page._queue.create_event_queue_for_fn(pack)
    assert page._queue.event_queue_per_concurrency_id[pack.concurrency_id].concurrency_limit == 1


def test_open_without_publishing_is_neither_shown_nor_possible(tests: Library) -> None:
    page = site.build("cpu", Path("/nowhere"), tests=tests)
    assert _open_button(page).visible and _presses(page, _open_button(page))
    closed = site.build("cpu", Path("/nowhere"), tests=tests, publishing=False)
    assert not _open_button(closed).visible and not _presses(closed, _open_button(closed))
