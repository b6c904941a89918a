"""Estimates that know that the ratings of one rater, and of one stimulus, belong together."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from scipy.special import stdtr, stdtrit
from statsmodels.api import OLS
from statsmodels.stats.sandwich_covariance import cov_cluster, cov_cluster_2groups

LEVEL: Final = 0.95


@dataclass(frozen=True)
class Variance:
    """The variance of an estimate, by Cameron, Gelbach and Miller (2011, Journal of Business &
    Economic Statistics 29, equation 2.11): by_rater + by_stimulus − by_cell, where a cell is what
    one rater said of one stimulus.

    Each part is a cluster-robust variance, so whatever correlates within a rater or within a
    stimulus is counted. by_rater is NaN where there is but one rater, since nothing is then known
    about others; with one stimulus the other two are 0 and the estimate is about that stimulus.
    independent is the variance that independent answers would have, where the total must not be
    less: see Clustered.
    """

    by_rater: float
    by_stimulus: float
    by_cell: float
    raters: int
    stimuli: int
    independent: float = 0.0

    @property
    def total(self) -> float:
        """That of the clusters, or of independent answers where it is larger."""
        return float(np.max([self._clustered, self.independent]))

    @property
    def _clustered(self) -> float:
        """The sum of the parts; where by_cell is, by noise, the largest of them, the smaller of the
        others."""
        both = self.by_rater + self.by_stimulus - self.by_cell
        return float(np.max([both, np.min([self.by_rater, self.by_stimulus])]))

    @property
    def df(self) -> float:
        """Degrees of freedom after Satterthwaite (1946): between those of the scarcer of raters and
        stimuli, and those of all cells; the few that weigh most decide."""
        parts = [(self.by_rater, self.raters - 1)]
        if self.stimuli > 1:
            parts += [
                (self.by_stimulus, self.stimuli - 1),
                (self.by_cell, self.raters * self.stimuli - 1),
            ]
        fewest = min(self.raters, self.stimuli if self.stimuli > 1 else self.raters) - 1
        spread = sum(part**2 / df for part, df in parts if df)
        return max(self._clustered**2 / spread, fewest) if spread > 0 else float(fewest)

    def resized(self, raters: int, stimuli: int) -> "Variance":
        """What it would be with so many raters and stimuli of the same kinds: what belongs to the
        raters shrinks with their number, what belongs to the stimuli with theirs, and the rest,
        which is in by_rater and by_stimulus both, with either."""
        fewer_raters, fewer_stimuli = self.raters / raters, self.stimuli / stimuli
        of_raters = max(self.by_rater - self.by_cell, 0.0)
        of_stimuli = max(self.by_stimulus - self.by_cell, 0.0)
        rest = max(self.total - of_raters - of_stimuli, 0.0) * fewer_raters * fewer_stimuli
        of_raters, of_stimuli = of_raters * fewer_raters, of_stimuli * fewer_stimuli
        return Variance(of_raters + rest, of_stimuli + rest, rest, raters, stimuli)


@dataclass(frozen=True)
class Estimate:
    """A value with its variance; low and high are its 95 % t interval, p is two-sided against null.

    All three are NaN where they cannot be had: with one rater, or where every answer was the same.
    """

    value: float
    variance: Variance
    null: float = 0.0

    @property
    def standard_error(self) -> float:
        """The root of the variance; NaN where it is 0, for no spread is no proof of certainty."""
        total = self.variance.total
        return float(np.sqrt(total)) if total > 1e-12 else np.nan

    @property
    def low(self) -> float:
        """The lower end of the interval."""
        return self.value - self._reach

    @property
    def high(self) -> float:
        """The upper end of the interval."""
        return self.value + self._reach

    @property
    def p(self) -> float:
        """How probable so great a distance from null is where there is none."""
        t = (self.value - self.null) / self.standard_error
        return float(2 * stdtr(self.variance.df, -abs(t)))

    @property
    def _reach(self) -> float:
        return self.standard_error * float(stdtrit(self.variance.df, (1 + LEVEL) / 2))


class Clustered:
    """The parameters of a fitted statsmodels regression, clustered both ways.

    raters, stimuli: the codes (N,), from 0, of whom and what each observation is from. There are
    as many of them as the parameter has that is known from the fewest.
    """

    def __init__(
        self, fit: Any, raters: np.ndarray, stimuli: np.ndarray, cautious: bool = False
    ) -> None:
        """cautious: take no variance for less than that of independent answers. Of few clusters the
        estimated variance is often too small; where pairs were chosen by the votes, it is so for
        those that came out clear and were not asked again."""
        self._parameters = np.asarray(fit.params)
        known_from = (np.asarray(fit.model.exog) != 0).T
        self._raters = min(np.unique(raters[own]).size for own in known_from)
        self._stimuli = min(np.unique(stimuli[own]).size for own in known_from)
        nothing = np.zeros((len(self._parameters),) * 2)
        self._independent = np.asarray(fit.cov_params()) if cautious else nothing
        self._by_rater, self._by_stimulus, self._by_cell = nothing + np.nan, nothing, nothing
        enough = len(raters) > len(self._parameters)
        if enough and self._raters > 1 and self._stimuli > 1:
            both, self._by_rater, self._by_stimulus = cov_cluster_2groups(fit, raters, stimuli)
            self._by_cell = self._by_rater + self._by_stimulus - both
        elif enough and self._raters > 1:
            self._by_rater = cov_cluster(fit, raters)

    def estimate(self, weights: np.ndarray, null: float = 0.0) -> Estimate:
        """The sum of the parameters (K,) with these weights (K,)."""
        by_rater, by_stimulus, by_cell, independent = (
            float(weights @ part @ weights)
            for part in (self._by_rater, self._by_stimulus, self._by_cell, self._independent)
        )
        known_from = self._raters, self._stimuli
        variance = Variance(by_rater, by_stimulus, by_cell, *known_from, independent)
        return Estimate(float(weights @ self._parameters), variance, null)


def mean(
    answers: np.ndarray, raters: np.ndarray, stimuli: np.ndarray, null: float = 0.0
) -> Estimate:
    """The mean of answers (N,), each by a rater (N,) of a stimulus (N,) given as codes from 0."""
    fit = OLS(answers, np.ones((len(answers), 1))).fit()
    return Clustered(fit, raters, stimuli).estimate(np.ones(1), null)


def difference(
    answers: np.ndarray, first: np.ndarray, raters: np.ndarray, stimuli: np.ndarray
) -> Estimate:
    """The mean of the answers (N,) where first (N,) is true, less that of the others.

    Where a rater judged both systems, or a stimulus was heard from both, what they share cancels.
    """
    systems = np.column_stack([first, ~first]).astype(float)
    fit = OLS(answers, systems).fit()
    return Clustered(fit, raters, stimuli).estimate(np.array([1.0, -1.0]))
