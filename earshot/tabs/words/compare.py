"""Compare words: a few spoken words against each other, by their vectors and by DTW."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import gradio as gr

from earshot.tabs.shared.events import EMPTIED, HIDDEN, PRIVATE, QUICK_QUEUE, reporting
from earshot.tabs.shared.sessions import SessionStore
from earshot.tabs.words.compare_events import (
    EXAMPLES,
    FEWEST,
    MOST,
    CompareEvents,
    ComparePage,
    Recordings,
)
from earshot.tabs.words.panel import recorded_or_uploaded, word_panel, word_recorder

if TYPE_CHECKING:
    from earshot.pipelines.words import Words
    from earshot.pipelines.words.library import WordLibrary

HINT: Final = f"""<p class="hint">Pick {FEWEST} to {MOST} words, or say some. Every pair is
compared: bright is similar, dark is not. Click a word to play it, or a number to play both.</p>"""


def compare_section(pipeline: Callable[[], "Words"], library: Callable[[], "WordLibrary"]) -> None:
    """The accordion, inside a gr.Blocks. Both functions return the same object each time."""
    store = SessionStore(Recordings)
    with gr.Accordion("Compare words", open=False) as fold, gr.Row(elem_classes="room"):
        with gr.Column(scale=1, min_width=300, elem_classes="room-input"):
            gr.HTML(HINT)
            picked = gr.Dropdown(
                [],
                value=[],
                multiselect=True,
                max_choices=MOST,
                label="Words",
                info="a spelling and a voice each",
            )
            recording = word_recorder("Say another word")
            typed = gr.Textbox(
                "",
                label="Written words beside them",
                placeholder="the same words",
                info="with commas between them; then press Enter",
                max_lines=1,
            )
            message = gr.HTML()
            with gr.Row(elem_classes="chips"):
                gr.HTML("<span>Or try</span>")
                chips = [gr.Button(_name(e), size="sm", min_width=0, scale=0) for e in EXAMPLES]
        with gr.Column(scale=2, min_width=320, elem_classes="room-result"):
            panel = word_panel("compared-words")
    page = ComparePage(message, panel, picked, store.state(), gr.State((), time_to_live=3600))
    events = CompareEvents(pipeline, library, store, page)

    def shown(handler: Callable) -> Callable:
        return reporting(handler, message)

    inputs = [picked, page.own, page.written]
    on_model: dict[str, Any] = {
        "concurrency_id": QUICK_QUEUE,
        "concurrency_limit": 1,
        "show_progress_on": panel,
        **PRIVATE,
    }
    _api(events)
    outputs = [message, picked]
    fold.expand(shown(events.first_look), [picked, page.own], outputs, **HIDDEN)
    picked.change(shown(events.compare), inputs, [message, panel], **HIDDEN)
    for chip, example in zip(chips, EXAMPLES, strict=True):
        chip.click(lambda e=example: events.example(*e), None, picked, **HIDDEN)
    recorded = gr.on(
        recorded_or_uploaded(recording),
        shown(events.record),
        [recording, picked, page.own],
        [message, page.own, picked],
        **on_model,
    )
    recorded.then(None, None, recording, js=EMPTIED, **HIDDEN)
    spelled = typed.submit(shown(events.write), typed, [message, page.written], **on_model)
    spelled.success(shown(events.compare), inputs, [message, panel], **HIDDEN)


def _name(example: tuple[str, ...]) -> str:
    return ", ".join(example[:-1]) + f" and {example[-1]}"


def _api(events: CompareEvents) -> None:
    """The endpoint for programs, which answers in JSON."""
    with gr.Row(visible=False):
        call, similarities = gr.Button(), gr.JSON(label="similarities")
        written = gr.Textbox(label="written")
        files = gr.File(file_count="multiple", type="filepath", label="recordings")
    call.click(
        events.api_compare,
        [files, written],
        similarities,
        api_name="compare_words",
        concurrency_id=QUICK_QUEUE,
        concurrency_limit=1,
    )
