"""Where raters, their sequences and their answers are kept: SQLite or PostgreSQL."""

import secrets
import threading
from collections import defaultdict
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

NOBODY = "Nobody with this link takes part in this test. Open it again."
TOO_SOON = "This answer came before its sounds can have ended. Listen to them, and answer again."
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
        self._drawing: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)

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
        # Sequences are drawn one after the other, so that all trials stay equally often rated. This
        # takes time for a large test, so the database is not locked meanwhile: who enrols in
        # another process is noticed by the number of raters, and the sequence is drawn again.
        with self._drawing[test.name]:
            while (known := self.resume(test, token)) is None:
                with Session(self.engine) as session:
                    number = _number(session, test)
                    sequence = assign(test, _counts(session, test), number)
                self._add(test, token, number, sequence)
        return known

    def _add(self, test: Test, token: str, number: int, sequence: Sequence[Item]) -> None:
        """Stores a new rater with their sequence, unless others have come since the number."""
        new, now = rater_id(test, token), _now()
        with self._writing.begin() as session:
            _opened(session, test)  # locked until the transaction ends
            if _number(session, test) != number:
                return
            session.add(RaterRow(id=new, test=test.name, started=now.date(), seen=now))
            session.flush()
            session.add_all(
                ItemRow(rater=new, place=each.order, trial=each.trial, shown=[*each.shown])
                for each in sequence
            )

    def resume(self, test: Test, token: str) -> Rater | None:
        """The rater with this token as they left; None if nobody has it."""
        with Session(self.engine) as session:
            row = session.get(RaterRow, rater_id(test, token))
            return row and read(session, row, token)

    def headphones(
        self, test: Test, token: str, passed: bool, attempt: int = 0, last: bool = True
    ) -> bool | None:
        """Keeps the result of an attempt at the headphone check → the final one, None where the
        rater may try again.

        attempt counts from 0; last: whether none is left after it. An attempt that is sent again
        changes nothing, and a final result stays. Raises InputError for an unknown rater, and an
        attempt before its turn.
        """
        with self._writing.begin() as session:
            rater = _taking(session, test, token)
            if attempt > rater.attempts:
                raise InputError("This headphone check is not the next one. Open the link again.")
            if rater.headphones is None and attempt == rater.attempts:
                rater.attempts += 1
                rater.headphones = passed if passed or last else None
            return rater.headphones

    def answer(
        self,
        test: Test,
        token: str,
        order: int,
        answer: Answer,
        plays: Sequence[int],
        milliseconds: int,
        least: float = 0.0,
    ) -> str | None:
        """Keeps the answer to the item at that place; given again, it replaces the first. Returns
        the completion code once all is answered.

        plays: how often each position was played, then the open reference where there is one.
        least: seconds that must have passed since the rater's answer before, or their consent.
        Raises InputError for an unknown rater or place, an answer that is not on the scale, or one
        that comes too soon.
        """
        with self._writing.begin() as session:
            rater = _taking(session, test, token)
            row = session.get(ItemRow, (rater.id, order))
            if row is None:
                raise InputError("There is no such trial. Open the link again.")
            answers.check(test, item_of(row), answer, plays)
            if row.milliseconds is None:
                now = _now()
                passed = (now - rater.seen).total_seconds()
                if 0 <= passed < least:  # less than 0: the server's clock was set back
                    raise InputError(TOO_SOON)
                row.server_milliseconds = max(0, round(1000 * passed))
                rater.seen = now
            row.answer, row.plays, row.milliseconds = answer, [*plays], milliseconds
            session.flush()
            if rater.code is None and not _unanswered(session, rater):
                rater.code = secrets.token_hex(4).upper()
            return rater.code

    def withdraw(self, test: Test, token: str) -> None:
        """Deletes the rater's sequence, answers and checks; only that someone withdrew is kept.

        Raises InputError for an unknown rater; withdrawing again changes nothing.
        """
        with self._writing.begin() as session:
            rater = session.get(RaterRow, rater_id(test, token), with_for_update=True)
            if rater is None:
                raise InputError(NOBODY)
            session.execute(delete(ItemRow).where(ItemRow.rater == rater.id))
            rater.headphones, rater.attempts, rater.code = None, 0, None
            rater.withdrawn = True

    def raters(self, name: str) -> int:
        """How many have agreed to take the test of that name, with those who withdrew."""
        with Session(self.engine) as session:
            of_test = select(func.count()).select_from(RaterRow).where(RaterRow.test == name)
            return session.scalars(of_test).one()

    def delete(self, name: str) -> None:
        """Deletes the test of that name, its raters and their answers."""
        with self._writing.begin() as session:
            raters = select(RaterRow.id).where(RaterRow.test == name)
            session.execute(delete(ItemRow).where(ItemRow.rater.in_(raters)))
            session.execute(delete(RaterRow).where(RaterRow.test == name))
            session.execute(delete(TestRow).where(TestRow.name == name))

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


def _number(session: Session, test: Test) -> int:
    """How many raters the test has."""
    raters = select(func.count()).select_from(RaterRow).where(RaterRow.test == test.name)
    return session.scalars(raters).one()


def _counts(session: Session, test: Test) -> dict[int, int]:
    """How many ratings each trial has, or is still going to get from those at it, by its id."""
    rated = (
        select(ItemRow.trial, func.count())
        .join(RaterRow, RaterRow.id == ItemRow.rater)
        .where(RaterRow.test == test.name)
        .where(or_(ItemRow.milliseconds.is_not(None), RaterRow.seen > _now() - ABANDONED))
        .group_by(ItemRow.trial)
    )
    return dict(session.execute(rated).all())


def _unanswered(session: Session, rater: RaterRow) -> int:
    """How many items of the rater have no answer yet."""
    items = select(func.count()).select_from(ItemRow).where(ItemRow.rater == rater.id)
    return session.scalars(items.where(ItemRow.milliseconds.is_(None))).one()


def _taking(session: Session, test: Test, token: str) -> RaterRow:
    """The rater's row, locked until the transaction ends."""
    row = session.get(RaterRow, rater_id(test, token), with_for_update=True)
    if row is None or row.withdrawn:
        raise InputError(NOBODY)
    return row


def _now() -> datetime:
    """UTC, without a zone: SQLite keeps none."""
    return datetime.now(UTC).replace(tzinfo=None)
