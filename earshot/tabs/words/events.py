"""What the words tab does first, find the neighbours of a word, and the endpoints for programs,
which answer in JSON. A hundred of its lines describe these to programs.
"""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Final

import gradio as gr
import numpy as np

from earshot.core.errors import InputError
from earshot.core.loading import once
from earshot.core.paths import CHECKPOINTS
from earshot.tabs.components.map import Chart, show, sound_map
from earshot.tabs.components.timeline import TEMPLATE, File
from earshot.tabs.shared.events import (
    HIDDEN,
    LAST,
    LONG_QUEUE,
    QUICK_QUEUE,
    Update,
    answering,
    offer,
    queued,
    say,
)
from earshot.tabs.shared.gradio_internals import event_data
from earshot.tabs.shared.parts import Section, chips, main_button, query_input, sound_input
from earshot.tabs.shared.services import Drafts
from earshot.tabs.words.panel import RATE, SCRIPT, cut_value, recorded_or_uploaded, word_cut
from earshot.tabs.words.view import (
    MAX_NEAREST,
    SPOKEN,
    WRITTEN,
    Query,
    draft_item,
    typed_before,
    view_of,
    word_chart,
)

if TYPE_CHECKING:
    from earshot.systems.words import Spoken, Words
    from earshot.systems.words.library import WordLibrary

NO_WORD: Final = "Say a word into the microphone, or type one."
GONE: Final = "This word is no longer in the library. Choose another."
EXAMPLES: Final = ("speech", "onomatopoeia", "snorkelish", "/ʃɪp/", "北京", "سلام")
SEED: Final = 2026  # draws the recordings that are shown, so that nobody chose those that suit us
EXAMPLE_SOUNDS: Final = 4
STEP: Final = '<h3 class="step">Say a word <span>up to 3 s</span></h3>'
TYPE: Final = '<h3 class="step">Or type one <span>any spelling</span></h3>'
HINT: Final = """<p class="hint">In English, Chinese or Arabic; or as IPA between slashes, as
ARPAbet (K AE T), as pinyin with tones (bei3 jing1).{}</p>"""
LANGUAGES: Final = {"en": "English", "zh": "Mandarin", "ar": "Arabic"}
UNRECORDED: Final = " Of words that it was never trained on, it recognises {} (among 96)."
MAX_NEIGHBOURS: Final = 100
MAX_FILES: Final = 200


def unrecorded(checkpoint: Path) -> str:
    """Write how often a word that was not trained on is recognised in each language, by the
    checkpoint's metrics; nothing where they have no such figures."""
    try:
        metrics = json.loads((checkpoint / "metrics.json").read_text(encoding="utf-8"))
        unseen = metrics["unseen_p_at_1"]
        shares = [f"{unseen[code]:.0%} in {name}" for code, name in LANGUAGES.items()]
    except (OSError, ValueError, LookupError):
        return ""
    return UNRECORDED.format(f"{', '.join(shares[:-1])} and {shares[-1]}")


class WordSection(Section):
    """A word of the visitor's, said or typed, and its neighbours.

    query: a Query, what the result is about; recorded: the waveform that the cut belongs to.
    """

    def __init__(
        self,
        pipeline: Callable[[], "Words"],
        library: Callable[[], "WordLibrary"],
        sounds: Path,
        drafts: Drafts | None,
    ) -> None:
        """Lay it out. sounds: the folder of the library's; drafts: of listening tests."""
        self.pipeline, self.library = pipeline, library
        self.map_of_library = once(lambda: word_chart(library()))
        self.query = gr.State(None, time_to_live=3600)
        self.recorded = gr.State(None, time_to_live=3600)
        with gr.Row(elem_classes="room"):
            with gr.Column(min_width=280, elem_classes="room-input"):
                gr.HTML(STEP)
                self.recording = sound_input("A word, up to 3 s")
                self.recordings = _recorded_chips(sounds)
                self.cut = word_cut()
            with gr.Column(min_width=280, elem_classes="room-input"):
                gr.HTML(TYPE)
                with gr.Row(elem_classes="type-a-word"):
                    self.text = query_input("Type a word", EXAMPLES[0], max_lines=1)
                    self.find, self.stop = main_button("Find its place")
                self.examples = list(zip(chips(EXAMPLES), EXAMPLES, strict=True))
                gr.HTML(HINT.format(unrecorded(CHECKPOINTS / "words")))
            with gr.Column(min_width=280, elem_classes="room-result"):
                self.message = gr.HTML()
                self.heading = _panel("word-found")
                if drafts:
                    drafts.button(self.query, lambda word: draft_item(word, library()))

    def lay_out_neighbours(self) -> None:
        """Lay out the map and the lists of the nearest words, which are as wide as the page."""
        self.chart = sound_map("word-map")
        self.neighbours = _panel("word-near")

    def wire(self, opened: Callable) -> None:
        """Connect the components to their handlers. opened: listens for the tab's first opening."""
        result = [self.query, self.heading, self.chart, self.neighbours]
        outputs = [self.message, *result, self.cut, self.recorded, self.text, self.recording]
        job: dict[str, Any] = {"progress_on": self.heading, "start": self.find, "stop": self.stop}
        job["queue"] = QUICK_QUEUE
        # Made once, for it is the same for every visit.
        self.on(opened, cache(self.first_look), None, [self.message, *result])
        recordings: list[Callable] = recorded_or_uploaded(self.recording)
        for chip, path in self.recordings:
            recordings.append(chip.click(path.read_bytes, None, self.recording, **HIDDEN).then)
        for trigger in recordings:
            self.on_model(trigger, self.record, [self.recording, self.query], outputs, **job)
        queries: list[Callable] = [self.find.click, self.text.submit]
        for chip, word in self.examples:
            queries.append(chip.click(lambda w=word: w, None, self.text, **HIDDEN).then)
        for trigger in queries:
            inputs = [self.text, self.recording, self.query]
            self.on_model(trigger, self.search, inputs, outputs, **job)
        # Not as jobs, which run after another event, and are not told the event's data.
        cut = [self.recorded, self.query]
        self.on(self.cut.submit, self.recut, cut, outputs, **queued(self.heading), **LAST)
        for choice in (self.chart.submit, self.neighbours.edit, self.heading.edit):
            self.on(choice, self.choose, self.query, outputs, **queued(), **LAST)

    def first_look(self) -> Update:
        """Draw the map, with a word of the library as the example that is shown first."""
        library = self.library()
        spoken = [word for word in library.words if word.voice] or library.words
        example = Random(SEED).choice(spoken)
        return self._result(self._of_library(example.id), self.map_of_library())

    def record(
        self,
        recording: str | None,
        past: Query | None,
        progress: gr.Progress = gr.Progress(),  # noqa: B008  (how Gradio asks for it)
    ) -> Update:
        """Show a recording's word, or where there are several, a cut to choose one."""
        progress(0.3, desc="Analysing")
        from earshot.systems.words.spoken_word import CutNeededError  # late, for it loads librosa

        try:
            spoken = self.pipeline().embed_audio(recording)
        except CutNeededError as error:
            return {
                self.message: say(str(error), "error"),
                self.cut: cut_value(error.recording, *error.proposed, used=False),
                self.recorded: error.recording,
                self.text: "",
            }
        return {**self._spoken(spoken, past), self.text: ""}

    def recut(self, recorded: np.ndarray | None, past: Query | None, event: gr.EventData) -> Update:
        """Show another part of the same recording."""
        if recorded is None:
            raise InputError(NO_WORD)
        start, end = (_seconds(event_data(event).get(name)) for name in ("start", "end"))
        return self._spoken(self.pipeline().embed_audio((RATE, recorded), (start, end)), past)

    def search(
        self,
        text: str,
        recording: str | None,
        past: Query | None,
        progress: gr.Progress = gr.Progress(),  # noqa: B008
    ) -> Update:
        """Show the typed word, or else the recording."""
        if text.strip():
            return self._show_typed(text, past)
        if recording is None:
            raise InputError(NO_WORD)
        return self.record(recording, past, progress)

    def choose(self, past: Query | None, event: gr.EventData) -> Update:
        """Show a point of the map, a neighbour, one of the recognised words, or the visitor's own
        word again. What the visitor said or typed stays."""
        data = event_data(event)
        word = str(data.get("word", data.get("id")))
        if data.get("action") == "type":
            return self._show_typed(word, past)
        if data.get("action") == "back":
            if past is None or past.own is None:
                raise InputError(GONE)
            return self._result(replace(past.own, typed_words=typed_before(past)))
        return self._result(self._of_library(word).after(past))

    def _show_typed(self, text: str, past: Query | None) -> Update:
        query = Query.typed(self.pipeline().embed_text(text), past)
        emptied = {self.cut: "", self.recorded: None, self.recording: None}
        return {**self._result(query), **emptied, self.text: text}

    def _of_library(self, id: str) -> Query:
        query = Query.stored(self.library(), id)
        if query is None:
            raise InputError(GONE)
        return query

    def _spoken(self, spoken: "Spoken", past: Query | None) -> Update:
        guesses = self.pipeline().guess(self.library(), spoken, typed_before(past))
        query = Query.spoken(spoken, guesses, past)
        return {
            **self._result(query),
            self.message: say(" ".join(spoken.notices)),
            self.cut: cut_value(spoken.waveform, spoken.start, spoken.end),
            self.recorded: spoken.waveform,
        }

    def _result(self, query: Query, chart: Chart | None = None) -> Update:
        """Show a query's neighbours. chart: the map, where the page does not have it yet."""
        view = view_of(query, self.pipeline(), self.library())
        return {
            self.message: "",
            self.query: view.query,
            self.heading: view.heading,
            self.chart: show(view.marker, chart),
            self.neighbours: view.neighbours,
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
            "source": "dictionary", "name", "guess" (predicted by a network), "IPA", "ARPAbet",
            "pinyin", "Chinese", "Arabic" or "Arabic guess" (without written vowels)}.
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
        self, vector: Sequence[float], view: str = SPOKEN, limit: float | None = MAX_NEAREST
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


def _panel(elem_id: str) -> gr.HTML:
    """Make a panel of words, empty at first."""
    return gr.HTML(
        {"html": "<p>One moment …</p>", "files": []},
        html_template=TEMPLATE,
        css_template=Path(__file__).with_name("words.css").read_text(),
        js_on_load=SCRIPT,
        apply_default_css=False,
        elem_id=elem_id,
    )


def _recorded_chips(sounds: Path) -> list[tuple[gr.Button, Path]]:
    """Return buttons with recordings from the library, as SEED draws them."""
    # Others are named in IPA, by letters that no button should show.
    every = sorted(p for p in sounds.glob("*-*.[ow]*") if p.stem.partition("-")[0].islower())
    paths = Random(SEED).sample(every, min(EXAMPLE_SOUNDS, len(every)))
    buttons = (
        chips((path.stem.split("-")[0].replace("_", " ") for path in paths), "Or a recording of")
        if paths
        else []
    )
    return list(zip(buttons, paths, strict=True))
