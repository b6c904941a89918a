"""Errors of handlers that return {component: value}."""

from collections.abc import Iterator

import gradio as gr
import pytest
from gradio.components import Component

from earshot.core.errors import InputError
from earshot.tabs.shared.events import OUR_FAULT, reporting


@pytest.fixture
def message() -> gr.HTML:
    return gr.HTML()


def test_reporting_passes_values_on(message: gr.HTML) -> None:
    result = gr.HTML()
    assert reporting(lambda x: {result: x + 1}, message)(1) == {result: 2}


@pytest.mark.parametrize(
    ("error", "shown"),
    [(InputError("Say <more>."), "Say &lt;more&gt;."), (KeyError("x"), OUR_FAULT)],
)
def test_reported_error_changes_only_message(
    message: gr.HTML, error: Exception, shown: str
) -> None:
    result = gr.HTML()

    def fail() -> dict[Component, str]:
        raise error

    def fail_later() -> Iterator[dict[Component, str]]:
        yield {result: "first"}
        raise error

    (only,) = reporting(fail, message)().items()
    assert only[0] is message and shown in only[1] and 'role="alert"' in only[1]
    first, last = reporting(fail_later, message)()
    assert first == {result: "first"}
    assert list(last) == [message] and shown in last[message]
