"""Your own words: record a few as examples, then say one, and it is recognised."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import gradio as gr

from earshot.tabs.shared.events import EMPTIED, HIDDEN, PRIVATE, QUICK_QUEUE, reporting
from earshot.tabs.shared.sessions import SessionStore
from earshot.tabs.words.panel import recorded_or_uploaded, word_panel, word_recorder
from earshot.tabs.words.vocabulary_events import VocabularyEvents, VocabularyPage, new_vocabulary

if TYPE_CHECKING:
    from earshot.pipelines.words import Words
    from earshot.pipelines.words.library import WordLibrary

TEACH: Final = '<h3 class="step">Teach it some words</h3>'
TEACH_HINT: Final = """<p class="hint">Type a name and record the word, once to three times: any
word, any language. Nobody else can use them. The sound is deleted as soon as it is encoded, and
its vector when you leave.</p>"""
SAY: Final = '<h3 class="step">Say one of them</h3>'
SAY_HINT: Final = '<p class="hint">One word, or several with pauses between them.</p>'


def vocabulary_section(
    pipeline: Callable[[], "Words"], library: Callable[[], "WordLibrary"]
) -> None:
    """The accordion, inside a gr.Blocks. Both functions return the same object each time."""
    store = SessionStore(new_vocabulary)
    with gr.Accordion("Your own words", open=False) as fold, gr.Row(elem_classes="room"):
        with gr.Column(scale=1, min_width=300, elem_classes="room-input"):
            gr.HTML(TEACH)
            gr.HTML(TEACH_HINT)
            name = gr.Textbox("", label="Name", placeholder="lamp", max_lines=1, max_length=40)
            example = word_recorder("A word to teach")
            message = gr.HTML()
            words = word_panel("taught-words")
            forget = gr.Button("Delete my words", size="sm", visible=False)
        with gr.Column(scale=2, min_width=320, elem_classes="room-result"):
            gr.HTML(SAY)
            gr.HTML(SAY_HINT)
            said = word_recorder("A word to find")
            problem = gr.HTML()
            result = word_panel("found-word")
    page = VocabularyPage(message, store.state(), words, forget, problem, result)
    events = VocabularyEvents(pipeline, library, store, page)
    own = page.own
    on_model: dict[str, Any] = {
        "concurrency_id": QUICK_QUEUE,
        "concurrency_limit": 1,
        **PRIVATE,
    }
    fold.expand(reporting(events.first_look, problem), own, [problem, words, result], **HIDDEN)
    taught = gr.on(
        recorded_or_uploaded(example),
        reporting(events.teach, message),
        [example, name, own],
        [message, own, words, forget],
        show_progress_on=words,
        **on_model,
    )
    taught.then(None, None, example, js=EMPTIED, **HIDDEN)
    found = gr.on(
        recorded_or_uploaded(said),
        reporting(events.find, problem),
        [said, own],
        [problem, result],
        show_progress_on=result,
        **on_model,
    )
    found.then(None, None, said, js=EMPTIED, **HIDDEN)
    words.edit(events.remove, own, [own, words, forget], **HIDDEN)
    forget.click(events.forget, own, [own, words, forget], **HIDDEN)
