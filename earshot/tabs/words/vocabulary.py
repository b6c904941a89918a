"""Your own words: record a few as examples, then say one, and it is recognised."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import gradio as gr
import numpy as np
from markupsafe import Markup

from earshot.core.errors import InputError
from earshot.media.constants import SAMPLE_RATE
from earshot.tabs.shared.events import EMPTIED, HIDDEN, PRIVATE, QUICK_QUEUE, Update, reporting
from earshot.tabs.shared.gradio_internals import event_data
from earshot.tabs.shared.html import macro
from earshot.tabs.shared.parts import sound_input
from earshot.tabs.shared.sessions import SessionStore, delete_after_use, one_word
from earshot.tabs.words.panel import PANELS, Sounds, recorded_or_uploaded, word_panel

if TYPE_CHECKING:
    from earshot.systems.words import Spoken, Words
    from earshot.systems.words.library import WordLibrary
    from earshot.systems.words.vocabulary import Vocabulary, VocabularyMatch

# A Vocabulary or None: Gradio resolves annotations at start, and pipelines load torch.
Own = Any
MAX_SAID: Final = 20  # words in a recording
MAX_SHOWN: Final = 5  # words, the nearest
EXAMPLE: Final = ("tree", "water", "apple", "yes")  # the last is the one to recognise
MANY: Final = f"Say one word, or up to {MAX_SAID} with pauses between them."
EMPTY: Final = "<p>No words yet.</p>"
TEACH: Final = '<h3 class="step">Teach it some words</h3>'
TEACH_HINT: Final = """<p class="hint">Type a name and record the word, once to three times: any
word, any language. Nobody else can use them. The sound is deleted as soon as it is encoded, and
its vector when you leave.</p>"""
SAY: Final = '<h3 class="step">Say one of them</h3>'
SAY_HINT: Final = '<p class="hint">One word, or several with pauses between them.</p>'


@dataclass(frozen=True)
class VocabularyComponents:
    """The components that the handlers change. own: the visitor's Vocabulary; problem: the message
    next to the recorder of words to recognise."""

    message: gr.HTML
    own: gr.State
    words: gr.HTML
    forget: gr.Button
    problem: gr.HTML
    result: gr.HTML


class VocabularyEvents:
    """Handlers of the section; a visitor's vocabulary is passed in and returned. Only vectors are
    kept.
    """

    def __init__(
        self,
        pipeline: Callable[[], "Words"],
        library: Callable[[], "WordLibrary"],
        store: "SessionStore[Vocabulary]",
        components: VocabularyComponents,
    ) -> None:
        self.pipeline = pipeline
        self.library = library
        self.store = store
        self.components = components

    def first_look(self, own: Own) -> Update:
        """Show the visitor's words; while there are none, an example of the result."""
        if own and own.words:
            return {self.components.problem: "", self.components.words: taught(own)}
        library, words = self.library(), new_vocabulary()
        vectors: dict[str, list[np.ndarray]] = {spelling: [] for spelling in EXAMPLE}
        for row in library.spoken:
            if (spelling := library.words[row].spelling) in vectors:
                vectors[spelling].append(np.asarray(library.vectors[row], np.float32))
        for spelling, voices in vectors.items():
            words.add(spelling, voices[0])
        found = words.find(vectors[EXAMPLE[-1]][-1], self.pipeline().threshold)
        about = f"An example: {len(EXAMPLE)} words, and “{EXAMPLE[-1]}” in another voice."
        result = Sounds().value(Markup("<p>{}</p>{}").format(about, shown(found)))
        return {
            self.components.problem: "",
            self.components.words: taught(None),
            self.components.result: result,
        }

    def teach(
        self,
        recording: str | None,
        name: str,
        own: Own,
        request: gr.Request,
    ) -> Update:
        """Add a recording as an example of a word."""
        with delete_after_use(recording):
            own = self.store.of(own, request)
            name = own.check(name if name.strip() else _unused(own.words))
            own.add(name, one_word(self.pipeline(), recording).vector)
        return {self.components.message: "", **self._listed(own)}

    def find(self, recording: str | None, own: Own) -> Update:
        """Recognise the words of a recording."""
        with delete_after_use(recording):
            words, threshold = own or new_vocabulary(), self.pipeline().threshold
            found = [
                (spoken.start, words.find(spoken.vector, threshold))
                for spoken in self._spoken(recording)
            ]
        html = "".join(
            f"<h4>At {start:.1f} s</h4>{shown(one)}" if len(found) > 1 else shown(one)
            for start, one in found
        )
        return {self.components.problem: "", self.components.result: Sounds().value(html)}

    def remove(self, own: Own, event: gr.EventData) -> Update:
        """Remove one word."""
        if own:
            own.remove(str(event_data(event).get("word")))
        return self._listed(own)

    def forget(self, own: Own) -> Update:
        """Remove all words."""
        if own:
            own.clear()
        return self._listed(None)

    def _listed(self, own: Own) -> Update:
        delete = gr.Button(visible=bool(own and own.words))
        return {
            self.components.own: own,
            self.components.words: taught(own),
            self.components.forget: delete,
        }

    def _spoken(self, recording: str | None) -> "list[Spoken]":
        """Embed the words of a recording; several where there are pauses between them."""
        from earshot.systems.words.spoken_word import (
            CutNeededError,  # late, for pipelines load torch
        )

        pipeline = self.pipeline()
        try:
            return [pipeline.embed_audio(recording)]
        except CutNeededError as several:
            if not 1 < len(several.cuts) <= MAX_SAID:
                raise InputError(MANY) from None
            audio = (SAMPLE_RATE, several.recording)
            return [pipeline.embed_audio(audio, cut) for cut in several.cuts]


def taught(own: Own) -> dict[str, Any]:
    """List a visitor's words, as a panel's value."""
    words = own.words if own else {}
    return Sounds().value(macro(PANELS, "taught", words) if words else EMPTY)


def shown(found: "VocabularyMatch") -> Markup:
    """Show the recognised word, and a bar with the cosine of each word next to the threshold."""
    return macro(PANELS, "recognised", found, found.cosines[:MAX_SHOWN])


def new_vocabulary() -> "Vocabulary":
    """Make an empty vocabulary."""
    from earshot.systems.words.vocabulary import Vocabulary  # late, for pipelines load torch

    return Vocabulary()


def _unused(names: Mapping[str, int]) -> str:
    """Choose a name for a word that was given none."""
    numbers = range(1, len(names) + 2)
    return next(name for name in (f"word {i}" for i in numbers) if name not in names)


def vocabulary_section(
    pipeline: Callable[[], "Words"], library: Callable[[], "WordLibrary"]
) -> None:
    """Build the accordion, inside a gr.Blocks. Both functions return the same object each time."""
    store = SessionStore(new_vocabulary)
    with gr.Accordion("Your own words", open=False) as fold, gr.Row(elem_classes="room"):
        with gr.Column(scale=1, min_width=300, elem_classes="room-input"):
            gr.HTML(TEACH)
            gr.HTML(TEACH_HINT)
            name = gr.Textbox("", label="Name", placeholder="lamp", max_lines=1, max_length=40)
            example = sound_input("A word to teach")
            message = gr.HTML()
            words = word_panel("taught-words")
            forget = gr.Button("Delete my words", size="sm", visible=False)
        with gr.Column(scale=2, min_width=320, elem_classes="room-result"):
            gr.HTML(SAY)
            gr.HTML(SAY_HINT)
            said = sound_input("A word to find")
            problem = gr.HTML()
            result = word_panel("found-word")
    page = VocabularyComponents(message, store.state(), words, forget, problem, result)
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
