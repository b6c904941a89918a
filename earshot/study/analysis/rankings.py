"""Rankings: the votes for each two systems that they stand for, and strengths of Plackett (1975)
and Luce (1959), which know that rankings of one rater, and of one stimulus, belong together.
"""

from typing import Final

import numpy as np
import pandas as pd

from earshot.study.analysis.estimates import Choices, Clustered, Table
from earshot.study.analysis.paired_comparisons import both_ways, centred, strength_rows

RANKING_COLUMNS: Final = ["rater", "order"]  # what the places of one ranking have in common
MAX_STEPS: Final = 100  # of Newton's method, of which it takes six
MAX_RESIDUAL: Final = 1e-9
MAX_STEP: Final = 2.0  # of a strength


def as_votes(places: Table) -> Table:
    """Turn places into a row for each two systems of a ranking, whose answer is 1 where the system
    stands above the other, else 0; position is 0 where it was shown before it."""
    names = sorted(places["system"].unique())
    both = places.merge(
        places[[*RANKING_COLUMNS, "system", "answer", "position"]],
        on=RANKING_COLUMNS,
        suffixes=("", "_other"),
    )
    both = both[both["system"].map(names.index) < both["system_other"].map(names.index)]
    above = (both["answer"] < both["answer_other"]).astype(float)
    after = (both["position"] > both["position_other"]).astype(int)
    votes = both.assign(other=both["system_other"], answer=above, position=after)
    return votes[places.columns].reset_index(drop=True)


def plackett_luce(votes: Table, order: list[str]) -> Table:
    """Make a row for each system, in this order: its strength; the best of those that are left is
    chosen with odds of its exponent, so σ(strength − strength of another) is the chance to stand
    above that one. The strengths sum to 0; columns as of paired_comparisons.bradley_terry.

    Votes, those of as_votes, must be such that paired_comparisons.can_be_scaled. No variance is
    less than that of independent rankings.
    """
    wins = both_ways(votes).pivot_table(
        index=[*RANKING_COLUMNS, "stimulus"], columns="system", values="answer", aggfunc="sum"
    )[order]
    best_first = np.argsort(-wins.to_numpy(float), axis=1, kind="stable")
    raters, stimuli = (
        pd.factorize(wins.index.get_level_values(name))[0] for name in ("rater", "stimulus")
    )
    return strength_rows(fit(best_first, raters, stimuli), order)


def fit(best_first: np.ndarray, raters: np.ndarray, stimuli: np.ndarray) -> Clustered:
    """Fit the strengths of all systems but the last, which is minus the sum of the others, to
    rankings (N, K) of systems by their numbers, the best first, with the codes (N,) of whom and
    what each is from."""
    rankings, systems = best_first.shape
    # A row for each system that is left at each step: of which step, and whether it is chosen.
    steps = [(step, place) for step in range(systems - 1) for place in range(step, systems)]
    step, place = (np.array(each) for each in zip(*steps, strict=True))
    options = best_first[:, place].ravel()
    groups = (np.arange(rankings)[:, None] * (systems - 1) + step).ravel()
    chosen = np.tile(step == place, rankings).astype(float)
    count = rankings * (systems - 1)
    contrasts = centred(systems)
    values, strengths = contrasts[options], np.zeros(systems - 1)

    def expected() -> tuple[np.ndarray, np.ndarray]:
        """Find the chance of each option, and how far its place is from the one expected."""
        odds = np.exp(contrasts @ strengths)[options]
        chances = odds / np.bincount(groups, odds, count)[groups]
        middle = np.column_stack(
            [np.bincount(groups, chances * column, count) for column in values.T]
        )
        return chances, values - middle[groups]

    for _ in range(MAX_STEPS):
        chances, design = expected()
        information = (design * chances[:, None]).T @ design
        change = np.linalg.solve(information, design.T @ (chosen - chances))
        strengths += change * min(1.0, MAX_STEP / max(float(np.abs(change).max()), MAX_RESIDUAL))
        if np.abs(change).max() < MAX_RESIDUAL:
            break
    chances, design = expected()
    covariance = np.linalg.inv((design * chances[:, None]).T @ design)
    choices = Choices(strengths, design, chosen - chances, chances)
    each = len(steps)
    return Clustered(choices, np.repeat(raters, each), np.repeat(stimuli, each), covariance)
