"""Map: points in a plane, coloured and shaped by category, that can be heard; and a visitor's star.

A Chart says what one map shows. assets/map.js brings it to life; without it there remain a picture
and a list. The map's events are select (a point was chosen and played) and submit (its button was
pressed), each with {"id"}.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import gradio as gr

from tabs.icons import icon
from tabs.theme import ASSETS
from tabs.timeline import TEMPLATE, File

WIDTH, HEIGHT, MARGIN = 1000, 760, 42  # of the picture, in its own units
SIZE: Final = 11  # of a point
# Okabe and Ito's palette; its black is the ink of the page, so that it shows in the dark too.
COLORS: Final = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#CC79A7",
    "#56B4E9",
    "#D55E00",
    "#F0E442",
    "var(--ink)",
)
# Corners around the middle as (radius, degrees clockwise from the top); a circle has none.
SHAPES: Final[tuple[tuple[tuple[float, float], ...], ...]] = (
    (),
    tuple((1.25, turn) for turn in (45, 135, 225, 315)),
    tuple((1.45, turn) for turn in (0, 120, 240)),
    tuple((1.35, turn) for turn in (0, 90, 180, 270)),
    tuple((1.45, turn) for turn in (60, 180, 300)),
    tuple((1.25, turn) for turn in range(0, 360, 72)),
    tuple(c for i in range(0, 360, 90) for c in ((1.4, i - 20), (1.4, i + 20), (0.7, i + 45))),
    tuple((1.2, turn) for turn in range(30, 390, 60)),
)
STAR: Final = tuple((1.3 if i % 2 else 3.2, 36 * i + 36) for i in range(10))


@dataclass(frozen=True)
class Point:
    """Something on the map: x and y from 0 to 1 (left to right, top to bottom), and its sound."""

    id: str
    x: float
    y: float
    name: str
    category: str
    sound: Path | bytes | None = None


@dataclass(frozen=True)
class Chart:
    """Everything that one map shows; name is read to those who cannot see it. Categories take
    their colours and shapes in the given order. button: what the button of a chosen point says."""

    name: str
    points: Sequence[Point]
    categories: Sequence[str]
    button: str = ""

    def value(self) -> dict[str, Any]:
        """What a map takes as its value: the page's part, and the files it names."""
        files = [
            File(point.name, f"{i}.wav", point.sound).data()
            for i, point in enumerate(self.points)
            if point.sound is not None
        ]
        return {"html": self.html(), "files": files}

    def html(self) -> str:
        """The page's part; @file0, @file1… stand for the sounds, and @star for the star."""
        numbers = iter(range(len(self.points)))
        sounds = ["" if p.sound is None else f"@file{next(numbers)}" for p in self.points]
        dots = "".join(map(self._dot, self.points, sounds))
        return (
            f'<figure class="map"><div class="map-plane" role="listbox" tabindex="0" '
            f'aria-label="{escape(self.name)}"><svg viewBox="0 0 {WIDTH} {HEIGHT}">{dots}@star'
            f'</svg><div class="map-tip" hidden></div></div>'
            f'<figcaption class="map-legend">{self._legend()}</figcaption>'
            f'<p class="map-chosen" role="status" hidden>{icon("play")}{icon("pause")}<b></b>'
            f'<button type="button">{escape(self.button)}</button></p>'
            f'<audio preload="none"></audio>{self._list(sounds)}</figure>'
        )

    def _dot(self, point: Point, sound: str) -> str:
        x, y = _place(point.x, point.y)
        label = escape(f"{point.name}, {point.category}")
        return (
            f'<g class="map-point" role="option" aria-selected="false" aria-label="{label}" '
            f'data-id="{escape(point.id)}" data-name="{escape(point.name)}" data-sound="{sound}" '
            f'data-x="{x}" data-y="{y}" transform="translate({x} {y})">'
            f"{_shape(self._number(point), SIZE)}</g>"
        )

    def _number(self, point: Point) -> int:
        return self.categories.index(point.category)

    def _legend(self) -> str:
        present = {point.category for point in self.points}
        return "".join(
            f"<span>{marker(i)}{escape(category)}</span>"
            for i, category in enumerate(self.categories)
            if category in present
        )

    def _list(self, sounds: Sequence[str]) -> str:
        pairs = sorted(zip(self.points, sounds, strict=True), key=lambda p: self._number(p[0]))
        groups = "".join(
            f"<dt>{escape(category)}</dt>" + "".join(_item(point, sound) for point, sound in group)
            for category, group in groupby(pairs, key=lambda pair: pair[0].category)
        )
        return f'<dl class="map-list">{groups}</dl>'


@dataclass(frozen=True)
class Star:
    """The visitor's own point, at (x, y) from 0 to 1; near: ids of points that are set off."""

    x: float
    y: float
    name: str
    near: Sequence[str] = ()

    def html(self) -> str:
        left, top = _place(self.x, self.y)
        return (
            f'<g class="map-star" style="translate:{left}px {top}px">'
            f'<title>{escape(self.name)}</title><path d="{_path(STAR, SIZE)}"/></g>'
        )


def show(star: Star | None, chart: Chart | None = None) -> gr.HTML:
    """An update of a map: its star, or none; and what else it shows, if that is to change."""
    drawn = {"star": star.html() if star else "", "near": list(star.near) if star else []}
    return gr.HTML(chart.value(), **drawn) if chart else gr.HTML(**drawn)


def sound_map(elem_id: str) -> gr.HTML:
    """A map with nothing on it; return show() to fill it."""
    return gr.HTML(
        {"html": "", "files": []},
        html_template=TEMPLATE.replace("value.html", "value.html.replace('@star', star)"),
        css_template=(ASSETS / "map.css").read_text(),
        js_on_load=(ASSETS / "map.js").read_text(),
        apply_default_css=False,
        elem_id=elem_id,
        star="",
        near=[],
    )


def marker(category: int) -> str:
    """The colour and shape of the category of this number, as large as the text."""
    shape = _shape(category, SIZE)
    return f'<svg class="map-marker" viewBox="-16 -16 32 32" aria-hidden="true">{shape}</svg>'


def _shape(category: int, size: float) -> str:
    # Beyond eight categories, colours and shapes meet in other pairs.
    corners = SHAPES[(category + category // len(COLORS)) % len(SHAPES)]
    fill = f'style="fill:{COLORS[category % len(COLORS)]}"'
    return (
        f'<path {fill} d="{_path(corners, size)}"/>' if corners else f'<circle {fill} r="{size}"/>'
    )


def _path(corners: Sequence[tuple[float, float]], size: float) -> str:
    """A closed line around the corners, which _shape's tables give as (radius, degrees)."""
    turns = [(size * radius, math.radians(degrees)) for radius, degrees in corners]
    return "M" + "L".join(f"{r * math.sin(a):.1f} {-r * math.cos(a):.1f}" for r, a in turns) + "Z"


def _place(x: float, y: float) -> tuple[int, int]:
    """Where (x, y), from 0 to 1, stands in the picture."""
    return (
        round(MARGIN + x * (WIDTH - 2 * MARGIN)),
        round(MARGIN + y * (HEIGHT - 2 * MARGIN)),
    )


def _item(point: Point, sound: str) -> str:
    name = escape(point.name)
    return f'<dd><a href="{sound}">{name}</a></dd>' if sound else f"<dd>{name}</dd>"
