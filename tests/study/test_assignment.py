"""Assignment of trials: balance of systems, sides and orders while raters come and go."""

from collections import Counter

import numpy as np
import pytest

from earshot.study.assignment import assign, balanced
from earshot.study.design import DESIGNS, Item, Test
from tests.support.studies import make_test

SIZES = [(2, 3, 2), (3, 4, 5), (4, 10, 8), (5, 6, 29), (6, 12, 20)]  # systems, stimuli, trials


class Crowd:
    """Raters of a test, who come, leave, or stop in the middle."""

    def __init__(self, test: Test) -> None:
        self.test, self.came = test, 0
        self.here: list[list[int]] = []
        self.left_behind: list[int] = []  # answers of those who stopped
        self.scored = {trial.id for trial in test.of_kind("trial")}

    def counts(self) -> Counter[int]:
        return Counter([trial for each in (*self.here, self.left_behind) for trial in each])

    def spread(self) -> int:
        counts = self.counts()
        return max(counts[trial] for trial in self.scored) - min(
            counts[trial] for trial in self.scored
        )

    def come(self) -> list[Item]:
        items = assign(self.test, self.counts(), self.came)
        self.came += 1
        self.here.append([item.trial for item in items if item.trial in self.scored])
        return items

    def go(self, rng: np.random.Generator) -> list[int]:
        return self.here.pop(int(rng.integers(len(self.here))))


@pytest.mark.parametrize(("systems", "stimuli", "trials"), SIZES)
def test_assign_balances_ratings_of_trials(systems: int, stimuli: int, trials: int) -> None:
    """No trial has more than one rating more than another."""
    crowd = Crowd(make_test("acr", systems, stimuli, trials))
    for _ in range(40):
        crowd.come()
        assert crowd.spread() <= 1


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("systems", "stimuli", "trials"), SIZES)
def test_assign_after_withdrawals_restores_the_balance(
    systems: int, stimuli: int, trials: int, seed: int
) -> None:
    crowd, rng = Crowd(make_test("acr", systems, stimuli, trials)), np.random.default_rng(seed)
    missing = 0
    for _ in range(120):
        if crowd.here and rng.random() < 0.45:
            crowd.go(rng)
            missing += 1
        else:
            crowd.come()
            missing = max(0, missing - 1)
        assert crowd.spread() <= 1 + missing
        assert missing or crowd.spread() <= 1


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("systems", "stimuli", "trials"), SIZES[1:3] + SIZES[4:])
def test_assign_counts_answers_left_behind(
    systems: int, stimuli: int, trials: int, seed: int
) -> None:
    """Raters who stopped have answered some of their trials."""
    crowd, rng = Crowd(make_test("acr", systems, stimuli, trials)), np.random.default_rng(seed)
    stopped = 0
    for _ in range(80):
        if crowd.here and rng.random() < 0.3:
            answered = crowd.go(rng)
            crowd.left_behind += answered[: int(rng.integers(len(answered)))]
            stopped += 1
        else:
            crowd.come()
    for _ in range(stopped):
        crowd.come()
    assert crowd.spread() <= 1


@pytest.mark.parametrize("design", DESIGNS)
def test_assign_gives_each_trial_once(design: str) -> None:
    """The order comes out again from the seed and the number of the rater."""
    test = make_test(design, systems=3, stimuli=6, trials=6, seed=4)
    items = assign(test, {}, 7)
    assert items == assign(test, {}, 7) != assign(test, {}, 8)
    assert items != assign(make_test(design, systems=3, stimuli=6, trials=6, seed=5), {}, 7)
    kinds = [test.trials[item.trial].kind for item in items]
    assert Counter(kinds) == {"practice": 1, "attention": 1, "gold": 1, "trial": 6}
    assert kinds[0] == "practice" and len({item.trial for item in items}) == len(items)
    assert [item.order for item in items] == list(range(len(items)))
    for item in items:
        sounds = set(test.trials[item.trial].sounds)
        assert set(item.systems) == sounds
        assert len(item.systems) == len(sounds) + (design == "abx")


def test_assign_balances_trials_of_rater() -> None:
    """A rater hears each stimulus once, and no system in more than half of the trials."""
    crowd = Crowd(make_test("acr", systems=4, stimuli=8, trials=8))
    for _ in range(8):
        trials = [crowd.test.trials[item.trial] for item in crowd.come()]
        scored = [trial for trial in trials if trial.kind == "trial"]
        assert len({trial.stimulus for trial in scored}) == 8
        systems = Counter(next(iter(trial.sounds)) for trial in scored)
        assert max(systems.values()) <= 4


def test_assign_balances_sides_and_varies_order() -> None:
    test = make_test("abx", systems=2, stimuli=16)
    orders = set()
    for number in range(40):
        items = assign(test, {}, number)
        scored = [item for item in items if test.trials[item.trial].kind == "trial"]
        sides = Counter(item.systems[0] for item in scored)
        assert sides["y0"] == sides["y1"] == 8
        x = Counter((item.systems[0], item.systems[2]) for item in scored)
        assert len(x) == 4 and set(x.values()) == {4}
        orders.add(tuple(item.trial for item in items))
    assert len(orders) == 40


def test_assign_spreads_conditions_over_positions() -> None:
    test = make_test("mushra", systems=2, stimuli=10)
    places = Counter(
        (system, position)
        for number in range(20)
        for item in assign(test, {}, number)
        for position, system in enumerate(item.systems)
    )
    mean = 20 * 13 / 5
    assert len(places) == 25 and all(0.5 * mean < n < 1.5 * mean for n in places.values())


@pytest.mark.parametrize("size", range(2, 8))
def test_order_of_blocks_is_balanced(size: int) -> None:
    """Over the raters each block has each place, and follows each other one, equally often."""
    rows = [balanced(size, number) for number in range(2 * size)]
    assert all(sorted(row) == [*range(size)] for row in rows)
    places = Counter(each for row in rows for each in enumerate(row))
    followers = Counter(each for row in rows for each in zip(row, row[1:], strict=False))
    assert {*places.values()} == {2} and len(followers) == size * (size - 1)
    assert {*followers.values()} == {2}


@pytest.mark.parametrize("design", ["acr", "ab"])
def test_blocks_keep_their_trials_together(design: str) -> None:
    test = make_test(design, 3, 4, blocks="systems")
    crowd, first = Crowd(test), Counter[frozenset[str]]()
    for _ in range(6):
        scored = [test.trials[item.trial] for item in crowd.come()]
        blocks = [frozenset(trial.sounds) for trial in scored if trial.kind == "trial"]
        changes = sum(one != other for one, other in zip(blocks, blocks[1:], strict=False))
        assert changes == len({*blocks}) - 1 == 2
        assert scored[0].kind == "practice" and len(scored) == 15
        first[blocks[0]] += 1
        assert crowd.spread() <= 1
    assert {*first.values()} == {2}
