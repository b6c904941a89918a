"""ABX: can anyone hear a difference at all, and how great is it?"""

import numpy as np
import pandas as pd
from scipy.optimize import root_scalar
from scipy.special import ndtr
from scipy.stats import binomtest

from earshot.study.analysis.clustered import Estimate
from earshot.study.analysis.tables import Table, estimate_row, holm, mean_of, size

CHANCE = 0.5
MAX_D_PRIME = 20.0  # d′ beyond which no one can tell from always right


def estimates(answers: Table) -> dict[tuple[str, str], Estimate]:
    """Estimate the share of right answers for each pair of systems."""
    return {
        (str(system), str(other)): mean_of(own, CHANCE, rounding=0.0)
        for (system, other), own in _pairs(answers)
    }


def discrimination(answers: Table, found: dict[tuple[str, str], Estimate]) -> Table:
    """Make a row for each pair, the easiest first: system, other, ratings, raters, stimuli, right,
    value (share right), low, high, p (one-sided exact binomial), p_holm, d_prime, d_low, d_high.

    The binomial test is exact whoever the raters are: where nothing can be heard, every answer is
    right by the toss that chose X. The interval, which is about how well people hear it, has raters
    and stimuli as clusters.
    """
    rows = []
    for (system, other), own in _pairs(answers):
        right = int(own["answer"].sum())  # of undecided answers half, and no half answer
        row = estimate_row(found[system, other], (0, 1))
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
    found = root_scalar(lambda distance: share_right(distance) - share, bracket=(0, MAX_D_PRIME))
    return float(found.root)


def _pairs(answers: Table) -> list[tuple[tuple[str, str], Table]]:
    # Which of two is named first means nothing here.
    names = [tuple(sorted(pair)) for pair in zip(answers["system"], answers["other"], strict=True)]
    one, other = zip(*names, strict=True)
    return list(answers.assign(system=one, other=other).groupby(["system", "other"], sort=False))
