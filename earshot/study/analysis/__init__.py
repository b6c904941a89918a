"""The way from ratings to results: analyse, then write, or show study.analysis.report.page."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from earshot.core.files import replacing
from earshot.study.analysis.exclusions import Exclusion, screen, untimely
from earshot.study.analysis.report import figures, page, pdf
from earshot.study.analysis.results import Analysis, Results, evaluate
from earshot.study.analysis.robustness import effects, other_models
from earshot.study.analysis.tables import Table
from earshot.study.design import Test
from earshot.study.design.rules import Rules
from earshot.study.storage.conduct import Conduct
from earshot.study.storage.export import csv

__all__ = ["Analysis", "Exclusion", "Results", "Rules", "analyse", "write"]

COLUMNS = (
    "test rater trial order position system other stimulus answer kind expected plays "
    "milliseconds headphones environment minutes finished started language scale"
).split()


def analyse(
    test: Test,
    ratings: pd.DataFrame,
    rules: Rules | None = None,
    conduct: Conduct | None = None,
    notes: Sequence[str] = (),
) -> Results:
    """Find everything that can be said of a test's ratings (the tidy table of Store.ratings), scale
    by scale where a trial has several.

    Rows whose answer is no finite number are left out, and so is practice. Any number of ratings
    will do: where there are too few for a figure it is NaN, and the notes say why. rules: other
    ones than the test's own, of which the report says that they were changed; conduct: of the
    test's store (Store.conduct); notes: what a reader of the report must be told first.
    """
    rules = rules or test.rules
    table: Table = ratings.reindex(columns=COLUMNS)
    for column in ("answer", "expected", "milliseconds", "minutes", "trial"):
        numbers: Table = pd.to_numeric(table[column], errors="coerce")
        table[column] = numbers.astype(float)
    table = table[np.isfinite(table["answer"])].astype(
        {"rater": str, "system": str, "stimulus": str}
    )
    table["other"] = table["other"].fillna("").astype(str)
    table["scale"] = table["scale"].astype(object).fillna(test.rated[0].name)
    scored = table[table["kind"] == "trial"]
    excluded = screen(test, table, rules)
    found = []
    for scale in test.rated:
        own = scored[scored["scale"] == scale.name]
        everyone = few = _noted(evaluate(test, own, scale=scale), notes)
        kept = own[~own["rater"].isin([exclusion.rater for exclusion in excluded])]
        late = untimely(kept, rules)
        if excluded or late.any():
            few = _noted(evaluate(test, kept[~late], len(excluded), scale), notes)
        results = Results(
            test=test,
            kept=few,
            everyone=everyone,
            rules=rules,
            exclusions=excluded,
            started=table["rater"].nunique(),
            finished=table.loc[table["finished"].eq(True).fillna(False), "rater"].nunique(),
            untimely=int(late.sum()),
            conduct=conduct,
            effects=effects(test, few.answers, scale),
            models=other_models(scale, few.answers, few.pairs),
        )
        found.append(results)
    return replace(found[0], more=tuple(found[1:]))


def _noted(analysis: Analysis, notes: Sequence[str]) -> Analysis:
    return replace(analysis, notes=(*notes, *analysis.notes))


def write(results: Results, folder: Path) -> None:
    """Write report.html and .pdf; the figure and the map of stimuli, as figure.* and stimuli.*
    (pdf, svg and png), and the tables as CSV; the same with everyone in everyone-*, where raters
    are left out, and with the scale before all of it, where a trial has several. The folder is made
    where there is none."""
    folder.mkdir(parents=True, exist_ok=True)
    _replace(folder / "report.html", page.page(results).encode())
    _replace(folder / "report.pdf", pdf.document(results))
    for each in results.by_scale:
        prefix = f"{each.scale.name}-" if results.test.scales else ""
        _write_analysis(each.test, each.kept, folder, prefix)
        if each.exclusions:
            _write_analysis(each.test, each.everyone, folder, f"{prefix}everyone-")


def _replace(path: Path, content: bytes) -> None:
    with replacing(path) as file:
        file.write(content)


def _write_analysis(test: Test, analysis: Analysis, folder: Path, prefix: str) -> None:
    if analysis.answers.empty:
        return
    figures.save(partial(figures.figure, test, analysis), folder / f"{prefix}figure")
    figures.save(partial(figures.stimuli, analysis), folder / f"{prefix}stimuli")
    for name in ("systems", "pairs", "power"):
        table: Table = getattr(analysis, name)
        if len(table):
            # With a mark, or a spreadsheet takes UTF-8 for the letters of one country.
            _replace(folder / f"{prefix}{name}.csv", csv(table).encode("utf-8-sig"))
