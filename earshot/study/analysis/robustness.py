"""The dependence of the result on how it was found: on order and position, and on the model."""

import warnings
from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations
from typing import Any, Final

import numpy as np
import pandas as pd
from scipy.special import expit
from statsmodels.api import OLS
from statsmodels.miscmodels.ordinal_model import OrderedModel

from earshot.study.analysis.estimates import (
    ROUNDING,
    Clustered,
    Estimate,
    Table,
    Variance,
    codes,
    difference,
    estimate_row,
    holm,
    mean_of,
    with_holm,
)
from earshot.study.design import REFERENCE, Scale, Test

MAX_ORDINAL: Final = 20_000  # ratings that the ordinal model is fitted to within seconds
MAX_LEVELS: Final = 21  # different answers: ratings from elsewhere may be of a scale without steps
MIN_CHANGE: Final = 1e-9  # of what an effect is told from
MAX_CONDITION: Final = 1e8  # of the information, where a system has but one answer
UNKNOWN: Final = Estimate(np.nan, Variance(np.nan, 0, 0, 1, 1))


def effects(test: Test, answers: Table, scale: Scale) -> Table:
    """Make a row for each effect of how sounds were presented: effect, value, low, high, p, and
    p_holm over all. Without rows for ratings from elsewhere, whose order is not known, and on a
    staircase, whose levels follow the order.

    position: of pairs, how far the answer favours the sound that is played first (in ab the share,
    less one half); in mushra, by how much the right end is rated above the left one. order: how the
    answers change from a rater's first trial to their last (in ab and ccr how decided they are, in
    abx how many are right). fatigue: how their distance from what is usual for the system and the
    stimulus changes. drift: how the answers of the last rater who came differ from those of the
    first.
    """
    columns = ["effect", "value", "low", "high", "standard_error", "df", "p"]
    rows = []
    if not test.source and not test.staircase and answers["rater"].nunique() > 1:
        rows = [
            {"effect": name, **estimate_row(each)} for name, each in _effects(test, answers, scale)
        ]
    return with_holm(rows, columns)


def _effects(test: Test, answers: Table, scale: Scale) -> Iterator[tuple[str, Estimate]]:
    paired, null = scale.null is not None, scale.null or 0.0
    if paired:
        first = answers["position"] == 0
        for_first = answers["answer"].where(first, 2 * null - answers["answer"]) - null
        yield "position", mean_of(answers.assign(answer=for_first), rounding=0.0)
    elif test.design.together:
        yield "position", _slope(answers, answers["position"] / max(answers["position"].max(), 1))
    judged = answers.assign(answer=(answers["answer"] - null).abs()) if paired else answers
    place = judged.groupby("rater")["order"].rank(method="dense") - 1
    along = place / place.groupby(judged["rater"]).transform("max").clip(lower=1)
    yield "order", _slope(judged, along)
    if not scale.of_pairs:
        units = judged.groupby(["system", "stimulus"])["answer"]
        off = (judged["answer"] - units.transform("mean")).abs()
        several = units.transform("size") > 1
        if several.sum() > 1:
            yield "fatigue", _slope(judged.assign(answer=off)[several], along[several])
    days = pd.to_datetime(judged["started"], errors="coerce")
    if days.nunique() > 1:
        since = (days - days.min()).dt.days
        yield "drift", _slope(judged[since.notna()], (since / since.max())[since.notna()])


def _slope(answers: Table, along: Table) -> Estimate:
    """Estimate by how much answers rise as along goes from 0 to 1, those of each system, or pair,
    about a level of their own."""
    groups = pd.factorize(answers["system"] + "\n" + answers["other"])[0]
    levels = np.eye(groups.max() + 1)[groups]
    values = along.to_numpy(float, copy=True)
    for group in range(groups.max() + 1):
        values[groups == group] -= values[groups == group].mean()
    design = np.column_stack([levels, values])
    if np.ptp(values) < MIN_CHANGE:
        return UNKNOWN
    independent = np.zeros((design.shape[1],) * 2)
    fit = OLS(answers["answer"].to_numpy(float), design).fit()
    weights = np.eye(design.shape[1])[-1]
    return Clustered(fit, *codes(answers), independent).estimate(weights)


def other_models(scale: Scale, answers: Table, pairs: Table) -> Table:
    """Make a row for each pair of systems under test, of designs in which one sound gets one of a
    few answers: system, other; bias_free, bias_low, bias_high, bias_p_holm, the difference without
    what each rater adds to all (ITU-T P.913, 12.4); logit, logit_low, logit_high, logit_p_holm, the
    difference of log odds of the higher answer by the cumulative logit model, in which the steps of
    the scale need not be equal.

    Both have raters and stimuli as clusters. Without rows in other designs; NaN where the ordinal
    model cannot be fitted, ratings are more than MAX_ORDINAL, or different ones than MAX_LEVELS.
    """
    if not scale.scores or scale.level != "ordinal" or pairs.empty:
        return pd.DataFrame()
    against = pairs[["system", "other"]].eq(REFERENCE).any(axis=1)
    names = [tuple(row) for row in pairs.loc[~against, ["system", "other"]].to_numpy()]
    freed = bias_removed(answers)
    odds = _ordinal(answers)
    rows = []
    for one, other in names:
        both = freed[freed["system"].isin((one, other))]
        first = (both["system"] == one).to_numpy(bool)
        gap = difference(both["answer"].to_numpy(float), first, *codes(both), ROUNDING)
        row = {"system": one, "other": other} | _named("bias", gap)
        rows.append(row | _named("logit", odds.get((one, other), UNKNOWN)))
    table = pd.DataFrame(rows)
    for name in ("bias", "logit") if rows else ():
        table[f"{name}_p_holm"] = holm(table.pop(f"{name}_p"))
    return table


def bias_removed(answers: Table) -> Table:
    """Take from each answer the bias of its rater: the mean of how far their answers lie from what
    all gave the same system with the same stimulus (ITU-T P.913, 12.4)."""
    units = answers.groupby(["system", "stimulus"])["answer"].transform("mean")
    bias = (answers["answer"] - units).groupby(answers["rater"]).transform("mean")
    return answers.assign(answer=answers["answer"] - bias)


def _ordinal(answers: Table) -> dict[tuple[str, str], Estimate]:
    """Fit the cumulative logit model, and estimate the difference of each two systems."""
    names, systems = np.unique(answers["system"].to_numpy(str), return_inverse=True)
    _, levels = np.unique(answers["answer"].to_numpy(float), return_inverse=True)
    few = 1 <= levels.max() < MAX_LEVELS
    if len(names) < 2 or not few or len(answers) > MAX_ORDINAL:
        return {}
    model: Any = _CumulativeLogit(levels, np.eye(len(names))[systems][:, 1:], distr="logit")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is said by what the estimates are
        fit = model.fit(method="bfgs", disp=False, maxiter=200)
        information = -model.hessian(fit.params)
    contributions = np.asarray(model.score_obs(fit.params))
    raters, stimuli = codes(answers)
    cells = pd.factorize(raters * (stimuli.max() + 1) + stimuli)[0]
    if not fit.mle_retvals["converged"] or np.linalg.cond(information) > MAX_CONDITION:
        return {}
    influences = np.linalg.solve(information, contributions.T).T
    parts = [_clustered(influences, groups) for groups in (raters, stimuli, cells)]
    estimates = {}
    for one, other in permutations(range(len(names)), 2):
        weights = np.zeros(len(fit.params))
        for system, sign in ((one, 1.0), (other, -1.0)):
            if system:
                weights[system - 1] = sign
        by_rater, by_stimulus, by_cell = (float(weights @ part @ weights) for part in parts)
        counts = raters.max() + 1, stimuli.max() + 1
        variance = Variance(by_rater, by_stimulus, by_cell, *counts, ratings=len(answers))
        if counts[1] == 1:
            variance = replace(variance, by_stimulus=0.0, by_cell=0.0)
        value = float(weights @ np.asarray(fit.params))
        estimates[str(names[one]), str(names[other])] = Estimate(value, variance)
    return estimates


class _CumulativeLogit(OrderedModel):
    """The model, without what scipy.stats does around its logistic function, four fifths of the
    work of a fit."""

    def cdf(self, x: np.ndarray) -> np.ndarray:
        """Return the probability of what is not above x."""
        return expit(x)


def _clustered(influences: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Sum what each cluster adds to the parameters (N, K), as a variance (K, K)."""
    count = int(groups.max()) + 1
    sums = np.zeros((count, influences.shape[1]))
    np.add.at(sums, groups, influences)
    return count / max(count - 1, 1) * sums.T @ sums


def _named(name: str, estimate: Estimate) -> dict[str, float]:
    row = estimate_row(estimate)
    ends = {f"{name}_{end}": row[end] for end in ("low", "high", "p")}
    return {name: row["value"]} | ends
