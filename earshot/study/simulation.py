"""Simulated raters: to rehearse a whole test with before a lab pays, and to try our statistics on
ratings whose truth is known.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np
from scipy.stats import norm

from earshot.study.design import ANCHORS, REFERENCE, Item, Scale, Test
from earshot.study.design.designs import EVEN, FAULTS, FIRST, SECOND, One
from earshot.study.storage.answers import expected
from earshot.study.storage.database import MEMORY
from earshot.study.storage.raters import SIMULATED
from earshot.study.storage.store import Store

if TYPE_CHECKING:
    from earshot.study.analysis import Results

MIDDLE: Final = 3.4  # of the scale of 1 to 5
WORST, BEST = 2.4, 4.2  # mean opinion scores of the last and the first system
OTHERS: Final = {REFERENCE: 4.9, **dict(zip(ANCHORS, (1.6, 2.6), strict=True))}
CARELESS_SHARE: Final = 0.1  # share of raters who answer without listening
OTHER: Final = 3.0  # score of a sound that is of no system
FAULT_SHARE: Final = 0.2  # share of the faults that simulated raters tick
TASTE_SPREAD: Final = 0.4  # SD of an opinion score from one of several scales to the next
BEST_INTELLIGIBLE: Final = 5.0  # opinion score of a sound of which every word is understood
CARE, HASTE = 9000, 1500  # ms for an answer, at the median
RATERS: Final = 20  # where the test wants any number
MIN_RATERS, MAX_RATERS = 6, 60  # of a rehearsal that a visitor waits for
MAX_ANSWERS: Final = 1200  # of it, a few seconds


@dataclass(frozen=True)
class World:
    """The standard deviations on a scale of 1 to 5: how raters differ, and stimuli, how they differ
    about one system, and what remains.
    """

    raters: float = 0.5
    stimuli: float = 0.3
    tastes: float = 0.25
    fits: float = 0.3
    noise: float = 0.7

    def draw(
        self,
        rng: np.random.Generator,
        raters: int,
        stimuli: int,
        quality: np.ndarray,
    ) -> np.ndarray:
        """Return a draw of what raters think (R, S, K) of systems of this quality (K,), not yet on
        a scale."""
        systems = len(quality)
        return (
            quality
            + self.raters * rng.normal(size=(raters, 1, 1))
            + self.stimuli * rng.normal(size=(stimuli, 1))
            + self.tastes * rng.normal(size=(raters, 1, systems))
            + self.fits * rng.normal(size=(stimuli, systems))
            + self.noise * rng.normal(size=(raters, stimuli, systems))
        )

    @property
    def mos(self) -> float:
        """Return the mean opinion score of a system of quality MIDDLE, over all raters and
        stimuli."""
        parts = (self.raters, self.stimuli, self.tastes, self.fits, self.noise)
        edges = np.arange(1.5, 5)
        return 1 + float(norm.sf((edges - MIDDLE) / np.linalg.norm(parts)).sum())


def on_scale(thoughts: np.ndarray) -> np.ndarray:
    """Return thoughts as whole numbers from 1 to 5."""
    return np.clip(np.round(thoughts), 1, 5)


def votes(thoughts: np.ndarray, indifference: float) -> np.ndarray:
    """Return votes: 1 where the first of two (..., 2) is better, 0 where the second is, 0.5 where
    it is close."""
    gap = thoughts[..., 0] - thoughts[..., 1]
    return np.where(np.abs(gap) < indifference, 0.5, (gap > 0).astype(float))


@dataclass(frozen=True)
class Crowd:
    """The opinions of simulated raters: thoughts (raters, stimuli, conditions) as opinion
    scores.
    """

    test: Test
    thoughts: np.ndarray
    careless: np.ndarray  # (raters,)

    def score(self, rater: int, stimulus: str, system: str) -> float:
        """Return what the rater thinks of what the system made of the stimulus."""
        stimuli = list(dict.fromkeys(trial.stimulus for trial in self.test.trials))
        at = (rater, stimuli.index(stimulus), self.test.conditions.index(system))
        return float(self.thoughts[at])


def crowd(test: Test, raters: int, rng: np.random.Generator) -> Crowd:
    """Return simulated raters who like the first system best and the last one least, with tastes of
    their own."""
    own = np.linspace(BEST, WORST, len(test.systems))
    quality = dict(zip(test.systems, own, strict=True)) | OTHERS
    stimuli = {trial.stimulus for trial in test.trials}
    means = np.array([quality[name] for name in test.conditions])
    thoughts = World().draw(rng, raters, len(stimuli), means)
    return Crowd(test, thoughts, rng.random(raters) < CARELESS_SHARE)


def simulate(test: Test, store: Store, raters: int = 20, seed: int = 0) -> None:
    """Let so many raters take the whole test. Their hashes begin with "simulated-", which no real
    one does, in every table and export."""
    rng = np.random.default_rng(seed)
    everyone = crowd(test, raters, rng)
    free = replace(test, raters=None, closes=None)  # a rehearsal fills no places
    store.open(free)
    for number in range(raters):
        token = f"{SIMULATED}{seed}-{number:04}"
        careless = bool(everyone.careless[number])
        store.enrol(free, token)
        store.screen(free, token, "headphones", not careless or bool(rng.random() < 0.5))
        if free.environment:
            store.screen(free, token, "environment", not careless or bool(rng.random() < 0.5))
        while True:
            store.draw(free, token)
            rater = store.resume(free, token)
            if rater is None or rater.next is None or rater.outcome:
                break
            item = rater.next
            one = _random if careless else _answer
            answers = {each.name: one(everyone, number, item, each, rng) for each in test.rated}
            if test.faults:  # at random, of every system alike
                ticks = rng.random((len(item.systems), len(test.faults))) < FAULT_SHARE
                answers[FAULTS] = [int(each @ 2 ** np.arange(len(each))) for each in ticks]
            answer = answers if test.by_name else answers[test.rated[0].name]
            sounds = len(item.systems) + (test.trials[item.trial].reference is not None)
            took = (HASTE if careless else CARE) * rng.lognormal(sigma=0.4)
            plays = [int(n) for n in 1 + rng.poisson(0.3, sounds)]
            store.answer(free, token, item.order, answer, plays, round(took))


def rehearse(test: Test, seed: int = 0) -> Results:
    """Let as many as the test wants, but no more than a visitor would wait for, take it where
    nothing is stored → the analysis of their answers."""
    from earshot.study.analysis import analyse  # late, for it loads statsmodels

    trials = test.trial_count + len(test.of_kind("practice"))
    patience = min(max(MAX_ANSWERS // trials, MIN_RATERS), MAX_RATERS)
    store = Store(MEMORY)
    simulate(test, store, min(test.raters or RATERS, patience), seed)
    return analyse(test, store.ratings(test), conduct=store.conduct(test))


def _on_staircase(everyone: Crowd, rater: int, item: Item, rng: np.random.Generator) -> One:
    """Return the answer of a rater to whom the middle level is the hardest that they often tell
    from the reference, give or take their own ears."""
    test = everyone.test
    assert test.staircase
    levels = [*test.staircase.levels]
    own = everyone.score(rater, test.trials[item.trial].stimulus, levels[0]) - BEST
    ahead = len(levels) / 2 - levels.index(next(iter(test.trials[item.trial].sounds))) + own
    right = test.design.sent(1.0, item.systems, "")
    wrong = FIRST if right == SECOND else SECOND
    return right if rng.random() < EVEN + EVEN / (1 + np.exp(-ahead)) else wrong


def _random(everyone: Crowd, rater: int, item: Item, scale: Scale, rng: np.random.Generator) -> One:
    """Return any answer of the scale, or write that nothing was understood."""
    if scale.typed:
        return "?"
    return everyone.test.design.random(scale.answers, len(item.systems), rng)


def _answer(everyone: Crowd, rater: int, item: Item, scale: Scale, rng: np.random.Generator) -> One:
    """Return the answer of a rater who listens."""
    test = everyone.test
    trial = test.trials[item.trial]
    right = expected(test, item)
    if scale.name == test.checked.name and right is not None:
        return right
    # The sounds of a check are called by their files, and none of the systems.
    scores = [
        everyone.score(rater, trial.stimulus, name) if name in test.conditions else OTHER
        for name in item.systems
    ]
    if test.staircase:
        return _on_staircase(everyone, rater, item, rng)
    if scale.typed:
        lost = np.clip((BEST_INTELLIGIBLE - scores[0]) / 8, 0.02, 0.8)
        words = test.sentences.get(trial.stimulus, "").split()
        return " ".join(word for word in words if rng.random() > lost) or "?"
    if test.scales:  # what one thinks of a sound differs from scale to scale
        scores = [score + rng.normal(scale=TASTE_SPREAD) for score in scores]
    answer = test.design.guess(scores, item.systems, scale.answers, rng)
    if trial.expected is not None and isinstance(answer, list):
        at = item.systems.index(next(iter(trial.sounds)))
        return test.design.with_expected(answer, at, trial.expected)
    return answer
