"""How many raters a test takes, and when it takes none, in SQLite and in PostgreSQL; and what
became of everybody who came.
"""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from earshot.core.errors import InputError
from earshot.study.design import Test
from earshot.study.design.raters import Panel
from earshot.study.design.spec import load
from earshot.study.storage import tables
from earshot.study.storage.queries import SCREENED
from earshot.study.storage.raters import MAX_IDLE, Conduct, NoPlaceError
from earshot.study.storage.store import Rater, Store
from tests.support.stimuli import make_folder
from tests.support.studies import any_answer, enrol, make_test

SCREENS = Panel(returns={"headphones": "LOUD", "attention": "ASLEEP"})


def take(store: Store, test: Test, rater: Rater) -> None:
    for item in rater.items:
        store.answer(test, rater.token, item.order, *any_answer(test, item), 1500)


def come(store: Store, test: Test) -> str | None:
    """Somebody new: their token, or None where there is no place."""
    try:
        return enrol(store, test).token
    except NoPlaceError:
        return None


def test_simultaneous_raters_get_places_left(store: Store) -> None:
    """Raters who come at once get no more places than there are, and who has one keeps it."""
    test = make_test(trials=3, raters=3)
    store.open(test)
    with ThreadPoolExecutor(8) as pool:
        tokens = [each for each in pool.map(lambda _: come(store, test), range(8)) if each]
    places = store.places(test)
    assert len(tokens) == places.at_it == 3 and places.left == 0
    for token in tokens:  # who has a place keeps it
        rater = enrol(store, test, token)
        take(store, test, rater)
    assert store.places(test).finished == 3 and come(store, test) is None


def test_place_of_leaver_comes_back(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rater leaves by withdrawing, or by staying away."""
    test = make_test(trials=3, raters=2)
    withdrawn, away = enrol(store, test), enrol(store, test)
    with pytest.raises(NoPlaceError, match="full") as caught:
        enrol(store, test)
    assert caught.value.outcome == "full"
    store.withdraw(test, withdrawn.token)
    assert store.places(test).left == 1
    later = tables.now() + MAX_IDLE + timedelta(minutes=1)
    monkeypatch.setattr(tables, "now", lambda: later)
    assert store.places(test).left == 2
    take(store, test, away)  # who comes back after all may finish
    assert store.places(test).finished == 1


def test_place_of_screened_out_comes_back(store: Store) -> None:
    test = make_test(trials=3, raters=1, panel=SCREENS)
    deaf = enrol(store, test)
    with pytest.raises(InputError, match="check for headphones first"):
        take(store, test, deaf)
    store.screen(test, deaf.token, "headphones", False)
    back = store.resume(test, deaf.token)
    assert back and back.outcome == "headphones"
    with pytest.raises(InputError, match=SCREENED[:20]):
        take(store, test, deaf)
    assert come(store, test)


def test_failed_attention_check_ends_test(store: Store) -> None:
    """It does so only in a test that screens by it."""
    for panel, outcome in ((SCREENS, "attention"), (Panel(), "complete")):
        test = make_test(trials=3, panel=panel, name=f"ends-{outcome}")
        rater = enrol(store, test)
        store.screen(test, rater.token, "headphones", True)
        check = test.of_kind("attention")[0].id
        for item in sorted(rater.items, key=lambda item: item.trial != check):
            left = store.resume(test, rater.token)
            if left and left.outcome:
                break
            store.answer(test, rater.token, item.order, 5, [1], 900)  # the check expects 1
        back = store.resume(test, rater.token)
        assert back and back.outcome == outcome
        assert len(back.answered) == (1 if outcome == "attention" else len(rater.items))


def test_closing_among_answers_loses_none(
    store: Store,
) -> None:
    """Answers that were acknowledged are stored, and none is taken after."""
    test = make_test(trials=6)
    raters = [enrol(store, test) for _ in range(6)]
    acknowledged: set[tuple[str, int]] = set()
    closed = threading.Event()

    def answer(rater: Rater) -> None:
        for item in rater.items:
            if item == rater.items[-1]:
                closed.wait()
            try:
                store.answer(test, rater.token, item.order, *any_answer(test, item), 900)
            except NoPlaceError:
                return
            acknowledged.add((rater.id, item.order))
            if len(acknowledged) >= 12 and not closed.is_set():
                store.close(test.name)
                closed.set()

    with ThreadPoolExecutor(len(raters)) as pool:
        list(pool.map(answer, raters))
    table = store.ratings(test)
    stored = set(zip(table["rater"], table["order"], strict=True))
    assert stored == acknowledged and 12 <= len(stored) < sum(len(r.items) for r in raters)
    assert come(store, test) is None and store.places(test).closed
    store.close(test.name, closed=False)
    for rater in raters:
        take(store, test, rater)
    assert len(store.ratings(test)) == sum(len(rater.items) for rater in raters)


def test_no_rating_is_taken_after_closing(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A test closes at its stated time."""
    closes = datetime(2027, 1, 31, 18, tzinfo=UTC)
    test = replace(make_test(trials=3), closes=closes)
    moment = tables.without_zone(closes)
    monkeypatch.setattr(tables, "now", lambda: moment - timedelta(seconds=1))
    rater = enrol(store, test)
    first, second, *_ = rater.items
    store.answer(test, rater.token, first.order, 3, [1], 900)
    monkeypatch.setattr(tables, "now", lambda: moment)
    with pytest.raises(NoPlaceError, match="closed") as caught:
        store.answer(test, rater.token, second.order, 3, [1], 900)
    assert caught.value.outcome == "closed" and len(store.ratings(test)) == 1


def test_finishes_tell_raters_and_hours(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """They tell who has finished, and no more of the time than its hour."""
    test = make_test(trials=3)
    moment = tables.without_zone(datetime(2027, 1, 31, 18, 59, 58, tzinfo=UTC))
    monkeypatch.setattr(tables, "now", lambda: moment)
    early, late, _ = (enrol(store, test) for _ in range(3))
    take(store, test, early)
    monkeypatch.setattr(tables, "now", lambda: moment + timedelta(seconds=5))
    take(store, test, late)
    finishes = [(each.rater, each.hour.isoformat()) for each in store.finishes(test)]
    assert finishes == [(early.id, "2027-01-31T18:00:00"), (late.id, "2027-01-31T19:00:00")]


def test_conduct_counts_each_way_out(tmp_path: Path) -> None:
    test = load(make_folder(tmp_path / "t"))
    test = replace(test, panel=Panel(returns={"headphones": "C1"}))
    store = Store(f"sqlite:///{tmp_path / 'answers.db'}")
    everyone = [enrol(store, test).token for _ in range(5)]
    withdrew, failed, left, *finished = everyone
    store.withdraw(test, withdrew)
    store.screen(test, failed, "headphones", passed=False)
    store.screen(test, left, "headphones", passed=True)
    for token in finished:
        store.screen(test, token, "headphones", passed=True)
        for order in range(6):
            store.answer(test, token, order, 3, [1], 900)
    conduct = store.conduct(test)
    assert conduct == Conduct(
        consented=5,
        withdrew=1,
        failed_headphones=1,
        failed_attention=0,
        unfinished=1,
        finished=2,
    )
    assert conduct.screened_out == 1
