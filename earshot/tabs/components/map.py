"""Map: points in a plane, each with a colour and shape by category and a sound; and a query.

A Chart is the content of one map. map.js adds the behaviour: it zooms, pans, draws the labels that
have room, and changes between layouts and colorings without asking the server. The map's events
are select (a point was chosen and played) and submit (its button was pressed), each with {"id"},
and edit (an area was drawn; see area.js), with {"ids"}.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import gradio as gr
from markupsafe import Markup

from earshot.tabs.components.timeline import TEMPLATE, File
from earshot.tabs.shared.html import render

MARKER_SIZE: Final = 11  # of a marker: about half of its width
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
REST: Final = -1  # the number of the category that stays in the background
FAINT: Final = "color-mix(in srgb, var(--quiet) 38%, var(--card))"
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
SCRIPTS: Final = [Path(__file__).with_name(name) for name in ("map.js", "area.js")]
WIDTH, HEIGHT, MARGIN = 1000, 760, 42  # of the picture, in its own units
MANY_POINTS: Final = 600  # points; more are smaller, so that they cover the same share of the plane
MIN_SIZE: Final = 4
AREA_HINT: Final = (
    "Draw around some points. By keyboard: walk by the arrows, + and − change a circle, and Enter "
    "takes what is in it."
)


def marker(category: int) -> Markup:
    """Draw the colour and shape of the category of this number, as large as the text."""
    path = f"<path {shape(category, MARKER_SIZE)}/>"
    return Markup(
        f'<svg class="map-marker" viewBox="-16 -16 32 32" aria-hidden="true">{path}</svg>'
    )


def shape(category: int, size: float, style: str = "") -> Markup:
    """Write the attributes of a path with the colour and outline, around (0, 0), of this category;
    style: further rules.
    """
    color, line = look(category, size)
    return Markup(f'style="fill:{color}{";" if style else ""}{style}" d="{line}"')


def look(category: int, size: float) -> tuple[str, str]:
    """Choose the colour and the outline, around (0, 0), of a point of this category."""
    if category == REST:
        return FAINT, outline((), 0.7 * size)
    # Beyond eight categories, colours and shapes meet in other pairs.
    corners = SHAPES[(category + category // len(COLORS)) % len(SHAPES)]
    return COLORS[category % len(COLORS)], outline(corners, size)


def outline(corners: Sequence[tuple[float, float]], size: float) -> str:
    """Draw a closed line around (0, 0) by the corners, which SHAPES gives as (radius, degrees); or
    a circle.
    """
    if not corners:
        half = f"a{size:.2f} {size:.2f} 0 0 1"
        return f"M{-size:.2f} 0{half} {2 * size:.2f} 0{half} {-2 * size:.2f} 0Z"
    turns = [(size * radius, math.radians(degrees)) for radius, degrees in corners]
    ends = (f"{r * math.sin(a):.1f} {-r * math.cos(a):.1f}" for r, a in turns)
    return f"M{'L'.join(ends)}Z"


@dataclass(frozen=True)
class Point:
    """A point: x and y from 0 to 1 (left to right, top to bottom), and its sound if it has one.

    sound: a file, its content, or its address on this server; label: a short text that is drawn
    next to it where there is room; points of the same label are labelled once.
    """

    id: str
    x: float
    y: float
    name: str
    category: str
    sound: Path | bytes | str | None = None
    label: str = ""


@dataclass(frozen=True)
class Layout:
    """Places of all points, from 0 to 1 (N, 2). name: on its button; note: a sentence about it."""

    name: str
    places: Sequence[tuple[float, float]]
    note: str = ""


@dataclass(frozen=True)
class Coloring:
    """The category of each point (N,). name: on its button; categories: in the order of their
    colours and shapes; rest: one more, in the background. Without categories, the labels of the
    points next to the query are the categories."""

    name: str
    of: Sequence[str] = ()
    categories: Sequence[str] = ()
    rest: str = ""


@dataclass(frozen=True)
class Chart:
    """The content of one map. name: the accessible name. categories: in the order of their colours
    and shapes; rest: one more category, in the background. button: the label of the button of a
    chosen point; area: of that which begins to choose many, where that can be done. layouts and
    colorings: what visitors can change between; the first of each is that of the points. height: of
    the picture, of which the width is WIDTH.
    """

    name: str
    points: Sequence[Point]
    categories: Sequence[str]
    button: str = ""
    rest: str = ""
    area: str = ""
    layouts: Sequence[Layout] = ()
    colorings: Sequence[Coloring] = ()
    height: int = HEIGHT

    def value(self) -> dict[str, Any]:
        """Make the value of a map: its HTML, and the files that the HTML refers to."""
        return {"html": self.html(), "files": [file.data() for file in self._sounds()[1]]}

    def html(self) -> Markup:
        """Write the HTML; placeholders @file0, @file1… stand for addresses of sounds (see
        TEMPLATE).
        """
        return self._html

    @cached_property
    def _html(self) -> Markup:  # once: thousands of points take 0.1 s, in which others wait
        return self._page(self._sounds()[0])

    def _sounds(self) -> tuple[list[str], list[File]]:
        """List the address of each point's sound, and the files that the page is told: one a
        folder, to which the others are relative. Thousands of files would take the page seconds.
        """
        sounds: list[str] = []
        files: list[File] = []
        folders: dict[Path, tuple[int, Path]] = {}
        for i, point in enumerate(self.points):
            if point.sound is None or isinstance(point.sound, str):
                sounds.append(point.sound or "")
                continue
            if isinstance(point.sound, Path) and point.sound.parent in folders:
                number, first = folders[point.sound.parent]
                relative = "" if point.sound == first else f"/../{quote(point.sound.name)}"
                sounds.append(f"@file{number}{relative}")
                continue
            if isinstance(point.sound, Path):
                folders[point.sound.parent] = len(files), point.sound
            sounds.append(f"@file{len(files)}")
            files.append(File(point.name, f"{i}.wav", point.sound))
        return sounds, files

    def _page(self, sounds: Sequence[str]) -> Markup:
        size = max(MIN_SIZE, MARKER_SIZE * min(1.0, MANY_POINTS / max(1, len(self.points))) ** 0.5)
        dots = list(map(self._dot, self.points, sounds, repeat(size)))
        present = {point.category for point in self.points}
        return render(
            "components/map.html",
            chart=self,
            dots=dots,
            looks=self._looks(size),
            legend=[(n, name) for n, name in self._numbered() if name in present],
            marker=marker,
            width=WIDTH,
            margin=MARGIN,
            area_hint=AREA_HINT,
        )

    def _numbered(self) -> list[tuple[int, str]]:
        """Number each category, that of the background last."""
        return [*enumerate(self.categories), (REST, self.rest)]

    def _looks(self, size: float) -> str:
        """Write the choices of map.js as JSON: places of each layout in units of the picture, and
        the number of each point's category.
        """
        return json.dumps(
            {
                "layouts": [
                    {
                        "places": [_place(x, y, self.height) for x, y in layout.places],
                        "note": layout.note,
                    }
                    for layout in self.layouts
                ],
                "colorings": [
                    {
                        "categories": [*coloring.categories],
                        "rest": coloring.rest,
                        "of": [
                            REST if each == coloring.rest else coloring.categories.index(each)
                            for each in coloring.of
                        ],
                    }
                    for coloring in self.colorings
                ],
                "markers": [look(i, size) for i in range(2 * len(COLORS))],
                "faint": look(REST, size),
                "size": size,
            },
            ensure_ascii=False,
            separators=(",", ":"),
        )

    def _dot(self, point: Point, sound: str, size: float) -> dict[str, Any]:
        x, y = _place(point.x, point.y, self.height)
        looks = shape(self._number(point), size, f"translate:{x}px {y}px")
        return {"point": point, "sound": sound, "x": x, "y": y, "shape": looks}

    def _number(self, point: Point) -> int:
        return REST if point.category == self.rest else self.categories.index(point.category)


@dataclass(frozen=True)
class QueryMarker:
    """The query: a star at (x, y) from 0 to 1; highlighted: ids of points to emphasise. places: of
    the star in each layout, where the chart has several."""

    x: float
    y: float
    name: str
    highlighted: Sequence[str] = ()
    places: Sequence[tuple[float, float]] = ()

    def html(self) -> Markup:
        places = [[round(x, 4), round(y, 4)] for x, y in self.places or [(self.x, self.y)]]
        return Markup(
            '<g class="map-query" data-places="{}"><title>{}</title><path d="{}"/></g>'
        ).format(json.dumps(places), self.name, outline(STAR, MARKER_SIZE))


def show(marker: QueryMarker | None, chart: Chart | None = None) -> gr.HTML:
    """Update a map: the query's marker, or none; and the other content, if it changes."""
    update = {
        "marker": marker.html() if marker else "",
        "highlighted": list(marker.highlighted) if marker else [],
    }
    return gr.HTML(chart.value(), **update) if chart else gr.HTML(**update)


def sound_map(elem_id: str) -> gr.HTML:
    """Lay out an empty map; return show() to fill it."""
    return gr.HTML(
        {"html": "", "files": []},
        html_template=TEMPLATE,  # without the marker, which moves while the points stay
        css_template=Path(__file__).with_name("map.css").read_text(),
        js_on_load="\n".join(map(Path.read_text, SCRIPTS)),
        apply_default_css=False,
        elem_id=elem_id,
        marker="",
        highlighted=[],
    )


def _place(x: float, y: float, height: int) -> tuple[float, float]:
    """Convert (x, y) from 0 to 1 to units of the picture."""
    return (
        round(MARGIN + x * (WIDTH - 2 * MARGIN), 1),
        round(MARGIN + y * (height - 2 * MARGIN), 1),
    )
