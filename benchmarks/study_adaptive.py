"""Adaptive pairs, for benchmarks.study: how many votes they save, and whether intervals hold."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit
from scipy.stats import kendalltau

from earshot.study.analysis.paired_comparisons import bradley_terry, can_be_scaled
from earshot.study.assignment import NODES, WEIGHTS, Event, beliefs, choose
from earshot.study.design import Test
from earshot.study.design.designs import AB
from earshot.study.design.model import make_trials, number_trials
from earshot.study.simulation import World

SYSTEMS, STIMULI, RATERS = 16, 10, 40
N_VOTES = 15  # votes of a rater
SPREAD = 1.5  # standard deviation of the strengths, in logit
AT_ONCE = 8  # raters, who all have a trial while another is chosen
LOOK = 30  # votes from one look at the order to the next
TESTS = 40
WITHOUT_END = 1e6  # votes of a pair
WORLD = World(raters=0, stimuli=0, tastes=0.3, fits=0.3, noise=0)


def made_up(pairing: str) -> Test:
    """Make an AB test of so many systems, without any file."""
    names = [f"system-{k:02}" for k in range(SYSTEMS)]
    sounds = {name: Path(name) for name in names}
    trials = [
        trial for k in range(STIMULI) for trial in make_trials(AB, Path(), f"s{k}", sounds, None)
    ]
    words = tuple(word for _, word in AB.scale.answers)
    return Test(
        name="made-up",
        title="",
        design=AB,
        systems=tuple(names),
        trials=number_trials(trials),
        trials_per_rater=N_VOTES,
        folder=Path(),
        question=AB.scale.question,
        words=words,
        pairing="adaptive" if pairing == "adaptive" else "balanced",
    )


def votes_of(pairing: str, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Collect the votes of one test in their order, and the strengths (K,) that they came from."""
    rng = np.random.default_rng(seed)
    strengths = SPREAD * rng.normal(size=SYSTEMS)
    thoughts = WORLD.draw(rng, RATERS, STIMULI, strengths)
    test, log = made_up(pairing), []
    trials = test.of_kind("trial")
    order = rng.permutation(len(trials)) if pairing == "balanced" else []
    waiting: list[Event] = []
    rows = []
    events = 0

    def vote(event: Event) -> None:
        nonlocal events
        trial = trials[event.trial]
        one, other = (test.systems.index(name) for name in trial.sounds)
        of_rater = thoughts[int(event.rater), int(trial.stimulus[1:])]
        first = float(rng.random() < expit(of_rater[one] - of_rater[other]))
        log.remove(event)
        log.append(
            Event(event.rater, event.place, event.trial, event.knew, event.drawn, events, first)
        )
        events += 1
        names = test.systems[one], test.systems[other]
        rows.append([event.rater, trial.stimulus, *names, first])

    for number in range(RATERS * N_VOTES):
        # Raters come in groups, each of whom judges a trial while those of the others are chosen.
        group, within = divmod(number, AT_ONCE * N_VOTES)
        place, seat = divmod(within, AT_ONCE)
        rater = str(group * AT_ONCE + seat)
        if pairing == "adaptive":
            trial = choose(test, log, rater, place, events).id
        else:
            trial = int(order[number % len(order)])
        event = Event(rater, place, trial, events, events)
        events += 1
        log.append(event)
        waiting.append(event)
        if len(waiting) == AT_ONCE:
            vote(waiting.pop(int(rng.integers(AT_ONCE))))
    for event in waiting:
        vote(event)
    columns = ["rater", "stimulus", "system", "other", "answer"]
    return pd.DataFrame(rows, columns=columns), strengths


def taus(votes: pd.DataFrame, strengths: np.ndarray) -> list[float]:
    """Find Kendall's τ with the true order after every LOOK votes, by the same posterior mean."""
    won, correlations = np.zeros((SYSTEMS, SYSTEMS)), []
    sides = zip(votes["system"], votes["other"], votes["answer"], strict=True)
    for number, (system, against, answer) in enumerate(sides, 1):
        one, other = (int(str(name)[-2:]) for name in (system, against))
        won[one, other] += answer
        won[other, one] += 1 - answer
        if number % LOOK == 0:
            rank: Any = kendalltau(beliefs(won).mean, strengths)
            correlations.append(rank.statistic)
    return correlations


def held(votes: pd.DataFrame, strengths: np.ndarray) -> np.ndarray:
    """Say whether the 95 % interval of each system's strength (K,) holds the true one; NaN where
    there is no scale."""
    names = [f"system-{k:02}" for k in range(SYSTEMS)]
    if not can_be_scaled(votes):
        return np.full(SYSTEMS, np.nan)
    table = bradley_terry(votes, names)
    truth = marginal(strengths)
    return ((table["low"] <= truth) & (truth <= table["high"])).to_numpy(float)


def marginal(strengths: np.ndarray) -> np.ndarray:
    """Find the strengths (K,) of all raters and stimuli together, which are nearer to each other
    than those of one, as the model has them when every pair is asked without end."""
    spread = np.sqrt(2 * (WORLD.tastes**2 + WORLD.fits**2))
    apart = np.subtract.outer(strengths, strengths)[..., None] + spread * NODES
    won = WITHOUT_END * (expit(apart) @ WEIGHTS)
    np.fill_diagonal(won, 0)
    posterior = beliefs(won).mean
    return posterior - posterior.mean()


def adaptive() -> Iterator[str]:
    """Write the section of study.md."""
    curves, coverage = {}, {}
    for pairing in ("balanced", "adaptive"):
        tests = [votes_of(pairing, seed) for seed in range(TESTS)]
        curves[pairing] = np.mean([taus(*each) for each in tests], axis=0)
        coverage[pairing] = np.nanmean([held(*each) for each in tests])
    looks = LOOK * np.arange(1, RATERS * N_VOTES // LOOK + 1)
    yield (
        f"## Adaptive pairs: {SYSTEMS} systems ({SYSTEMS * (SYSTEMS - 1) // 2} pairs), {STIMULI} "
        f"stimuli, {RATERS} raters with {N_VOTES} votes"
    )
    yield ""
    yield "| votes | Kendall's τ, balanced | adaptive | adaptive votes for the same τ |"
    yield "|---:|---:|---:|---:|"
    for number in (120, 240, 360, 480, 600):
        at = number // LOOK - 1
        even, chosen = curves["balanced"][at], curves["adaptive"][at]
        enough = np.interp(even, np.maximum.accumulate(curves["adaptive"]), looks)
        yield f"| {number} | {even:.3f} | {chosen:.3f} | {enough:.0f} |"
    yield ""
    yield (
        f"Means of {TESTS} tests; strengths are normal with a standard deviation of {SPREAD} "
        f"(logit), raters and stimuli have tastes, and {AT_ONCE} raters are at it at once. 95 % "
        f"intervals of the strengths hold the true ones in {coverage['adaptive']:.1%} of cases "
        f"(balanced: {coverage['balanced']:.1%})."
    )
