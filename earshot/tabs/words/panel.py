"""Panels of spoken words with buttons that play them: tables of similarities, lists of pairs, and
the part of a recording that is used as the word, on its waveform with two handles.

The cut's event is submit, with {"start", "end"} in seconds.
"""

import base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import gradio as gr
import numpy as np
from markupsafe import Markup

from earshot.core.errors import InputError
from earshot.media.audio.load import wav_bytes
from earshot.media.constants import SAMPLE_RATE
from earshot.media.pictures import ink_on, viridis_colors
from earshot.tabs.components.lanes import Waveform
from earshot.tabs.components.timeline import TEMPLATE, File
from earshot.tabs.shared.html import macro, render

if TYPE_CHECKING:
    from earshot.systems.words import Spoken, Words
    from earshot.systems.words.library import LibraryWord

# data-sounds holds addresses that are played in turn; a button with data-action triggers the event
# "edit" with all of its data attributes.
SCRIPT: Final = """
const player = new Audio();
let pressed = null;
let waiting = [];
const show = () => {
  for (const button of element.querySelectorAll("[data-sounds]")) {
    button.classList.toggle("tl-on", button === pressed && !player.paused);
  }
};
const next = () => {
  player.src = waiting.shift();
  player.play().catch(() => pressed?.setAttribute("aria-label", "This sound is no longer there."));
};
const stop = () => {
  waiting = [];
  player.pause();
};
element.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button?.dataset.action) return trigger("edit", { ...button.dataset });
  if (!button?.dataset.sounds) return;
  const again = button === pressed && !player.paused;
  stop();
  if (again) return;
  pressed = button;
  waiting = button.dataset.sounds.split(" ");
  next();
});
for (const event of ["play", "pause"]) player.addEventListener(event, show);
player.addEventListener("ended", () => waiting.length && next());
watch("value", stop);
"""


SEVERAL: Final = "There is a pause in this, as between words. Say one word, in one go."
PANELS: Final = "words/words.html"
VOICES: Final = {  # of the library, which are synthetic, by what the page calls them
    "slt": "voice 1",
    "rms": "voice 2",
    "awb": "voice 3",
    "kal16": "voice 4",
    "espeak woman": "voice 5",
    "espeak man": "voice 6",
}
RATE: Final = SAMPLE_RATE  # of the pipeline's waveforms


def voice_name(word: "LibraryWord") -> str:
    """Name the voice of a word of the library as the page does; empty for a written word."""
    return VOICES.get(word.voice, word.voice) if word.voice else ""


@dataclass(frozen=True)
class Label:
    """The heading of a row or column: a word, its voice, and the address of its sound."""

    word: str
    voice: str = ""
    sound: str = ""  # an address, or @file0, @file1…

    def __str__(self) -> str:
        return f"{self.word}, {self.voice}" if self.voice else self.word


class Sounds:
    """The sounds of library words that a panel refers to."""

    def __init__(self) -> None:
        self._words: dict[str, LibraryWord] = {}

    def label(self, word: "LibraryWord") -> Label:
        """Make the label of a word; its sound becomes one of the panel's files."""
        if word.path is None:
            return Label(word.spelling, voice_name(word))
        self._words.setdefault(word.id, word)
        number = list(self._words).index(word.id)
        return Label(word.spelling, voice_name(word), f"@file{number}")

    def value(self, html: str) -> dict[str, Any]:
        """Make the value of a panel: its HTML, and the files that the HTML refers to."""
        words = self._words.values()
        files = [File(w.spelling, w.path.name, w.path).data() for w in words if w.path]
        return {"html": html, "files": files}


def word_panel(elem_id: str, text: str = "One moment …") -> gr.HTML:
    """Lay out a panel that shows a text until a handler returns Sounds.value() for it."""
    return gr.HTML(
        {"html": Markup("<p>{}</p>").format(text), "files": []},
        html_template=TEMPLATE,
        css_template=Path(__file__).with_name("panel.css").read_text(),
        js_on_load=SCRIPT,
        apply_default_css=False,
        elem_id=elem_id,
    )


def recorded_or_uploaded(recorder: gr.Audio) -> list[Callable]:
    """List the events of a new recording or upload. ``input`` is not used: it also fires when
    another source is chosen, which empties the recorder and would lose an upload made meanwhile.
    """
    return [recorder.stop_recording, recorder.upload]


def one_word(words: "Words", recording: str | None) -> "Spoken":
    """Embed the word of a recording. Raises InputError where there is none, or more."""
    from earshot.systems.words.spoken_word import CutNeededError  # late, for pipelines load torch

    try:
        return words.embed_audio(recording)
    except CutNeededError:
        raise InputError(SEVERAL) from None


def sound_of(wav: bytes) -> str:
    """Write a WAV file as a data URL, so that it is stored on no disk."""
    return "data:audio/wav;base64," + base64.b64encode(wav).decode()


def heat_table(
    title: str,
    rows: Sequence[Label],
    columns: Sequence[Label],
    values: np.ndarray,
    low: float,
    high: float,
) -> Markup:
    """Draw values (rows, columns) as a table in viridis, from dark at ``low`` to bright at
    ``high``, which may be the smaller. A row's heading plays its word, a cell plays both words.
    """
    cells = [
        [
            (_two_decimals(number), color, ink_on(color))
            for number, color in zip(
                numbers, viridis_colors((numbers - low) / (high - low)), strict=True
            )
        ]
        for numbers in values
    ]
    return macro(PANELS, "heat", title, rows, columns, cells)


def _two_decimals(number: float) -> str:
    return f"{round(number, 2) + 0.0:.2f}".replace("-", "−")  # no negative zero


def word_cut() -> gr.HTML:
    """Lay out the cut, empty until cut_value() fills it."""
    return gr.HTML(
        "",
        css_template=Path(__file__).with_name("words.css").read_text(),
        js_on_load=Path(__file__).with_name("cut.js").read_text(),
        apply_default_css=False,
        elem_id="word-cut",
    )


def cut_value(recording: np.ndarray, start: float, end: float, used: bool = True) -> str:
    """Show the recording (T,) at 16 kHz, handles at the ends of the cut (s), and buttons to play it
    and to use it. used: whether this cut is the one in use.
    """
    wave = Waveform.of("your recording", recording, RATE)
    return render(
        "words/cut.html",
        wave=wave.html(),
        seconds=wave.seconds,
        ends=(("start", start), ("end", end)),
        used=used,
        sound=sound_of(wav_bytes(recording, RATE)),
    )
