"""Two tests side by side, as a page and a figure."""

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

from matplotlib.figure import Figure

from earshot.study.analysis.comparison import Comparison
from earshot.study.analysis.report import figures, panels, tables
from earshot.study.analysis.report.page import render
from earshot.study.analysis.report.panels import BLUE, INK, ORANGE
from earshot.study.analysis.report.words import ALPHA, interval, number, p_value
from earshot.study.analysis.results import REHEARSED
from earshot.study.analysis.tables import simulated

APART: Final = 0.16  # of the two tests in a row of the figure
METHOD: Final = (
    "Means of the raters whom the rules of each test keep. A difference is that of the means, with "
    "raters and stimuli of both tests as clusters (Cameron, Gelbach and Miller 2011), and is "
    "tested by its t; a stimulus that has the same name in both tests counts as one, so that what "
    "it adds to both cancels. p-values are corrected by Holm's method (1979). Raters were not "
    "drawn by lot for one test or the other: a difference may be that of the raters, the day or "
    "the instructions."
)
FIRST: Final = "Of the scales on a trial, the first one of both tests is compared: {scale}."
RANGE: Final = (
    "Raters spread the sounds of a test over the whole scale, whatever their quality (range "
    "equalising: Zieliński, Rumsey and Bech 2008, Journal of the Audio Engineering Society 56; for "
    "synthetic speech Cooper and Yamagishi 2023, Interspeech): the same system is rated lower "
    "among better ones. Hold scores of two tests against each other only where both have the same "
    "other systems, or anchors, and look at those first."
)


def page(comparison: Comparison) -> str:
    """Write HTML with its figure inside, in light and dark."""
    one, two = comparison.one.test, comparison.two.test
    drawn = figures.inline(
        partial(figure, comparison), f"{one.name}-{two.name}", "Means of both tests"
    )
    both = (comparison.one.kept, comparison.two.kept)
    notes = [REHEARSED] if any(simulated(each.answers) for each in both) else []
    notes += [RANGE] if comparison.one.scale.scores else []
    notes += [FIRST.format(scale=one.rated[0].name)] if one.scales else []
    few = [f"{each.title} ({each.name})" for each in (one, two)]
    return render(
        "compared.html",
        title="Two tests compared",
        facts=few,
        sentence=" ".join(_found(comparison)),
        notes=notes,
        figure=drawn,
        sheet=_sheet(comparison),
        method=METHOD,
    )


def figure(comparison: Comparison) -> Figure:
    """Draw the mean and the 95 % interval of each system, or pair, in either test."""
    table = comparison.table.iloc[::-1].reset_index(drop=True)  # the first row on top
    height = len(table) * figures.ROW * 1.3 + figures.REST
    drawn = Figure(figsize=(figures.WIDTH, height), layout="constrained")
    axis: Any = drawn.subplots()
    panels.frame(axis, table)
    for name, results, lift, colour, mark in (
        ("one", comparison.one, APART, BLUE, "o"),
        ("two", comparison.two, -APART, ORANGE, "s"),
    ):
        for y, row in enumerate(table.to_dict("records")):
            ends = [row[f"{name}_low"], row[f"{name}_high"]]
            axis.plot(ends, [y + lift] * 2, color=colour, linewidth=1.8)
            label = panels.short(results.test.name) if y == 0 else None
            axis.plot(row[f"{name}_value"], y + lift, mark, color=colour, markersize=6, label=label)
    scale = comparison.one.scale
    axis.set_xlim(*scale.bounds)
    axis.grid(axis="x", color=panels.LINE, linewidth=0.8)
    axis.set_xlabel(f"{scale.measure} and 95 % interval")
    drawn.legend(frameon=False, loc="outside upper left", ncols=2, labelcolor=INK)
    return drawn


def _found(comparison: Comparison) -> Iterator[str]:
    apart = comparison.table[comparison.table["p_holm"] < ALPHA]
    yield (
        f"{len(apart)} of {len(comparison.table)} means differ between the tests by more than "
        "chance explains."
        if len(apart)
        else "No mean differs between the tests by more than chance explains."
    )
    scale = comparison.one.scale
    for row in apart.head(3).to_dict("records"):
        gap = number(scale, row["value"], signed=True)
        yield f"{_name(row)}: {gap}, p {p_value(row['p_holm'])}."


def _sheet(comparison: Comparison) -> tables.Sheet:
    scale = comparison.one.scale
    rows = []
    for row in comparison.table.to_dict("records"):
        cells = [_name(row)]
        for name in ("one_", "two_", ""):
            cells.append(number(scale, row[f"{name}value"], signed=not name))
            cells.append(interval(scale, row[f"{name}low"], row[f"{name}high"], signed=not name))
        rows.append([*cells, p_value(row["p_holm"])])
    names = (comparison.one.test.name, comparison.two.test.name, "Difference")
    head = [cell for name in names for cell in (panels.short(name), "95 % interval")]
    first = "Pair" if "other" in comparison.table else "System"
    return tables.Sheet("Both tests", [first, *head, "p, Holm"], rows)


def _name(row: dict[str, Any]) -> str:
    return " and ".join(row[key] for key in ("system", "other") if key in row)
