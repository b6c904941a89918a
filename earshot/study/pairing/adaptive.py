"""The next pair of a rater in an adaptive AB test: the one that is expected to tell most.

What a choice knew is in the log (see Event), and chance is drawn from the test's seed and the
rater's hash, so that every choice can be made again from the export.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from earshot.study.design import Test, Trial
from earshot.study.pairing.information import beliefs, expecting, gains

AHEAD: Final = 2  # trials of a rater that are chosen, one of them while they judge the other
NEARLY: Final = 0.99  # of the most information counts as the most


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


def choose(test: Test, log: Iterable[Event], rater: str, place: int, knew: int) -> Trial:
    """Choose the trial for that place, from what had happened before event number knew.

    The pair is the one whose next vote tells most, those that others are judging being counted as
    votes to come. Its stimulus is one that the rater and others have had least.
    """
    past = [event for event in log if event.drawn < knew]
    asked = np.array([event.trial for event in past], dtype=np.int64)
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
    known = beliefs(won)
    gain = gains(expecting(known, coming))[ends[:, 0], ends[:, 1]]

    rng = np.random.default_rng([test.seed, *_digest(rater), place])
    best = np.flatnonzero(free & (gain >= NEARLY * gain[free].max()))
    alike = np.flatnonzero(free & (ends == ends[rng.choice(best)]).all(axis=1))
    heard = np.bincount(stimulus[own], minlength=stimulus.max() + 1)[stimulus[alike]]
    had = np.bincount(asked, minlength=len(trials))[alike]
    return trials[alike[np.lexsort((rng.random(len(alike)), had, heard))[0]]]


def _indices(trials: Sequence[Trial], names: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Find, for each trial (N), both systems (N, 2) by their place in names, and the stimulus
    (N,).
    """
    place = {name: k for k, name in enumerate(names)}
    number = {name: k for k, name in enumerate({trial.stimulus: None for trial in trials})}
    ends = np.array([[place[name] for name in trial.sounds] for trial in trials])
    return ends, np.array([number[trial.stimulus] for trial in trials])


def side(test: Test, rater: str, nth: int) -> int:
    """Choose 0 or 1 for the rater's nth scored trial: who is on the left, half of the time each."""
    rng = np.random.default_rng([test.seed, *_digest(rater)])
    return int((rng.permutation(test.trials_per_rater) % 2)[nth])


def _digest(rater: str) -> bytes:
    return hashlib.sha256(rater.encode()).digest()[:8]
