"""A whole test taken by made-up raters, so that a lab can rehearse its analysis before it pays."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from earshot.study.design import ANCHORS, REFERENCE, Item, Scale, Test
from earshot.study.design.designs import One
from earshot.study.simulation.world import World
from earshot.study.storage.answers import expected
from earshot.study.storage.database import MEMORY
from earshot.study.storage.raters import SIMULATED
from earshot.study.storage.store import Store

if TYPE_CHECKING:
    from earshot.study.analysis import Results

WORST, BEST = 2.4, 4.2  # mean opinion scores of the last and the first system
OTHERS: Final = {REFERENCE: 4.9, **dict(zip(ANCHORS, (1.6, 2.6), strict=True))}
CARELESS: Final = 0.1  # share of raters who answer without listening
OTHER: Final = 3.0  # score of a sound that is of no system
TASTES: Final = 0.4  # SD of an opinion score from one of several scales to the next
BEST_HEARD: Final = 5.0  # opinion score of a sound of which every word is understood
CARE, HASTE = 9000, 1500  # ms for an answer, at the median


RATERS: Final = 20  # where the test wants any number
MIN_RATERS, MAX_RATERS = 6, 60  # of a rehearsal that somebody waits for
MAX_ANSWERS: Final = 1200  # of it, a few seconds


@dataclass(frozen=True)
class Crowd:
    """The opinions of simulated raters: thoughts (raters, stimuli, conditions) as opinion
    scores.
    """

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
    store.open(free)
    for number in range(raters):
        token = f"{SIMULATED}{seed}-{number:04}"
        careless = bool(everyone.careless[number])
        store.enrol(free, token)
        store.headphones(free, token, not careless or bool(rng.random() < 0.5))
        if free.environment:
            store.environment(free, token, not careless or bool(rng.random() < 0.5))
        while True:
            store.draw(free, token)
            rater = store.resume(free, token)
            if rater is None or rater.next is None or rater.outcome:
                break
            item = rater.next
            one = _random if careless else _answer
            found = {each.name: one(everyone, number, item, each, rng) for each in test.rated}
            answer = found if test.by_name else found[test.rated[0].name]
            sounds = len(item.shown) + (test.trials[item.trial].reference is not None)
            took = (HASTE if careless else CARE) * rng.lognormal(sigma=0.4)
            plays = [int(n) for n in 1 + rng.poisson(0.3, sounds)]
            store.answer(free, token, item.order, answer, plays, round(took))


def rehearse(test: Test, seed: int = 0) -> Results:
    """Let as many as are wanted, but no more than somebody would wait for, take the test where
    nothing is kept, and analyse what they say."""
    from earshot.study.analysis import analyse  # late, for it loads statsmodels

    asked = test.asked + len(test.of_kind("practice"))
    patience = min(max(MAX_ANSWERS // asked, MIN_RATERS), MAX_RATERS)
    store = Store(MEMORY)
    simulate(test, store, min(test.raters or RATERS, patience), seed)
    return analyse(test, store.ratings(test), conduct=store.conduct(test))


def _random(everyone: Crowd, rater: int, item: Item, scale: Scale, rng: np.random.Generator) -> One:
    """Give any answer of the scale, or write that nothing was understood."""
    if scale.typed:
        return "?"
    return everyone.test.design.random(scale.answers, len(item.shown), rng)


def _answer(everyone: Crowd, rater: int, item: Item, scale: Scale, rng: np.random.Generator) -> One:
    """Answer as the rater does who listens."""
    test = everyone.test
    trial = test.trials[item.trial]
    known = expected(test, item)
    if scale.name == test.checked.name and known is not None:
        return known
    # The sounds of a check are called by their files, and none of the systems.
    scores = [
        everyone.score(rater, trial.stimulus, name) if name in test.conditions else OTHER
        for name in item.shown
    ]
    if scale.typed:
        lost = np.clip((BEST_HEARD - scores[0]) / 8, 0.02, 0.8)
        words = test.sentences.get(trial.stimulus, "").split()
        return " ".join(word for word in words if rng.random() > lost) or "?"
    if test.scales:  # what one thinks of a sound differs from scale to scale
        scores = [score + rng.normal(scale=TASTES) for score in scores]
    answer = test.design.guess(scores, item.shown, scale.answers, rng)
    if trial.expected is not None and isinstance(answer, list):
        answer[item.shown.index(next(iter(trial.sounds)))] = round(trial.expected)
    return answer
