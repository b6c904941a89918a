"""The queries that the store makes."""

import secrets
from contextlib import suppress

from sqlalchemy import func, or_, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from earshot.core.errors import InputError
from earshot.study.design import Test
from earshot.study.design.panel import SCREENS
from earshot.study.design.rules import FAILED_CHECKS
from earshot.study.storage import places
from earshot.study.storage.answers import rows
from earshot.study.storage.raters import item_of, rater_id
from earshot.study.storage.tables import ItemRow, RaterRow, TestRow

NOBODY = "Nobody with this link takes part in this test. Open it again."
DELETED = "This test was deleted. Ask whoever sent you the link."
SCREENED = "You cannot go on with this test. Open the link again to see why."


def made(session: Session, test: Test) -> TestRow:
    """Make the test's row if it is new, and lock it until the transaction ends: see opened."""
    if session.get(TestRow, test.name) is None:
        row = TestRow(name=test.name, fingerprint=test.fingerprint, key=secrets.token_urlsafe(24))
        # Unless another process has just opened it.
        with suppress(IntegrityError), session.begin_nested():
            session.add(row)
    return opened(session, test)


def opened(session: Session, test: Test) -> TestRow:
    """Lock the test's row until the transaction ends. Raises NoPlaceError where the test was
    deleted, and InputError where the row is another test's of that name."""
    row = known(session, test, lock=True)
    if row.fingerprint != test.fingerprint:
        raise InputError(
            "The sounds or trials of this test are not those that raters have answered: "
            "give the changed test another name."
        )
    return row


def known(session: Session, test: Test, lock: bool = False) -> TestRow:
    """Read the test's row. Raises NoPlaceError where the test was deleted."""
    row = session.get(TestRow, test.name, with_for_update=lock, populate_existing=True)
    if row is None:
        raise places.NoPlaceError(DELETED, "closed")
    return row


def number(session: Session, test: Test) -> int:
    """Count the raters of the test."""
    raters = select(func.count()).select_from(RaterRow).where(RaterRow.test == test.name)
    return session.scalars(raters).one()


def events(session: Session, test: Test) -> int:
    """Count the events in the log of an adaptive test."""
    of_test = select(TestRow.events).where(TestRow.name == test.name)
    return session.scalars(of_test).one()


def counts(session: Session, test: Test) -> dict[int, int]:
    """Count the ratings that each trial has, or is still going to get from those at it, by its
    id.
    """
    rated = (
        select(ItemRow.trial, func.count())
        .join(RaterRow, RaterRow.id == ItemRow.rater)
        .where(RaterRow.test == test.name, places.counted(), ItemRow.missing.is_(None))
        .where(or_(ItemRow.milliseconds.is_not(None), places.present()))
        .group_by(ItemRow.trial)
    )
    return dict(session.execute(rated).all())


def unanswered(session: Session, rater: RaterRow) -> int:
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


def inattentive(session: Session, test: Test, rater: str) -> bool:
    """Say whether more of the rater's attention checks failed than is allowed of all that they get,
    so that nothing they still answer can mend it.
    """
    checks = {trial.id: trial for trial in test.of_kind("attention")}
    if not checks:
        return False
    of_rater = select(ItemRow).where(ItemRow.rater == rater, ItemRow.trial.in_(checks))
    failed = 0
    for row in session.scalars(of_rater):
        if row.answer is None:
            continue
        rated = rows(test, item_of(row), row.answer, row.plays or [])
        known = next(each for each in rated if each.expected is not None)
        off = abs(known.answer - (known.expected or 0.0))
        failed += off > checks[row.trial].tolerance
    most = test.rules.failed_checks
    return failed > (FAILED_CHECKS if most is None else most) * len(checks)
