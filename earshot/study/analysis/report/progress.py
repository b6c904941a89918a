"""The progress of a test that runs: raters over time, and how long those still missing take."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property, partial
from math import ceil
from typing import Any, Final

import numpy as np
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from earshot.study.analysis.report import figures
from earshot.study.analysis.report.page import render
from earshot.study.analysis.report.panels import BLUE, INK, QUIET
from earshot.study.analysis.report.words import aim, counted
from earshot.study.analysis.results import Results
from earshot.study.storage.conduct import Finish

HEIGHT: Final = 2.0  # inches
MIN_FINISHED: Final = 3  # finished raters before there is a pace to speak of
HOUR: Final = timedelta(hours=1)


@dataclass(frozen=True, eq=False)
class Progress:
    """A test's results, who has finished (the first one first), and how many raters are wanted:
    None for any number."""

    results: Results
    finished: Sequence[Finish]
    wanted: int | None

    @cached_property
    def left_out(self) -> set[str]:
        """Find whom the rules exclude (hashes)."""
        return {who.rater for who in self.results.exclusions}

    @property
    def kept(self) -> list[Finish]:
        """List whom the rules keep, of those who have finished."""
        return [each for each in self.finished if each.rater not in self.left_out]

    @property
    def duration(self) -> timedelta:
        """Take the time from the hour of the first one's last answer to the end of the last
        one's."""
        return self.finished[-1].hour + HOUR - self.finished[0].hour


def html(progress: Progress, name: str) -> str:
    """Write the section of the organiser's page; empty while nobody has finished."""
    if not progress.finished:
        return ""
    label = f"{counted(len(progress.finished), 'rater')} finished over time"
    drawn = figures.inline(partial(figure, progress), f"{name}-progress", label)
    return render("progress.html", figure=drawn, said=list(pace(progress)))


def figure(progress: Progress) -> Figure:
    """Draw steps of those who have finished, and of those among them who are kept, hour by hour."""
    drawn = Figure(figsize=(figures.WIDTH, HEIGHT), layout="constrained")
    axis = drawn.subplots()
    if progress.left_out & {each.rater for each in progress.finished}:
        _steps(axis, progress, progress.finished, QUIET, "all", (0, (3, 2)))
        _steps(axis, progress, progress.kept, BLUE, "kept by the rules")
    else:
        _steps(axis, progress, progress.finished, BLUE, "all")
    if progress.wanted:
        axis.axhline(progress.wanted, color=INK, linewidth=0.8)
        axis.annotate(
            f"{progress.wanted} wanted", (1, progress.wanted), (0, 3), ha="right",
            xycoords=("axes fraction", "data"), textcoords="offset points",
        )  # fmt: skip
    axis.set_ylim(0, 1.15 * max(progress.wanted or 0, len(progress.finished)))
    axis.yaxis.set_major_locator(MaxNLocator(integer=True))
    locator = AutoDateLocator(minticks=3, maxticks=6)
    axis.xaxis.set_major_locator(locator)
    axis.xaxis.set_major_formatter(ConciseDateFormatter(locator))
    axis.spines[["top", "right"]].set_visible(False)
    axis.set_ylabel("Raters who finished")
    axis.set_xlabel("UTC")
    # Outside, for the line of those wanted is at the top.
    drawn.legend(frameon=False, loc="outside upper left", ncols=2, labelcolor=INK)
    return drawn


def _steps(
    axis: Any, progress: Progress, who: Sequence[Finish], colour: str, label: str, dashes: Any = "-"
) -> None:
    """Draw a line that rises at the end of each one's hour, to the end of the time that is
    drawn."""
    first, last = progress.finished[0].hour, progress.finished[-1].hour + HOUR
    times = [first, *(each.hour + HOUR for each in who), last]
    counts = [*range(len(who) + 1), len(who)]
    style = {"color": colour, "linewidth": 1.8, "linestyle": dashes}
    axis.step(times, counts, where="post", label=label, **style)


def pace(progress: Progress) -> Iterable[str]:
    """Say how fast raters finish, whom the rules leave out, and what those still missing take at
    this rate: for the places that are left, and for a power of 80 % at the middle one of the
    differences that one may want to find."""
    number, kept = len(progress.finished), len(progress.kept)
    said = f"{counted(number, 'rater')} finished within {_long(progress.duration)}"
    left_out = number - kept
    yield f"{said}; the rules below leave {left_out or 'none'} of them out."
    if number < MIN_FINISHED or not kept:
        return
    each = progress.duration / number
    if progress.wanted and (places := progress.wanted - number) > 0:
        yield f"At this rate the places left ({places}) are taken in {_long(places * each)}."
    power = progress.results.kept.power
    if power.empty:
        return
    row = power.iloc[len(power) // 2]
    if np.isnan(row["raters"]) or row["more_stimuli"] or not row["more_raters"]:
        return  # what it takes is said under "How many more raters?"
    more = ceil(row["more_raters"] * number / kept)
    aside = f", {row['more_raters']:.0f} of whom stay" if left_out else ""
    aimed = aim(progress.results.scale, row["difference"])
    yield (
        f"{aimed}: about {counted(more, 'more rater')}{aside}, {_long(more * each)} at this rate."
    )


def _long(time: timedelta) -> str:
    """Print about so many hours, from two days on days."""
    hours = max(1, round(time / HOUR))
    return counted(hours, "hour") if hours < 48 else counted(round(hours / 24), "day")
