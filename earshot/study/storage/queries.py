"""The queries that the store makes, those of the log of an adaptive test among them."""

import secrets
from contextlib import suppress

import numpy as np
from sqlalchemy import func, or_, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from earshot.core.errors import InputError
from earshot.study.assignment import (
    STAIRCASE_TRIALS_AHEAD,
    TRIALS_AHEAD,
    Event,
    choose,
    order_systems,
    quarter_of,
)
from earshot.study.design import Item, Test
from earshot.study.design.model import UNDRAWN
from earshot.study.design.raters import MAX_FAILED_CHECKS, SCREENS
from earshot.study.storage import raters
from earshot.study.storage.answers import rating_rows
from earshot.study.storage.raters import item_of, rater_id
from earshot.study.storage.tables import ItemRow, RaterRow, TestRow

NO_TRIAL = "There is no such trial. Open the link again."
NOBODY = "Nobody with this link takes part in this test. Open it again."
DELETED = "This test was deleted. Ask whoever sent you the link."
CHANGED = (
    "The sounds, trials or faults of this test are not those that raters have answered: give the "
    "changed test another name."
)
CHANGED_SINCE_OPENED = (
    "The sounds, trials or faults of this test were changed since it was opened. Nobody has begun "
    "it: give the changed test another name, or delete answers.db, where it holds no other test, "
    "and open this one anew."
)
SCREENED = "You cannot go on with this test. Open the link again to see why."


def create_test(session: Session, test: Test) -> TestRow:
    """Make the test's row if it is new, and lock it until the transaction ends: see opened."""
    if session.get(TestRow, test.name) is None:
        row = TestRow(name=test.name, fingerprint=test.fingerprint, key=secrets.token_urlsafe(24))
        # Unless another process has just opened it.
        with suppress(IntegrityError), session.begin_nested():
            session.add(row)
    return lock_test(session, test)


def lock_test(session: Session, test: Test) -> TestRow:
    """Lock the test's row until the transaction ends. Raises NoPlaceError where the test was
    deleted, and InputError where the row is another test's of that name."""
    row = test_row(session, test, lock=True)
    if row.fingerprint != test.fingerprint:
        raise InputError(CHANGED if count_raters(session, test.name) else CHANGED_SINCE_OPENED)
    return row


def test_row(session: Session, test: Test, lock: bool = False) -> TestRow:
    """Read the test's row. Raises NoPlaceError where the test was deleted."""
    row = session.get(TestRow, test.name, with_for_update=lock, populate_existing=True)
    if row is None:
        raise raters.NoPlaceError(DELETED, "closed")
    return row


def count_raters(session: Session, name: str) -> int:
    """Count the raters of the test of that name, with those who withdrew."""
    of_test = select(func.count()).select_from(RaterRow).where(RaterRow.test == name)
    return session.scalars(of_test).one()


def count_events(session: Session, test: Test) -> int:
    """Count the events in the log of an adaptive test."""
    of_test = select(TestRow.events).where(TestRow.name == test.name)
    return session.scalars(of_test).one()


def rating_counts(session: Session, test: Test) -> dict[int, int]:
    """Count the ratings that each trial has, or is still going to get from those at it, by its
    id.
    """
    rated = (
        select(ItemRow.trial, func.count())
        .join(RaterRow, RaterRow.id == ItemRow.rater)
        .where(RaterRow.test == test.name, raters.is_counted(), ItemRow.missing.is_(None))
        .where(or_(ItemRow.milliseconds.is_not(None), raters.is_present()))
        .group_by(ItemRow.trial)
    )
    return dict(session.execute(rated).all())


def count_unanswered(session: Session, rater: RaterRow) -> int:
    """Count the items of the rater that have no answer yet."""
    items = select(func.count()).select_from(ItemRow).where(ItemRow.rater == rater.id)
    return session.scalars(items.where(ItemRow.milliseconds.is_(None))).one()


def rater_row(session: Session, test: Test, token: str) -> RaterRow:
    """Find the rater's row, locked until the transaction ends. Raises InputError for nobody's
    token, and for those who have withdrawn or were screened out."""
    row = session.get(RaterRow, rater_id(test, token), with_for_update=True)
    if row is None or row.withdrawn:
        raise InputError(NOBODY)
    if row.outcome in SCREENS:
        raise InputError(SCREENED)
    return row


def item_row(session: Session, rater: RaterRow, order: int) -> ItemRow:
    """Read what the rater is asked at that place. Raises InputError where that is nothing."""
    row = session.get(ItemRow, (rater.id, order))
    if row is None or row.trial == UNDRAWN:
        raise InputError(NO_TRIAL)
    return row


def is_inattentive(session: Session, test: Test, rater: str) -> bool:
    """Whether more of the rater's attention checks failed than is allowed of all that they get,
    so that nothing they still answer can mend it.
    """
    checks = {trial.id: trial for trial in test.of_kind("attention")}
    if not checks:
        return False
    of_rater = select(ItemRow).where(ItemRow.rater == rater, ItemRow.trial.in_(checks))
    failed = 0
    for row in session.scalars(of_rater):
        if row.answer is None:
            failed += bool(row.there)  # skipped, though the sound can be had
            continue
        rated = rating_rows(test, item_of(row), row.answer, row.plays or [])
        check = next(each for each in rated if each.expected is not None)
        off = abs(check.answer - (check.expected or 0.0))
        failed += off > checks[row.trial].tolerance
    most = test.rules.failed_checks
    return failed > (MAX_FAILED_CHECKS if most is None else most) * len(checks)


def undrawn_place(session: Session, test: Test, rater: str) -> int | None:
    """Find the rater's next place for which no trial is chosen, if it is among those to choose
    now.
    """
    of_rater = select(ItemRow).where(ItemRow.rater == rater, ItemRow.milliseconds.is_(None))
    ahead = STAIRCASE_TRIALS_AHEAD if test.staircase else TRIALS_AHEAD
    soon = session.scalars(of_rater.order_by(ItemRow.place).limit(ahead))
    return next((row.place for row in soon if row.trial == UNDRAWN), None)


def adaptive_log(session: Session, test: Test, rater: str) -> list[Event]:
    """Read every choice of the test, with its vote where there is one; on a staircase those of the
    rater, for others' decide nothing but how often a trial was chosen: see drawn_counts."""
    drawn = select(ItemRow).where(ItemRow.drawn.is_not(None))
    if test.staircase:
        drawn = drawn.where(ItemRow.rater == rater)
    else:
        drawn = drawn.join(RaterRow, RaterRow.id == ItemRow.rater)
        drawn = drawn.where(RaterRow.test == test.name)
    return [_event(test, row) for row in session.scalars(drawn.order_by(ItemRow.drawn))]


def drawn_counts(session: Session, test: Test, knew: int) -> dict[int, int]:
    """Count how often each trial was chosen before event number knew, by its id."""
    drawn = select(ItemRow.trial, func.count()).join(RaterRow, RaterRow.id == ItemRow.rater)
    drawn = drawn.where(RaterRow.test == test.name, ItemRow.drawn < knew)
    return dict(session.execute(drawn.group_by(ItemRow.trial)).all())


def choose_item(
    test: Test,
    past: list[Event],
    rater: str,
    place: int,
    knew: int,
    counts: dict[int, int] | None,
) -> Item:
    """Choose what the rater is asked at that place, from what had happened before event number
    knew; counts: see choose.
    """
    trial = choose(test, past, rater, place, knew, counts)
    nth = sum(event.rater == rater for event in past)
    order = order_systems(test, trial, quarter_of(test, rater, nth), np.random.default_rng(0))
    return Item(place, trial.id, order)


def store_draw(session: Session, test: Test, rater: str, item: Item, knew: int) -> None:
    """Write the choice into the rater's sequence, unless another process has chosen."""
    opened = lock_test(session, test)
    row = session.get(ItemRow, (rater, item.order))
    if row is None or row.trial != UNDRAWN:
        return
    row.trial, row.systems, row.knew, row.drawn = item.trial, [*item.systems], knew, opened.events
    opened.events += 1


def _event(test: Test, row: ItemRow) -> Event:
    first = None
    if row.answer is not None:
        first = rating_rows(test, item_of(row), row.answer, row.plays or [])[0].answer
    assert row.knew is not None and row.drawn is not None
    return Event(row.rater, row.place, row.trial, row.knew, row.drawn, row.voted, first)
