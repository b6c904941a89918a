"""Compare words: a few spoken words against each other, by their vectors and by DTW; and all spoken
words at a threshold on the cosine, from which two count as the same word."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import gradio as gr
import numpy as np
from markupsafe import Markup

from earshot.core.errors import InputError
from earshot.media.audio.load import wav_bytes
from earshot.media.constants import SAMPLE_RATE
from earshot.tabs.shared.events import (
    HIDDEN,
    LAST,
    Update,
    answering,
    empty_after,
    offer,
    queued,
    reporting,
    say,
)
from earshot.tabs.shared.html import macro
from earshot.tabs.shared.parts import Section, chips, sound_input
from earshot.tabs.shared.sessions import SessionStore, delete_after_use
from earshot.tabs.words.panel import (
    PANELS,
    Label,
    Sounds,
    heat_table,
    one_word,
    recorded_or_uploaded,
    sound_of,
    voice_name,
    word_panel,
)

if TYPE_CHECKING:
    from earshot.systems.words import Spoken, Words, Written
    from earshot.systems.words.comparison import OperatingCurve, Side, WordPairs
    from earshot.systems.words.library import WordLibrary

MIN_WORDS: Final = 2
COMMAS: Final = re.compile("[,，、،]")  # of any keyboard
MAX_WORDS: Final = 8
OWN: Final = "your word"
OWN_ID: Final = "mine-"  # prefix of the ids of a visitor's recordings
VOICES_PER_WORD: Final = 2  # of each word of an example
MAX_DISTANCE: Final = 1.2  # DTW distance shown darkest
EXAMPLES: Final = (("tree", "three", "yes"), ("ship", "sheep", "no"), ("bat", "cat", "water"))
DTW_TITLE: Final = "Baseline: DTW distance on MFCC"
HINT: Final = f"""<p class="hint">Pick {MIN_WORDS} to {MAX_WORDS} words, or say some. Every pair is
compared: bright is similar, dark is not. Click a word to play it, or a number to play both.</p>"""
THRESHOLD_HINT: Final = """<p class="hint">Two recordings count as the same word if their cosine
reaches the threshold. A higher threshold gives fewer false alarms and more misses.</p>"""
NO_CURVE: Final = Markup("""<p>Precision and recall were not measured for this model: train it
with <code>python -m training.words</code>, and the curve appears here.</p>""")
TEMPLATE: Final = "words/threshold.html"
PLOT_SIZE: Final = 300  # width and height of the plot
TICKS: Final = (0.0, 0.25, 0.5, 0.75, 1.0)  # of both axes
# (is the same word, is called the same) → name.
OUTCOMES: Final = {
    (True, True): "Hits",
    (False, True): "False alarms",
    (True, False): "Misses",
    (False, False): "Correct rejections",
}


@dataclass(frozen=True)
class Compared:
    """A spoken word to compare: its label, unit vector (D,), MFCC frames (S, 39), and notices."""

    label: Label
    vector: np.ndarray
    frames: np.ndarray
    notices: tuple[str, ...] = ()


class Recordings(dict[str, "Compared"]):
    """A visitor's recordings by their id."""


class CompareSection(Section):
    """The accordion, to be made inside a gr.Blocks. own: the visitor's Recordings, which are passed
    in to handlers and returned; written: the written words to compare with.
    """

    def __init__(
        self, pipeline: Callable[[], "Words"], library: Callable[[], "WordLibrary"]
    ) -> None:
        """Lay it out. Both functions return the same object each time."""
        self.pipeline, self.library = pipeline, library
        self.store = SessionStore(Recordings)
        with gr.Accordion("Compare words", open=False) as fold, gr.Row(elem_classes="room"):
            with gr.Column(scale=1, min_width=300, elem_classes="room-input"):
                gr.HTML(HINT)
                self.selection = gr.Dropdown(
                    [],
                    value=[],
                    multiselect=True,
                    max_choices=MAX_WORDS,
                    label="Words",
                    info="a spelling and a synthetic voice each",
                )
                recording = sound_input("Say another word")
                typed = gr.Textbox(
                    "",
                    label="Written words to compare with",
                    placeholder="the same words",
                    info="with commas between them; then press Enter",
                    max_lines=1,
                )
                self.message = gr.HTML()
                examples = chips(", ".join(e[:-1]) + f" and {e[-1]}" for e in EXAMPLES)
            with gr.Column(scale=2, min_width=320, elem_classes="room-result"):
                self.panel = word_panel("compared-words")
        self.own, self.written = self.store.state(), gr.State((), time_to_live=3600)
        inputs = [self.selection, self.own, self.written]
        run, tables = queued(self.panel), [self.message, self.panel]
        with gr.Row(visible=False):
            call, similarities = gr.Button(), gr.JSON(label="similarities")
            written = gr.Textbox(label="written")
            files = gr.File(file_count="multiple", type="filepath", label="recordings")
        offer(call, self.compare_words, [files, written], similarities)
        self.on(fold.expand, self.first_look, inputs[:2], [self.message, self.selection])
        self.on(self.selection.change, self.compare, inputs, tables)
        for chip, words in zip(examples, EXAMPLES, strict=True):
            chip.click(partial(self.example, *words), None, self.selection, **HIDDEN)
        recorded = self.on(
            recorded_or_uploaded(recording),
            self.record,
            [recording, self.selection, self.own],
            [self.message, self.own, self.selection],
            **run,
        )
        empty_after(recorded, recording)
        spelled = self.on(typed.submit, self.write, typed, [self.message, self.written], **run)
        spelled.success(reporting(self.compare, self.message), inputs, tables, **HIDDEN)

    def first_look(self, selection: list[str], own: Recordings | None) -> Update:
        """Show the words to pick from, with the first example picked if nothing is."""
        return {self.selection: self._choices(own, selection or self.example(*EXAMPLES[0]))}

    def example(self, *spellings: str) -> list[str]:
        """List the ids of the library's recordings of these words, VOICES_PER_WORD of each."""
        library = self.library()
        spoken = [library.words[row] for row in library.spoken]
        voices = {s: [w.id for w in spoken if w.spelling == s][:VOICES_PER_WORD] for s in spellings}
        return [word for words in voices.values() for word in words]

    def record(
        self,
        recording: str | None,
        selection: list[str],
        own: Recordings | None,
        request: gr.Request,
    ) -> Update:
        """Add a recording to the words that are compared."""
        with delete_after_use(recording):
            if len(selection) >= MAX_WORDS:
                raise InputError(f"There are {MAX_WORDS} words already. Take one out first.")
            spoken = one_word(self.pipeline(), recording)
            own = self.store.of(own, request)
            for word in set(own) - set(selection):  # no longer compared
                del own[word]
            number = 1 + max((int(word.removeprefix(OWN_ID)) for word in own), default=0)
            own[f"{OWN_ID}{number}"] = _recorded(spoken, str(number))
            choices = self._choices(own, [*selection, f"{OWN_ID}{number}"])
            return {self.message: "", self.own: own, self.selection: choices}

    def write(self, text: str) -> Update:
        """Set the written words to compare with."""
        return {self.message: "", self.written: self._written(text)}

    def compare(
        self, selection: list[str], own: Recordings | None, written: "Sequence[Written]"
    ) -> Update:
        """Compare the picked words with each other and with written words."""
        from earshot.systems.words.comparison import compare  # late, for it loads librosa

        if len(selection) > MAX_WORDS:
            raise InputError(f"Pick {MIN_WORDS} words or more, up to {MAX_WORDS}.")
        library, sounds = self.library(), Sounds()
        rows = {word.id: row for row, word in enumerate(library.words)}
        stored = {word: _stored(library, rows[word], sounds) for word in selection if word in rows}
        by_id = {**(own or {}), **stored}  # a copy: recordings may change meanwhile
        words = [by_id[word] for word in selection if word in by_id]
        if len(words) < MIN_WORDS:
            raise InputError(f"Pick {MIN_WORDS} words or more, up to {MAX_WORDS}.")
        columns = {w.spelling: w.vector for w in written} or _spellings(library, list(stored))
        result = compare(*_stacked(words, list(columns.values())))
        labels = [word.label for word in words]
        html = heat_table("Spoken with spoken: cosine", labels, labels, result.spoken, 0, 1)
        html += heat_table(DTW_TITLE, labels, labels, result.dtw, MAX_DISTANCE, 0)
        if columns:
            names = [Label(spelling) for spelling in columns]
            html += heat_table("Spoken with written: cosine", labels, names, result.written, 0, 1)
        panel = sounds.value(f'<div class="heats">{html}</div>')
        notices = " ".join(notice for word in words for notice in word.notices)
        return {self.message: say(notices), self.panel: panel}

    @answering
    def compare_words(
        self, recordings: list[str] | None, written: str | None = ""
    ) -> dict[str, Any]:
        """Compare recordings of words with each other and with written words.

        Args:
            recordings: Two to eight audio files of one word each.
            written: Words separated by commas; may be empty.

        Returns:
            similarities: {"spoken": cosines of the recordings with each other, "written": with the
            written words, "dtw": DTW distances on MFCC, from 0 to 2, each a list of rows in the
            given order; "notices": sentences about the recordings}.
        """
        if not MIN_WORDS <= len(recordings or ()) <= MAX_WORDS:
            raise InputError(f"Give {MIN_WORDS} to {MAX_WORDS} recordings, each of one word.")
        from earshot.systems.words.comparison import compare  # late, for it loads librosa

        pipeline = self.pipeline()
        words = [_recorded(one_word(pipeline, file)) for file in recordings or ()]
        result = compare(*_stacked(words, [word.vector for word in self._written(written or "")]))
        numbers = {"spoken": result.spoken, "written": result.written, "dtw": result.dtw}
        notices = [
            f"Recording {number}: {notice}"
            for number, word in enumerate(words, 1)
            for notice in word.notices
        ]
        return {name: values.tolist() for name, values in numbers.items()} | {"notices": notices}

    def _choices(self, own: Recordings | None, selection: list[str]) -> gr.Dropdown:
        library = self.library()
        spoken = sorted(
            (library.words[row] for row in library.spoken),
            key=lambda word: (word.language != "English", word.language, word.spelling.lower()),
        )
        recorded = [(str(word.label), name) for name, word in (own or {}).items()]
        choices = recorded + [(f"{word.spelling} · {voice_name(word)}", word.id) for word in spoken]
        return gr.Dropdown(choices=choices, value=selection, multiselect=True)

    def _written(self, text: str) -> "tuple[Written, ...]":
        names = [name.strip() for name in COMMAS.split(text) if name.strip()]
        if len(names) > MAX_WORDS:
            raise InputError(f"Type {MAX_WORDS} written words at most, with commas between them.")
        return tuple(self.pipeline().embed_text(name) for name in names)


class ThresholdSection(Section):
    """The accordion, to be made inside a gr.Blocks: the pairs next to a threshold, which are sorted
    once for all visitors.
    """

    def __init__(
        self, pipeline: Callable[[], "Words"], library: Callable[[], "WordLibrary"]
    ) -> None:
        """Lay it out. Both functions return the same object each time."""
        self.pipeline = pipeline

        @cache
        def pairs() -> "WordPairs":
            from earshot.systems.words.comparison import WordPairs  # late, for pipelines load torch

            return WordPairs(library())

        self.pairs = pairs
        with gr.Accordion("Same or different?", open=False) as fold:
            gr.HTML(THRESHOLD_HINT)
            self.slider = gr.Slider(0, 1, step=0.01, label="Threshold on the cosine", buttons=[])
            self.message = gr.HTML()
            self.panel = word_panel("threshold")
        outputs = [self.message, self.panel]
        self.on(fold.expand, self.first_look, self.slider, [*outputs, self.slider])
        # While the slider is dragged only its last position matters.
        self.on(self.slider.input, self.move, self.slider, outputs, **LAST, **HIDDEN)

    def first_look(self, threshold: float) -> Update:
        """Start at the model's own threshold, unless one was chosen."""
        threshold = threshold or round(self.pipeline().threshold, 2)
        return {self.slider: threshold, **self.move(threshold)}

    def move(self, threshold: float) -> Update:
        """Show another threshold."""
        from earshot.systems.words.comparison import OperatingCurve

        lists, sounds = self.pipeline().operating_curve, Sounds()
        curve = plot(OperatingCurve.read(lists), threshold) if lists else NO_CURVE
        sides = [
            _side(name, self.pairs().near_threshold(threshold, same, above), above, sounds)
            for (same, above), name in OUTCOMES.items()
        ]
        html = macro(TEMPLATE, "section", curve, sides)
        return {self.message: "", self.panel: sounds.value(html)}


def plot(curve: "OperatingCurve", threshold: float) -> Markup:
    """Draw the precision–recall curve as SVG with the point of the threshold, and a sentence."""
    precision, recall = curve.at(threshold)
    line = " ".join(
        f"{PLOT_SIZE * r:.1f},{PLOT_SIZE * (1 - p):.1f}"
        for p, r in zip(curve.precision, curve.recall, strict=True)
    )
    return macro(TEMPLATE, "plot", PLOT_SIZE, line, TICKS, threshold, precision, recall)


def _side(name: str, side: "Side", above: bool, sounds: Sounds) -> Markup:
    called = "called the same" if above else "called different"
    where = "just above" if above else "just below"
    pairs = [(sounds.label(p.one), sounds.label(p.other), p.cosine) for p in side.pairs]
    return macro(PANELS, "side", name, called, where, side.count, pairs)


def _recorded(spoken: "Spoken", voice: str = "") -> Compared:
    from earshot.media.audio.dtw import mfcc_frames

    word = spoken.waveform[round(spoken.start * SAMPLE_RATE) : round(spoken.end * SAMPLE_RATE)]
    label = Label(OWN, voice, sound_of(wav_bytes(word, SAMPLE_RATE)))
    return Compared(label, spoken.vector, mfcc_frames(word), spoken.notices)


def _stored(library: "WordLibrary", row: int, sounds: Sounds) -> Compared:
    """Find a word of the library; its sound is added to the panel's."""
    word = library.words[row]
    if word.path is None:
        raise InputError(f"“{word.spelling}” is only written here. Pick spoken words.")
    vector = np.asarray(library.vectors[row], np.float32)
    return Compared(sounds.label(word), vector, _frames(word.path))


@lru_cache(maxsize=1024)
def _frames(path: Path) -> np.ndarray:
    """Compute the MFCC frames (S, 39) of a recording of the library, for DTW."""
    from earshot.media.audio import voice_activity  # late, for they load scipy and librosa
    from earshot.media.audio.dtw import mfcc_frames
    from earshot.media.audio.load import load

    waveform = load(path, SAMPLE_RATE).waveform
    if stretches := voice_activity.words(waveform):
        waveform = waveform[
            round(stretches[0][0] * SAMPLE_RATE) : round(stretches[-1][1] * SAMPLE_RATE)
        ]
    return mfcc_frames(waveform)


def _spellings(library: "WordLibrary", selection: Sequence[str]) -> dict[str, np.ndarray]:
    """Collect the vectors of the written forms of the picked words."""
    forms = {(word.language, word.spelling) for word in library.words if word.id in selection}
    written = [(library.words[row], library.vectors[row]) for row in library.written]
    return {
        word.spelling: np.asarray(vector, np.float32)
        for word, vector in written
        if (word.language, word.spelling) in forms
    }


def _stacked(
    words: Sequence[Compared], written: Sequence[np.ndarray]
) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """Stack the arguments of comparison.compare; there may be no written words."""
    spoken = np.stack([word.vector for word in words])
    columns = np.stack(written) if written else np.zeros((0, spoken.shape[1]), np.float32)
    return spoken, columns, [word.frames for word in words]
