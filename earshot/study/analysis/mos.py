"""Mean opinion scores and their differences: ACR, DCR, MUSHRA's means, and shares of "same"."""

from collections.abc import Mapping
from dataclasses import replace
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
from earshot.study.design import Scale, Test
from earshot.study.design.scales import words_in

Differences = dict[tuple[str, str], Estimate]


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
            known = replace(estimate.variance, ratings=int(own["words"].sum()))
            estimate = replace(estimate, variance=known)
        rows.append({"system": system, **size(own), **estimate_row(estimate, bounds)})
    table = pd.DataFrame(rows).drop(columns="p")
    return table.sort_values("value", ascending=lowest_first, kind="stable", ignore_index=True)


def differences(ratings: Table, ranking: list[str], rounding: float = ROUNDING) -> Differences:
    """Estimate the mean of each system less that of each other one that comes after it in the
    ranking.

    Each is estimated from the ratings of these two alone. What a rater or a stimulus adds to both
    cancels, so with complete data this is the paired comparison. rounding: see clustered.mean.
    """
    found = {}
    for one, other in combinations(ranking, 2):
        both = ratings[ratings["system"].isin((one, other))]
        first = (both["system"] == one).to_numpy(bool)
        answers = both["answer"].to_numpy(float)
        found[one, other] = difference(answers, first, *codes(both), rounding)
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


def scored(test: Test, scale: Scale, answers: Table) -> Table:
    """Turn answers into those whose means are given: shares of some answers, word errors by the
    words of each sentence, or the answers as they are."""
    if not scale.typed:
        return counted(answers, scale)
    return by_words(answers, {name: len(words_in(said)) for name, said in test.sentences.items()})


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


_ESTIMATE = ["value", "low", "high", "standard_error", "df", "p"]
