"""Timeline: lanes on one time axis in seconds, with one playhead tied to sounds or a video.

A TimelineSpec says which lanes, sounds, files and buttons one timeline shows. timeline.js brings it
to life; without it there remain pictures, lists and the browser's own players.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import gradio as gr
from markupsafe import Markup

from earshot.media.audio.speech import LABEL
from earshot.provenance.manifest import encode_speech
from earshot.tabs.components.lanes import Lane, Spectrogram, Waveform
from earshot.tabs.shared.gradio_internals import served_file
from earshot.tabs.shared.html import render

if TYPE_CHECKING:
    from earshot.media.audio.speech import Speech

_ids = count()
ZOOMS: Final = (1, 2, 4, 8, 16)  # that the axis has steps of its own for


@dataclass(frozen=True)
class File:
    """A sound or video to play, or a file to download.

    name: the label of its button; content: a path, or an address on this server, is loaded by the
    page only when it is played; synthetic: whether it is speech that a system made.
    """

    name: str
    file_name: str
    content: bytes | Path | str
    synthetic: bool = False

    @property
    def is_video(self) -> bool:
        return self.file_name.endswith(".mp4")

    @property
    def is_loaded(self) -> bool:
        """Whether the page loads it at once: a content is there already."""
        return isinstance(self.content, bytes)

    def data(self) -> dict[str, Any]:
        """Write what the page needs to fetch the file."""
        if isinstance(self.content, str):
            return {"url": self.content}
        return served_file(self.content, self.file_name)


@dataclass(frozen=True)
class Action:
    """A button under the lanes.

    It triggers `event`, "edit" or (for long work) "submit", with {"action": name, "cells": indices
    of the selected cells, "number": the value of its number field}.
    """

    name: str
    label: str
    event: str = "edit"
    needs_cells: bool = True
    key: str = ""  # shortcut on the selected cells, as KeyboardEvent.key
    highest: int | None = None  # of the number field, where there is one
    colors: Sequence[str] = ()  # of what the number stands for: a palette to choose it from
    enabled: bool = True
    icon: str = ""
    pressed: bool | None = None  # of a button that stays pressed


@dataclass(frozen=True)
class TimelineSpec:
    """The content of one timeline.

    name: for screen readers; hint, touch_hint: how cells are selected, by mouse and by finger;
    start: first position of the playhead in seconds; plays: whether a click on a lane starts
    playing there; answer: the tracks that play, one after another, once it is shown, where it is
    the answer to a gesture of the visitor's.
    """

    name: str
    lanes: Sequence[Lane]
    tracks: Sequence[File]
    downloads: Sequence[File] = ()
    actions: Sequence[Action] = ()
    hint: str = ""
    touch_hint: str = ""
    start: float = 0.0
    plays: bool = False
    answer: Sequence[int] = ()

    @property
    def seconds(self) -> float:
        return max(lane.seconds for lane in self.lanes)

    @property
    def files(self) -> Sequence[File]:
        return (*self.tracks, *self.downloads)

    def html(self, first_file: int = 0) -> Markup:
        """Write the timeline as HTML. @fileN is the address of file N, counted from first_file."""
        axes = [(zoom, time_ticks(self.seconds, 6 * zoom)) for zoom in ZOOMS]
        lanes = [(lane, type(lane).__name__.lower()) for lane in self.lanes]
        return render(
            "components/timeline.html",
            spec=self,
            lanes=lanes,
            label=LABEL if any(track.synthetic for track in self.tracks) else "",
            axes=axes,
            first_file=first_file,
        )

    def value(self) -> dict[str, Any]:
        """Make the value of a timeline component: the HTML, and the files that it names.

        Of two alike the page would not notice the second, and an answer is to be heard again.
        """
        files = [file.data() for file in self.files]
        return {"html": self.html(), "files": files, "id": next(_ids)}


def nothing(text: str) -> dict[str, Any]:
    """Make the value of a timeline that shows only a text."""
    return {"html": Markup('<p class="tl-nothing">{}</p>').format(text), "files": []}


CSS: Final = Path(__file__).with_name("timeline.css")
SCRIPT: Final = Path(__file__).with_name("timeline.js")
# The value's HTML with the addresses of its files. Only attributes of our own can hold a
# placeholder: visitors' text is escaped, so that it contains no quotation mark.
TEMPLATE: Final = (
    '${value.html.replace(/((?:src|href|data-sounds?)=")([^"]*)/g, (_, attribute, addresses) => '
    "attribute + addresses.replace(/(^| )@file([0-9]+)/g, "
    "(_, space, i) => space + value.files[i].url))}"
)


def timeline(elem_id: str, text: str) -> gr.HTML:
    """Lay out a timeline that shows only a text; return TimelineSpec.value() to fill it.

    Its events edit and submit carry the data described at Action; hear carries {"number"} of what
    was chosen in a palette.
    """
    return gr.HTML(
        nothing(text),
        html_template=TEMPLATE,
        css_template=CSS.read_text(),
        js_on_load=SCRIPT.read_text(),
        apply_default_css=False,
        elem_id=elem_id,
    )


def time_ticks(seconds: float, most: int = 6) -> list[float]:
    """Round times from 0 to `seconds`, at most `most` steps of 1, 2 or 5 times a power of ten."""
    rough = seconds / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * m for m in (1, 2, 5, 10) if power * m >= rough * (1 - 1e-9))
    return [round(i * step, 6) for i in range(math.floor(seconds / step + 1e-9) + 1)]


@dataclass(frozen=True)
class SoundLanes:
    """A sound and its images: content is a WAV or Ogg file, seconds its duration; synthetic:
    whether a system made it."""

    content: bytes
    suffix: str
    seconds: float
    picture: str
    peaks: tuple[float, ...]
    synthetic: bool = False

    @classmethod
    def of(cls, speech: "Speech") -> "SoundLanes":
        seconds = len(speech.waveform) / speech.sample_rate
        return cls(
            wav(speech),
            "wav",
            seconds,
            Spectrogram.of("", speech.log_mel, seconds).picture,
            Waveform.of("", speech.waveform, speech.sample_rate).peaks,
            speech.origin is not None,
        )

    def lanes(self, label: str, stale: bool = False) -> list[Lane]:
        return [
            Waveform(label, self.peaks, self.seconds, stale),
            Spectrogram(label, self.picture, self.seconds, stale),
        ]

    def file(self, name: str, stem: str) -> File:
        return File(name, f"{stem}.{self.suffix}", self.content, self.synthetic)


def wav(speech: "Speech") -> bytes:
    """Write the sound as a WAV file that says who made it."""
    return encode_speech(speech, ".wav")
