"""The assignment of trials to a rater, in which order and at which position: balanced, and seeded.

In an adaptive AB test the next pair is the one whose vote is expected to inform most. What a choice
knew is in the log (see Event), and chance is drawn from the test's seed and the rater's hash, so
that every choice can be made again from the export. The strengths of K systems have a normal prior,
and after some votes a normal posterior by Laplace's method. What a vote informs is the mutual
information between it and the strengths under Bradley and Terry's model (MacKay 1992,
Information-based objective functions for active data selection; for paired comparisons Li et al.
2018, Hybrid-MST, and Mikhailiuk et al. 2021, ASAP).
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from earshot.study.design import Item, Test, Trial
from earshot.study.design.model import UNDRAWN, Staircase

TRIALS_AHEAD: Final = 2  # trials of a rater that are chosen, one of them while they judge the other
STAIRCASE_TRIALS_AHEAD: Final = 1  # for their answer decides which one comes next
NEARLY_MOST: Final = 0.99  # of the most information counts as the most
PRIOR: Final = 2.0  # standard deviation of a strength (logit): the best of 20 wins 19 in 20 votes
MAX_STEPS: Final = 50  # of Newton's method; a few are enough
MAX_STEP: Final = 2.0  # step of a strength
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(9)
WEIGHTS = WEIGHTS / WEIGHTS.sum()


def assign(test: Test, counts: Mapping[int, int], number: int) -> list[Item]:
    """Assign the sequence of the rater who comes as that number: the same for the same arguments.

    counts holds how many ratings each scored trial has, or is still going to get from those at it,
    by its id. The least rated trials come first, so that all stay within one rating of each other
    while raters come; after some have left they are so again, at the latest when as many have come.
    Among trials rated equally often, a rater gets each system and each stimulus equally often.

    Practice comes first, then the trials in random order with attention checks and gold trials
    anywhere among them, sides and positions balanced too. Where the test has blocks, the trials of
    a system, or of a pair, follow each other, and what is in between stays where it was drawn. In
    an adaptive test, and on a staircase, the trials are left to be drawn.
    """
    rng = np.random.default_rng([test.seed, number])
    if test.draws_late:
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
    sequence = [*practice, *drawn]
    return [
        Item(order, trial.id, order_systems(test, trial, int(quarter), rng))
        if trial
        else Item(order, UNDRAWN, ())
        for order, (trial, quarter) in enumerate(sequence)
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
    """Return the order of so many blocks for the rater who comes as that number: over 2 × size
    raters each block is at each place, and directly after each other one, equally often (Williams
    1949, Australian Journal of Scientific Research A 2).
    """
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
        chosen = best[chance[best].argmin()]
        free[chosen] = False
        of_stimulus[stimuli[chosen]] += 1
        of_system += systems[chosen]
        drawn.append(int(chosen))
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


def order_systems(
    test: Test, trial: Trial, quarter: int, rng: np.random.Generator
) -> tuple[str, ...]:
    """Order the systems by position; quarter, 0 to 3, decides the sides of two, and X."""
    return tuple(test.design.arrange([*trial.sounds], quarter, rng))


@dataclass(frozen=True)
class Event:
    """A scored trial that was chosen for a rater, by its place in their sequence.

    drawn and voted count what happened in the test: the choice was event number drawn and knew all
    events before number knew; the vote was event number voted, None while it is not given. first:
    the vote for the trial's first system, 1, 0 or 0.5.
    """

    rater: str
    place: int
    trial: int
    knew: int
    drawn: int
    voted: int | None = None
    first: float | None = None


def choose(
    test: Test,
    log: Iterable[Event],
    rater: str,
    place: int,
    knew: int,
    counts: Mapping[int, int] | None = None,
) -> Trial:
    """Choose the trial for that place, from what had happened before event number knew. counts: how
    often each trial had been chosen, where the log is of the rater alone, as on a staircase.

    On a staircase it is one of the level that the rater's own answers lead to, else the pair whose
    next vote informs most, those that others are judging being counted as votes to come. Its
    stimulus is one that the rater and others have had least.
    """
    past = [event for event in log if event.drawn < knew]
    if test.staircase:
        had = Counter(event.trial for event in past) if counts is None else counts
        return _step(test, test.staircase, past, had, rater, place, knew)
    drawn = np.array([event.trial for event in past], dtype=np.int64)
    own = np.array([event.trial for event in past if event.rater == rater], dtype=np.int64)
    trials, names = test.of_kind("trial"), test.conditions
    ends, stimulus = _indices(trials, names)
    free = np.ones(len(trials), dtype=bool)
    free[own] = False

    won, coming = np.zeros((2, len(names), len(names)))
    for event in past:
        one, other = ends[event.trial]
        if event.first is None or event.voted is None or event.voted >= knew:
            coming[one, other] += 1
        else:
            won[one, other] += event.first
            won[other, one] += 1 - event.first
    current = beliefs(won)
    gain = gains(expecting(current, coming))[ends[:, 0], ends[:, 1]]

    rng = np.random.default_rng([test.seed, *_digest(rater), place])
    best = np.flatnonzero(free & (gain >= NEARLY_MOST * gain[free].max()))
    alike = np.flatnonzero(free & (ends == ends[rng.choice(best)]).all(axis=1))
    own_counts = np.bincount(stimulus[own], minlength=stimulus.max() + 1)[stimulus[alike]]
    had = np.bincount(drawn, minlength=len(trials))[alike]
    return trials[alike[np.lexsort((rng.random(len(alike)), had, own_counts))[0]]]


def _step(
    test: Test,
    staircase: Staircase,
    past: Sequence[Event],
    had: Mapping[int, int],
    rater: str,
    place: int,
    knew: int,
) -> Trial:
    """Choose a trial of the rater's level, the stimulus of which they and others have had least."""
    own = sorted((event for event in past if event.rater == rater), key=lambda event: event.place)
    votes = [event.first == 1 for event in own if event.voted is not None and event.voted < knew]
    level, trials = staircase.next_level(votes), test.of_kind("trial")
    rng = np.random.default_rng([test.seed, *_digest(rater), place])
    of_level = [trial for trial in trials if level in trial.sounds]
    own_counts = Counter(trials[event.trial].stimulus for event in own)
    chance = rng.permutation(len(of_level))
    ranked = sorted(
        zip(of_level, chance, strict=True),
        key=lambda each: (own_counts[each[0].stimulus], had.get(each[0].id, 0), each[1]),
    )
    return ranked[0][0]


def _indices(trials: Sequence[Trial], names: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Find, for each trial (N), both systems (N, 2) by their place in names, and the stimulus
    (N,).
    """
    place = {name: k for k, name in enumerate(names)}
    number = {name: k for k, name in enumerate({trial.stimulus: None for trial in trials})}
    ends = np.array([[place[name] for name in trial.sounds] for trial in trials])
    return ends, np.array([number[trial.stimulus] for trial in trials])


def quarter_of(test: Test, rater: str, nth: int) -> int:
    """Choose 0 to 3 for the rater's nth scored trial: who is on the left, and X, each of them a
    quarter of the time."""
    rng = np.random.default_rng([test.seed, *_digest(rater)])
    return int((rng.permutation(test.trials_per_rater) % 4)[nth])


def start_of(test: Test, rater: str, place: int) -> int:
    """Choose where the gain of a trial starts, in dB: anywhere within its ends."""
    low, high = test.design.scale.bounds
    rng = np.random.default_rng([test.seed, *_digest(rater), place])
    return int(rng.integers(low, high + 1))


def _digest(rater: str) -> bytes:
    return hashlib.sha256(rater.encode()).digest()[:8]


@dataclass(frozen=True)
class Beliefs:
    """The beliefs about the strengths: mean (K,) and covariance (K, K)."""

    mean: np.ndarray
    covariance: np.ndarray


def beliefs(won: np.ndarray) -> Beliefs:
    """Fit the beliefs after votes won (K, K): how often the row's system was preferred to the
    column's, a half for each vote without preference.
    """
    votes = won + won.T
    mean = np.zeros(len(won))
    for _ in range(MAX_STEPS):
        chance = expit(np.subtract.outer(mean, mean))
        slope = (won - votes * chance).sum(axis=1) - mean / PRIOR**2
        step = np.linalg.solve(_precision(votes, mean), slope)
        mean = mean + np.clip(step, -MAX_STEP, MAX_STEP)
        if np.abs(step).max() < 1e-9:
            break
    return Beliefs(mean, np.linalg.inv(_precision(votes, mean)))


def expecting(current: Beliefs, coming: np.ndarray) -> Beliefs:
    """Update the beliefs as if votes that are asked for, so many (K, K) of each pair whichever way
    round, had come: what they will be is not known, but that they will inform is.
    """
    votes = coming + coming.T
    precision = np.linalg.inv(current.covariance) + _precision(votes, current.mean)
    precision -= np.eye(len(votes)) / PRIOR**2  # counted once
    return Beliefs(current.mean, np.linalg.inv(precision))


def gains(current: Beliefs) -> np.ndarray:
    """Compute the information (K, K), in nats, that one more vote of each pair is expected to
    bring: H(E[p]) − E[H(p)], by Gauss–Hermite quadrature over the difference of the two strengths.
    """
    own = np.diag(current.covariance)
    variance = own[:, None] + own - 2 * current.covariance
    apart = np.subtract.outer(current.mean, current.mean)
    spread = np.sqrt(np.maximum(variance, 0))
    chance = expit(apart[..., None] + spread[..., None] * NODES)
    return _entropy(chance @ WEIGHTS) - _entropy(chance) @ WEIGHTS


def _precision(votes: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """Compute the inverse of the posterior covariance (K, K) after so many votes of each pair."""
    chance = expit(np.subtract.outer(mean, mean))
    weight = votes * chance * (1 - chance)
    return np.diag(weight.sum(axis=1)) - weight + np.eye(len(mean)) / PRIOR**2


def expit(logit: np.ndarray) -> np.ndarray:
    """Compute 1 / (1 + exp(−logit)). SciPy's takes longer to import than a server to start."""
    return (1 + np.tanh(logit / 2)) / 2


def _entropy(chance: np.ndarray) -> np.ndarray:
    sure = np.finfo(float).tiny  # 0 · log 0 is 0
    both = np.stack([chance, 1 - chance])
    return -(both * np.log(np.maximum(both, sure))).sum(axis=0)
