"""Compare: a few spoken words → how alike they are, by the networks and by the old way."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import gradio as gr

from tabs.shared.events import EMPTIED, HIDDEN, QUICK_QUEUE
from tabs.words.compare_events import EXAMPLES, FEWEST, MOST, CompareEvents
from tabs.words.panel import given, word_panel, word_recorder

if TYPE_CHECKING:
    from pipelines.words import Words
    from pipelines.words.library import WordLibrary

HINT: Final = f"""<p class="hint">Pick {FEWEST} to {MOST} words, or say some. Each is set against
every other: bright is alike, dark is not. A click on a word plays it, and on a number both.</p>"""


def compare_section(pipeline: Callable[[], "Words"], library: Callable[[], "WordLibrary"]) -> None:
    """The fold, inside a gr.Blocks. Both functions give the same object again and again."""
    events = CompareEvents(pipeline, library)
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
    mine = events.visits.state()
    written = gr.State((), time_to_live=3600)
    shown = [message, panel]
    on_model: dict[str, Any] = {
        "concurrency_id": QUICK_QUEUE,
        "concurrency_limit": 1,
        "show_progress_on": panel,
        "api_visibility": "private",
    }

    _api(events)
    fold.expand(events.first_look, [picked, mine], picked, **HIDDEN)
    picked.change(events.compare, [picked, mine, written], shown, **HIDDEN)
    for chip, example in zip(chips, EXAMPLES, strict=True):
        chip.click(lambda e=example: events.example(*e), None, picked, **HIDDEN)
    said = gr.on(
        given(recording),
        events.record,
        [recording, picked, mine],
        [message, mine, picked],
        **on_model,
    )
    said.then(None, None, recording, js=EMPTIED, **HIDDEN)
    spelled = typed.submit(events.write, typed, [message, written], **on_model)
    spelled.success(events.compare, [picked, mine, written], shown, **HIDDEN)


def _name(example: tuple[str, ...]) -> str:
    return ", ".join(example[:-1]) + f" and {example[-1]}"


def _api(events: CompareEvents) -> None:
    """The endpoint for programs, which answers in JSON."""
    with gr.Row(visible=False):
        call, answer, written = gr.Button(), gr.JSON(), gr.Textbox(label="written")
        files = gr.File(file_count="multiple", type="filepath", label="recordings")
    call.click(
        events.api_compare,
        [files, written],
        answer,
        api_name="compare_words",
        concurrency_id=QUICK_QUEUE,
        concurrency_limit=1,
    )
