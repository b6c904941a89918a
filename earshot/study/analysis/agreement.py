"""The agreement of raters: Krippendorff's α."""

import numpy as np

from earshot.study.analysis.tables import Table
from earshot.study.design.designs import Level


def krippendorff(values: np.ndarray, level: Level) -> float:
    """Find α = 1 − D_o / D_e of values (raters, units), NaN where a rater did not judge a unit.

    1 is perfect agreement, 0 what chance would bring. NaN where no unit has two values, or all
    values are the same (Krippendorff 2011, Computing Krippendorff's Alpha-Reliability, section E).
    """
    kinds = np.unique(values[~np.isnan(values)])
    if not len(kinds):
        return np.nan
    counts = np.stack([(values == kind).sum(axis=0) for kind in kinds], axis=1)  # (units, kinds)
    counts = counts[counts.sum(axis=1) > 1]
    shares = counts / (counts.sum(axis=1, keepdims=True) - 1)
    observed = counts.T @ shares - np.diag(shares.sum(axis=0))  # coincidences
    totals = observed.sum(axis=0)
    expected = (np.outer(totals, totals) - np.diag(totals)) / max(totals.sum() - 1, 1)
    apart = _distances(kinds, totals, level)
    disagreement = (expected * apart).sum()
    return float(1 - (observed * apart).sum() / disagreement) if disagreement > 0 else np.nan


def by_unit(ratings: Table) -> np.ndarray:
    """Arrange the answers (raters, units): a unit is a system, or pair of systems, heard with one
    stimulus."""
    table = ratings.pivot_table(
        index="rater", columns=["system", "other", "stimulus"], values="answer", aggfunc="mean"
    )
    return table.to_numpy(float)


def _distances(kinds: np.ndarray, totals: np.ndarray, level: Level) -> np.ndarray:
    """Find δ² between all kinds of values (K, K)."""
    if level == "nominal":
        return 1.0 - np.eye(len(kinds))
    if level == "interval":
        return np.subtract.outer(kinds, kinds) ** 2
    # Ranks: how many values lie between, counting half of either end.
    middle = np.cumsum(totals) - totals / 2
    return np.subtract.outer(middle, middle) ** 2
