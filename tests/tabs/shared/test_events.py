"""Events: a mistake becomes a message that leaves the rest alone, and work can be stopped."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import gradio as gr
import pytest
from gradio.components import Component

from earshot.core import cancellation
from earshot.core.errors import InputError, StoppedError
from earshot.tabs.shared import events
from earshot.tabs.shared.events import OUR_FAULT, reporting, stop_jobs, stoppable


@pytest.fixture
def message() -> gr.HTML:
    return gr.HTML()


def test_reporting_passes_values_on(message: gr.HTML) -> None:
    result = gr.HTML()
    assert reporting(lambda x: {result: x + 1}, message)(1) == {result: 2}


@pytest.mark.parametrize(
    ("error", "text"),
    [(InputError("Say <more>."), "Say &lt;more&gt;."), (KeyError("x"), OUR_FAULT)],
)
def test_reported_error_changes_only_message(message: gr.HTML, error: Exception, text: str) -> None:
    result = gr.HTML()

    def fail() -> dict[Component, str]:
        raise error

    def fail_later() -> Iterator[dict[Component, str]]:
        yield {result: "first"}
        raise error

    (only,) = reporting(fail, message)().items()
    assert only[0] is message and text in only[1] and 'role="alert"' in only[1]
    first, last = reporting(fail_later, message)()
    assert first == {result: "first"}
    assert list(last) == [message] and text in last[message]


def visitor(name: str) -> Any:
    return SimpleNamespace(session_hash=name)


@pytest.fixture(autouse=True)
def session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "session_of_event", lambda: "a")


def test_stop_jobs_ends_visitors_work() -> None:
    """It ends at its next step, and nobody else's does."""

    @stoppable
    def work(stopping: str) -> int:
        for step in range(3):
            cancellation.check()
            if step == 1:
                stop_jobs(visitor(stopping))
        return step

    assert work("b") == 2
    with pytest.raises(StoppedError):
        work("a")
    assert work("b") == 2, "the next job is a new one"


def test_stop_jobs_ends_generator() -> None:
    """Its steps run in several contexts."""

    @stoppable
    def work() -> Iterator[int]:
        for step in range(3):
            cancellation.check()
            yield step

    steps = work()
    assert next(steps) == 0
    cancellation.check()  # between two steps other code runs here
    stop_jobs(visitor("a"))
    with pytest.raises(StoppedError):
        next(steps)
    assert list(work()) == [0, 1, 2]
    assert not events._jobs


def test_job_past_deadline_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says that it took too long."""
    monkeypatch.setattr(events, "MAX_JOB_SECONDS", -1.0)
    with pytest.raises(StoppedError, match="longer than"):
        stoppable(cancellation.check)()
