"""A whole test taken by made-up raters, so that a lab can rehearse its analysis before it pays."""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from earshot.study.design import ANCHORS, REFERENCE, Answer, Item, Test, Trial
from earshot.study.simulation.world import World, on_scale
from earshot.study.storage.answers import expected
from earshot.study.storage.raters import SIMULATED
from earshot.study.storage.store import Store

WORST, BEST = 2.4, 4.2  # mean opinion scores of the last and the first system
OTHERS: Final = {REFERENCE: 4.9, **dict(zip(ANCHORS, (1.6, 2.6), strict=True))}
CARELESS: Final = 0.1  # share of raters who answer without listening
OTHER: Final = 3.0  # score of a sound that is of no system
LEVEL: Final = 0.4  # difference of scores below which there is no preference
CARE, HASTE = 9000, 1500  # ms for an answer, at the median


@dataclass(frozen=True)
class Crowd:
    """What simulated raters think: thoughts (raters, stimuli, conditions) as opinion scores."""

    test: Test
    thoughts: np.ndarray
    careless: np.ndarray  # (raters,)

    def score(self, rater: int, stimulus: str, system: str) -> float:
        """Find what the rater thinks of what the system made of the stimulus."""
        stimuli = list(dict.fromkeys(trial.stimulus for trial in self.test.trials))
        at = (rater, stimuli.index(stimulus), self.test.conditions.index(system))
        return float(self.thoughts[at])


def crowd(test: Test, raters: int, rng: np.random.Generator) -> Crowd:
    """Make up raters who like the first system best and the last one least, with tastes of their
    own."""
    own = np.linspace(BEST, WORST, len(test.systems))
    quality = dict(zip(test.systems, own, strict=True)) | OTHERS
    stimuli = {trial.stimulus for trial in test.trials}
    means = np.array([quality[name] for name in test.conditions])
    thoughts = World().draw(rng, raters, len(stimuli), means)
    return Crowd(test, thoughts, rng.random(raters) < CARELESS)


def simulate(test: Test, store: Store, raters: int = 20, seed: int = 0) -> None:
    """Let so many take the whole test. Their hashes begin with "simulated-", which no real one
    does, in every table and export."""
    rng = np.random.default_rng(seed)
    everyone = crowd(test, raters, rng)
    free = replace(test, raters=None, closes=None)  # a rehearsal fills no places
    for number in range(raters):
        token = f"{SIMULATED}{seed}-{number:04}"
        careless = bool(everyone.careless[number])
        store.enrol(free, token)
        store.headphones(free, token, not careless or bool(rng.random() < 0.5))
        while True:
            store.draw(free, token)
            rater = store.resume(free, token)
            if rater is None or rater.next is None or rater.outcome:
                break
            item = rater.next
            answer = _random(test, item, rng) if careless else _answer(everyone, number, item, rng)
            sounds = len(item.shown) + (test.trials[item.trial].reference is not None)
            took = (HASTE if careless else CARE) * rng.lognormal(sigma=0.4)
            plays = [int(n) for n in 1 + rng.poisson(0.3, sounds)]
            store.answer(free, token, item.order, answer, plays, round(took))


def _random(test: Test, item: Item, rng: np.random.Generator) -> Answer:
    """Give any answer of the scale."""
    if test.design == "mushra":
        return [int(value) for value in rng.integers(0, 101, len(item.shown))]
    return test.scale[int(rng.integers(len(test.scale)))][0]


def _answer(everyone: Crowd, rater: int, item: Item, rng: np.random.Generator) -> Answer:
    """Answer as the rater does who listens."""
    test = everyone.test
    trial = test.trials[item.trial]
    if (known := expected(test, item)) is not None:
        return known
    # The sounds of a check in MUSHRA are called by their files, and none of the systems.
    scores = [
        everyone.score(rater, trial.stimulus, name) if name in test.conditions else OTHER
        for name in item.shown
    ]
    if test.design == "mushra":
        return [_slider(trial, name, score) for name, score in zip(item.shown, scores, strict=True)]
    if test.design == "ab":
        gap = scores[0] - scores[1]
        if abs(gap) < LEVEL and test.no_preference:
            return "same"
        return "a" if gap > 0 else "b"
    if test.design == "abx":
        hears = rng.random() < 1 - np.exp(-abs(scores[0] - scores[1]))
        first = item.shown[0] == item.shown[2] if hears else rng.random() < 0.5
        return "a" if first else "b"
    if test.design == "ccr":
        return int(np.clip(round(scores[1] - scores[0]), -3, 3))
    value = int(on_scale(np.array(scores[0])))
    return int(np.clip(5 - value, 1, 4)) if test.design == "similarity" else value


def _slider(trial: Trial, name: str, score: float) -> int:
    """Give a MUSHRA score; the answer that a check expects, where it is one."""
    if trial.expected is not None and name == next(iter(trial.sounds)):
        return round(trial.expected)
    if name == REFERENCE:
        return int(np.clip(round(25 * (score - 1)), 90, 100))
    return int(np.clip(round(25 * (score - 1)), 0, 100))
