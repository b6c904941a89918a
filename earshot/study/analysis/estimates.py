"""Estimates that know that the ratings of one rater, and of one stimulus, belong together; and the
rows that the analyses make of them, with Holm's correction.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import pandas as pd
from scipy.special import stdtr, stdtrit
from statsmodels.api import OLS

from earshot.study.storage.raters import SIMULATED

LEVEL: Final = 0.95
# The variance of what rounding to whole numbers hides (Sheppard): every scale has steps of one.
ROUNDING: Final = 1 / 12
MIN_VARIANCE: Final = 1e-12  # below it a variance is what rounding of numbers left
MIN_INFORMATION: Final = 1e-9  # share of the information that must be left without a rater
# A pandas.DataFrame, whose own types do not let a checker tell a column from a table.
Table = Any
WHOLE_LINE = (-np.inf, np.inf)


@dataclass(frozen=True)
class Variance:
    """The variance of an estimate, by Cameron, Gelbach and Miller (2011, Journal of Business &
    Economic Statistics 29, equation 2.11): by_rater + by_stimulus − by_cell, where a cell is what
    one rater answered about one stimulus.

    Each part is a cluster-robust variance, so whatever correlates within a rater or within a
    stimulus is counted. by_rater is NaN where there is but one rater, since nothing is then known
    about others; with one stimulus the other two are 0 and the estimate is about that stimulus.
    independent is the least that the total is taken for: see Clustered. evenness: of the ratings
    over raters and over stimuli, from 0 to 1, where each has as many as any other. ratings is how
    many answers the estimate is made of.
    """

    by_rater: float
    by_stimulus: float
    by_cell: float
    raters: int
    stimuli: int
    independent: float = 0.0
    evenness: tuple[float, float] = (1.0, 1.0)
    ratings: int = 1

    @property
    def total(self) -> float:
        """Take the sum of the parts, or the variance of independent answers if it is larger."""
        return float(np.max([self._clustered, self.independent]))

    @property
    def _clustered(self) -> float:
        """Sum the parts; where by_cell is, by noise, the largest, take the smaller of the
        others."""
        both = self.by_rater + self.by_stimulus - self.by_cell
        return float(np.max([both, np.min([self.by_rater, self.by_stimulus])]))

    @property
    def df(self) -> float:
        """Count the degrees of freedom after Satterthwaite (1946): between those of the scarcer of
        raters and stimuli, and those of all cells; the few that weigh most decide."""
        raters = max(self.raters * self.evenness[0] - 1, 1.0)
        stimuli = max(self.stimuli * self.evenness[1] - 1, 1.0)
        parts = [(self.by_rater, raters)]
        if self.stimuli > 1:
            cells = self.raters * self.stimuli - 1
            parts += [(self.by_stimulus, stimuli), (self.by_cell, cells)]
        fewest = min(raters, stimuli) if self.stimuli > 1 else raters
        if self._clustered < MIN_VARIANCE:
            return float(fewest)
        spread = sum(part**2 / df for part, df in parts)
        return max(self._clustered**2 / spread, fewest)

    def scaled(self, factor: float) -> "Variance":
        """Multiply every part, as for an estimate in another unit."""
        return replace(
            self,
            by_rater=factor * self.by_rater,
            by_stimulus=factor * self.by_stimulus,
            by_cell=factor * self.by_cell,
            independent=factor * self.independent,
        )


@dataclass(frozen=True)
class Estimate:
    """A value with its variance; low and high are its 95 % t interval, p is two-sided against null.

    All three are NaN where they cannot be had: with one rater, or where the variance is 0.
    """

    value: float
    variance: Variance
    null: float = 0.0

    @property
    def standard_error(self) -> float:
        """Take the root of the variance; NaN where it is 0, for no spread is no certainty."""
        total = self.variance.total
        return float(np.sqrt(total)) if total > MIN_VARIANCE else np.nan

    @property
    def low(self) -> float:
        """Find the lower end of the interval."""
        return self.value - self._reach

    @property
    def high(self) -> float:
        """Find the upper end of the interval."""
        return self.value + self._reach

    @property
    def p(self) -> float:
        """Compute how probable so great a distance from null is where there is none."""
        return two_sided((self.value - self.null) / self.standard_error, self.variance.df)

    @property
    def _reach(self) -> float:
        return self.standard_error * quantile(self.variance.df)


def two_sided(t: float, df: float) -> float:
    """Find the two-sided p of a t value."""
    return float(2 * stdtr(df, -abs(t)))


def quantile(df: float) -> float:
    """Find the t beyond which lie 5 % on both sides."""
    return float(stdtrit(df, (1 + LEVEL) / 2))


def bounded(estimate: Estimate, low: float, high: float) -> tuple[float, float, float]:
    """Find the ends of the 95 % interval of a mean on a scale from low to high, and its p.

    Wilson's (1927) score interval with the effective number of answers: as many independent ones,
    each at an end of the scale, as would leave this variance (Korn and Graubard 1998, Survey
    Methodology 24), and with t for z. It stays within the scale, is no t interval cut short where
    most answers are at one end, and p is that of null by it: NaN where null is no value between.
    Shares, from 0 to 1, have never more effective answers than answers.
    """
    width = high - low
    share = (estimate.value - low) / width
    spread, answers = share * (1 - share), estimate.variance.ratings
    total = estimate.variance.total / width**2
    number = answers * width if spread < MIN_VARIANCE else spread / total if total > 0 else np.inf
    if width == 1:
        number = min(number, float(answers))
    if np.isnan(total) or np.isinf(number):
        return np.nan, np.nan, np.nan
    t, null = quantile(estimate.variance.df), (estimate.null - low) / width
    middle = (share + t**2 / (2 * number)) / (1 + t**2 / number)
    reach = t / (1 + t**2 / number) * np.sqrt(spread / number + t**2 / (4 * number**2))
    p = np.nan
    if 0 < null < 1:
        score = (share - null) / np.sqrt(null * (1 - null) / number)
        p = two_sided(score, estimate.variance.df)
    ends = np.clip([middle - reach, middle + reach], 0, 1)
    return low + width * float(ends[0]), low + width * float(ends[1]), p


@dataclass(frozen=True, eq=False)
class Choices:
    """A fitted model of choices of one out of several: the parameters (K,), and for each option
    that was there to choose its place in the model less the one that was expected (N, K), 1 or 0
    for whether it was chosen less its chance (N,), and its chance (N,)."""

    parameters: np.ndarray
    design: np.ndarray
    residuals: np.ndarray
    chances: np.ndarray


class Clustered:
    """The parameters of a fitted statsmodels regression, or of choices, clustered both ways.

    Each rater, and each stimulus, is left out once (the jackknife, CV3, of MacKinnon, Nielsen and
    Webb 2023, Journal of Econometrics 232, in one step where the model is no straight line): with
    equal shares of the ratings this is the usual cluster-robust variance, and where a few raters
    gave most ratings it is not too small, as that one is.

    raters, stimuli: the codes (N,), from 0, of whom and what each observation is from. There are
    as many of them as the parameter has that is known from the fewest.
    """

    def __init__(
        self, fit: Any, raters: np.ndarray, stimuli: np.ndarray, independent: np.ndarray
    ) -> None:
        """Sum the scores of each cluster. independent (K, K): take no variance for less than this.
        Of few clusters, and of answers that nearly all agree, the estimated variance is often too
        small."""
        choices = fit if isinstance(fit, Choices) else _regression(fit)
        self._parameters, self._independent = choices.parameters, independent
        design, residuals, weights = choices.design, choices.residuals, choices.chances
        self._scores = design * residuals[:, None]
        self._weighted, self._design = design * np.asarray(weights)[:, None], design
        self._information = self._weighted.T @ design
        known_from = (design != 0).T
        self._raters, even_raters = _fewest(raters, known_from)
        self._stimuli, even_stimuli = _fewest(stimuli, known_from)
        self._evenness = even_raters, even_stimuli
        nothing = np.zeros((len(self._parameters),) * 2)
        self._by_rater, self._by_stimulus, self._by_cell = nothing + np.nan, nothing, nothing
        if len(raters) > len(self._parameters) and self._raters > 1:
            self._by_rater = self._jackknife(raters)
            if self._stimuli > 1:
                self._by_stimulus = self._jackknife(stimuli)
                self._by_cell = self._of_cells(raters, stimuli)

    def estimate(self, weights: np.ndarray, null: float = 0.0) -> Estimate:
        """Sum the parameters (K,) with these weights (K,)."""
        by_rater, by_stimulus, by_cell, independent = (
            float(weights @ part @ weights)
            for part in (self._by_rater, self._by_stimulus, self._by_cell, self._independent)
        )
        variance = Variance(
            by_rater,
            by_stimulus,
            by_cell,
            self._raters,
            self._stimuli,
            independent,
            self._evenness,
            len(self._design),
        )
        return Estimate(float(weights @ self._parameters), variance, null)

    def _jackknife(self, codes: np.ndarray) -> np.ndarray:
        """Find the variance (K, K) from how the parameters move without each cluster in turn."""
        clusters = int(codes.max()) + 1
        size = len(self._parameters)
        influences = np.zeros((clusters, size))
        sizes = np.bincount(codes, minlength=clusters)
        members = np.split(np.argsort(codes, kind="stable"), np.cumsum(sizes)[:-1])
        for cluster, own in enumerate(members):
            left = self._information - self._weighted[own].T @ self._design[own]
            # Where nothing would be known without it, it moves them by its own weight alone.
            if np.linalg.det(np.linalg.solve(self._information, left)) < MIN_INFORMATION:
                left = self._information
            influences[cluster] = np.linalg.solve(left, self._scores[own].sum(axis=0))
        return (clusters - 1) / clusters * influences.T @ influences

    def _of_cells(self, raters: np.ndarray, stimuli: np.ndarray) -> np.ndarray:
        """Find the variance (K, K) clustered by cells, none of which weighs much."""
        _, cells = np.unique(raters * (int(stimuli.max()) + 1) + stimuli, return_inverse=True)
        count = int(cells.max()) + 1
        moments = np.zeros((count, len(self._parameters)))
        np.add.at(moments, cells, self._scores)
        influences = np.linalg.solve(self._information, moments.T)
        return count / max(count - 1, 1) * influences @ influences.T


def _regression(fit: Any) -> Choices:
    """Take the same of a regression of statsmodels, whose weights stand for chances."""
    design, linear = np.asarray(fit.model.exog, float), isinstance(fit.model, OLS)
    residuals = np.asarray(fit.resid if linear else fit.resid_response)
    weights = np.ones(len(design)) if linear else fit.fittedvalues * (1 - fit.fittedvalues)
    return Choices(np.asarray(fit.params), design, residuals, np.asarray(weights))


def mean(
    answers: np.ndarray,
    raters: np.ndarray,
    stimuli: np.ndarray,
    null: float = 0.0,
    rounding: float = 0.0,
) -> Estimate:
    """Estimate the mean of answers (N,), each by a rater (N,) of a stimulus (N,) given as codes
    from 0. rounding: the variance of one answer that the steps of its scale hide."""
    return _linear(answers, np.ones((len(answers), 1)), raters, stimuli, rounding).estimate(
        np.ones(1), null
    )


def difference(
    answers: np.ndarray,
    first: np.ndarray,
    raters: np.ndarray,
    stimuli: np.ndarray,
    rounding: float = 0.0,
) -> Estimate:
    """Estimate the mean of the answers (N,) where first (N,) is true, less that of the others.

    Where a rater judged both systems, or a stimulus was heard from both, what they share cancels.
    """
    systems = np.column_stack([first, ~first]).astype(float)
    clustered = _linear(answers, systems, raters, stimuli, rounding)
    return clustered.estimate(np.array([1.0, -1.0]))


def _linear(
    answers: np.ndarray,
    design: np.ndarray,
    raters: np.ndarray,
    stimuli: np.ndarray,
    rounding: float,
) -> Clustered:
    independent = rounding * np.linalg.pinv(design.T @ design)
    return Clustered(OLS(answers, design).fit(), raters, stimuli, independent)


def _fewest(codes: np.ndarray, known_from: np.ndarray) -> tuple[int, float]:
    """Count the clusters of the parameter that has the fewest, and measure how even their sizes
    are.

    That is the number of equal ones by their number, half way between Kish's (of sizes n, where
    every rating has an error of its own) and the one of squares (where all of a cluster's ratings
    have one error): (Σ n^1.5)² / Σ n³.
    """
    counts = [np.unique(codes[own], return_counts=True)[1] for own in known_from]
    evenness = [float((n**1.5).sum() ** 2 / (n**3.0).sum() / len(n)) for n in counts if len(n)]
    return min(map(len, counts)), min(evenness, default=1.0)


def estimate_row(estimate: Estimate, bounds: tuple[float, float] = WHOLE_LINE) -> dict[str, float]:
    """Name value, low and high, standard_error, df and p; on a scale with ends see
    estimates.bounded."""
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
    """Whether any of the raters is made up (earshot.study.simulation)."""
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


def with_holm(rows: Sequence[Mapping[str, Any]], columns: list[str] | None = None) -> Table:
    """Make a table of the rows, with p_holm: their p corrected over all."""
    table = pd.DataFrame(rows, columns=columns)
    return table.assign(p_holm=holm(table["p"]))
