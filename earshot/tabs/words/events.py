"""The event handlers of the words tab. Each returns {component: value}."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import gradio as gr
import numpy as np
from gradio.components import Component

from earshot.core.errors import InputError
from earshot.tabs.components.map import Chart, show
from earshot.tabs.shared.events import Update, say
from earshot.tabs.shared.gradio_internals import event_data
from earshot.tabs.words.cut import RATE, cut_value
from earshot.tabs.words.map import word_chart
from earshot.tabs.words.view import Query, view_of

if TYPE_CHECKING:
    from earshot.systems.words import Spoken, Words
    from earshot.systems.words.library import WordLibrary

NOTHING: Final = "Say a word into the microphone, or type one."
GONE: Final = "This word is no longer in the library. Choose another."
EXAMPLE: Final = "sheep"  # the word that is shown first


@dataclass(frozen=True)
class WordComponents:
    """The components that the handlers change. query: a Query, what the result is about; recorded:
    the waveform that the cut belongs to."""

    message: gr.HTML
    query: gr.State
    found: gr.HTML
    chart: gr.HTML
    neighbours: gr.HTML
    cut: gr.HTML
    recorded: gr.State
    text: gr.Textbox
    recording: gr.Audio

    @property
    def result(self) -> list[Component]:
        """List the components that show a query's neighbours."""
        return [self.query, self.found, self.chart, self.neighbours]

    @property
    def all(self) -> list[Component]:
        """List all components."""
        return [*vars(self).values()]


class WordEvents:
    """Handlers of the tab; the layout wraps them with ``reporting``, which shows their errors."""

    def __init__(
        self,
        pipeline: Callable[[], "Words"],
        library: Callable[[], "WordLibrary"],
        components: WordComponents,
    ) -> None:
        self.pipeline = pipeline
        self.library = library
        self.components = components

    def first_look(self) -> Update:
        """Draw the map, with a word of the library as the example that is shown first."""
        library = self.library()
        example = next((w for w in library.words if w.spelling == EXAMPLE), library.words[0])
        return self._result(self._of_library(example.id), word_chart(library))

    def record(
        self,
        recording: str | None,
        progress: gr.Progress = gr.Progress(),  # noqa: B008  (how Gradio asks for it)
    ) -> Update:
        """Show a recording's word, or where there are several, a cut to choose one."""
        progress(0.3, desc="Analysing")
        from earshot.systems.words.spoken_word import CutNeededError  # late, for it loads librosa

        try:
            spoken = self.pipeline().embed_audio(recording)
        except CutNeededError as error:
            return {
                self.components.message: say(str(error), "error"),
                self.components.cut: cut_value(error.recording, *error.proposed, used=False),
                self.components.recorded: error.recording,
                self.components.text: "",
            }
        return {**self._spoken(spoken), self.components.text: ""}

    def recut(self, recorded: np.ndarray | None, event: gr.EventData) -> Update:
        """Show another part of the same recording."""
        if recorded is None:
            raise InputError(NOTHING)
        start, end = (_seconds(event_data(event).get(name)) for name in ("start", "end"))
        return self._spoken(self.pipeline().embed_audio((RATE, recorded), (start, end)))

    def search(
        self,
        text: str,
        recording: str | None,
        progress: gr.Progress = gr.Progress(),  # noqa: B008
    ) -> Update:
        """Show the typed word, or else the recording."""
        if text.strip():
            return self._typed(text)
        if recording is None:
            raise InputError(NOTHING)
        return self.record(recording, progress)

    def choose(self, past: Query | None, event: gr.EventData) -> Update:
        """Show a point of the map, a neighbour, one of the recognised words, or the visitor's own
        word again. What the visitor said or typed stays."""
        data = event_data(event)
        word = str(data.get("word", data.get("id")))
        if data.get("action") == "type":
            return self._typed(word)
        if data.get("action") == "back":
            if past is None or past.own is None:
                raise InputError(GONE)
            return self._result(past.own)
        return self._result(self._of_library(word).after(past))

    def _typed(self, text: str) -> Update:
        query, page = Query.typed(self.pipeline().embed_text(text)), self.components
        emptied = {page.cut: "", page.recorded: None, page.recording: None}
        return {**self._result(query), **emptied, page.text: text}

    def _of_library(self, id: str) -> Query:
        query = Query.stored(self.library(), id)
        if query is None:
            raise InputError(GONE)
        return query

    def _spoken(self, spoken: "Spoken") -> Update:
        query = Query.spoken(spoken, self.pipeline().guess(self.library(), spoken))
        return {
            **self._result(query),
            self.components.message: say(" ".join(spoken.notices)),
            self.components.cut: cut_value(spoken.waveform, spoken.start, spoken.end),
            self.components.recorded: spoken.waveform,
        }

    def _result(self, query: Query, chart: Chart | None = None) -> Update:
        """Show a query's neighbours. chart: the map, where the page does not have it yet."""
        view = view_of(query, self.pipeline(), self.library())
        return {
            self.components.message: "",
            self.components.query: view.query,
            self.components.found: view.found,
            self.components.chart: show(view.marker, chart),
            self.components.neighbours: view.neighbours,
        }


def _seconds(value: object) -> float:
    """Read a number from the page; NaN, which no cut accepts, where it is none."""
    return float(value) if isinstance(value, int | float) else math.nan
