"""How far a test that runs has come."""

import re
from datetime import datetime, timedelta
from functools import cache

import numpy as np

from earshot.study.analysis import Results, analyse
from earshot.study.analysis.report.page import Progress, pace, progress_section
from earshot.study.storage import tables
from earshot.study.storage.raters import Finish
from tests.study.analysis.made import SYSTEMS, make_test, rate

START = datetime(2026, 1, 31, 9)


@cache
def results(raters: int, careless: int = 0) -> Results:
    """Of a test that so many took, some of whom fail their checks."""
    rng = np.random.default_rng(0)
    test = make_test("acr", checks=4)
    tastes = rng.normal(3, 1, (raters, 3))

    def answer(rater: int, one: str, *_: str) -> float:
        return float(np.clip(tastes[rater, SYSTEMS.index(one)] + 0.3 * rng.normal(), 1, 5))

    ratings = rate(test, raters, answer, lambda rater: 5.0 if rater < careless else 1.0)
    return analyse(test, ratings)


def finished(raters: int, every: float) -> list[Finish]:
    """So many raters, one after so many hours."""
    return [Finish(f"rater-{k}", START + k * timedelta(hours=every)) for k in range(raters)]


def test_pace_says_how_long_places_take() -> None:
    text = " ".join(pace(Progress(results(10), finished(10, 1), 30)))
    assert "10 raters finished within 10 hours; the rules below leave none of them out." in text
    assert "the places left (20) are taken in 20 hours" in text


def test_pace_counts_who_is_left_out() -> None:
    """More raters are needed where the rules will leave some of them out."""
    everyone, some = results(12), results(12, careless=6)
    whole, half = ([*pace(Progress(each, finished(12, 24), None))][-1] for each in (everyone, some))
    assert "of whom stay" not in whole and "days at this rate" in whole
    needed = some.included.power.iloc[1]["more_raters"]
    assert f"about {2 * needed:.0f} more raters, {needed:.0f} of whom stay" in half


def test_progress_is_not_drawn_into_the_future() -> None:
    """Only the hour of an answer is known, of which the last may not be over."""
    now = START + timedelta(hours=9, minutes=37)
    progress = Progress(results(10), finished(10, 1), None, now)
    assert progress.end(progress.finished[-1]) == now
    assert progress.end(progress.finished[0]) == START + timedelta(hours=1)
    times = re.findall(r"2026-01-31 \d\d:\d\d UTC", progress_section(progress, "made"))
    assert len(times) > 1 and max(times) <= now.strftime(tables.TIME)


def test_progress_of_few_raters_promises_nothing() -> None:
    assert progress_section(Progress(results(2), [], 10), "made") == ""
    assert len([*pace(Progress(results(2), finished(2, 1), 10))]) == 1


def test_progress_is_drawn_for_those_kept() -> None:
    """They have a line of their own only where the rules leave somebody out."""
    drawn = progress_section(Progress(results(12, careless=3), finished(12, 1), 40), "made")
    assert drawn.count("<svg") == 1 and "kept by the rules" in drawn and "40 wanted" in drawn
    assert "kept by the rules" not in progress_section(
        Progress(results(12), finished(12, 1), 40), "made"
    )
