"""MUSHRA after ITU-R BS.1534-3: medians, quartiles, Friedman and Wilcoxon, and post-screening."""

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import friedmanchisquare, rankdata, wilcoxon

from earshot.study.analysis.tables import Table, holm
from earshot.study.design import REFERENCE

MIDDLE_ANCHOR = "anchor-7k"
TRANSPARENT = 90.0  # from here on a condition was taken for the reference
MAX_MISSED = 0.15  # of a rater's trials
MAX_EXACT = 30  # differences of which every choice of signs is counted
MAX_FOOLED = 0.25  # of the raters, before it is the trial that is at fault


def quartiles(ratings: Table) -> Table:
    """Find the median, q1 and q3 of all ratings of each system, columns of those names."""
    table = ratings.groupby("system")["answer"].quantile([0.25, 0.5, 0.75]).unstack()
    return table.set_axis(["q1", "median", "q3"], axis=1).reset_index()


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
    found = {"chi2": np.nan, "df": systems - 1.0, "raters": float(raters), "p": np.nan}
    if raters > 1 and systems > 2 and (means.nunique(axis=1) > 1).any():
        test = friedmanchisquare(*means.to_numpy().T)
        found |= {"chi2": float(test.statistic), "p": float(test.pvalue)}
    return found


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
    found = ranks[gaps > 0].sum()
    tail = min(ways[: found + 1].sum(), ways[found:].sum()) / 2.0 ** len(ranks)
    return float(min(2 * tail, 1))


def post_screening(ratings: Table) -> dict[str, list[str]]:
    """Find whom BS.1534-3 (4.1.2) excludes, each with the reasons.

    Those who rate the hidden reference below 90, or the mid-range anchor above 90, in more than
    15 % of their trials. Where more than a quarter of raters take that anchor so high, the trial
    says nothing of a rater and does not count.
    """
    reference = ratings[ratings["system"] == REFERENCE]
    anchor = ratings[ratings["system"] == MIDDLE_ANCHOR]
    fooled = anchor["answer"] > TRANSPARENT
    fooled = fooled[fooled.groupby(anchor["trial"]).transform("mean") <= MAX_FOOLED]
    reasons: dict[str, list[str]] = {}
    for rater, missed in (reference["answer"] < TRANSPARENT).groupby(reference["rater"]):
        if missed.mean() > MAX_MISSED:
            text = f"rated the hidden reference below {TRANSPARENT:g} in {_of(missed)}"
            reasons.setdefault(str(rater), []).append(text)
    for rater, high in fooled.groupby(anchor["rater"]):
        if high.mean() > MAX_MISSED:
            text = f"rated the 7 kHz anchor above {TRANSPARENT:g} in {_of(high)}"
            reasons.setdefault(str(rater), []).append(text)
    return reasons


def _of(flags: Table) -> str:
    return f"{int(flags.sum())} of {len(flags)} trials"
