"""Markers of a map: a colour and a shape for each category, and the star of the query."""

import math
from collections.abc import Sequence
from typing import Final

from markupsafe import Markup

SIZE: Final = 11  # of a marker: about half of its width
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


def marker(category: int) -> Markup:
    """Draw the colour and shape of the category of this number, as large as the text."""
    path = f"<path {shape(category, SIZE)}/>"
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
