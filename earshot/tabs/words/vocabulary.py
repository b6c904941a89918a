"""Your own words: record a few as examples, then say one, and it is recognised."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

import gradio as gr
import numpy as np
from markupsafe import Markup

from earshot.core.errors import InputError
from earshot.media.constants import SAMPLE_RATE
from earshot.tabs.shared.events import HIDDEN, Update, empty_after, queued, reporting
from earshot.tabs.shared.gradio_internals import event_data
from earshot.tabs.shared.html import macro
from earshot.tabs.shared.parts import Section, sound_input
from earshot.tabs.shared.sessions import SessionStore, delete_after_use
from earshot.tabs.words.panel import PANELS, Sounds, one_word, recorded_or_uploaded, word_panel

if TYPE_CHECKING:
    from earshot.systems.words import Spoken, Words
    from earshot.systems.words.library import Vocabulary, VocabularyMatch, WordLibrary

# A Vocabulary or None: Gradio resolves annotations at start, and pipelines load torch.
Own = Any
MAX_SPOKEN: Final = 20  # words in a recording
MAX_LISTED: Final = 5  # words, the nearest
EXAMPLE: Final = ("tree", "water", "apple", "yes")  # the last is the one to recognise
TOO_MANY_WORDS: Final = f"Say one word, or up to {MAX_SPOKEN} with pauses between them."
EMPTY: Final = "<p>No words yet.</p>"
TEACH: Final = '<h3 class="step">Teach it some words</h3>'
TEACH_HINT: Final = """<p class="hint">Type a name and record the word, once to three times: any
word, any language. Nobody else can use them. The sound is deleted as soon as it is encoded, and
its vector when you leave.</p>"""
SAY: Final = '<h3 class="step">Say one of them</h3>'
SAY_HINT: Final = '<p class="hint">One word, or several with pauses between them.</p>'


class VocabularySection(Section):
    """The accordion, to be made inside a gr.Blocks. A visitor's vocabulary, of which only vectors
    are kept, is passed in to handlers and returned. message: next to the recorder of what it is
    taught; problem: next to that of what it recognises.
    """

    def __init__(
        self, pipeline: Callable[[], "Words"], library: Callable[[], "WordLibrary"]
    ) -> None:
        """Lay it out. Both functions return the same object each time."""
        self.pipeline, self.library = pipeline, library
        self.store = SessionStore(new_vocabulary)
        with gr.Accordion("Your own words", open=False) as fold, gr.Row(elem_classes="room"):
            with gr.Column(scale=1, min_width=300, elem_classes="room-input"):
                gr.HTML(TEACH)
                gr.HTML(TEACH_HINT)
                name = gr.Textbox("", label="Name", placeholder="lamp", max_lines=1, max_length=40)
                example = sound_input("A word to teach")
                self.message = gr.HTML()
                self.words = word_panel("taught-words")
                self.delete = gr.Button("Delete my words", size="sm", visible=False)
            with gr.Column(scale=2, min_width=320, elem_classes="room-result"):
                gr.HTML(SAY)
                gr.HTML(SAY_HINT)
                recording = sound_input("A word to find")
                self.problem = gr.HTML()
                self.result = word_panel("found-word")
        self.own = self.store.state()
        listing, answer = [self.own, self.words, self.delete], [self.problem, self.result]
        first_look = reporting(self.first_look, self.problem)
        fold.expand(first_look, self.own, [self.problem, self.words, self.result], **HIDDEN)
        taught = self.on(
            recorded_or_uploaded(example),
            self.teach,
            [example, name, self.own],
            [self.message, *listing],
            **queued(self.words),
        )
        recognised = gr.on(
            recorded_or_uploaded(recording),
            reporting(self.find, self.problem),
            [recording, self.own],
            answer,
            **queued(self.result),
        )
        empty_after(taught, example)
        empty_after(recognised, recording)
        self.words.edit(self.remove, self.own, listing, **HIDDEN)
        self.delete.click(self.forget, self.own, listing, **HIDDEN)

    def first_look(self, own: Own) -> Update:
        """Show the visitor's words; while there are none, an example of the result."""
        if own and own.words:
            return {self.problem: "", self.words: word_list(own)}
        library, words = self.library(), new_vocabulary()
        vectors: dict[str, list[np.ndarray]] = {spelling: [] for spelling in EXAMPLE}
        for row in library.spoken:
            if (spelling := library.words[row].spelling) in vectors:
                vectors[spelling].append(np.asarray(library.vectors[row], np.float32))
        for spelling, voices in vectors.items():
            words.add(spelling, voices[0])
        match = words.find(vectors[EXAMPLE[-1]][-1], self.pipeline().threshold)
        about = f"An example: {len(EXAMPLE)} words, and “{EXAMPLE[-1]}” in another voice."
        result = Sounds().value(Markup("<p>{}</p>{}").format(about, match_html(match)))
        return {self.problem: "", self.words: word_list(None), self.result: result}

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
        return {self.message: "", **self._listed(own)}

    def find(self, recording: str | None, own: Own) -> Update:
        """Recognise the words of a recording."""
        with delete_after_use(recording):
            words, threshold = own or new_vocabulary(), self.pipeline().threshold
            matches = [
                (spoken.start, words.find(spoken.vector, threshold))
                for spoken in self._spoken(recording)
            ]
        several = len(matches) > 1
        html = "".join(
            f"<h4>At {start:.1f} s</h4>{match_html(match)}" if several else match_html(match)
            for start, match in matches
        )
        return {self.problem: "", self.result: Sounds().value(html)}

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
        button = gr.Button(visible=bool(own and own.words))
        return {self.own: own, self.words: word_list(own), self.delete: button}

    def _spoken(self, recording: str | None) -> "list[Spoken]":
        """Embed the words of a recording; several where there are pauses between them."""
        from earshot.systems.words.spoken_word import CutNeededError  # late: torch

        pipeline = self.pipeline()
        try:
            return [pipeline.embed_audio(recording)]
        except CutNeededError as several:
            if not 1 < len(several.cuts) <= MAX_SPOKEN:
                raise InputError(TOO_MANY_WORDS) from None
            audio = (SAMPLE_RATE, several.recording)
            return [pipeline.embed_audio(audio, cut) for cut in several.cuts]


def word_list(own: Own) -> dict[str, Any]:
    """List a visitor's words, as a panel's value."""
    words = own.words if own else {}
    return Sounds().value(macro(PANELS, "taught", words) if words else EMPTY)


def match_html(match: "VocabularyMatch") -> Markup:
    """Show the recognised word, and a bar with the cosine of each word next to the threshold."""
    return macro(PANELS, "recognised", match, match.cosines[:MAX_LISTED])


def new_vocabulary() -> "Vocabulary":
    """Make an empty vocabulary."""
    from earshot.systems.words.library import Vocabulary  # late, for pipelines load torch

    return Vocabulary()


def _unused(names: Mapping[str, int]) -> str:
    """Choose a name for a word that was given none."""
    numbers = range(1, len(names) + 2)
    return next(name for name in (f"word {i}" for i in numbers) if name not in names)
