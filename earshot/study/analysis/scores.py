"""Scores of one sound each: mean opinion scores (ACR, DCR) and shares of "same", and what ITU-R
BS.1534-3 adds for MUSHRA: medians, quartiles, Friedman and Wilcoxon, and post-screening.
"""

from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import friedmanchisquare, rankdata, wilcoxon

from earshot.study.analysis.estimates import (
    ROUNDING,
    WHOLE_LINE,
    Estimate,
    Table,
    codes,
    difference,
    estimate_row,
    holm,
    mean_of,
    size,
    with_holm,
)
from earshot.study.design import REFERENCE, Scale, Test
from earshot.study.design.scales import words_in

Differences = dict[tuple[str, str], Estimate]
ESTIMATE_COLUMNS = ["value", "low", "high", "standard_error", "df", "p"]
MIDDLE_ANCHOR = "anchor-7k"
MIN_TRANSPARENT = 90.0  # from here on a condition was taken for the reference
MAX_MISSED = 0.15  # of a rater's trials
MAX_EXACT = 30  # differences of which every choice of signs is counted
MAX_FOOLED = 0.25  # of the raters, before it is the trial that is at fault


def systems(
    ratings: Table, bounds: tuple[float, float] = WHOLE_LINE, lowest_first: bool = False
) -> Table:
    """Make a row for each system, the best first, which of errors is the lowest: its mean answer
    with its interval.

    Columns: system, ratings, raters, stimuli, value, low, high, standard_error, df. bounds are the
    ends of the scale; between 0 and 1 the answers are taken as shares.
    """
    rounding = 0.0 if bounds == (0, 1) else ROUNDING
    rows = []
    for system, own in ratings.groupby("system", sort=False):
        estimate = mean_of(own, rounding=rounding)
        if "words" in own:  # each of which can be wrong
            variance = replace(estimate.variance, ratings=int(own["words"].sum()))
            estimate = replace(estimate, variance=variance)
        rows.append({"system": system, **size(own), **estimate_row(estimate, bounds)})
    table = pd.DataFrame(rows).drop(columns="p")
    return table.sort_values("value", ascending=lowest_first, kind="stable", ignore_index=True)


def differences(ratings: Table, ranking: list[str], rounding: float = ROUNDING) -> Differences:
    """Estimate the mean of each system less that of each other one that comes after it in the
    ranking.

    Each is estimated from the ratings of these two alone. What a rater or a stimulus adds to both
    cancels, so with complete data this is the paired comparison. rounding: see estimates.mean.
    """
    gaps = {}
    for one, other in combinations(ranking, 2):
        both = ratings[ratings["system"].isin((one, other))]
        first = (both["system"] == one).to_numpy(bool)
        answers = both["answer"].to_numpy(float)
        gaps[one, other] = difference(answers, first, *codes(both), rounding)
    return gaps


def pairs(estimates: Differences) -> Table:
    """Make a row for each pair: system, other, value (the difference), low, high, p, and p_holm
    over all."""
    rows = [
        {"system": one, "other": other, **estimate_row(estimate)}
        for (one, other), estimate in estimates.items()
    ]
    return with_holm(rows, ["system", "other", *ESTIMATE_COLUMNS])


def scored(test: Test, scale: Scale, answers: Table) -> Table:
    """Turn answers into those whose means are given: shares of some answers, word errors by the
    words of each sentence, or the answers as they are."""
    if not scale.typed:
        return counted(answers, scale)
    lengths = {name: len(words_in(sentence)) for name, sentence in test.sentences.items()}
    return by_words(answers, lengths)


def counted(ratings: Table, scale: Scale) -> Table:
    """Turn answers into 1 where they are among those whose share the scale counts, else 0; leave
    those of other scales as they are.

    So the Voice Conversion Challenge 2018 sums up the answers of "same", sure or not
    (Lorenzo-Trueba et al., Odyssey 2018).
    """
    if not scale.counted:
        return ratings
    return ratings.assign(answer=ratings["answer"].isin(scale.counted).astype(float))


def by_words(ratings: Table, words: Mapping[str, int]) -> Table:
    """Weigh shares of word errors by how many words each stimulus has: turn them into answers whose
    mean, for each system, is all its errors by all its words.

    That ratio is linearised (Cochran 1977, Sampling Techniques, 6.4), so that the spread of the new
    answers is that of the ratio.
    """
    number, system = ratings["stimulus"].map(words).astype(float), ratings["system"]
    errors = ratings["answer"] * number
    size = number.groupby(system).transform("mean")
    ratio = errors.groupby(system).transform("mean") / size
    return ratings.assign(answer=ratio + (errors - ratio * number) / size, words=number)


def quartiles(ratings: Table) -> Table:
    """Find the median, q1 and q3 of all ratings of each system, columns of those names."""
    table = ratings.groupby("system")["answer"].quantile([0.25, 0.5, 0.75]).unstack()
    return table.set_axis(["q1", "median", "q3"], axis=1).reset_index()


def spreads(ratings: Table) -> Table:
    """Find how far a rater's own answers to each system spread: column own_spread, the standard
    deviation within raters, pooled over them; NaN where nobody has answered twice."""
    own = ratings.groupby(["system", "rater"])["answer"].agg(["var", "size"])
    own["squares"], own["df"] = own["var"].fillna(0.0) * (own["size"] - 1), own["size"] - 1
    sums = own.groupby("system")[["squares", "df"]].sum()
    pooled = np.sqrt(sums["squares"] / sums["df"].where(sums["df"] > 0))
    return pooled.rename("own_spread").reset_index()


def by_rater(ratings: Table) -> Table:
    """Average the answers of each rater (rows) to each system (columns), without those who lack
    one.
    """
    return ratings.pivot_table(
        index="rater", columns="system", values="answer", aggfunc="mean", sort=False
    ).dropna()


def friedman(ratings: Table) -> dict[str, float]:
    """Find chi2, df, raters and p of Friedman's test (1937): do the systems differ at all?

    The blocks are raters, each with the mean over their trials; trials of one rater are not
    independent and do not count as blocks. NaN with fewer than 2 raters or 3 systems, or all equal.
    """
    means = by_rater(ratings)
    raters, systems = means.shape
    statistics = {"chi2": np.nan, "df": systems - 1.0, "raters": float(raters), "p": np.nan}
    if raters > 1 and systems > 2 and (means.nunique(axis=1) > 1).any():
        test = friedmanchisquare(*means.to_numpy().T)
        statistics |= {"chi2": float(test.statistic), "p": float(test.pvalue)}
    return statistics


def wilcoxons(ratings: Table, ranking: list[str]) -> Table:
    """Make a row for each pair: system, other, median (of the raters' differences), p_wilcoxon, and
    p_wilcoxon_holm over all: Wilcoxon's signed-rank test (1945) on each rater's means."""
    means = by_rater(ratings)
    rows = []
    for one, other in combinations(ranking, 2):
        gaps = (means[one] - means[other]).to_numpy(float)
        median = float(np.median(gaps)) if len(gaps) else np.nan
        p = signed_rank(gaps) if len(gaps) > 1 else np.nan
        rows.append({"system": one, "other": other, "median": median, "p_wilcoxon": p})
    table = pd.DataFrame(rows, columns=["system", "other", "median", "p_wilcoxon"])
    return table.assign(p_wilcoxon_holm=holm(table["p_wilcoxon"]))


def signed_rank(gaps: np.ndarray) -> float:
    """Find the two-sided p of Wilcoxon's signed-rank test of differences (N,), those of 0 left out.

    It is exact for up to MAX_EXACT differences, with ties too: every choice of signs is counted,
    with the ranks as they are. Beyond it is SciPy's normal approximation, corrected for ties. It is
    1 where no difference is left.
    """
    gaps = gaps[gaps != 0]
    if not len(gaps):
        return 1.0
    if len(gaps) > MAX_EXACT:
        test: Any = wilcoxon(gaps)
        return float(test.pvalue)
    ranks = np.round(2 * rankdata(np.abs(gaps))).astype(int)  # twice the ranks: ties have halves
    ways = np.zeros(ranks.sum() + 1)  # in which the positive ranks come to so much
    ways[0] = 1
    for rank in ranks:
        ways[rank:] = ways[rank:] + ways[:-rank]
    positive = ranks[gaps > 0].sum()
    tail = min(ways[: positive + 1].sum(), ways[positive:].sum()) / 2.0 ** len(ranks)
    return float(min(2 * tail, 1))


def post_screening(ratings: Table) -> dict[str, list[str]]:
    """Find whom BS.1534-3 (4.1.2) excludes, each with the reasons.

    Those who rate the hidden reference below 90, or the mid-range anchor above 90, in more than
    15 % of their trials. Where more than a quarter of raters take that anchor so high, the trial
    distinguishes no rater and does not count.
    """
    reference = ratings[ratings["system"] == REFERENCE]
    anchor = ratings[ratings["system"] == MIDDLE_ANCHOR]
    fooled = anchor["answer"] > MIN_TRANSPARENT
    fooled = fooled[fooled.groupby(anchor["trial"]).transform("mean") <= MAX_FOOLED]
    reasons: dict[str, list[str]] = {}
    for rater, missed in (reference["answer"] < MIN_TRANSPARENT).groupby(reference["rater"]):
        if missed.mean() > MAX_MISSED:
            text = f"rated the hidden reference below {MIN_TRANSPARENT:g} in {_of(missed)}"
            reasons.setdefault(str(rater), []).append(text)
    for rater, high in fooled.groupby(anchor["rater"]):
        if high.mean() > MAX_MISSED:
            text = f"rated the 7 kHz anchor above {MIN_TRANSPARENT:g} in {_of(high)}"
            reasons.setdefault(str(rater), []).append(text)
    return reasons


def _of(flags: Table) -> str:
    return f"{int(flags.sum())} of {len(flags)} trials"


def faults(test: Test, ticks: Table) -> Table:
    """Estimate in which share of what they heard of each system raters ticked each fault: a row for
    both, with the interval of a share; empty where none could be ticked."""
    return pd.DataFrame(
        [
            {"system": system, "fault": fault}
            | estimate_row(mean_of(own, rounding=0.0), (0, 1))
            | size(own)
            for fault in test.faults
            for system in test.conditions
            if len(own := ticks[(ticks["system"] == system) & (ticks["text"] == fault)])
        ]
    ).drop(columns="p", errors="ignore")
