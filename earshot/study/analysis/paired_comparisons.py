"""Two sounds in a trial: preferences (AB), comparison ratings (CCR), Bradley–Terry strengths, and
whether anyone notices a difference at all (ABX).
"""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import root_scalar
from scipy.sparse.csgraph import connected_components
from scipy.special import expit, ndtr
from scipy.stats import binomtest
from statsmodels.api import GLM
from statsmodels.genmod.families import Binomial

from earshot.study.analysis.estimates import (
    ROUNDING,
    Clustered,
    Estimate,
    Table,
    codes,
    estimate_row,
    holm,
    mean_of,
    size,
    with_holm,
)

EVEN = 0.5  # the share of votes of either system where there is no difference
CHANCE = 0.5
MAX_D_PRIME = 20.0  # d′ beyond which no one can tell from always right


def both_ways(votes: Table, null: float = EVEN) -> Table:
    """Return each vote twice, once for either system; null is the answer of no preference."""
    turned = votes.assign(
        system=votes["other"], other=votes["system"], answer=2 * null - votes["answer"]
    )
    return pd.concat([votes, turned], ignore_index=True)


def ranking(votes: Table, null: float = EVEN) -> list[str]:
    """Rank the systems by their mean answer over all comparisons, the best first."""
    means = both_ways(votes, null).groupby("system", sort=False)["answer"].mean()
    return means.sort_values(ascending=False, kind="stable").index.tolist()


def mean_votes(
    votes: Table, order: list[str], null: float = EVEN
) -> dict[tuple[str, str], Estimate]:
    """Estimate, for each pair that was compared, in this order, the mean answer given of the first.

    Tested against null with both raters and stimuli as clusters (see estimates.Variance): a plain
    binomial test takes votes for independent, and finds far too much where raters have tastes
    of their own.
    """
    turned = both_ways(votes, null)
    means = {}
    for one, other in combinations(order, 2):
        own = turned[(turned["system"] == one) & (turned["other"] == other)]
        if len(own):
            means[one, other] = mean_of(own, null, 0.0 if null == EVEN else ROUNDING)
    return means


def preferences(votes: Table, estimates: dict[tuple[str, str], Estimate]) -> Table:
    """Make a row for each pair: system, other, ratings, raters, stimuli, won, tied, lost (votes),
    value (the share of system's, ties half), low, high, p (clustered), p_holm; and p_binomial, the
    exact sign test that leaves ties out and takes votes for independent, to be read with that in
    mind."""
    rows = []
    for row, estimate in _vote_counts(votes, estimates):
        decided = row["won"] + row["lost"]
        exact = binomtest(row["won"], decided).pvalue if decided else np.nan
        rows.append(row | estimate_row(estimate, (0, 1)) | {"p_binomial": float(exact)})
    return with_holm(rows)


def comparisons(votes: Table, estimates: dict[tuple[str, str], Estimate]) -> Table:
    """Make a row for each pair of a CCR test: system, other, ratings, raters, stimuli, value (how
    much better system is, −3 to 3), low, high, p, p_holm."""
    turned = both_ways(votes, 0)
    rows = []
    for (one, other), estimate in estimates.items():
        own = turned[(turned["system"] == one) & (turned["other"] == other)]
        row = estimate_row(estimate, (-3, 3))
        rows.append({"system": one, "other": other, **size(own), **row})
    return with_holm(rows)


def can_be_scaled(votes: Table) -> bool:
    """Whether strengths exist: every system is, by some chain of votes, better and worse than
    every other (Ford 1957, American Mathematical Monthly 64)."""
    turned = both_ways(votes)
    names = turned["system"].unique()
    systems, others = (pd.Categorical(turned[side], names).codes for side in ("system", "other"))
    beats = np.zeros((len(names), len(names)))
    np.add.at(beats, (systems, others), turned["answer"])
    return connected_components(beats > 0, connection="strong")[0] == 1


def bradley_terry(votes: Table, order: list[str]) -> Table:
    """Make a row for each system, in this order: its strength, where σ(strength − strength of
    another) is the chance to be preferred (Bradley and Terry 1952); ties count half to either.

    A binomial GLM without a constant, with raters and stimuli as clusters. The strengths sum to 0;
    columns system, value, low, high, standard_error, df. Votes must be such that can_be_scaled. No
    variance is less than that of independent votes: of few raters or stimuli it is estimated too
    small at times, and where pairs were chosen by the votes, for those that came out clear.
    """
    return strength_rows(_strengths(votes, order), order)


def strength_rows(clustered: Clustered, order: list[str]) -> Table:
    """Make a row for each system, in this order, of the fitted strengths of all but the last."""
    rows = [
        {"system": system, **estimate_row(clustered.estimate(weights))}
        for system, weights in zip(order, centred(len(order)), strict=True)
    ]
    return pd.DataFrame(rows).drop(columns="p")


def modelled(votes: Table, order: list[str]) -> dict[tuple[str, str], Estimate]:
    """Estimate the difference of the strengths of each pair of systems, asked or not.

    For tests whose pairs were chosen by the votes before: a pair is asked again where it came out
    close, so its own share of votes is no fair estimate, while the likelihood of all votes is the
    same as if the pairs had been fixed beforehand.
    """
    clustered, contrasts = _strengths(votes, order), centred(len(order))
    pairs = combinations(range(len(order)), 2)
    return {(order[i], order[j]): clustered.estimate(contrasts[i] - contrasts[j]) for i, j in pairs}


def modelled_preferences(votes: Table, estimates: dict[tuple[str, str], Estimate]) -> Table:
    """Make the columns of preferences, with value, low and high as the model has them, and no
    p_binomial."""
    rows = []
    for counts, estimate in _vote_counts(votes, estimates):
        row = estimate_row(estimate)
        chances = {name: float(expit(row[name])) for name in ("value", "low", "high")}
        rows.append(counts | row | chances | {"p_binomial": np.nan})
    return with_holm(rows)


def _vote_counts(
    votes: Table, estimates: dict[tuple[str, str], Estimate]
) -> Iterator[tuple[dict[str, Any], Estimate]]:
    """Yield for each pair its names, sizes and votes, and its estimate."""
    turned = both_ways(votes)
    for (one, other), estimate in estimates.items():
        own = turned[(turned["system"] == one) & (turned["other"] == other)]
        won, lost = int((own["answer"] == 1).sum()), int((own["answer"] == 0).sum())
        counts = {"won": won, "tied": len(own) - won - lost, "lost": lost}
        yield {"system": one, "other": other, **size(own)} | counts, estimate


def as_share(estimate: Estimate) -> Estimate:
    """Estimate the chance to be preferred, of a difference of strengths, by the delta method."""
    chance = float(expit(estimate.value))
    slope = (chance * (1 - chance)) ** 2
    return Estimate(chance, estimate.variance.scaled(slope), EVEN)


def _strengths(votes: Table, order: list[str]) -> Clustered:
    """Fit the strengths of all systems but the last, which is minus the sum of the others."""
    systems, others = (
        pd.get_dummies(pd.Categorical(votes[side], order)).to_numpy(float)
        for side in ("system", "other")
    )
    design = (systems - others) @ centred(len(order))
    fit = GLM(votes["answer"].to_numpy(float), design, family=Binomial()).fit()
    return Clustered(fit, *codes(votes), np.asarray(fit.cov_params()))


def centred(systems: int) -> np.ndarray:
    """Make strengths of K systems that sum to 0, from the first K − 1: (K, K − 1)."""
    return np.vstack([np.eye(systems - 1), -np.ones(systems - 1)])


def right_shares(answers: Table) -> dict[tuple[str, str], Estimate]:
    """Estimate the share of right answers for each pair of systems."""
    return {
        (str(system), str(other)): mean_of(own, CHANCE, rounding=0.0)
        for (system, other), own in _pairs(answers)
    }


def discrimination(answers: Table, estimates: dict[tuple[str, str], Estimate]) -> Table:
    """Make a row for each pair, the easiest first: system, other, ratings, raters, stimuli, right,
    value (share right), low, high, p (one-sided exact binomial), p_holm, d_prime, d_low, d_high.

    The binomial test is exact for any raters: where nothing can be heard, every answer is
    right by the toss that chose X. The interval, which is about how well people notice it, has
    raters and stimuli as clusters.
    """
    rows = []
    for (system, other), own in _pairs(answers):
        right = int(own["answer"].sum())  # of undecided answers half, and no half answer
        row = estimate_row(estimates[system, other], (0, 1))
        row["p"] = float(binomtest(right, len(own), CHANCE, alternative="greater").pvalue)
        distances = [d_prime(row[end]) for end in ("value", "low", "high")]
        rows.append(
            {"system": system, "other": other, **size(own), "right": right}
            | row
            | dict(zip(("d_prime", "d_low", "d_high"), distances, strict=True))
        )
    table = pd.DataFrame(rows).sort_values("value", ascending=False, ignore_index=True)
    return table.assign(p_holm=holm(table["p"]))


def share_right(distance: float) -> float:
    """Find the share of right answers of an unbiased listener at d′ in ABX, differencing model.

    Φ(d′/√2)·Φ(d′/√6) + Φ(−d′/√2)·Φ(−d′/√6): X is given to whichever of A and B lies nearer
    (Macmillan and Creelman 2005, Detection Theory, chapter 9). It is their model for stimuli that
    change from trial to trial, as sentences do; with independent observations d′ would be smaller.
    """
    wide, narrow = distance / np.sqrt(2), distance / np.sqrt(6)
    return float(ndtr(wide) * ndtr(narrow) + ndtr(-wide) * ndtr(-narrow))


def d_prime(share: float) -> float:
    """Find the d′ at which this share is right: 0 at chance and below, infinite where all is
    right."""
    if np.isnan(share):
        return np.nan
    if share <= CHANCE:
        return 0.0
    if share >= share_right(MAX_D_PRIME):
        return np.inf
    solution = root_scalar(lambda distance: share_right(distance) - share, bracket=(0, MAX_D_PRIME))
    return float(solution.root)


def _pairs(answers: Table) -> list[tuple[tuple[str, str], Table]]:
    # Which of two is named first means nothing here.
    names = [tuple(sorted(pair)) for pair in zip(answers["system"], answers["other"], strict=True)]
    one, other = zip(*names, strict=True)
    return list(answers.assign(system=one, other=other).groupby(["system", "other"], sort=False))
