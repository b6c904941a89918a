"""Where raters, their sequences and their answers are kept: SQLite or PostgreSQL."""

import secrets
import threading
from collections import defaultdict
from collections.abc import Mapping, Sequence

import pandas as pd
from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session, sessionmaker

from earshot.study.design import Answer, Item, Test
from earshot.study.storage import clock, drawing, places, queries, taking
from earshot.study.storage.assignment import assign
from earshot.study.storage.conduct import Conduct, conduct
from earshot.study.storage.database import connect
from earshot.study.storage.finishes import Finish, finishes
from earshot.study.storage.places import Places
from earshot.study.storage.raters import Rater, rater_id, read
from earshot.study.storage.tables import ItemRow, RaterRow, TestRow
from earshot.study.storage.tidy import ratings


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
            return queries.opened(session, test).key

    def enrol(
        self,
        test: Test,
        token: str | None = None,
        panel: Mapping[str, str] | None = None,
        language: str | None = None,
    ) -> Rater:
        """The rater with this token: as they left, or new, with a sequence of their own.

        To be called once the rater has agreed to take part. A token is made where none is given.
        panel, language: see RaterRow. Raises NoPlaceError for somebody new where the test is full
        or closed.
        """
        token = token or secrets.token_urlsafe(16)
        # Sequences are drawn one after the other, so that all trials stay equally often rated. This
        # takes time for a large test, so the database is not locked meanwhile: who enrols in
        # another process is noticed by the number of raters, and the sequence is drawn again.
        with self._drawing[test.name]:
            while (known := self.resume(test, token)) is None:
                with Session(self.engine) as session:
                    number = queries.number(session, test)
                    sequence = assign(test, queries.counts(session, test), number)
                self._add(test, token, number, sequence, dict(panel or {}), language)
        return known

    def _add(
        self,
        test: Test,
        token: str,
        number: int,
        sequence: Sequence[Item],
        panel: dict[str, str],
        language: str | None,
    ) -> None:
        """Stores a new rater with their sequence, unless others have come since the number."""
        new, now = rater_id(test, token), clock.now()
        with self._writing.begin() as session:
            queries.opened(session, test)  # locked until the transaction ends
            if refusal := places.count(session, test).refusal:
                raise refusal
            if queries.number(session, test) != number:
                return
            rater = RaterRow(id=new, test=test.name, started=now.date(), seen=now)
            rater.panel, rater.language = panel or None, language
            session.add(rater)
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
            return taking.headphones(session, test, token, passed, attempt, last)

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
        """Keeps the answer to the item at that place; given again, it replaces the first, but in an
        adaptive test. Returns the completion code once all is answered. Who fails too many
        attention checks of a test that screens by them cannot go on; that answer is kept too.

        plays: how often each position was played, then the open reference where there is one.
        least: seconds that must have passed since the rater's answer before, or their consent.
        Raises InputError for an unknown rater or place, an answer that is not on the scale, or one
        that comes too soon, and NoPlaceError once the test is closed.
        """
        with self._writing.begin() as session:
            given = (order, answer, plays, milliseconds)
            return taking.answer(session, test, token, *given, least)

    def reply(self, test: Test, token: str, question: int, trials: int, reply: int | str) -> None:
        """Keeps the reply to one of the test's questions, a text or the number of a choice, given
        after so many trials; given again, it replaces the first. It is in no table of ratings."""
        with self._writing.begin() as session:
            taking.reply(session, test, token, question, trials, reply)

    def draw(self, test: Test, token: str) -> None:
        """Chooses the next trials of a rater of an adaptive test, where they are not chosen yet."""
        if test.pairing != "adaptive":
            return
        rater = rater_id(test, token)
        with self._drawing[test.name]:
            while True:
                with Session(self.engine) as session:
                    knew = queries.events(session, test)  # first: the log holds these at least
                    place = drawing.waiting(session, rater)
                    if place is None:
                        return
                    log = drawing.log(session, test)
                item = drawing.chosen(test, log, rater, place, knew)
                with self._writing.begin() as session:
                    drawing.keep(session, test, rater, item, knew)

    def withdraw(self, test: Test, token: str) -> None:
        """Deletes the rater's sequence, answers and checks; only that someone withdrew is kept.

        Raises InputError for an unknown rater; withdrawing again changes nothing.
        """
        with self._writing.begin() as session:
            taking.withdraw(session, test, token)

    def places(self, test: Test) -> Places:
        """How many raters have finished, are at it, and may still come."""
        with Session(self.engine) as session:
            return places.count(session, test)

    def close(self, name: str, closed: bool = True) -> None:
        """Lets no rating of the test of that name in any more, or lets them in again. Answers that
        were acknowledged stay."""
        with self._writing.begin() as session:
            session.execute(update(TestRow).where(TestRow.name == name).values(closed=closed))

    def raters(self, name: str) -> int:
        """How many have agreed to take the test of that name, with those who withdrew."""
        with Session(self.engine) as session:
            of_test = select(func.count()).select_from(RaterRow).where(RaterRow.test == name)
            return session.scalars(of_test).one()

    def delete(self, name: str, answers_only: bool = False) -> None:
        """Deletes the test of that name, its raters and their answers. answers_only: the test stays
        as it is, with its key."""
        with self._writing.begin() as session:
            raters = select(RaterRow.id).where(RaterRow.test == name)
            session.execute(delete(ItemRow).where(ItemRow.rater.in_(raters)))
            session.execute(delete(RaterRow).where(RaterRow.test == name))
            row = update(TestRow).values(events=0) if answers_only else delete(TestRow)
            session.execute(row.where(TestRow.name == name))

    def finishes(self, test: Test) -> list[Finish]:
        """Who has finished, and in which hour."""
        with Session(self.engine) as session:
            return finishes(session, test)

    def conduct(self, test: Test) -> Conduct:
        """Count what became of everybody who came."""
        with Session(self.engine) as session:
            return conduct(session, test)

    def ratings(self, test: Test) -> pd.DataFrame:
        """The tidy table so far: see earshot.study.storage.tidy."""
        with Session(self.engine) as session:
            return ratings(session, test)
