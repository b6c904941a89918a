"""The handlers of the words tab: of its events, which return {component: value}, and of the
endpoints for programs, which answer in JSON.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import gradio as gr
import numpy as np
from gradio.components import Component

from earshot.core.errors import InputError
from earshot.tabs.components.map import Chart, show
from earshot.tabs.components.timeline import File
from earshot.tabs.shared.events import LONG_QUEUE, Update, answering, offer, say
from earshot.tabs.shared.gradio_internals import event_data
from earshot.tabs.words.panel import RATE, cut_value
from earshot.tabs.words.view import LIMIT, SPOKEN, WRITTEN, Query, view_of, word_chart

if TYPE_CHECKING:
    from earshot.systems.words import Spoken, Words
    from earshot.systems.words.library import WordLibrary

NO_WORD: Final = "Say a word into the microphone, or type one."
GONE: Final = "This word is no longer in the library. Choose another."
EXAMPLE: Final = "sheep"  # the word that is shown first
MAX_NEIGHBOURS: Final = 100
MAX_FILES: Final = 200


@dataclass(frozen=True)
class WordComponents:
    """The components that the handlers change. query: a Query, what the result is about; recorded:
    the waveform that the cut belongs to."""

    message: gr.HTML
    query: gr.State
    heading: gr.HTML
    chart: gr.HTML
    neighbours: gr.HTML
    cut: gr.HTML
    recorded: gr.State
    text: gr.Textbox
    recording: gr.Audio

    @property
    def result(self) -> list[Component]:
        """List the components that show a query's neighbours."""
        return [self.query, self.heading, self.chart, self.neighbours]

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
            raise InputError(NO_WORD)
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
            raise InputError(NO_WORD)
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
            self.components.heading: view.heading,
            self.components.chart: show(view.marker, chart),
            self.components.neighbours: view.neighbours,
        }


def _seconds(value: object) -> float:
    """Read a number from the page; NaN, which no cut accepts, where it is none."""
    return float(value) if isinstance(value, int | float) else math.nan


class WordAPI:
    """The handlers of the endpoints."""

    def __init__(
        self, pipeline: Callable[[], "Words"], library: Callable[[], "WordLibrary"]
    ) -> None:
        self.pipeline = pipeline
        self.library = library

    def declare(self, recording: gr.Audio, text: gr.Textbox) -> None:
        """Declare the endpoints inside a gr.Blocks, with the tab's inputs as parameters."""
        with gr.Row(visible=False):
            call = gr.Button()
            embedding, neighbours = gr.JSON(label="embedding"), gr.JSON(label="neighbours")
            vector = gr.JSON(label="vector")
            view = gr.Textbox("spoken", label="view")
            limit = gr.Number(10, label="limit")
            files = gr.File(file_count="multiple", type="filepath", label="recordings")
            table = gr.File(label="table")
        offer(call, self.embed_audio, recording, embedding)
        offer(call, self.embed_text, text, embedding)
        offer(call, self.embed_words, files, table, LONG_QUEUE)
        offer(call, self.nearest, [vector, view, limit], neighbours)

    @answering
    def embed_audio(self, audio: str) -> dict[str, Any]:
        """Embed a recording of one word or short phrase.

        Args:
            audio: An audio file, up to 60 s, with one word of at most 3 s in it.

        Returns:
            embedding: {"vector": the unit vector, a list of D numbers, "start" and "end": the
            detected word in seconds, "notices": sentences about the recording}.
        """
        spoken = self.pipeline().embed_audio(audio)
        return {
            "vector": _rounded(spoken.vector),
            "start": spoken.start,
            "end": spoken.end,
            "notices": list(spoken.notices),
        }

    @answering
    def embed_text(self, text: str | None) -> dict[str, Any]:
        """Embed a written word or short phrase.

        Args:
            text: English spelling, Chinese, Arabic, IPA between slashes, ARPAbet or pinyin with
                tone numbers.

        Returns:
            embedding: {"vector": the unit vector, a list of D numbers, "phonemes": in IPA,
            "source": "dictionary", "guess" (predicted by a network), "IPA", "ARPAbet", "pinyin",
            "Chinese", "Arabic" or "Arabic guess" (without written vowels)}.
        """
        written = self.pipeline().embed_text(text or "")
        pronunciation = written.pronunciation
        return {
            "vector": _rounded(written.vector),
            "phonemes": list(pronunciation.phonemes),
            "source": pronunciation.source,
        }

    @answering
    def embed_words(self, recordings: list[str] | None) -> str:
        """Embed many recordings of one word each.

        Args:
            recordings: At most 200 audio files, with one word of at most 3 s in each.

        Returns:
            table: A CSV, a row a file: where its word starts and ends in seconds, the five nearest
            written words with their cosines, why it could not be used, notices, and its vector.
        """
        from earshot.exports.words import embed_files, embeddings_csv  # late, for it loads torch

        if not recordings:
            raise InputError("There are no recordings. Send some files with a word in each.")
        if len(recordings) > MAX_FILES:
            raise InputError(f"These are {len(recordings)} files. Send {MAX_FILES} at most.")
        rows = embed_files(self.pipeline(), self.library(), recordings)
        return File("words", "words.csv", embeddings_csv(rows).encode("utf-8-sig")).data()["path"]

    @answering
    def nearest(
        self, vector: Sequence[float], view: str = SPOKEN, limit: float | None = LIMIT
    ) -> list[dict[str, Any]]:
        """Find the words of the library with the highest cosine to a vector.

        Args:
            vector: A vector from embed_audio or embed_text.
            view: "spoken" or "written" words.
            limit: How many, from 1 to 100.

        Returns:
            neighbours: A list, best first, of {"word": its spelling, "phonemes": in IPA,
            "language", "voice": null for written words, "cosine": from -1 to 1}.
        """
        library = self.library()
        if view not in (SPOKEN, WRITTEN):
            raise InputError(f"The view is “{SPOKEN}” or “{WRITTEN}”.")
        query = _unit_vector(vector, library.vectors.shape[1])
        neighbours = self.pipeline().nearest(library, query, view, _count(limit))
        return [
            {
                "word": neighbour.word.spelling,
                "phonemes": list(neighbour.word.phonemes),
                "language": neighbour.word.language,
                "voice": neighbour.word.voice,
                "cosine": neighbour.cosine,
            }
            for neighbour in neighbours
        ]


def _rounded(vector: np.ndarray) -> list[float]:
    return [round(float(number), 5) for number in vector]


def _count(limit: object) -> int:
    """Read how many neighbours a program asks for, from 1 to MAX_NEIGHBOURS.

    Raises InputError for what is no number, which Gradio lets through.
    """
    try:
        return int(min(max(limit, 1), MAX_NEIGHBOURS))  # type: ignore[type-var]
    except (TypeError, ValueError) as error:
        raise InputError(f"The limit is a number from 1 to {MAX_NEIGHBOURS}.") from error


def _unit_vector(numbers: Sequence[float], dimensions: int) -> np.ndarray:
    """Scale a vector from a program to unit length, float32 (D,). Raises InputError if it cannot be
    one.
    """
    try:
        vector = np.array(numbers, np.float32)
    except (TypeError, ValueError, OverflowError):  # an integer beyond all floats
        vector = np.empty(0)
    length = float(np.linalg.norm(vector))
    if vector.shape != (dimensions,) or not math.isfinite(length) or length == 0:
        raise InputError(f"A vector is a list of {dimensions} numbers that are not all 0.")
    return vector / length
