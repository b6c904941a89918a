"""How many raters it takes to tell two systems apart."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
import pandas as pd
from statsmodels.stats.power import TTestPower

from study.analysis.clustered import LEVEL, Estimate, Variance

POWER: Final = 0.8
MOST: Final = 10_000  # raters; who needs more needs other stimuli


def power(variance: Variance, difference: float, raters: int) -> float:
    """The chance that a true difference is found by so many raters like those so far.

    From the noncentral t of an estimate with clusters (see clustered.Variance), all stimuli kept.
    """
    then = variance.with_raters(raters)
    effect = difference / np.sqrt(then.total * raters)
    return float(TTestPower().power(effect, raters, 1 - LEVEL, df=then.df))


def raters_needed(variance: Variance, difference: float) -> int | None:
    """The fewest raters whose power is 80 %; None where no number is enough, since the stimuli are
    too few or too different."""
    numbers = range(2, MOST + 1)
    found = bisect_left(numbers, POWER, key=lambda raters: power(variance, difference, raters))
    return numbers[found] if found < len(numbers) else None


def plan(estimates: Iterable[Estimate], wanted: Sequence[float]) -> pd.DataFrame:
    """A row for each difference wanted: raters (needed in all, NaN: no number is enough) and more
    (than there are), for the pair of systems whose difference is the least certain.

    No rows where no estimate has a variance yet.
    """
    known = [e.variance for e in estimates if not np.isnan(e.standard_error)]
    if not known:
        return pd.DataFrame(columns=["difference", "raters", "more"])
    widest = max(known, key=lambda variance: variance.total)
    needed = [raters_needed(widest, difference) for difference in wanted]
    table = pd.DataFrame({"difference": wanted, "raters": np.array(needed, float)})
    return table.assign(more=(table["raters"] - widest.raters).clip(lower=0))
