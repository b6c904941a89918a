"""What the analyses share: estimates as rows, codes of raters and stimuli, Holm's correction."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import binomtest
from statsmodels.stats.multitest import multipletests

from earshot.study.analysis.clustered import Estimate, mean
from earshot.study.storage.raters import SIMULATED

# A pandas.DataFrame, whose own types do not let a checker tell a column from a table.
Table = Any
WHOLE_LINE = (-np.inf, np.inf)


def estimate_row(estimate: Estimate, bounds: tuple[float, float] = WHOLE_LINE) -> dict[str, float]:
    """value, low and high, the interval cut where the scale ends; standard_error, df and p."""
    low, high = np.clip((estimate.low, estimate.high), *bounds)
    return {
        "value": estimate.value,
        "low": float(low),
        "high": float(high),
        "standard_error": estimate.standard_error,
        "df": estimate.variance.df,
        "p": estimate.p,
    }


def share_row(estimate: Estimate) -> dict[str, float]:
    """The same of a share, from 0 to 1.

    Where all answers agree there is no spread to go by: then each rater counts as one vote, as if
    their answers were one and the same (Clopper and Pearson's exact interval, exact binomial p).
    """
    row = estimate_row(estimate, (0, 1))
    if np.isnan(estimate.standard_error) and np.isclose(estimate.value, (0, 1)).any():
        raters = estimate.variance.raters
        exact = binomtest(round(estimate.value * raters), raters, estimate.null)
        interval = exact.proportion_ci()
        row |= {"low": interval.low, "high": interval.high, "p": float(exact.pvalue)}
    return row


def mean_of(ratings: Table, null: float = 0.0) -> Estimate:
    """The mean answer of rows of the tidy table."""
    return mean(ratings["answer"].to_numpy(float), *codes(ratings), null)


def codes(ratings: Table) -> tuple[np.ndarray, np.ndarray]:
    """Raters and stimuli (N,) as whole numbers from 0."""
    return pd.factorize(ratings["rater"])[0], pd.factorize(ratings["stimulus"])[0]


def simulated(ratings: Table) -> bool:
    """Whether any of the raters is made up (study.simulation)."""
    return bool(ratings["rater"].str.startswith(SIMULATED).any())


def percent(share: float, sign: str = "") -> str:
    """0.254 as "25 %", whose sign does not break away from it."""
    return f"{100 * share:{sign}.0f}\u00a0%"


def size(ratings: Table) -> dict[str, int]:
    """How many ratings there are, of how many raters and stimuli."""
    return {
        "ratings": len(ratings),
        "raters": ratings["rater"].nunique(),
        "stimuli": ratings["stimulus"].nunique(),
    }


def holm(p: Iterable[float]) -> np.ndarray:
    """Holm's (1979) p-values: the chance of even one false finding among all stays under the level.

    What is NaN stays so and is not counted.
    """
    values = np.asarray(list(p), float)
    known = ~np.isnan(values)
    if known.any():
        values[known] = multipletests(values[known], method="holm")[1]
    return values
