"""The event handlers of the words tab. Each returns {component: value}."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import gradio as gr
import numpy as np
from gradio.components import Component

from earshot.core.errors import InputError
from earshot.tabs.shared.events import say
from earshot.tabs.shared.gradio_internals import event_data
from earshot.tabs.words.cut import RATE, cut_value
from earshot.tabs.words.map import Layout
from earshot.tabs.words.view import Query, view_of

if TYPE_CHECKING:
    from earshot.pipelines.words import Spoken, Words
    from earshot.pipelines.words.library import WordLibrary

NOTHING: Final = "Say a word into the microphone, or type one."
GONE: Final = "This word is no longer in the library. Choose another."
EXAMPLE: Final = "sheep"  # the word that is shown first

Update = dict[Component, Any]


@dataclass(frozen=True)
class WordPage:
    """The components that the handlers change. query: a Query, what the result is about; recorded:
    the waveform that the cut belongs to."""

    message: gr.HTML
    query: gr.State
    found: gr.HTML
    chart: gr.HTML
    neighbours: gr.HTML
    trustworthiness: gr.HTML
    cut: gr.HTML
    recorded: gr.State
    text: gr.Textbox
    recording: gr.Audio

    @property
    def result(self) -> list[Component]:
        """Those that show a query's neighbours."""
        return [self.query, self.found, self.chart, self.neighbours, self.trustworthiness]

    @property
    def all(self) -> list[Component]:
        """All of them."""
        return [*vars(self).values()]


class WordEvents:
    """Handlers; the layout wraps them with ``reporting``, which shows their errors."""

    def __init__(
        self,
        pipeline: Callable[[], "Words"],
        library: Callable[[], "WordLibrary"],
        page: WordPage,
    ) -> None:
        self.pipeline = pipeline
        self.library = library
        self.page = page

    def first_look(self, layout: Layout, color: str) -> Update:
        """A word of the library, as the example that is shown first."""
        words = self.library().words
        example = next((word for word in words if word.spelling == EXAMPLE), words[0])
        return self._stored(example.id, None, layout, color)

    def record(
        self,
        past: Query | None,
        recording: str | None,
        layout: Layout,
        color: str,
        progress: gr.Progress = gr.Progress(),  # noqa: B008  (how Gradio asks for it)
    ) -> Update:
        """A recording: its word, or where there are several, a cut to choose one."""
        progress(0.3, desc="Analysing")
        from earshot.pipelines.words.spoken_word import CutNeededError  # late, for it loads librosa

        try:
            spoken = self.pipeline().embed_audio(recording)
        except CutNeededError as error:
            return {
                self.page.message: say(str(error), "error"),
                self.page.cut: cut_value(error.recording, *error.proposed, used=False),
                self.page.recorded: error.recording,
                self.page.text: "",
            }
        return {**self._spoken(spoken, past, layout, color), self.page.text: ""}

    def recut(
        self,
        past: Query | None,
        recorded: np.ndarray | None,
        layout: Layout,
        color: str,
        event: gr.EventData,
    ) -> Update:
        """Another part of the same recording."""
        if recorded is None:
            raise InputError(NOTHING)
        start, end = (_seconds(event_data(event).get(name)) for name in ("start", "end"))
        spoken = self.pipeline().embed_audio((RATE, recorded), (start, end))
        return self._spoken(spoken, past, layout, color)

    def search(
        self,
        past: Query | None,
        text: str,
        recording: str | None,
        layout: Layout,
        color: str,
        progress: gr.Progress = gr.Progress(),  # noqa: B008
    ) -> Update:
        """The typed word, or else the recording."""
        if text.strip():
            return self._typed(text, past, layout, color)
        if recording is None:
            raise InputError(NOTHING)
        return self.record(past, recording, layout, color, progress)

    def choose(self, past: Query | None, layout: Layout, color: str, event: gr.EventData) -> Update:
        """A point of the map, a neighbour, or one of the recognised words."""
        data = event_data(event)
        word = str(data.get("word", data.get("id")))
        if data.get("action") == "type":
            return self._typed(word, past, layout, color)
        return self._stored(word, past, layout, color)

    def redraw(self, past: Query | None, layout: Layout, color: str) -> Update:
        """The map in another layout or with other colours."""
        if past is None:
            return {self.page.message: gr.skip()}
        return self._result(past, None, layout, color)

    def _typed(self, text: str, past: Query | None, layout: Layout, color: str) -> Update:
        query = Query.typed(self.pipeline().embed_text(text))
        return {**self._result(query, past, layout, color), **self._inputs(text)}

    def _stored(self, id: str, past: Query | None, layout: Layout, color: str) -> Update:
        query = Query.stored(self.library(), id)
        if query is None:
            raise InputError(GONE)
        return {**self._result(query, past, layout, color), **self._inputs("")}

    def _spoken(self, spoken: "Spoken", past: Query | None, layout: Layout, color: str) -> Update:
        query = Query.spoken(spoken, self.pipeline().guess(self.library(), spoken))
        return {
            **self._result(query, past, layout, color),
            self.page.cut: cut_value(spoken.waveform, spoken.start, spoken.end),
            self.page.recorded: spoken.waveform,
        }

    def _inputs(self, text: str) -> Update:
        """Empties the inputs, but for the text."""
        page = self.page
        return {page.cut: "", page.recorded: None, page.text: text, page.recording: None}

    def _result(self, query: Query, past: Query | None, layout: Layout, color: str) -> Update:
        """past: the query before, whose map may still be shown."""
        if past:
            query = query.on_the_map_of(past)
        view = view_of(query, self.pipeline(), self.library(), layout, color)
        return {
            self.page.message: "",
            self.page.query: view.query,
            self.page.found: view.found,
            self.page.chart: view.chart,
            self.page.neighbours: view.neighbours,
            self.page.trustworthiness: view.trustworthiness,
        }


def _seconds(value: object) -> float:
    """A number from the page; NaN, which no cut accepts, where it is none."""
    return float(value) if isinstance(value, int | float) else math.nan
