"""Where raters, their sequences and their answers are kept: SQLite or PostgreSQL."""

import secrets
import threading
from collections import defaultdict
from collections.abc import Mapping, Sequence

import pandas as pd
from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session, sessionmaker

from media.errors import InputError
from study.design import Answer, Item, Test
from study.design.model import UNDRAWN
from study.storage import answers, clock, drawing, places, queries
from study.storage.assignment import assign
from study.storage.database import connect
from study.storage.finishes import Finish, finishes
from study.storage.places import Places
from study.storage.raters import Rater, item_of, rater_id, read
from study.storage.screening import inattentive
from study.storage.tables import ItemRow, RaterRow, TestRow
from study.storage.tidy import ratings

TOO_SOON = "This answer came before its sounds can have ended. Listen to them, and answer again."
NO_QUESTION = "There is no such question. Open the link again."
NO_CHECK = "Do the check for headphones first. Open the link again."


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
            rater = queries.taking(session, test, token)
            if attempt > rater.attempts:
                raise InputError("This headphone check is not the next one. Open the link again.")
            if rater.headphones is None and attempt == rater.attempts:
                rater.attempts += 1
                rater.headphones = passed if passed or last else None
                if rater.headphones is False and test.panel.screens("headphones"):
                    rater.outcome = "headphones"
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
        """Keeps the answer to the item at that place; given again, it replaces the first,
        but in an adaptive test. Returns
        the completion code once all is answered. Who fails too many attention checks of a test that
        screens by them cannot go on; that answer is kept too.

        plays: how often each position was played, then the open reference where there is one.
        least: seconds that must have passed since the rater's answer before, or their consent.
        Raises InputError for an unknown rater or place, an answer that is not on the scale, or one
        that comes too soon, and NoPlaceError once the test is closed.
        """
        with self._writing.begin() as session:
            opened = places.check_open(session, test)
            rater = queries.taking(session, test, token)
            row = session.get(ItemRow, (rater.id, order))
            if row is None or row.trial == UNDRAWN:
                raise InputError("There is no such trial. Open the link again.")
            answers.check(test, item_of(row), answer, plays)
            if rater.headphones is None and test.panel.screens("headphones"):
                raise InputError(NO_CHECK)
            if row.voted is not None:
                return rater.code  # by this vote others' trials were chosen: it stays
            if row.drawn is not None and opened:
                row.voted, opened.events = opened.events, opened.events + 1
            if row.milliseconds is None:
                now = clock.now()
                passed = (now - rater.seen).total_seconds()
                if 0 <= passed < least:  # less than 0: the server's clock was set back
                    raise InputError(TOO_SOON)
                row.server_milliseconds = max(0, round(1000 * passed))
                rater.seen = now
            row.answer, row.plays, row.milliseconds = answer, [*plays], milliseconds
            session.flush()
            if test.panel.screens("attention") and inattentive(session, test, rater.id):
                rater.outcome = "attention"
            elif rater.code is None and not queries.unanswered(session, rater):
                rater.code, rater.outcome = secrets.token_hex(4).upper(), "complete"
            return rater.code

    def reply(self, test: Test, token: str, question: int, trials: int, reply: int | str) -> None:
        """Keeps the reply to one of the test's questions, a text or the number of a choice, given
        after so many trials; given again, it replaces the first. It is in no table of ratings."""
        if not 0 <= question < len(test.questions):
            raise InputError(NO_QUESTION)
        choices = test.questions[question].said("")[1]
        chosen = isinstance(reply, int) and 0 <= reply < len(choices)
        if bool(choices) != chosen:
            raise InputError(NO_QUESTION)
        with self._writing.begin() as session:
            rater = queries.taking(session, test, token)
            at = {"question": question, "trials": trials}
            others = [each for each in rater.replies or [] if at.items() - each.items()]
            rater.replies = [*others, at | {"reply": reply}]

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
            rater = session.get(RaterRow, rater_id(test, token), with_for_update=True)
            if rater is None:
                raise InputError(queries.NOBODY)
            session.execute(delete(ItemRow).where(ItemRow.rater == rater.id))
            rater.headphones, rater.attempts, rater.code = None, 0, None
            rater.outcome = rater.panel = rater.replies = None
            rater.withdrawn = True

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

    def ratings(self, test: Test) -> pd.DataFrame:
        """The tidy table so far: see study.storage.tidy."""
        with Session(self.engine) as session:
            return ratings(session, test)
