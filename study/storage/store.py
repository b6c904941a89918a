"""Where raters, their sequences and their answers are kept: SQLite or PostgreSQL."""

import secrets
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pandas as pd
from sqlalchemy import delete, func, or_, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, sessionmaker

from media.errors import InputError
from study.design import Answer, Item, Test
from study.storage import answers
from study.storage.assignment import assign
from study.storage.database import connect
from study.storage.raters import Rater, item_of, rater_id, read
from study.storage.tables import ItemRow, RaterRow, TestRow
from study.storage.tidy import ratings

ABANDONED = timedelta(hours=2)  # without an answer; the rest of the trials is given to others


class Store:
    """Raters and answers at a URL of SQLAlchemy's: "sqlite:///answers.db",
    "postgresql+pg8000://user:password@host/database".

    Safe to share between threads and processes. Every method is one transaction, and returns when
    it is on the disk.
    """

    def __init__(self, url: str) -> None:
        """Opens the store; its tables are made, or brought up to date, first."""
        self.engine = connect(url)
        self._writing = sessionmaker(self.engine.execution_options(write=True))

    def open(self, test: Test) -> str:
        """Lets raters come, and returns the key with which the organiser sees the results.

        Raises InputError where the store holds another test of that name.
        """
        with self._writing.begin() as session:
            return _opened(session, test).key

    def enrol(self, test: Test, token: str | None = None) -> Rater:
        """The rater with this token: as they left, or new, with a sequence of their own.

        To be called once the rater has agreed to take part. A token is made where none is given.
        """
        token = token or secrets.token_urlsafe(16)
        with self._writing.begin() as session:
            _opened(session, test)  # locked, so that sequences are drawn one after the other
            row = session.get(RaterRow, rater_id(test, token))
            if row is None:
                sequence = _sequence(session, test)
                new, now = rater_id(test, token), _now()
                row = RaterRow(id=new, test=test.name, started=now.date(), seen=now)
                session.add(row)
                session.flush()
                session.add_all(
                    ItemRow(rater=new, place=each.order, trial=each.trial, shown=[*each.shown])
                    for each in sequence
                )
                session.flush()
            return read(session, row, token)

    def resume(self, test: Test, token: str) -> Rater | None:
        """The rater with this token as they left; None if nobody has it."""
        with Session(self.engine) as session:
            row = session.get(RaterRow, rater_id(test, token))
            return row and read(session, row, token)

    def headphones(self, test: Test, token: str, passed: bool) -> None:
        """Keeps the result of the headphone check. Raises InputError for an unknown rater."""
        with self._writing.begin() as session:
            _taking(session, test, token).headphones = passed

    def answer(
        self,
        test: Test,
        token: str,
        order: int,
        answer: Answer,
        plays: Sequence[int],
        milliseconds: int,
    ) -> None:
        """Keeps the answer to the item at that place; given again, it replaces the first.

        plays: how often each position was played, then the open reference where there is one.
        Raises InputError for an unknown rater or place, or an answer that is not on the scale.
        """
        with self._writing.begin() as session:
            rater = _taking(session, test, token)
            row = session.get(ItemRow, (rater.id, order))
            if row is None:
                raise InputError("There is no such trial. Open the link again.")
            answers.check(test, item_of(row), answer, plays)
            row.answer, row.plays, row.milliseconds = answer, [*plays], milliseconds
            rater.seen = _now()

    def withdraw(self, test: Test, token: str) -> None:
        """Deletes the rater's sequence, answers and checks; only that someone withdrew is kept.

        Raises InputError for an unknown rater.
        """
        with self._writing.begin() as session:
            rater = _taking(session, test, token)
            session.execute(delete(ItemRow).where(ItemRow.rater == rater.id))
            rater.headphones, rater.withdrawn = None, True

    def ratings(self, test: Test) -> pd.DataFrame:
        """The tidy table so far: see study.storage.tidy."""
        with Session(self.engine) as session:
            return ratings(session, test)


def _opened(session: Session, test: Test) -> TestRow:
    """The test's row, made if it is new, and locked until the transaction ends."""
    row = session.get(TestRow, test.name, with_for_update=True)
    if row is None:
        row = TestRow(name=test.name, fingerprint=test.fingerprint, key=secrets.token_urlsafe(24))
        # Unless another process has just opened it.
        with suppress(IntegrityError), session.begin_nested():
            session.add(row)
        row = session.get_one(TestRow, test.name, with_for_update=True, populate_existing=True)
    if row.fingerprint != test.fingerprint:
        raise InputError(
            "The sounds or trials of this test are not those that raters have answered: "
            "give the changed test another name."
        )
    return row


def _sequence(session: Session, test: Test) -> list[Item]:
    """A new rater's, by what the others have answered or are at."""
    raters = select(func.count()).select_from(RaterRow).where(RaterRow.test == test.name)
    rated = (
        select(ItemRow.trial, func.count())
        .join(RaterRow, RaterRow.id == ItemRow.rater)
        .where(RaterRow.test == test.name)
        .where(or_(ItemRow.milliseconds.is_not(None), RaterRow.seen > _now() - ABANDONED))
        .group_by(ItemRow.trial)
    )
    counts = dict(session.execute(rated).all())
    return assign(test, counts, session.scalars(raters).one())


def _taking(session: Session, test: Test, token: str) -> RaterRow:
    """The rater's row, locked until the transaction ends."""
    row = session.get(RaterRow, rater_id(test, token), with_for_update=True)
    if row is None or row.withdrawn:
        raise InputError("Nobody with this link takes part in this test. Open it again.")
    return row


def _now() -> datetime:
    """UTC, without a zone: SQLite keeps none."""
    return datetime.now(UTC).replace(tzinfo=None)
