"""The results as one page of HTML that needs nothing but itself; of a test that runs, its progress:
raters over time, and how long those still missing take.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cache, cached_property, partial
from math import ceil
from pathlib import Path
from typing import Any, Final

import numpy as np
from jinja2 import Environment
from markupsafe import Markup
from matplotlib.dates import AutoDateLocator, DateFormatter
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from earshot.core.templates import environment
from earshot.study.analysis.report import figures, paper, sheets
from earshot.study.analysis.report.method import method
from earshot.study.analysis.report.panels import BLUE, INK, QUIET
from earshot.study.analysis.report.prose import (
    TOO_LITTLE,
    aim,
    conclusion,
    counted,
    facts,
    more_raters,
    overall,
    verdict,
)
from earshot.study.analysis.report.sheets import Sheet
from earshot.study.analysis.results import REHEARSED, Analysis, Results
from earshot.study.design import Scale, Test
from earshot.study.storage import tables
from earshot.study.storage.raters import Finish

HIDDEN: Final = (
    "What raters have answered is shown once the test is closed: whoever looks at it before, and "
    "stops when it pleases, finds differences that are not there."
)
HEIGHT: Final = 2.0  # inches
MIN_FINISHED: Final = 3  # finished raters before there is a pace to speak of
HOUR: Final = timedelta(hours=1)


@dataclass(frozen=True)
class Findings:
    """The findings on a scale: its figure, its tables, and the sentences about them."""

    figure: Markup
    sheets: list[Sheet]
    sentences: list[str]


@dataclass(frozen=True)
class ScaleFindings:
    """The findings on a scale by those who are kept, None where nobody has rated, and of each
    stimulus; where raters are left out also by everyone, and both side by side.
    """

    scale: Scale
    included: Findings | None
    stimuli: Markup
    everyone: Findings | None = None
    both_ways: Sheet | None = None


def page(results: Results, progress: str = "", rehearsed: Results | None = None) -> str:
    """Write HTML with its styles and figures inside, in light and dark. progress: of a test that
    runs, as HTML (earshot.study.analysis.report.page); rehearsed: what made-up raters found, shown
    as that while nobody has rated."""
    head = {**_head(results), "notes": results.notes, "progress": Markup(progress)}
    if not results.started:
        made_up = Markup(rehearsal(rehearsed) if rehearsed else "")
        return render("unrated.html", **head, sentence=conclusion(results), rehearsal=made_up)
    return render(
        "results.html",
        **head,
        **_conclusions(results),
        faults=sheets.faults(results) if len(results.faults) else None,
        robust=[sheet for each in results.by_scale for sheet in sheets.robustness(each)],
        method=list(method(results)),
        paragraph_for_a_paper=paper.paragraph(results),
        checklists=[paper.checklist(results), paper.reviewer_checklist(results)],
    )


def running(results: Results, standing: str = "") -> str:
    """Write the page of a test that runs: who came and how far it is, and no estimate of anything,
    for one who looks at those while raters still come, and stops when it pleases, finds
    differences that are not there (see benchmarks/study.md). standing: how it stands, as HTML."""
    return render(
        "running.html",
        **_head(results),
        sentence=HIDDEN,
        notes=(),
        standing=Markup(standing),
    )


def rehearsal(results: Results) -> str:
    """Write what made-up raters found, as HTML to put into a page where nobody has rated yet."""
    raters = counted(results.started, "simulated rater")
    return render("rehearsal.html", raters=raters, note=REHEARSED, **_conclusions(results))


def render(name: str, /, **values: Any) -> str:
    """Fill the template of that name; those of pages extend page.html: a title, a few facts, what
    is concluded in one sentence, notes to know before one believes it, and the name of the test."""
    return _environment().get_template(name).render(values)


@cache
def _environment() -> Environment:
    return environment([Path(__file__).parent])


def _head(results: Results) -> dict[str, Any]:
    """Gather what the pages of a test share."""
    return {
        "title": results.test.title,
        "name": results.test.name,
        "facts": facts(results),
        "flow": paper.flow(results) if paper.anyone(results) else None,
        "left_out": sheets.left_out(results) if results.exclusions else None,
        "asked": paper.facts_of_test(results),
    }


def _conclusions(results: Results) -> dict[str, Any]:
    """Gather what a page says that raters found, also if they are made up."""
    scales = results.by_scale
    return {
        "sentence": conclusion(results),
        "several": bool(results.test.scales),
        "scales": list(map(_of_scale, scales)),
        "more": [each.named(text) for each in scales for text in more_raters(each.included)],
        "too_little": TOO_LITTLE,
    }


def _of_scale(results: Results) -> ScaleFindings:
    test = results.test
    included = _findings(test, results.included, "kept")
    findings = ScaleFindings(results.scale, included, _stimuli(test, results.included))
    if not results.exclusions:
        return findings
    everyone = _findings(test, results.everyone, "everyone")
    return replace(findings, everyone=everyone, both_ways=sheets.both_ways(results))


def _findings(test: Test, analysis: Analysis, name: str) -> Findings | None:
    if analysis.answers.empty:
        return None
    draw, label = partial(figures.figure, test, analysis), verdict(test, analysis)
    figure = figures.inline(draw, f"{test.name}-{analysis.scale.name}-{name}", label)
    return Findings(figure, sheets.of_analysis(test, analysis), list(overall(analysis)))


def _stimuli(test: Test, analysis: Analysis) -> Markup:
    if analysis.answers.empty:
        return Markup()
    draw, name = partial(figures.stimuli, analysis), f"{test.name}-{analysis.scale.name}-stimuli"
    return figures.inline(draw, name, "Mean answer to each stimulus")


@dataclass(frozen=True, eq=False)
class Progress:
    """A test's results, who has finished (the first one first), and how many raters are wanted:
    None for any number; now: the time, in UTC without a zone."""

    results: Results
    finished: Sequence[Finish]
    planned: int | None
    now: datetime = field(default_factory=tables.now)

    @cached_property
    def left_out(self) -> set[str]:
        """Find whom the rules exclude (hashes)."""
        return {who.rater for who in self.results.exclusions}

    @property
    def included(self) -> list[Finish]:
        """List whom the rules keep, of those who have finished."""
        return [each for each in self.finished if each.rater not in self.left_out]

    @property
    def duration(self) -> timedelta:
        """Take the time from the hour of the first one's last answer to the end of the last
        one's."""
        return self.end(self.finished[-1]) - self.finished[0].hour

    def end(self, finish: Finish) -> datetime:
        """Find the end of the hour in which one finished, or now, should it not be over."""
        return min(finish.hour + HOUR, max(self.now, finish.hour))


def progress_section(progress: Progress, name: str) -> str:
    """Write the section of the organiser's page; empty while nobody has finished."""
    if not progress.finished:
        return ""
    label = f"{counted(len(progress.finished), 'rater')} finished over time"
    drawn = figures.inline(partial(progress_figure, progress), f"{name}-progress", label)
    return render("progress.html", figure=drawn, sentences=list(pace(progress)))


def progress_figure(progress: Progress) -> Figure:
    """Draw steps of those who have finished, and of those among them who are kept, hour by hour."""
    drawn = Figure(figsize=(figures.WIDTH, HEIGHT), layout="constrained")
    axis = drawn.subplots()
    if progress.left_out & {each.rater for each in progress.finished}:
        _steps(axis, progress, progress.finished, QUIET, "all", (0, (3, 2)))
        _steps(axis, progress, progress.included, BLUE, "kept by the rules")
    else:
        _steps(axis, progress, progress.finished, BLUE, "all")
    if progress.planned:
        axis.axhline(progress.planned, color=INK, linewidth=0.8)
        axis.annotate(
            f"{progress.planned} wanted", (1, progress.planned), (0, 3), ha="right",
            xycoords=("axes fraction", "data"), textcoords="offset points",
        )  # fmt: skip
    axis.set_ylim(0, 1.15 * max(progress.planned or 0, len(progress.finished)))
    axis.yaxis.set_major_locator(MaxNLocator(integer=True))
    axis.xaxis.set_major_locator(AutoDateLocator(minticks=2, maxticks=4))
    axis.xaxis.set_major_formatter(DateFormatter(tables.TIME))
    axis.spines[["top", "right"]].set_visible(False)
    axis.set_ylabel("Raters who finished")
    # Outside, for the line of those wanted is at the top.
    drawn.legend(frameon=False, loc="outside upper left", ncols=2, labelcolor=INK)
    return drawn


def _steps(
    axis: Any, progress: Progress, who: Sequence[Finish], colour: str, label: str, dashes: Any = "-"
) -> None:
    """Draw a line that rises at the end of each one's hour, to the end of the time that is
    drawn."""
    first, last = progress.finished[0].hour, progress.end(progress.finished[-1])
    times = [first, *map(progress.end, who), last]
    counts = [*range(len(who) + 1), len(who)]
    style = {"color": colour, "linewidth": 1.8, "linestyle": dashes}
    axis.step(times, counts, where="post", label=label, **style)


def pace(progress: Progress) -> Iterable[str]:
    """Yield how fast raters finish, whom the rules leave out, and what those still missing take at
    this rate: for the places that are left, and for a power of 80 % at the middle one of the
    differences that one may want to find."""
    number, included = len(progress.finished), len(progress.included)
    sentence = f"{counted(number, 'rater')} finished within {_long(progress.duration)}"
    left_out = number - included
    yield f"{sentence}; the rules below leave {left_out or 'none'} of them out."
    if number < MIN_FINISHED or not included:
        return
    each = progress.duration / number
    if progress.planned and (places := progress.planned - number) > 0:
        yield f"At this rate the places left ({places}) are taken in {_long(places * each)}."
    power = progress.results.included.power
    if power.empty:
        return
    row = power.iloc[len(power) // 2]
    if np.isnan(row["raters"]) or row["more_stimuli"] or not row["more_raters"]:
        return  # what it takes is said under "How many more raters?"
    more = ceil(row["more_raters"] * number / included)
    aside = f", {row['more_raters']:.0f} of whom stay" if left_out else ""
    aimed = aim(progress.results.scale, row["difference"])
    yield (
        f"{aimed}: about {counted(more, 'more rater')}{aside}, {_long(more * each)} at this rate."
    )


def _long(time: timedelta) -> str:
    """Print about so many hours, from two days on days."""
    hours = max(1, round(time / HOUR))
    return counted(hours, "hour") if hours < 48 else counted(round(hours / 24), "day")
