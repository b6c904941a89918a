"""Two tests of one design side by side: what both have rated, and by how much they differ, as a
page and a figure.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import pandas as pd
from matplotlib.figure import Figure

from earshot.core.errors import InputError
from earshot.study.analysis import scores
from earshot.study.analysis.estimates import (
    ROUNDING,
    Table,
    codes,
    difference,
    estimate_row,
    simulated,
    with_holm,
)
from earshot.study.analysis.report import figures, panels, sheets
from earshot.study.analysis.report.page import render
from earshot.study.analysis.report.panels import BLUE, INK, ORANGE
from earshot.study.analysis.report.prose import ALPHA, interval, number, p_value
from earshot.study.analysis.results import REHEARSED, Results, answers_by_system
from earshot.study.design import Test

OTHER_DESIGN: Final = "These tests have different designs, so their ratings cannot be compared."
NOT_ADAPTIVE: Final = (
    "In an adaptive test, and on a staircase, trials were chosen by the answers, so their shares "
    "cannot be compared with those of another test."
)
NOTHING_IN_COMMON: Final = "These tests have no system in common that both have ratings of."
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


@dataclass(frozen=True, eq=False)
class Comparison:
    """A comparison of two tests. table: a row a system, or pair, that both tests have rated, in the
    order of the first: system; other, in designs with pairs; one_value, one_low, one_high;
    two_value, two_low, two_high; value (the first's mean less the second's), low, high, p, and
    p_holm over all.
    """

    one: Results
    two: Results
    table: Table


def check_comparable(one: Test, two: Test) -> None:
    """Raise InputError for tests of different designs or first scales, and for adaptive ones."""
    first, second = one.rated[0], two.rated[0]
    same = (first.name, first.numbers) == (second.name, second.numbers)
    if one.design != two.design or not same:
        raise InputError(OTHER_DESIGN)
    if one.draws_late or two.draws_late:
        raise InputError(NOT_ADAPTIVE)


def compare(one: Results, two: Results) -> Comparison:
    """Compare the raters whom the rules keep, on the first scale where a trial has several.

    Raters and stimuli are clusters over both tests (see estimates.Variance), and a stimulus that
    has the same name in both is one stimulus: what it adds to both cancels. Raises InputError where
    there is nothing to compare.
    """
    check_comparable(one.test, two.test)
    scale = one.scale
    keys = ["system", "other"] if scale.of_pairs else ["system"]
    first, second = map(_averaged_answers, (one, two))
    rounding = 0.0 if scale.bounds == (0, 1) else ROUNDING  # as in the report of each
    ranked = one.included.pairs if scale.of_pairs else one.included.systems
    rows = []
    for key in ranked[keys].itertuples(index=False) if len(ranked) else []:
        own = [table[(table[keys] == list(key)).all(axis=1)] for table in (first, second)]
        if any(table.empty for table in own):
            continue
        both = pd.concat(own, keys=["one", "two"], names=["test_of"]).reset_index("test_of")
        is_first = (both["test_of"] == "one").to_numpy(bool)
        gap = difference(both["answer"].to_numpy(float), is_first, *codes(both), rounding)
        row = dict(zip(keys, key, strict=True))
        for name, table in zip(("one", "two"), own, strict=True):
            summary = scores.systems(table, scale.bounds).iloc[0]
            row |= {f"{name}_{end}": summary[end] for end in ("value", "low", "high")}
        rows.append(row | estimate_row(gap))
    if not rows:
        raise InputError(NOTHING_IN_COMMON)
    return Comparison(one, two, with_holm(rows))


def _averaged_answers(results: Results) -> Table:
    """Turn the answers of a test into those whose means its report gives."""
    scale, answers = results.scale, results.included.answers
    return (
        scores.scored(results.test, scale, answers)
        if scale.typed
        else answers_by_system(scale, answers)
    )


def page(comparison: Comparison) -> str:
    """Write HTML with its figure inside, in light and dark."""
    one, two = comparison.one.test, comparison.two.test
    drawn = figures.inline(
        partial(figure, comparison), f"{one.name}-{two.name}", "Means of both tests"
    )
    both = (comparison.one.included, comparison.two.included)
    notes = [REHEARSED] if any(simulated(each.answers) for each in both) else []
    notes += [RANGE] if comparison.one.scale.scores else []
    notes += [FIRST.format(scale=one.rated[0].name)] if one.scales else []
    few = [f"{each.title} ({each.name})" for each in (one, two)]
    return render(
        "compared.html",
        title="Two tests compared",
        facts=few,
        sentence=" ".join(_conclusions(comparison)),
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


def _conclusions(comparison: Comparison) -> Iterator[str]:
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


def _sheet(comparison: Comparison) -> sheets.Sheet:
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
    return sheets.Sheet("Both tests", [first, *head, "p, Holm"], rows)


def _name(row: dict[str, Any]) -> str:
    return " and ".join(row[key] for key in ("system", "other") if key in row)
