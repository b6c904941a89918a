"""How many raters, or stimuli, it takes to tell two systems apart."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from math import ceil
from typing import Final

import numpy as np
import pandas as pd
from statsmodels.stats.power import TTestPower

from earshot.study.analysis.clustered import LEVEL, Estimate, Variance
from earshot.study.analysis.tables import Table

POWER: Final = 0.8
MOST: Final = 1000  # raters that a test can have


def power(variance: Variance, difference: float) -> float:
    """The chance that a true difference is found, where the estimate has this variance.

    From the noncentral t with the degrees of freedom of the variance.
    """
    # TTestPower takes an effect per observation; with one of them it is that of the whole.
    effect = difference / np.sqrt(variance.total)
    return float(TTestPower().power(effect, 1, 1 - LEVEL, df=variance.df))


def raters_needed(variance: Variance, difference: float) -> int | None:
    """The fewest raters of the same stimuli whose power is 80 %; None where no number is enough,
    since it is the stimuli that are too few for how they differ."""
    return _fewest(lambda raters: power(variance.resized(raters, variance.stimuli), difference))


def grown(variance: Variance, difference: float) -> tuple[int, int] | None:
    """The fewest raters and stimuli, both grown by the same factor, whose power is 80 %."""

    def stimuli(raters: int) -> int:
        return ceil(variance.stimuli * raters / variance.raters)

    found = _fewest(lambda raters: power(variance.resized(raters, stimuli(raters)), difference))
    return (found, stimuli(found)) if found else None


def plan(estimates: Iterable[Estimate], wanted: Sequence[float]) -> Table:
    """A row for each difference wanted: raters, stimuli (that it takes in all), and more_raters,
    more_stimuli (than there are): more raters alone, where these are enough, else more of both.

    For the pair of systems whose difference is the least certain; NaN where MOST raters are too
    few, and no rows where no pair has a variance yet.
    """
    known = [e.variance for e in estimates if not np.isnan(e.standard_error)]
    widest = max(known, key=lambda variance: variance.total, default=None)
    if widest is None:
        return pd.DataFrame()
    rows = []
    for difference in wanted:
        alone = raters_needed(widest, difference)
        size = (alone, widest.stimuli) if alone else grown(widest, difference) or (np.nan, np.nan)
        more = np.maximum(np.subtract(size, (widest.raters, widest.stimuli)), 0)
        rows.append([difference, *size, *more])
    columns = ["difference", "raters", "stimuli", "more_raters", "more_stimuli"]
    return pd.DataFrame(rows, columns=columns)


def _fewest(power_of: Callable[[int], float]) -> int | None:
    numbers = range(2, MOST + 1)
    found = bisect_left(numbers, POWER, key=power_of)
    return numbers[found] if found < len(numbers) else None
