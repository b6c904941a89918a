"""Mean opinion scores and their differences: ACR, DCR, MUSHRA's means, and shares of "same"."""

from itertools import combinations

import pandas as pd

from earshot.study.analysis.clustered import ROUNDING, Estimate, difference
from earshot.study.analysis.tables import (
    WHOLE_LINE,
    Table,
    codes,
    estimate_row,
    holm,
    mean_of,
    size,
)
from earshot.study.design import Scale

Differences = dict[tuple[str, str], Estimate]


def systems(ratings: Table, bounds: tuple[float, float] = WHOLE_LINE) -> Table:
    """Make a row for each system, the best first: its mean answer with its interval.

    Columns: system, ratings, raters, stimuli, value, low, high, standard_error, df. bounds are the
    ends of the scale; between 0 and 1 the answers are taken as shares.
    """
    rounding = 0.0 if bounds == (0, 1) else ROUNDING
    rows = [
        {"system": system, **size(own), **estimate_row(mean_of(own, rounding=rounding), bounds)}
        for system, own in ratings.groupby("system", sort=False)
    ]
    table = pd.DataFrame(rows).drop(columns="p")
    return table.sort_values("value", ascending=False, kind="stable", ignore_index=True)


def differences(ratings: Table, ranking: list[str]) -> Differences:
    """Estimate the mean of each system less that of each other one that comes after it in the
    ranking.

    Each is estimated from the ratings of these two alone. What a rater or a stimulus adds to both
    cancels, so with complete data this is the paired comparison.
    """
    found = {}
    for one, other in combinations(ranking, 2):
        both = ratings[ratings["system"].isin((one, other))]
        first = (both["system"] == one).to_numpy(bool)
        answers = both["answer"].to_numpy(float)
        found[one, other] = difference(answers, first, *codes(both), ROUNDING)
    return found


def pairs(estimates: Differences) -> Table:
    """Make a row for each pair: system, other, value (the difference), low, high, p, and p_holm
    over all."""
    rows = [
        {"system": one, "other": other, **estimate_row(estimate)}
        for (one, other), estimate in estimates.items()
    ]
    table = pd.DataFrame(rows, columns=["system", "other", *_ESTIMATE])
    return table.assign(p_holm=holm(table["p"]))


def counted(ratings: Table, scale: Scale) -> Table:
    """Turn answers into 1 where they are among those whose share the scale counts, else 0; leave
    those of other scales as they are.

    So the Voice Conversion Challenge 2018 sums up the answers of "same", sure or not
    (Lorenzo-Trueba et al., Odyssey 2018).
    """
    if not scale.counted:
        return ratings
    return ratings.assign(answer=ratings["answer"].isin(scale.counted).astype(float))


_ESTIMATE = ["value", "low", "high", "standard_error", "df", "p"]
