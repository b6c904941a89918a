"""Figures for a paper and for the report; each reads without its colours too."""

import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from markupsafe import Markup
from matplotlib import rc_context
from matplotlib.figure import Figure

from earshot.core.files import replacing
from earshot.study.analysis.estimates import simulated
from earshot.study.analysis.report import panels
from earshot.study.analysis.report.panels import INK, LINE, QUIET
from earshot.study.analysis.results import Analysis, by_stimulus
from earshot.study.design import Test
from earshot.study.design.model import Staircase

Draw = Callable[[], Figure]
STYLE: Final[Any] = {  # matplotlib types each key
    "font.family": "sans-serif",
    "font.size": 9,
    "text.parse_math": False,  # a dollar in a name is a dollar
    "text.color": INK,
    "axes.edgecolor": QUIET,
    "axes.labelcolor": INK,
    "xtick.color": QUIET,
    "xtick.labelcolor": INK,
    "ytick.color": INK,
    "pdf.fonttype": 42,  # text that can be selected
}
WIDTH, ROW, REST = 5.2, 0.4, 0.8  # inches
TRACKS: Final = 2.4  # inches of height, of the tracks of a staircase, and of its function
MAX_PAIRS: Final = 15  # in one figure: those of six systems
MAX_ROWS: Final = 66  # the pairs of twelve systems: more could be read in no figure
FORMATS: Final = ("pdf", "svg", "png")


def save(draw: Draw, stem: Path) -> list[Path]:
    """Write the figure as stem.pdf, stem.svg and stem.png (300 dpi), on white."""
    paths = [stem.with_suffix(f".{kind}") for kind in FORMATS]
    with rc_context(STYLE | {"svg.hashsalt": stem.name}):
        drawn = draw()
        drawn.draw_without_rendering()
        drawn.set_layout_engine("none")  # it is laid out now, once for all formats
        for path in paths:
            stamp = {"CreationDate": None} if path.suffix == ".pdf" else {"Date": None}
            metadata = None if path.suffix == ".png" else stamp
            with replacing(path) as file:
                drawn.savefig(
                    file, format=path.suffix[1:], dpi=300, facecolor="white", metadata=metadata
                )
    return paths


def png(draw: Draw) -> tuple[bytes, float]:
    """Draw the figure as a picture on white, of 200 dpi, and its height by its width."""
    file = io.BytesIO()
    with rc_context(STYLE):
        drawn = draw()
        drawn.savefig(file, format="png", dpi=200, facecolor="white")
    width, height = drawn.get_size_inches()
    return file.getvalue(), height / width


def inline(draw: Draw, name: str, label: str) -> Markup:
    """Write the figure as a <figure> element in the inks of the page: var(--ink), --quiet and
    --line. name: of the figure, unlike that of any other on the page; label: what it shows, for
    those who do not see it."""
    file = io.StringIO()
    with rc_context(STYLE | {"svg.fonttype": "none", "svg.hashsalt": name}):
        metadata = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        draw().savefig(file, format="svg", transparent=True, metadata=metadata)
    svg = file.getvalue()[file.getvalue().index("<svg") :]
    for colour, ink in ((INK, "ink"), (QUIET, "quiet"), (LINE, "line")):
        svg = svg.replace(colour, f"var(--{ink})")
    svg = re.sub(r"font: ([\d.]+)px [^;\"]*", r"font-size: \1px", svg)
    attributes = Markup('role="img" aria-label="{}"').format(label)
    svg = re.sub(r'width="[^"]*pt" height="[^"]*pt"', lambda _: attributes, svg, count=1)
    return Markup(f'<figure tabindex="0">{svg}</figure>')


def figure(test: Test, analysis: Analysis) -> Figure:
    """Draw what the design is known by: intervals over answers, boxes, or bars of votes. Strengths
    alone where pairs are many: the tables have them all."""
    scale = analysis.scale
    if len(analysis.threshold) and test.staircase:
        return _staircase(test.staircase, analysis)
    scaled = scale.of_pairs and len(analysis.systems) > 0
    if scaled and len(analysis.pairs) > MAX_PAIRS:
        return _strengths(analysis)
    table = analysis.pairs if scale.of_pairs else analysis.systems
    rows, table = len(table), table.head(MAX_ROWS)
    heights = [len(table) * ROW + REST]
    if scaled:
        heights.append(len(analysis.systems) * ROW + REST)
    drawn = Figure(figsize=(WIDTH, sum(heights)), layout="constrained")
    axes = drawn.subplots(len(heights), 1, squeeze=False, height_ratios=heights)[:, 0]
    first, table = axes[0], table.iloc[::-1].reset_index(drop=True)  # the best row on top
    panels.frame(first, table)
    if test.design.switched:
        panels.boxes(first, test, table, analysis.answers)
    elif scale.chance:
        panels.raters(first, table, analysis.answers)
    elif scale.of_pairs and scale.shares:
        panels.votes(first, scale, table)
    elif scale.typed:
        panels.errors(first, table, analysis.answers)
    elif scale.counted:
        panels.levels(first, test, table, analysis.answers)
    else:
        panels.ratings(first, test, scale, table, analysis.answers)
    if scaled:
        panels.strengths(axes[1], scale, analysis.systems.iloc[::-1].reset_index(drop=True))
    _stamp(axes[-1], analysis, rows)
    return drawn


def _staircase(staircase: Staircase, analysis: Analysis) -> Figure:
    """Draw the tracks of the raters above the fitted function."""
    drawn = Figure(figsize=(WIDTH, 2 * TRACKS), layout="constrained")
    above, below = drawn.subplots(2, 1)
    panels.tracks(above, staircase, analysis.answers)
    panels.psychometric(below, staircase, analysis.threshold.iloc[0], analysis.pairs)
    _stamp(below, analysis)
    return drawn


def _strengths(analysis: Analysis) -> Figure:
    """Draw the strengths alone."""
    drawn = Figure(figsize=(WIDTH, len(analysis.systems) * ROW + REST), layout="constrained")
    axis = drawn.subplots()
    panels.strengths(axis, analysis.scale, analysis.systems.iloc[::-1].reset_index(drop=True))
    _stamp(axis, analysis)
    return drawn


def stimuli(analysis: Analysis) -> Figure:
    """Draw the map of systems × stimuli."""
    rows = len(means := by_stimulus(analysis))
    means = means.head(MAX_ROWS)
    height = len(means) * ROW * 0.8 + (1.3 if means.shape[1] <= panels.MAX_NAMED else 0.6)
    drawn = Figure(figsize=(WIDTH, height), layout="constrained")
    axis = drawn.subplots()
    panels.heatmap(axis, analysis.scale, means)
    _stamp(axis, analysis, rows)
    return drawn


def _stamp(axis: Any, analysis: Analysis, rows: int = 0) -> None:
    """Note below the axis where raters are made up, and where not all of the rows are shown."""
    lines = [axis.get_xlabel()]
    if rows > MAX_ROWS:
        lines.append(f"the first {MAX_ROWS} of {rows:,}")
    if not analysis.answers.empty and simulated(analysis.answers):
        lines.append("simulated raters")
    axis.set_xlabel("\n".join(filter(None, lines)))
