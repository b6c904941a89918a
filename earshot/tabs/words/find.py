"""Find a word in a long recording: its places on a Timeline, and as CSV and TextGrid."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import gradio as gr
import numpy as np
from markupsafe import Markup

from earshot.core.errors import InputError
from earshot.core.paths import ASSETS
from earshot.media.constants import SAMPLE_RATE
from earshot.media.pictures import ink_on, viridis_colors
from earshot.tabs.components.lanes import Waveform
from earshot.tabs.components.timeline import File, TimelineSpec, timeline
from earshot.tabs.shared.events import HIDDEN, LONG_QUEUE, Update, answering, offer, say
from earshot.tabs.shared.html import macro
from earshot.tabs.shared.parts import Section, chips, sound_input
from earshot.tabs.words.panel import PANELS

if TYPE_CHECKING:
    from earshot.systems.words import Words
    from earshot.systems.words.word_search import FoundPlaces, LongRecording, Place

HINT: Final = """<p class="hint">Up to ten minutes of speech. Type the word, or say it once. Bright
places are surer; click one to hear it. Words that stand alone are found best; in fluent speech
some are missed. Uploads are deleted within the hour.</p>"""
EMPTY: Final = "Every place where the word is said appears here."
NO_WORD: Final = "Type the word to look for, or say it."
NOT_FOUND: Final = "“{word}” was not found."
NEAREST: Final = "The nearest places are shown."
MAX_NEAREST: Final = 5  # places, where none counts as a match
EXAMPLES: Final = (  # a word, what it is found in, and the recording
    ("lighthouse", "a sentence", "woman-lighthouse.ogg"),
    ("nine", "a row of digits", "scot-digits.ogg"),
)


@dataclass(frozen=True)
class PlacesLane:
    """Places of a word at their times, in viridis: dark at a score of -1, bright at 1."""

    label: str
    places: "tuple[Place, ...]"
    seconds: float
    stale: bool = False

    def html(self) -> Markup:
        colors = viridis_colors((np.array([place.score for place in self.places]) + 1) / 2)
        cells = list(map(self._cell, self.places, colors))
        return macro(PANELS, "places", self.label, cells)

    def _cell(self, place: "Place", color: str) -> tuple[str, str, str]:
        """Write the styles of a place, when it is, and its score."""
        left, width = place.start / self.seconds, (place.end - place.start) / self.seconds
        box = f"left:{left:.3%};width:max(4px,{width:.3%})"
        style = f"{box};background:{color};color:{ink_on(color)}"
        return style, _clock(place.start), f"{place.score:.2f}"


class FindSection(Section):
    """The accordion, to be made inside a gr.Blocks: a recording, a word, and where it is."""

    def __init__(self, pipeline: Callable[[], "Words"]) -> None:
        """Lay it out. pipeline returns the same object each time."""
        self.pipeline = pipeline
        title = "Find a word in a recording"
        with gr.Accordion(title, open=False), gr.Row(elem_classes="room"):
            with gr.Column(scale=1, min_width=300, elem_classes="room-input"):
                gr.HTML(HINT)
                gr.HTML('<h3 class="step">The recording <span>up to 10 min</span></h3>')
                recording = sound_input("The recording to search in, up to 10 min")
                gr.HTML('<h3 class="step">The word <span>typed, or said</span></h3>')
                text = gr.Textbox("", label="The word", placeholder="elephant", max_lines=1)
                spoken = sound_input("Or say the word")
                self.message = gr.HTML()
                run = gr.Button("Find the word", variant="primary")
                stop = gr.Button("Stop", visible=False)
                examples = chips(f"“{word}” in {place}" for word, place, _ in EXAMPLES)
            with gr.Column(scale=2, min_width=320, elem_classes="room-result"):
                self.places = timeline("found-places", EMPTY)
        inputs, outputs = [recording, text, spoken], [self.message, self.places]
        triggers: list[Callable] = [run.click, text.submit]
        for chip, (word, _, name) in zip(examples, EXAMPLES, strict=True):
            path = ASSETS / "examples" / name
            fill = chip.click(
                lambda p=path, w=word: (p.read_bytes(), w, None), None, inputs, **HIDDEN
            )
            triggers.append(fill.then)
        for trigger in triggers:
            self.on_model(
                trigger, self.show, inputs, outputs, progress_on=self.places, start=run, stop=stop
            )
        with gr.Row(visible=False):
            call, places = gr.Button(), gr.JSON(label="places")
        offer(call, self.find_word, inputs, places, LONG_QUEUE)

    def show(
        self,
        recording: str | None,
        text: str,
        spoken: str | None,
        progress: gr.Progress = gr.Progress(),  # noqa: B008  (how Gradio asks for it)
    ) -> Update:
        """Show the places of a word in a recording, or the nearest."""
        audio, word, places, notices = self.find(recording, text, spoken, progress)
        note = () if places.matches else (NOT_FOUND.format(word=word),)
        if places.places and not places.matches:
            note += (NEAREST,)
        return {
            self.message: say(" ".join((*note, *notices))),
            self.places: view(recording or "", audio, word, places),
        }

    def find(
        self,
        recording: str | None,
        text: str,
        spoken: str | None,
        progress: gr.Progress = gr.Progress(),  # noqa: B008
    ) -> tuple["LongRecording", str, "FoundPlaces", tuple[str, ...]]:
        """Find the places of a word in a recording, with the word's name, and notices about what
        was recorded. Raises InputError.
        """
        from earshot.systems.words.word_search import WordSearch  # late, for it loads torch

        words = self.pipeline()
        if not text.strip() and not spoken:
            raise InputError(NO_WORD)
        if text.strip():
            query, notices = words.embed_text(text), ()
        else:
            query = words.embed_audio(spoken)
            notices = query.notices
        search = WordSearch(words)
        progress(0.1, desc="Listening to the recording")
        audio = search.encode(recording)
        places = search(audio, query, progress=lambda share: progress(0.4 + 0.6 * share))
        return audio, text.strip() or "the word you said", places, (*audio.notices, *notices)

    @answering
    def find_word(
        self, audio: str, text: str | None = "", spoken: str | None = None
    ) -> dict[str, Any]:
        """Find a word in a recording of speech.

        Args:
            audio: A recording of at most ten minutes.
            text: The word: English spelling, IPA between slashes, ARPAbet or pinyin; or "".
            spoken: A recording of the word, where there is no text.

        Returns:
            places: {"seconds": of the recording, "threshold": the score from which a place counts
            as found, "places": a list, best first, of {"start" and "end" in seconds, "score": at
            most 1, the cosine less how much likelier other phonemes are there}, without those where
            they are far likelier but for ten, "notices":
            sentences about the recordings}.
        """
        recording, _, found_places, notices = self.find(audio, text or "", spoken)
        places = [{"start": p.start, "end": p.end, "score": p.score} for p in found_places.places]
        return {
            "seconds": recording.seconds,
            "threshold": found_places.threshold,
            "places": places,
            "notices": list(notices),
        }


def view(
    path: str, audio: "LongRecording", word: str, found_places: "FoundPlaces"
) -> dict[str, Any]:
    """Make the value of the Timeline: where the word is, to play, and the files to keep."""
    from earshot.exports.words import places_csv, text_grid  # late, for it loads torch

    matches = found_places.matches
    places = matches or tuple(
        sorted(found_places.places[:MAX_NEAREST], key=lambda place: place.start)
    )
    label = (
        f"{len(matches)} place{'s' if len(matches) > 1 else ''}" if matches else "Nearest places"
    )
    lanes = [
        Waveform.of("Recording", audio.waveform, SAMPLE_RATE),
        PlacesLane(label, places, audio.seconds),
    ]
    files = [
        File("CSV", "places.csv", places_csv(places, word).encode("utf-8-sig")),
        File("TextGrid", "places.TextGrid", text_grid(places, word, audio.seconds).encode()),
    ]
    best = max(places, key=lambda place: place.score, default=None)
    return TimelineSpec(
        name=f"{label} of “{word}” in the recording",
        lanes=lanes,
        tracks=[File("Play", Path(path).name, Path(path))],
        downloads=files,
        hint="",
        start=best.start if best else 0.0,
        plays=True,
    ).value()


def _clock(seconds: float) -> str:
    minutes, tenths = divmod(round(10 * seconds), 600)
    return f"{minutes}:{tenths / 10:04.1f}"
