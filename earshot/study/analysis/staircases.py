"""Staircases: the threshold at which raters hear half of the differences, by a psychometric
function whose place differs from rater to rater.

A rater's levels were chosen by their answers, so they gather where that rater is right in 71 % of
cases, and the shares of all raters by level say little. The likelihood of all answers is the same
as if the levels had been fixed beforehand.
"""

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import expit

from earshot.study.analysis.estimates import Estimate, Table, Variance, codes, estimate_row, size
from earshot.study.analysis.paired_comparisons import CHANCE
from earshot.study.design.model import Staircase

SHARE_OF_SLIPS: Final = 0.02  # the share of answers in which raters slip, however easy the level
AUDIBLE_SHARE: Final = 1 - CHANCE - SHARE_OF_SLIPS
NODES: Final = np.linspace(-4, 4, 61)  # of the normal distribution of thresholds
LOG_WEIGHTS: Final = -(NODES**2) / 2 - np.logaddexp.reduce(-(NODES**2) / 2)
MAX_WIDTH: Final = 3.0  # times the range of levels, that a width or a spread may have
MIN_WIDTH: Final = 0.05  # times the mean step from level to level
STEP: Final = 1e-4  # of a derivative
# By how much the likelihood has to exceed that of guessing, at 5 % with one degree of freedom.
MIN_GAIN: Final = 1.92
UNKNOWN: Final = Estimate(np.nan, Variance(np.nan, 0, 0, 1, 1))


@dataclass(frozen=True)
class Psychometric:
    """A fitted function. threshold: of the mean rater, in the unit of the levels; width: of the
    logistic function, and spread: the standard deviation of the raters' thresholds, in that unit
    too. beyond: "easiest" or "hardest" where the threshold lies beyond that level, and all numbers
    are NaN, for answers within the levels do not say how far; else "".
    """

    threshold: Estimate
    width: float
    spread: float
    beyond: Literal["", "easiest", "hardest"]


def share_right(ahead: np.ndarray) -> np.ndarray:
    """Return the share of right answers so many widths on the easy side of the threshold."""
    return CHANCE + AUDIBLE_SHARE * expit(ahead)


def psychometric(staircase: Staircase, answers: Table) -> Psychometric:
    """Fit the function to scored rows of the tidy table, whose system is the level; the raters are
    the clusters, and the stimuli taken as they are."""
    sign = staircase.sign
    ends = sorted(sign * level for level in staircase.levels.values())
    low, span = ends[0], ends[-1] - ends[0]
    # From 0 to 1, so that nothing depends on the unit.
    ease = (answers["system"].map(staircase.levels).to_numpy(float) * sign - low) / span
    right, raters = answers["answer"].to_numpy(float), codes(answers)[0]
    estimate, width, spread, gain = fit(ease, right, raters)
    is_guessed = gain < MIN_GAIN and right.mean() < share_right(np.zeros(()))
    if is_guessed or estimate.value >= 1:
        return Psychometric(UNKNOWN, np.nan, np.nan, "easiest")
    if estimate.value <= 0:
        return Psychometric(UNKNOWN, np.nan, np.nan, "hardest")
    value = sign * (low + span * estimate.value)
    threshold = Estimate(value, estimate.variance.scaled(span**2))
    return Psychometric(threshold, span * width, span * spread, "")


def table(fitted: Psychometric) -> Table:
    """Make the row of the threshold: system ("threshold"), value, low, high, standard_error, df,
    width, spread and beyond."""
    row = estimate_row(fitted.threshold)
    more = {"width": fitted.width, "spread": fitted.spread, "beyond": fitted.beyond}
    return pd.DataFrame([{"system": "threshold", **row, **more}]).drop(columns="p")


def levels(staircase: Staircase, answers: Table) -> Table:
    """Make a row for each level that was asked for, the easiest first: system, other, level,
    ratings, raters, stimuli, right, and value, the share right."""
    rows = []
    for name, level in staircase.levels.items():
        own = answers[answers["system"] == name]
        if len(own):
            right = {"right": int(own["answer"].sum()), "value": own["answer"].mean()}
            other = own["other"].iloc[0]
            rows.append({"system": name, "other": other, "level": level, **size(own), **right})
    return pd.DataFrame(rows)


def fit(
    ease: np.ndarray, right: np.ndarray, raters: np.ndarray
) -> tuple[Estimate, float, float, float]:
    """Fit the function by maximum likelihood to answers (N,), 1 where right, at levels (N,) from 0,
    the hardest, to 1, of raters by codes (N,) from 0 → threshold, width, spread, and by how much
    the log likelihood exceeds that of guessing. The variance is that of the raters' scores (Huber
    and White), with t."""
    cells, cell = np.unique(np.column_stack([raters, ease]), axis=0, return_inverse=True)
    rater, level = cells[:, 0].astype(int), cells[:, 1:]
    wins = np.bincount(cell.ravel(), right)[:, None]
    losses = np.bincount(cell.ravel())[:, None] - wins
    count = int(rater.max()) + 1

    def by_rater(parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Find each rater's log likelihood (R,), and its slope (R, 3)."""
        width, spread = np.exp(parameters[1:])
        ahead = (level - parameters[0] - spread * NODES) / width
        share, chance = expit(ahead), share_right(ahead)
        logs = np.tile(LOG_WEIGHTS, (count, 1))
        np.add.at(logs, rater, wins * np.log(chance) + losses * np.log1p(-chance))
        total = np.logaddexp.reduce(logs, axis=1)
        posterior = np.exp(logs - total[:, None])[rater]
        steep = (
            AUDIBLE_SHARE
            * share
            * (1 - share)
            * (wins / chance - losses / (1 - chance))
            * posterior
        )
        slopes = np.zeros((count, 3))
        moves = (np.full_like(ahead, -1 / width), -ahead, -spread * NODES / width)
        np.add.at(slopes, rater, np.stack([(steep * each).sum(axis=1) for each in moves], axis=1))
        return total, slopes

    def loss(parameters: np.ndarray) -> tuple[float, np.ndarray]:
        total, slopes = by_rater(parameters)
        return -total.sum(), -slopes.sum(axis=0)

    step = 1 / max(len(np.unique(level)) - 1, 1)
    widths = (np.log(MIN_WIDTH * step), np.log(MAX_WIDTH))
    limits = [(-1.0, 2.0), widths, widths]
    start = np.array([ease.mean(), np.log(step), np.log(step)])
    best = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=limits).x
    width, spread = (float(each) for each in np.exp(best[1:]))
    # What lies at its limit is taken for known.
    free = [k for k, (low, high) in enumerate(limits) if low + STEP < best[k] < high - STEP]
    variance = np.nan
    if count > 1 and 0 in free:
        moves = STEP * np.eye(3)[free]
        curves = [(loss(best + each)[1] - loss(best - each)[1]) / (2 * STEP) for each in moves]
        information = np.array(curves)[:, free]
        influences = by_rater(best)[1][:, free] @ np.linalg.pinv((information + information.T) / 2)
        variance = count / (count - 1) * float(influences[:, 0] @ influences[:, 0])
    gain = len(right) * np.log(2) - loss(best)[0]
    return Estimate(float(best[0]), Variance(variance, 0, 0, count, 1)), width, spread, float(gain)
