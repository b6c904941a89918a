"""The way from ratings to results: analyse, then write, or show
earshot.study.analysis.report.page.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from earshot.core.files import write as write_file
from earshot.study.analysis import rankings, scores
from earshot.study.analysis.estimates import Table
from earshot.study.analysis.exclusions import Exclusion, screen, skipped, untimely
from earshot.study.analysis.report import figures, page, pdf
from earshot.study.analysis.results import Analysis, Results, evaluate
from earshot.study.analysis.robustness import effects, other_models
from earshot.study.design import Scale, Test
from earshot.study.design.designs import FAULTS
from earshot.study.design.raters import Rules
from earshot.study.storage.export import csv
from earshot.study.storage.raters import Conduct

__all__ = ["Analysis", "Exclusion", "Results", "Rules", "analyse", "paths", "write"]

COLUMNS = (
    "test rater trial order position system other stimulus answer kind expected plays "
    "milliseconds frames dropped_frames drift dropouts lost_sound stalls hidden rate headphones "
    "environment minutes finished started language scale text"
).split()
NUMBERS = (
    "answer expected milliseconds frames dropped_frames drift dropouts lost_sound stalls hidden "
    "rate minutes trial"
).split()
REPORTS = ("report.html", "report.pdf")
FIGURES, TABLES = ("figure", "stimuli"), ("systems", "pairs", "power", "threshold")
FAULTS_TABLE = "faults.csv"
EVERYONE = "everyone-"  # before the names of what counts those who are left out too


def analyse(
    test: Test,
    ratings: pd.DataFrame,
    rules: Rules | None = None,
    conduct: Conduct | None = None,
    notes: Sequence[str] = (),
) -> Results:
    """Compute all results of a test's ratings (the tidy table of Store.ratings), scale
    by scale where a trial has several.

    Rows whose answer is no finite number are left out, and so is practice. Any number of ratings
    will do: where there are too few for a figure it is NaN, and the notes explain it. rules: other
    ones than the test's own, which the report marks as changed; conduct: of the
    test's store (Store.conduct); notes: what a reader of the report must know first.
    """
    rules = rules or test.rules
    table: Table = ratings.reindex(columns=COLUMNS)
    for column in NUMBERS:
        numbers: Table = pd.to_numeric(table[column], errors="coerce")
        table[column] = numbers.astype(float)
    table = table[np.isfinite(table["answer"])].astype(
        {"rater": str, "system": str, "stimulus": str}
    )
    table["other"] = table["other"].fillna("").astype(str)
    table["scale"] = table["scale"].astype(object).fillna(test.rated[0].name)
    ticks = table[(table["scale"] == FAULTS) & (table["kind"] == "trial")]
    table = table[table["scale"] != FAULTS]
    scored = table[table["kind"] == "trial"]
    excluded = screen(test, table, rules)
    excluded_raters, by_scale = [exclusion.rater for exclusion in excluded], []
    for scale in test.rated:
        own = scored[scored["scale"] == scale.name]
        everyone = few = _noted(evaluate(test, _counted(scale, own), scale=scale), notes)
        remaining = own[~own["rater"].isin(excluded_raters)]
        late, disturbed = untimely(remaining, rules), skipped(remaining, rules)
        if excluded or late.any() or disturbed.any():
            included = _counted(scale, remaining[~(late | disturbed)])
            few = _noted(evaluate(test, included, len(excluded), scale), notes)
        results = Results(
            test=test,
            included=few,
            everyone=everyone,
            rules=rules,
            exclusions=excluded,
            started=table["rater"].nunique(),
            finished=table.loc[table["finished"].eq(True).fillna(False), "rater"].nunique(),
            untimely=_number(scale, remaining[late]),
            skipped=_number(scale, remaining[disturbed & ~late]),
            conduct=conduct,
            effects=effects(test, few.answers, scale),
            models=other_models(scale, few.answers, few.pairs),
        )
        by_scale.append(results)
    faults = scores.faults(test, ticks[~ticks["rater"].isin(excluded_raters)])
    return replace(by_scale[0], more=tuple(by_scale[1:]), faults=faults)


def _counted(scale: Scale, answers: Table) -> Table:
    """Return what is analysed: of places a vote for each two, else the answers as they are."""
    return rankings.as_votes(answers) if scale.ranked else answers


def _number(scale: Scale, answers: Table) -> int:
    """Count answers, of which a ranking is one, whatever the number of its places."""
    return len(answers.drop_duplicates(rankings.RANKING_COLUMNS) if scale.ranked else answers)


def _noted(analysis: Analysis, notes: Sequence[str]) -> Analysis:
    return replace(analysis, notes=(*notes, *analysis.notes))


def paths(test: Test, folder: Path) -> list[Path]:
    """List the files that write may write for the test."""
    figured = [f"{name}.{kind}" for name in FIGURES for kind in figures.FORMATS]
    names = [*figured, *(f"{name}.csv" for name in TABLES)]
    prefixes = [f"{before}{who}" for before in _prefixes(test) for who in ("", EVERYONE)]
    reports = [*REPORTS, *([FAULTS_TABLE] if test.faults else [])]
    return [folder / name for name in reports] + [
        folder / f"{prefix}{name}" for prefix in prefixes for name in names
    ]


def _prefixes(test: Test) -> list[str]:
    return [f"{scale.name}-" for scale in test.scales] or [""]


def write(results: Results, folder: Path) -> None:
    """Write report.html and .pdf; the figure and the map of stimuli, as figure.* and stimuli.*
    (pdf, svg and png), and the tables as CSV; the same with everyone in everyone-*, where raters
    are left out, and with the scale before all of it, where a trial has several. The folder is made
    where there is none."""
    html, document = (folder / name for name in REPORTS)
    write_file(html, page.page(results).encode())
    write_file(document, pdf.document(results))
    if len(results.faults):
        write_file(folder / FAULTS_TABLE, csv(results.faults).encode("utf-8-sig"))
    for each, prefix in zip(results.by_scale, _prefixes(results.test), strict=True):
        _write_analysis(each.test, each.included, folder, prefix)
        if each.exclusions:
            _write_analysis(each.test, each.everyone, folder, f"{prefix}{EVERYONE}")


def _write_analysis(test: Test, analysis: Analysis, folder: Path, prefix: str) -> None:
    if analysis.answers.empty:
        return
    draws = (partial(figures.figure, test, analysis), partial(figures.stimuli, analysis))
    for name, draw in zip(FIGURES, draws, strict=True):
        figures.save(draw, folder / f"{prefix}{name}")
    for name in TABLES:
        table: Table = getattr(analysis, name)
        if len(table):
            # With a mark, or a spreadsheet takes UTF-8 for the letters of one country.
            write_file(folder / f"{prefix}{name}.csv", csv(table).encode("utf-8-sig"))
