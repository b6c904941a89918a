"""Pairs that are chosen by what the votes so far leave unknown, and chosen again from the log."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit

from earshot.core.errors import InputError
from earshot.study.analysis import analyse
from earshot.study.analysis.report.method import method
from earshot.study.analysis.report.page import page
from earshot.study.analysis.report.pdf import document
from earshot.study.assignment import PRIOR, TRIALS_AHEAD, Event, beliefs, choose, expecting, gains
from earshot.study.design import Test
from earshot.study.design.model import UNDRAWN
from earshot.study.simulation import simulate
from earshot.study.storage.export import lines
from earshot.study.storage.store import Rater, StaleAnswerError, Store
from tests.support.replay import differing, events
from tests.support.studies import any_answer, enrol, make_test

SYSTEMS = 6


@pytest.fixture
def test() -> Test:
    return make_test("ab", SYSTEMS, stimuli=5, trials=8, pairing="adaptive", seed=3)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(f"sqlite:///{tmp_path / 'answers.db'}")


def drawn(store: Store, test: Test, token: str) -> Rater:
    store.draw(test, token)
    rater = store.resume(test, token)
    assert rater
    return rater


def test_choice_is_close_rather_than_known(test: Test) -> None:
    """A pair is not asked about where its answer is known."""
    # y0 has won against all others, twenty times each; nothing is known of those among themselves.
    log = [
        Event(f"r{k}", 0, trial.id, 0, 2 * (20 * trial.id + k), 2 * (20 * trial.id + k) + 1, 1.0)
        for trial in test.of_kind("trial")
        if "y0" in trial.sounds and trial.stimulus == "s0"
        for k in range(20)
    ]
    for place in range(20):
        trial = choose(test, log, "somebody", place, 10**6)
        assert "y0" not in trial.sounds


def test_choice_counts_what_others_are_judging(test: Test) -> None:
    """Raters who come at once, before any vote, are not all asked the same."""
    log: list[Event] = []
    for rater in range(15):
        trial = choose(test, log, f"r{rater}", 0, rater)
        log.append(Event(f"r{rater}", 0, trial.id, rater, rater))
    pairs = Counter(tuple(test.trials[event.trial].sounds) for event in log)
    assert len(pairs) >= 12


def test_rater_never_gets_a_trial_twice(store: Store, test: Test) -> None:
    everything = replace(test, trials_per_rater=len(test.of_kind("trial")))
    simulate(everything, store, raters=1)
    table = store.ratings(everything)
    scored = table[table["kind"] == "trial"]
    assert sorted(scored["trial"]) == [trial.id for trial in everything.of_kind("trial")]


def test_only_the_next_trials_are_chosen(store: Store, test: Test) -> None:
    token = enrol(store, test).token
    rater = drawn(store, test, token)
    scored = [item for item in rater.items if item.trial == UNDRAWN]
    assert len(scored) >= test.trials_per_rater - TRIALS_AHEAD
    with pytest.raises(InputError, match="no such trial"):
        store.answer(test, token, scored[-1].order, "a", [1, 1], 900)
    while item := (rater := drawn(store, test, token)).next:
        store.answer(test, token, item.order, *any_answer(test, item), 900)
    assert rater.finished and rater.code
    sides = Counter(item.systems[0] for item in rater.items)
    assert sum(sides.values()) == len(rater.items)


def test_exported_log_reproduces_every_choice(store: Store, test: Test) -> None:
    simulate(test, store, raters=6, seed=1)
    log = events(test, lines(test, store))
    assert len(log) == 6 * 8 and differing(test, log) == []
    changed = [replace(event, first=1.0) for event in log]
    assert differing(test, changed) != []


def test_vote_behind_choices_stays(store: Store, test: Test) -> None:
    """A vote by which others' trials were chosen cannot be changed."""
    token = enrol(store, test).token
    while (item := drawn(store, test, token).next) and test.trials[item.trial].kind != "trial":
        store.answer(test, token, item.order, "a", [1, 1], 900)
    assert item
    store.answer(test, token, item.order, "a", [1, 1], 900)
    with pytest.raises(StaleAnswerError):
        store.answer(test, token, item.order, "b", [1, 1], 900, version=1)
    (log,) = [event for event in events(test, lines(test, store)) if event.voted is not None]
    assert log.first == float(item.systems[0] == next(iter(test.trials[item.trial].sounds)))


def test_catch_trials_tell_the_choices_nothing(store: Store, test: Test) -> None:
    simulate(test, store, raters=2)
    log = events(test, lines(test, store))
    assert {test.trials[event.trial].kind for event in log} == {"trial"}


def test_report_estimates_pairs_by_model(store: Store, test: Test) -> None:
    """The model of all votes tells of pairs that were never asked about too."""
    simulate(test, store, raters=10, seed=2)
    results = analyse(test, store.ratings(test))
    assert list(results.included.systems["system"])[0] in ("y0", "y1")
    pairs = results.included.pairs
    assert len(pairs) == SYSTEMS * (SYSTEMS - 1) // 2, "those never asked too"
    assert pairs["p_binomial"].isna().all() and pairs["value"].between(0, 1).all()
    assert (pairs["low"] <= pairs["value"]).all() and (pairs["value"] <= pairs["high"]).all()
    assert "expected information" in " ".join(method(results))


def test_report_of_few_votes_is_drawn(store: Store, test: Test) -> None:
    """Some pairs were never asked about."""
    simulate(test, store, raters=3, seed=2)
    results = analyse(test, store.ratings(test))
    assert (results.included.pairs["ratings"] == 0).any()
    assert page(results).count("<svg") == 2 and document(results).startswith(b"%PDF")


def votes(*won: tuple[int, int, float], systems: int = 4) -> np.ndarray:
    table = np.zeros((systems, systems))
    for one, other, times in won:
        table[one, other] += times
    return table


def test_beliefs_without_votes_are_the_prior() -> None:
    belief = beliefs(votes())
    assert np.allclose(belief.mean, 0) and np.allclose(belief.covariance, PRIOR**2 * np.eye(4))


def test_beliefs_after_many_votes_maximise_likelihood() -> None:
    strengths = np.array([1.0, 0.5, -0.25, -1.25])
    won = 1e5 * expit(np.subtract.outer(strengths, strengths))
    np.fill_diagonal(won, 0)
    belief = beliefs(won)
    assert np.allclose(belief.mean - belief.mean.mean(), strengths, atol=1e-3)
    # Of two systems, n votes at even chances leave a variance of 4 / n for their difference.
    even = beliefs(votes((0, 1, 5000), (1, 0, 5000), systems=2)).covariance
    assert even[0, 0] + even[1, 1] - 2 * even[0, 1] == pytest.approx(4 / 10_000, rel=1e-2)


def test_beliefs_after_unanimous_votes_stay_finite() -> None:
    belief = beliefs(votes((0, 1, 1000)))
    assert np.isfinite(belief.mean).all() and belief.mean[0] > 1 > -1 > belief.mean[1]


def test_gain_is_mutual_information() -> None:
    """It is that of a vote and the strengths."""
    belief = beliefs(votes((0, 1, 3), (1, 2, 2), (2, 0, 1)))
    rng = np.random.default_rng(0)
    drawn = rng.multivariate_normal(belief.mean, belief.covariance, 200_000)
    chance = expit(drawn[:, 0] - drawn[:, 3])

    def entropy(p: np.ndarray) -> np.ndarray:
        return -p * np.log(p) - (1 - p) * np.log(1 - p)

    expected = entropy(chance.mean()) - entropy(chance).mean()
    assert gains(belief)[0, 3] == pytest.approx(expected, rel=0.02)
    assert np.allclose(gains(belief), gains(belief).T) and np.allclose(np.diag(gains(belief)), 0)


def test_gain_is_least_of_known_answers() -> None:
    certain = gains(beliefs(votes((0, 1, 40), (2, 3, 3), (3, 2, 3))))
    assert certain[0, 1] < certain[2, 3] < certain[0, 2]


def test_votes_to_come_take_from_gain() -> None:
    """They leave the mean as it is."""
    belief = beliefs(votes((0, 1, 2), (1, 0, 1)))
    soon = expecting(belief, votes((2, 3, 4)))
    assert np.array_equal(soon.mean, belief.mean)
    assert gains(soon)[2, 3] < gains(belief)[2, 3]
    assert np.allclose(expecting(belief, votes()).covariance, belief.covariance)
