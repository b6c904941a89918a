"""A map of systems × stimuli: the mean answer in each cell, whose colours the colour-blind can
tell apart, on light and on dark."""

from typing import Any, Final

import numpy as np
from matplotlib import colormaps
from matplotlib.colors import LinearSegmentedColormap, Normalize

from earshot.study.analysis.report.panels import BLUE, LINE, ORANGE, short
from earshot.study.analysis.report.words import number
from earshot.study.analysis.tables import Table
from earshot.study.design import Scale

MAX_NUMBERED: Final = 12  # stimuli whose cells have room for a number
MAX_PAIR_NAME: Final = 52  # characters of the names of a pair
MAX_NAMED: Final = 40  # stimuli that have room for a name
# From the other system's to the first one's, as in the bars of votes; light where they are even.
SIDES: Final = LinearSegmentedColormap.from_list("sides", [ORANGE, "#f4f2ec", BLUE])


def heatmap(axis: Any, measured: Scale, means: Table) -> None:
    """Draw the means of analysis.stimuli, the first row on top; hatched where there are
    none."""
    low, high = measured.bounds
    colours = SIDES if measured.null is not None else colormaps["viridis"]
    scale, values = Normalize(low, high), means.to_numpy(float)
    rows, columns = values.shape
    axis.patch.set(facecolor="none", hatch="////", edgecolor=LINE)
    # As a picture where there are many cells, or the page would be slow.
    drawn = axis.pcolormesh(
        np.ma.masked_invalid(values), cmap=colours, norm=scale, rasterized=columns > MAX_NAMED
    )
    axis.invert_yaxis()
    axis.set_yticks(
        np.arange(rows) + 0.5, [short(str(name), MAX_PAIR_NAME) for name in means.index]
    )
    axis.tick_params(length=0)
    axis.spines[:].set_visible(False)
    if columns <= MAX_NAMED:
        names = [short(str(name)) for name in means.columns]
        axis.set_xticks(np.arange(columns) + 0.5, names, rotation=90)
    else:
        axis.set_xticks([])
        axis.set_xlabel(f"{columns} stimuli, rated lowest on the left")
    if columns <= MAX_NUMBERED:
        for (row, column), value in np.ndenumerate(values):
            ink = _ink(colours(scale(value)))
            text = number(measured, value, signed=low < 0) if np.isfinite(value) else ""
            at = (column + 0.5, row + 0.5)
            axis.annotate(text, at, ha="center", va="center", color=ink, fontsize=7)
    # Above, for its label is longer than a map of few rows is high.
    bar = axis.figure.colorbar(drawn, ax=axis, location="top", fraction=0.04, pad=0.02, aspect=40)
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0)
    bar.set_label(measured.measure)


def _ink(colour: tuple[float, float, float, float]) -> str:
    """Choose black or white, whichever is easier to read on it (relative luminance of WCAG 2)."""
    rgb = np.array(colour[:3])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return "#000000" if linear @ (0.2126, 0.7152, 0.0722) > 0.179 else "#ffffff"
