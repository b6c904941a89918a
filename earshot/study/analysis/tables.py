"""The parts that the analyses share: estimates as rows, codes of raters and stimuli, Holm's
correction.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from earshot.study.analysis.clustered import ROUNDING, Estimate, bounded, mean
from earshot.study.storage.raters import SIMULATED

# A pandas.DataFrame, whose own types do not let a checker tell a column from a table.
Table = Any
WHOLE_LINE = (-np.inf, np.inf)


def estimate_row(estimate: Estimate, bounds: tuple[float, float] = WHOLE_LINE) -> dict[str, float]:
    """Name value, low and high, standard_error, df and p; on a scale with ends see
    clustered.bounded."""
    ends = (estimate.low, estimate.high, estimate.p)
    if bounds != WHOLE_LINE:
        ends = bounded(estimate, *bounds)
    return {
        "value": estimate.value,
        "low": ends[0],
        "high": ends[1],
        "standard_error": estimate.standard_error,
        "df": estimate.variance.df,
        "p": ends[2],
    }


def mean_of(ratings: Table, null: float = 0.0, rounding: float = ROUNDING) -> Estimate:
    """Estimate the mean answer of rows of the tidy table; of shares, rounding is 0."""
    return mean(ratings["answer"].to_numpy(float), *codes(ratings), null, rounding)


def codes(ratings: Table) -> tuple[np.ndarray, np.ndarray]:
    """Number raters and stimuli (N,) by whole numbers from 0."""
    return pd.factorize(ratings["rater"])[0], pd.factorize(ratings["stimulus"])[0]


def simulated(ratings: Table) -> bool:
    """Say whether any of the raters is made up (earshot.study.simulation)."""
    return bool(ratings["rater"].str.startswith(SIMULATED).any())


def percent(share: float, sign: str = "") -> str:
    """Print 0.254 as "25 %", whose sign does not break away from it."""
    return f"{100 * share:{sign}.0f}\u00a0%"


def size(ratings: Table) -> dict[str, int]:
    """Count the ratings, and how many raters and stimuli."""
    return {
        "ratings": len(ratings),
        "raters": ratings["rater"].nunique(),
        "stimuli": ratings["stimulus"].nunique(),
    }


def holm(p: Iterable[float]) -> np.ndarray:
    """Correct p-values by Holm's method (1979): the chance of even one false finding among all
    stays under the level.

    What is NaN stays so and is not counted.
    """
    # As statsmodels' multipletests, which collects garbage at each call: a fifth of a second.
    values = np.asarray(list(p), float)
    rising = np.argsort(values)[: np.count_nonzero(~np.isnan(values))]  # NaN comes last
    times = np.arange(len(rising), 0, -1)
    values[rising] = np.maximum.accumulate(values[rising] * times).clip(max=1.0)
    return values
