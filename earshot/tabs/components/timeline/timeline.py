"""Timeline: lanes on one time axis in seconds, with one playhead tied to sounds or a video.

A TimelineSpec says which lanes, sounds, files and buttons one timeline shows. timeline.js brings it
to life; without it there remain pictures, lists and the browser's own players.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import count
from pathlib import Path
from typing import Any, Final

import gradio as gr

from earshot.tabs.components.timeline.lanes import Lane
from earshot.tabs.shared.gradio_internals import served_file
from earshot.tabs.shared.icons import icon

_ids = count()
ZOOMS: Final = (1, 2, 4, 8, 16)  # that the axis has steps of its own for
GONE: Final = (
    '<p class="tl-gone" role="status" hidden>These sounds have expired: the server deletes them '
    'within the hour. <button type="button" data-again="yes">Do it again</button></p>'
)


@dataclass(frozen=True)
class File:
    """A sound or video to play, or a file to download.

    name: the label of its button; content: a path, or an address on this server, is loaded by the
    page only when it is played.
    """

    name: str
    file_name: str
    content: bytes | Path | str

    @property
    def is_video(self) -> bool:
        return self.file_name.endswith(".mp4")

    def data(self) -> dict[str, Any]:
        """Return what the page needs to fetch it."""
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
    """Everything that one timeline shows.

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

    def html(self, first_file: int = 0) -> str:
        """Return the timeline as HTML. @fileN is the address of file N, counted from first_file."""
        lanes = "".join(map(self._lane, self.lanes, ["", *(lane.label for lane in self.lanes)]))
        return (
            f'<section class="tl" tabindex="0" aria-label="{escape(self.name)}" '
            f'data-seconds="{self.seconds:.4f}" data-start="{self.start:.2f}" '
            f'data-plays="{"click" if self.plays else ""}" '
            f'data-answer="{" ".join(map(str, self.answer))}">'
            f"{self._bar(first_file)}{GONE}{self._players(first_file)}"
            f'<div class="tl-scroll"><div class="tl-lanes">'
            f'{lanes}{self._axis()}<div class="tl-head" aria-hidden="true"></div></div></div>'
            f'{self._tools()}<div class="tl-tip" hidden></div></section>'
        )

    def value(self) -> dict[str, Any]:
        """Return the value of a timeline component: the HTML, and the files that it names.

        Of two alike the page would not notice the second, and an answer is to be heard again.
        """
        files = [file.data() for file in self.files]
        return {"html": self.html(), "files": files, "id": next(_ids)}

    def _lane(self, lane: Lane, above: str) -> str:
        """Return one lane, without its label if that is also the label above."""
        label = "" if lane.label == above else escape(lane.label)
        kind = "tl-lane tl-" + type(lane).__name__.lower() + (" tl-stale" if lane.stale else "")
        share = lane.seconds / self.seconds
        return (
            f'<div class="{kind}"><span class="tl-label">{label}</span>'
            f'<div class="tl-box"><div class="tl-span" style="width:{share:.4%}">{lane.html()}'
            "</div></div></div>"
        )

    def _axis(self) -> str:
        steps = "".join(f'<div data-zoom="{zoom}">{self._ticks(zoom)}</div>' for zoom in ZOOMS)
        return f'<div class="tl-axis" aria-hidden="true"><div class="tl-box">{steps}</div></div>'

    def _ticks(self, zoom: int) -> str:
        return "".join(
            f"<i{' class=tl-edge' if t > (1 - 0.05 / zoom) * self.seconds else ''} "
            f'style="left:{t / self.seconds:.4%}">{t:g}</i>'
            for t in time_ticks(self.seconds, 6 * zoom)
        )

    def _bar(self, first_file: int) -> str:
        plays = "".join(
            f'<button type="button" class="tl-play" data-track="{i}" aria-pressed="false">'
            f"{icon('play')}{icon('pause')}<span>{escape(track.name)}</span></button>"
            for i, track in enumerate(self.tracks)
        )
        links = "".join(
            f'<a class="tl-link" href="@file{i}" download="{escape(download.file_name)}">'
            f"{icon('download')}{escape(download.name)}</a>"
            for i, download in enumerate(self.downloads, start=first_file + len(self.tracks))
        )
        length = f"{self.seconds:.2f}"
        return (
            f'<div class="tl-bar"><div class="tl-group">{plays}</div>'
            f'<span class="tl-time" role="timer" aria-live="off" '
            f'style="width: {2 * len(length) + 3}ch">0.00 / {length} s</span>'
            f'<div class="tl-group tl-end">{links}'
            f'<button type="button" class="tl-zoom" data-zoom="0.5" aria-label="Show more time">'
            f'{icon("minus")}</button><button type="button" class="tl-zoom" data-zoom="2" '
            f'aria-label="Look closer">{icon("plus")}</button></div></div>'
        )

    def _tools(self) -> str:
        if not self.actions:
            return ""
        buttons = "".join(self._button(action) for action in self.actions)
        colors = next((action.colors for action in self.actions if action.colors), ())
        palette = (
            f'<div class="tl-palette" data-colors="{" ".join(colors)}">'
            '<button type="button" class="tl-pick" aria-expanded="false">Hear the units</button>'
            '<div class="tl-swatches" hidden></div></div>'
        )
        return (
            f'<div class="tl-tools"><p class="tl-chosen" role="status" '
            f'data-hint="{escape(self.hint)}" data-touch="{escape(self.touch_hint or self.hint)}">'
            f"{escape(self.hint)}</p>"
            f'<div class="tl-group">{buttons}</div>{palette if colors else ""}</div>'
        )

    def _button(self, action: Action) -> str:
        field = ""
        if action.highest is not None:
            field = (
                f'<input type="number" min="0" max="{action.highest}" placeholder="0–'
                f'{action.highest}" aria-label="{escape(action.label)}: unit number">'
            )
        off = "" if action.enabled and not action.needs_cells else "disabled"
        pressed = "" if action.pressed is None else f'aria-pressed="{str(action.pressed).lower()}"'
        return (
            f'<span class="tl-action tl-{action.event}"><button type="button" {off} {pressed} '
            f'data-event="{action.event}" data-action="{action.name}" data-key="{action.key}" '
            f'data-needs="{"cells" if action.needs_cells else ""}">'
            f"{icon(action.icon) if action.icon else ''}{escape(action.label)}"
            f"</button>{field}</span>"
        )

    def _players(self, first_file: int) -> str:
        players = "".join(map(self._player, self.tracks, count(first_file)))
        return f'<div class="tl-players">{players}</div>'

    def _player(self, track: File, number: int) -> str:
        tag, kind = ("video playsinline", "tl-video") if track.is_video else ("audio", "")
        return (
            f'<figure class="{kind}"><figcaption>{escape(track.name)}</figcaption><{tag} controls '
            f'preload="{"auto" if isinstance(track.content, bytes) else "none"}" '
            f'src="@file{number}"></{tag.split()[0]}></figure>'
        )


def nothing(text: str) -> dict[str, Any]:
    """Return the value of a timeline that shows only a text."""
    return {"html": f'<p class="tl-nothing">{escape(text)}</p>', "files": []}


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
