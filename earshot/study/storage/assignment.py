"""The assignment of trials to a rater, in which order and at which position: balanced, and
seeded.
"""

from collections.abc import Mapping

import numpy as np

from earshot.study.design import Item, Test, Trial
from earshot.study.design.model import UNDRAWN


def assign(test: Test, counts: Mapping[int, int], number: int) -> list[Item]:
    """Assign the sequence of the rater who comes as that number: the same for the same arguments.

    counts holds how many ratings each scored trial has, or is still going to get from those at it,
    by its id. The least rated trials come first, so that all stay within one rating of each other
    while raters come; after some have left they are so again, at the latest when as many have come.
    Among trials rated equally often, a rater gets each system and each stimulus equally often.

    Practice comes first, then the trials in random order with attention checks and gold trials
    anywhere among them, sides and positions balanced too. Where the test has blocks, the trials of
    a system, or of a pair, follow each other, and what is in between stays where it was drawn. In
    an adaptive test, the trials are left to be drawn.
    """
    rng = np.random.default_rng([test.seed, number])
    if test.pairing == "adaptive":
        scored = [(None, 0)] * test.trials_per_rater
    else:
        # Each half of the trials has one side first, and each half of those one X.
        quarters = rng.permutation(test.trials_per_rater) % 4
        scored = list(zip(_draw(test, counts, rng), quarters, strict=True))
    practice, attention, gold = (
        [(trial, rng.integers(4)) for trial in test.of_kind(kind)]
        for kind in ("practice", "attention", "gold")
    )
    rest = [*scored, *attention, *gold]
    drawn = [rest[i] for i in rng.permutation(len(rest))]
    if test.blocks:
        drawn = _in_blocks(test, drawn, number)
    asked = [*practice, *drawn]
    return [
        Item(order, trial.id, shown(test, trial, int(quarter), rng))
        if trial
        else Item(order, UNDRAWN, ())
        for order, (trial, quarter) in enumerate(asked)
    ]


def _in_blocks(
    test: Test, drawn: list[tuple[Trial | None, int]], number: int
) -> list[tuple[Trial | None, int]]:
    """Sort the scored trials into blocks, whose order is balanced over raters."""
    names = list(dict.fromkeys(frozenset(trial.sounds) for trial in test.of_kind("trial")))
    rank = {names[block]: place for place, block in enumerate(balanced(len(names), number))}
    scored = [each for each in drawn if each[0] and each[0].kind == "trial"]
    scored.sort(key=lambda each: rank[frozenset(each[0].sounds)] if each[0] else 0)
    blocks = iter(scored)
    return [next(blocks) if each[0] and each[0].kind == "trial" else each for each in drawn]


def balanced(size: int, number: int) -> list[int]:
    """Give the order of so many blocks for the rater who comes as that number: over 2 × size raters
    each block is at each place, and directly after each other one, equally often (Williams 1949,
    Australian Journal of Scientific Research A 2)."""
    first = [(place + 1) // 2 if place % 2 else (size - place // 2) % size for place in range(size)]
    row = [(each + number // 2) % size for each in first]
    return row[::-1] if number % 2 else row


def _draw(test: Test, counts: Mapping[int, int], rng: np.random.Generator) -> list[Trial]:
    """Draw the rater's scored trials: the least rated, and varied where several are equally so."""
    trials = test.of_kind("trial")
    stimuli = _memberships([[trial.stimulus] for trial in trials]).argmax(axis=1)
    systems = _memberships([list(trial.sounds) for trial in trials])
    rated = np.array([counts.get(trial.id, 0) for trial in trials])
    chance = rng.permutation(len(trials))
    # How often the rater gets each stimulus and each system so far.
    of_stimulus = np.zeros(stimuli.max() + 1, dtype=np.int64)
    of_system = np.zeros(systems.shape[1], dtype=np.int64)
    free = np.ones(len(trials), dtype=bool)
    drawn: list[int] = []
    for _ in range(test.trials_per_rater):
        best = np.flatnonzero(free)
        best = best[_lowest(rated[best])]
        best = best[_lowest(of_stimulus[stimuli[best]])]
        best = best[_lowest(systems[best] @ of_system)]
        found = best[chance[best].argmin()]
        free[found] = False
        of_stimulus[stimuli[found]] += 1
        of_system += systems[found]
        drawn.append(int(found))
    return [trials[i] for i in drawn]


def _lowest(values: np.ndarray) -> np.ndarray:
    """Find where the lowest of the values stand."""
    return np.flatnonzero(values == values.min())


def _memberships(names: list[list[str]]) -> np.ndarray:
    """Mark which names each trial has: (trials, names), 0 or 1."""
    index = {name: i for i, name in enumerate(sorted({name for each in names for name in each}))}
    table = np.zeros((len(names), len(index)), dtype=np.int64)
    for row, each in zip(table, names, strict=True):
        row[[index[name] for name in each]] = 1
    return table


def shown(test: Test, trial: Trial, quarter: int, rng: np.random.Generator) -> tuple[str, ...]:
    """Order the systems by position; quarter, 0 to 3, decides the sides of two, and X."""
    return tuple(test.design.shown([*trial.sounds], quarter, rng))
