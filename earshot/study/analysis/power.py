"""The number of raters, and stimuli, that it takes to distinguish two systems by the test that is
reported.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

import numpy as np
import pandas as pd
from scipy.optimize import root_scalar
from scipy.special import betainc, ndtri
from scipy.stats import binom, nct
from scipy.stats import t as student

from earshot.study.analysis.estimates import LEVEL, ROUNDING, Estimate, Table, Variance, two_sided

POWER: Final = 0.8
MAX_RATERS: Final = 1000  # that a test can have
MAX_STIMULI: Final = 500
MAX_EXACT: Final = 5000  # answers up to which the critical number of right ones is exact
CHANCE: Final = 0.5
DF: Final = np.concatenate([[1e5, 1e3], np.geomspace(200, 1, 60)])
COLUMNS: Final = (
    "difference raters stimuli more_raters more_stimuli raters_alone stimuli_alone"
).split()


@dataclass(frozen=True)
class Sizes:
    """Tests of as many raters and stimuli as there are, or more: raters (R, 1), stimuli (S,)."""

    raters: np.ndarray
    stimuli: np.ndarray

    @classmethod
    def beyond(cls, variance: Variance) -> "Sizes":
        """List those from the size of the test with this variance on."""
        raters = np.arange(variance.raters, max(MAX_RATERS, variance.raters) + 1)
        stimuli = np.arange(variance.stimuli, max(MAX_STIMULI, variance.stimuli) + 1)
        return cls(raters[:, None].astype(float), stimuli.astype(float))

    def parts(self, variance: Variance) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Split the variance at each size: what belongs to the raters shrinks with their number,
        what belongs to the stimuli with theirs, and the rest, which is in by_rater and by_stimulus
        both, with either. (R, 1), (S,) and (R, S)."""
        of_raters = max(variance.by_rater - variance.by_cell, 0.0)
        of_stimuli = max(variance.by_stimulus - variance.by_cell, 0.0)
        rest = max(variance.total - of_raters - of_stimuli, 0.0)
        fewer_raters = variance.raters / self.raters
        fewer_stimuli = variance.stimuli / self.stimuli
        return (
            of_raters * fewer_raters,
            of_stimuli * fewer_stimuli,
            rest * fewer_raters * fewer_stimuli,
        )


def plan(
    estimates: Sequence[Estimate], differences: Sequence[float], chance: bool = False
) -> Table:
    """Make a row for each difference wanted: raters and stimuli, the size with the fewest ratings
    at which it is found with a chance of POWER; more_raters and more_stimuli (than there are);
    raters_alone and stimuli_alone, how many more of one it takes without more of the other.

    For the pair whose estimate is the least certain, at the level at which Holm's method tests the
    first of so many pairs. The larger the difference, the fewer ratings. NaN where MAX_RATERS and
    MAX_STIMULI are too few, and no rows where no pair has a variance yet. chance: whether shares of
    right answers are tested by the one-sided binomial test, and not by t.
    """
    certain = [e for e in estimates if chance or not np.isnan(e.standard_error)]
    if not certain:
        return pd.DataFrame()
    widest = max(certain, key=lambda estimate: np.nan_to_num(estimate.variance.total))
    level, variance = (1 - LEVEL) / len(estimates), widest.variance
    sizes = Sizes.beyond(variance)
    ratings = sizes.raters * sizes.stimuli
    least = None if chance else detectable(variance, sizes, level)
    rows = []
    for difference in differences:
        if least is None:
            reached = chance_power(widest, CHANCE + difference, sizes, level) >= POWER
        else:
            reached = least <= difference
        size = (np.nan, np.nan)
        if reached.any():
            best = np.unravel_index(np.where(reached, ratings, np.inf).argmin(), reached.shape)
            size = (float(sizes.raters[best[0], 0]), float(sizes.stimuli[best[1]]))
        more = np.subtract(size, (variance.raters, variance.stimuli))
        ends = (reached[:, 0], reached[0])
        alone = [float(own.argmax()) if own.any() else np.nan for own in ends]
        rows.append([difference, *size, *more, *alone])
    return pd.DataFrame(rows, columns=COLUMNS)


def smallest_p(
    estimates: Sequence[Estimate], bounds: tuple[float, float], chance: bool = False
) -> float:
    """Find the p, corrected for so many pairs, of the most extreme answers that the pair with the
    most ratings could have got; 0 where there are no pairs."""
    if not estimates:
        return 0.0
    largest = max((each.variance for each in estimates), key=lambda each: each.ratings)
    if chance:
        return min(len(estimates) * CHANCE**largest.ratings, 1.0)
    few = min(largest.raters, largest.stimuli) if largest.stimuli > 1 else largest.raters
    # Of a share the score of all answers alike; of other scales what their steps leave.
    width = bounds[1] - bounds[0]
    farthest = np.sqrt(largest.ratings * (1 if width == 1 else width**2 / (4 * ROUNDING)))
    return min(len(estimates) * two_sided(float(farthest), max(few - 1, 1)), 1.0)


def at_null(estimate: Estimate, low: float, high: float) -> Estimate:
    """Replace the variance of an estimate, on a scale from low to high, by the one that it would
    have at its null, by which estimates.bounded tests it.
    """
    share = (estimate.value - low) / (high - low)
    null = (estimate.null - low) / (high - low)
    spread, answers = share * (1 - share), estimate.variance.ratings
    if spread > 1e-12:
        scaled = estimate.variance.scaled(null * (1 - null) / spread)
    else:
        alone = null * (1 - null) * (high - low) ** 2 / answers
        parts = {"by_rater": alone, "by_stimulus": alone, "by_cell": alone}
        scaled = replace(estimate.variance, **parts)
    return Estimate(estimate.value, scaled, estimate.null)


def detectable(variance: Variance, sizes: Sizes, level: float) -> np.ndarray:
    """Find the smallest true difference (R, S) that a two-sided t test at this level finds with a
    chance of POWER: from the noncentral t, with Satterthwaite's degrees of freedom (see
    Variance.df)."""
    of_raters, of_stimuli, rest = sizes.parts(variance)
    total = of_raters + of_stimuli + rest
    free_raters = np.maximum(sizes.raters * variance.evenness[0] - 1, 1)
    free_stimuli = np.maximum(sizes.stimuli * variance.evenness[1] - 1, 1)
    spread, fewest = (of_raters + rest) ** 2 / free_raters, free_raters + 0 * sizes.stimuli
    if variance.stimuli > 1:
        cells = np.maximum(sizes.raters * sizes.stimuli - 1, 1)
        spread = spread + (of_stimuli + rest) ** 2 / free_stimuli + rest**2 / cells
        fewest = np.minimum(free_raters, free_stimuli)
    df = np.maximum(total**2 / np.maximum(spread, 1e-300), fewest)
    return np.interp(1 / df, 1 / DF, _noncentralities(level)) * np.sqrt(total)


@cache
def _noncentralities(level: float) -> np.ndarray:
    """Find how many standard errors from null is found with a chance of POWER, for each of DF."""

    def needed(df: float) -> float:
        bound = float(student.isf(level / 2, df))
        ends = (0.0, 4 * bound + 10)
        solution = root_scalar(lambda far: nct.sf(bound, df, far) - POWER, bracket=ends)
        return float(solution.root)

    return np.array([needed(float(df)) for df in DF])


def chance_power(estimate: Estimate, share: float, sizes: Sizes, level: float) -> np.ndarray:
    """Find the power (R, S) of the one-sided exact binomial test at this level where this share of
    answers is right.

    Answers of one rater, or about one stimulus, hang together as those of the estimate did, so that
    the count of right ones has the spread of that of fewer independent answers (Rao and Scott
    1992, Biometrics 48).
    """
    variance = estimate.variance
    each = variance.ratings / (variance.raters * variance.stimuli)
    answers = np.maximum(np.round(each * sizes.raters * sizes.stimuli), 1)
    needed = _needed(answers, level)
    of_raters, of_stimuli, _ = sizes.parts(variance)
    spread = estimate.value * (1 - estimate.value)
    tied = 1 + np.nan_to_num(of_raters + of_stimuli) * answers / spread if spread > 0 else 1.0
    effective, right = answers / tied, needed / tied
    power = betainc(right, np.maximum(effective - right, 0) + 1 / tied, share)
    return np.where(needed <= answers, power, 0)


def _needed(answers: np.ndarray, level: float) -> np.ndarray:
    """Count the right answers that it takes for p to be at most the level."""
    many = answers / 2 - ndtri(level) * np.sqrt(answers) / 2 + 1
    few = _needed_of_few(level)[np.minimum(answers, MAX_EXACT).astype(int)]
    return np.where(answers > MAX_EXACT, many, few)


@cache
def _needed_of_few(level: float) -> np.ndarray:
    return binom.isf(level, np.arange(MAX_EXACT + 1), CHANCE) + 1
