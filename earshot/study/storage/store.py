"""The store of raters, their sequences and their answers: SQLite or PostgreSQL.

More than 400 lines, for what raters and organisers do to the tables is one class: each method is
one transaction, and parts of it would know each other only.
"""

import secrets
import threading
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, cast

import pandas as pd
from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session, sessionmaker

from earshot.core.errors import InputError
from earshot.study.assignment import assign
from earshot.study.design import Answer, Item, Test
from earshot.study.design.model import UNDRAWN
from earshot.study.design.raters import Outcome
from earshot.study.sounds import copies
from earshot.study.storage import answers, queries, raters, tables
from earshot.study.storage.answers import ratings_table
from earshot.study.storage.database import back_up, connect, dispose
from earshot.study.storage.raters import SIMULATED, Conduct, End, Finish, Places, Rater, rater_id
from earshot.study.storage.tables import ChangeRow, ItemRow, RaterRow, TestRow

TOO_SOON: Final = (
    "This answer came before its sounds can have ended. Listen to them, and answer again."
)
STALE: Final = (
    "This was answered already, in another tab or window. Go on there, or open the link again."
)
NO_QUESTION: Final = "There is no such question. Open the link again."
NO_CHECK: Final = "Do the check for headphones first. Open the link again."
NO_ROOM: Final = "Do the check of your room first. Open the link again."
TOO_MANY_MISSING: Final = (
    "Too many sounds did not come. Check your connection, and open the link again."
)
MAX_MISSING: Final = 0.1  # of a rater's trials that may be skipped though the server has the sound
MAX_ANSWERS: Final = 20  # to one trial, of which all but the last are in the log of changes
TOO_OFTEN: Final = "This was answered too often. Go on with the next one."
BEGUN: Final = (
    "Somebody has begun this test, so it stays as it is. Download it, and open the changed one as "
    "another."
)
NOT_NEXT: Final = "This check is not the next one. Open the link again."
Screen = Literal["headphones", "environment"]  # a check that raters do before the trials
ATTEMPTS: Final[dict[Screen, str]] = {"headphones": "attempts", "environment": "rooms"}  # columns


class StaleAnswerError(InputError):
    """An error that an answer is to a trial that has another state by now than the page knew."""


class Store:
    """A store of raters and answers at a URL of SQLAlchemy's: "sqlite:///answers.db",
    "postgresql+pg8000://user:password@host/database".

    Safe to share between threads and processes. Every method is one transaction, and returns when
    it is on the disk.
    """

    def __init__(self, url: str, upgrade: bool = True) -> None:
        """Open the store; its tables are made, or brought up to date, first, unless upgrade is
        false. The attribute url opens it from anywhere."""
        self.engine = connect(url, upgrade)
        self.url = self.engine.url.render_as_string(hide_password=False)
        self._writing = sessionmaker(self.engine.execution_options(write=True))
        self._drawing: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)

    def dispose(self) -> None:
        """Leave everything in the one file of SQLite's; the store can be used again."""
        dispose(self.engine)

    def back_up(self, out: Path) -> None:
        """Write all answers into a file, while raters go on. Raises InputError for PostgreSQL."""
        back_up(self.engine, out)

    def open(self, test: Test) -> str:
        """Let raters come → the key with which the organiser sees the results.

        Raises InputError where the store holds another test of that name, or where sounds are not
        those that raters have answered.
        """
        if not self.raters(test.name):
            copies.describe_sounds(test)  # which is remembered: the first rater waits for nothing
        with self._writing.begin() as session:
            row = queries.create_test(session, test)
            if changed := copies.sound_difference(test, row.sounds):
                raise InputError(changed)
            return row.key

    def enrol(
        self,
        test: Test,
        token: str | None = None,
        panel: Mapping[str, str] | None = None,
        language: str | None = None,
        device: str | None = None,
        claim: str | None = None,
    ) -> Rater:
        """Enrol the rater with this token: as they left, or new, with a sequence of their own.

        To be called once the rater has agreed to take part. A token is made where none is given.
        panel, language, device, claim: see RaterRow. Raises NoPlaceError for a new rater where the
        test is full, closed or deleted.
        """
        token = token or secrets.token_urlsafe(16)
        if rater := self.resume(test, token):
            return rater  # without waiting for others' sequences
        # Sequences are drawn one after the other, so that all trials stay equally often rated. This
        # takes time for a large test, so the database is not locked meanwhile: another who enrols
        # in a second process is noticed by the number of raters, and the sequence is drawn again.
        with self._drawing[test.name]:
            while (rater := self.resume(test, token)) is None:
                with Session(self.engine) as session:
                    number = queries.count_raters(session, test.name)
                    sequence = assign(test, queries.rating_counts(session, test), number)
                    known_sounds = queries.test_row(session, test).sounds is not None
                row = RaterRow(panel=dict(panel or {}) or None, language=language)
                row.device, row.claim = device, claim
                sounds = None if known_sounds else copies.describe_sounds(test)
                self._add(test, token, number, sequence, row, sounds)
        return rater

    def _add(
        self,
        test: Test,
        token: str,
        number: int,
        sequence: Sequence[Item],
        rater: RaterRow,
        sounds: dict[str, Any] | None,
    ) -> None:
        """Store a new rater with their sequence, unless others have come since the number, and what
        is played to the first one."""
        new, now = rater_id(test, token), tables.now()
        with self._writing.begin() as session:
            opened = queries.lock_test(session, test)  # locked until the transaction ends
            if refusal := raters.count_places(session, test).refusal:
                raise refusal
            if queries.count_raters(session, test.name) != number:
                return
            opened.sounds = opened.sounds or sounds
            rater.id, rater.test, rater.started, rater.seen = new, test.name, now.date(), now
            rater.withdrawn = False
            session.add(rater)
            session.flush()
            session.add_all(
                ItemRow(rater=new, place=each.order, trial=each.trial, systems=[*each.systems])
                for each in sequence
            )

    def resume(self, test: Test, token: str) -> Rater | None:
        """Read the rater with this token as they left; None if nobody has it."""
        with Session(self.engine) as session:
            row = session.get(RaterRow, rater_id(test, token))
            return raters.read_rater(session, row, token) if row else None

    def end(self, test: Test, token: str) -> End | None:
        """Read how it ended for the rater with this token, without their sequence; None if nobody
        has it."""
        with Session(self.engine) as session:
            row = session.get(RaterRow, rater_id(test, token))
            return End(cast(Outcome | None, row.outcome), row.code) if row else None

    def item(self, test: Test, token: str, order: int) -> Item | None:
        """Read what the rater with this token is asked at that place, None where that is nothing.
        Raises LookupError if nobody has the token."""
        with Session(self.engine) as session:
            rater = rater_id(test, token)
            if session.get(RaterRow, rater) is None:
                raise LookupError(token)
            row = session.get(ItemRow, (rater, order))
            return None if row is None or row.trial == UNDRAWN else raters.item_of(row)

    def headphone_answers(
        self, test: Test, token: str, answers: Sequence[int], attempt: int
    ) -> list[int] | None:
        """Keep the answers of the attempt that the rater is at → all of them; None where it is
        over. An answer that is there stays, so that nobody finds out which are right by trying.
        Raises InputError for an unknown rater, and an attempt before its turn."""
        with self._writing.begin() as session:
            rater = queries.rater_row(session, test, token)
            if attempt > rater.attempts:
                raise InputError(NOT_NEXT)
            if attempt < rater.attempts or rater.headphones is not None:
                return None
            stored = list(rater.headphone_answers or [])
            rater.headphone_answers = [*stored, *answers[len(stored) :]]
            return rater.headphone_answers

    def screen(
        self,
        test: Test,
        token: str,
        check: Screen,
        passed: bool,
        attempt: int = 0,
        last: bool = True,
    ) -> bool | None:
        """Keep the result of an attempt at a check before the trials → the final one, None where
        the rater may try again.

        attempt counts from 0; last: whether none is left after it. An attempt that is sent again
        changes nothing, and a final result stays. Raises InputError for an unknown rater, and an
        attempt before its turn.
        """
        counter = ATTEMPTS[check]
        with self._writing.begin() as session:
            rater = queries.rater_row(session, test, token)
            done: int = getattr(rater, counter)
            if attempt > done:
                raise InputError(NOT_NEXT)
            if getattr(rater, check) is None and attempt == done:
                setattr(rater, counter, done + 1)
                setattr(rater, check, passed if passed or last else None)
                rater.headphone_answers = None
                if getattr(rater, check) is False and test.panel.screens(check):
                    rater.outcome = check
            return getattr(rater, check)

    def answer(
        self,
        test: Test,
        token: str,
        order: int,
        answer: Answer,
        plays: Sequence[int],
        milliseconds: int,
        least: float = 0.0,
        version: int = 0,
        video: Mapping[str, int] | None = None,
        playback: Mapping[str, int | None] | None = None,
    ) -> str | None:
        """Keep the answer to the item at that place → the completion code once all is answered.

        Raters who fail too many attention checks of a test that screens by them cannot go on; that
        answer is kept too. plays: how often each position was played, then the open reference where
        there is one. least: seconds that must have passed since the rater's answer before, or their
        consent. version: how often the item had been answered as the page knew: an answer replaces
        another only where it knew that one, and the one before goes into the log of changes. video,
        playback: see ItemRow. What is sent again changes nothing.

        Raises InputError for an unknown rater or place, an answer that is not on the scale, one
        that comes too soon, or more than MAX_ANSWERS; StaleAnswerError for one that did not know
        the last, for another answer after the completion code, for one on a staircase to a trial
        that was skipped, and for another vote in an adaptive test, by which others' trials were
        chosen; NoPlaceError once the test is closed.
        """
        with self._writing.begin() as session:
            opened = raters.check_open(session, test)
            rater = queries.rater_row(session, test, token)
            row = queries.item_row(session, rater, order)
            answers.check(test, raters.item_of(row), answer, plays)
            if rater.headphones is None and test.panel.screens("headphones"):
                raise InputError(NO_CHECK)
            if test.environment and rater.environment is None and test.panel.screens("environment"):
                raise InputError(NO_ROOM)
            if row.version and (row.answer, row.plays) == (answer, [*plays]):
                return rater.code
            skipped = row.milliseconds is not None and not row.version
            if skipped and test.staircase:  # without it the next level was chosen
                raise StaleAnswerError(STALE)
            if version != row.version or rater.code is not None or row.voted is not None:
                raise StaleAnswerError(STALE)
            if row.version >= MAX_ANSWERS:
                raise InputError(TOO_OFTEN)
            if row.version:
                session.add(_change(row))
            else:
                _count_time(rater, row, least)
            if row.drawn is not None and opened:
                row.voted, opened.events = opened.events, opened.events + 1
            row.answer, row.plays, row.milliseconds = answer, [*plays], milliseconds
            row.version, row.missing, row.there = row.version + 1, None, None
            row.video = dict(video) if video else None
            row.playback = dict(playback) if playback else None
            _finish(session, test, rater)
            return rater.code

    def skip(self, test: Test, token: str, order: int, place: int, there: bool) -> str | None:
        """Let the rater go on without an answer to an item, the sound at whose position never came
        → the completion code once all is done.

        there: whether the server has the sound; then no more than MAX_MISSING of the rater's trials
        may be skipped, and a check counts as failed. Skipping what is answered or skipped changes
        nothing. Raises InputError for an unknown rater or item, and where too many were skipped;
        NoPlaceError once the test is closed.
        """
        with self._writing.begin() as session:
            raters.check_open(session, test)
            rater = queries.rater_row(session, test, token)
            row = queries.item_row(session, rater, order)
            if row.milliseconds is not None:
                return rater.code
            items = session.scalars(select(ItemRow).where(ItemRow.rater == rater.id)).all()
            skipped = sum(each.missing is not None for each in items)
            if there and skipped >= max(1, MAX_MISSING * len(items)):
                raise InputError(TOO_MANY_MISSING)
            _count_time(rater, row, 0.0)
            row.milliseconds, row.missing, row.there = 0, place, there
            _finish(session, test, rater)
            return rater.code

    def missing(self, test: Test) -> Counter[tuple[str, str]]:
        """Count the raters for whom a sound never came, by stimulus and system."""
        skipped = select(ItemRow).join(RaterRow, RaterRow.id == ItemRow.rater)
        skipped = skipped.where(RaterRow.test == test.name, ItemRow.missing.is_not(None))
        with Session(self.engine) as session:
            sounds = []
            for row in session.scalars(skipped):
                names = [*row.systems, "reference"]
                system = names[min(row.missing or 0, len(row.systems))]
                sounds.append((test.trials[row.trial].stimulus, system))
            return Counter(sounds)

    def reply(
        self, test: Test, token: str, question: int, trials: int, reply: int | str | None
    ) -> None:
        """Keep the reply to one of the test's questions, given after so many trials: a text, the
        number of a choice, or None for what was left out. Given again, it replaces the first. It is
        in no table of ratings.

        Raises InputError for a question that there is not, or that is not asked then, and
        NoPlaceError once the test is closed.
        """
        with self._writing.begin() as session:
            raters.check_open(session, test)
            rater = queries.rater_row(session, test, token)
            if not 0 <= question < len(test.questions):
                raise InputError(NO_QUESTION)
            definition = test.questions[question]
            if not definition.fits(reply):
                raise InputError(NO_QUESTION)
            between = definition.when == "between"
            if between and (trials < 1 or trials % definition.every or trials > test.trial_count):
                raise InputError(NO_QUESTION)
            at = {"question": question, "trials": trials}
            same = at if between else {"question": question}  # else it is asked once
            others = [each for each in rater.replies or [] if same.items() - each.items()]
            rater.replies = [*others, at | {"reply": reply}]

    def draw(self, test: Test, token: str) -> None:
        """Choose the next trials of a rater, where answers decide them and they are not chosen."""
        if not test.draws_late:
            return
        rater = rater_id(test, token)
        with self._drawing[test.name]:
            while True:
                with Session(self.engine) as session:
                    # First: the log holds these at least.
                    knew = queries.count_events(session, test)
                    place = queries.undrawn_place(session, test, rater)
                    if place is None:
                        return
                    log = queries.adaptive_log(session, test, rater)
                    counts = queries.drawn_counts(session, test, knew) if test.staircase else None
                item = queries.choose_item(test, log, rater, place, knew, counts)
                with self._writing.begin() as session:
                    queries.store_draw(session, test, rater, item, knew)

    def withdraw(self, test: Test, token: str) -> None:
        """Delete the rater's sequence, answers and checks; only that someone withdrew is kept.

        Raises InputError for an unknown rater; withdrawing again changes nothing.
        """
        with self._writing.begin() as session:
            rater = session.get(RaterRow, rater_id(test, token), with_for_update=True)
            if rater is None:
                raise InputError(queries.NOBODY)
            session.execute(delete(ItemRow).where(ItemRow.rater == rater.id))
            session.execute(delete(ChangeRow).where(ChangeRow.rater == rater.id))
            rater.headphones, rater.attempts, rater.code = None, 0, None
            rater.environment, rater.rooms = None, 0
            rater.outcome = rater.panel = rater.replies = rater.device = None
            rater.headphone_answers = None
            rater.withdrawn = True

    def places(self, test: Test) -> Places:
        """Count the raters who have finished, are at it, and may still come."""
        with Session(self.engine) as session:
            return raters.count_places(session, test)

    def close(self, name: str, closed: bool = True) -> None:
        """Let no rating of the test of that name in any more, or let them in again. Answers that
        were acknowledged stay.
        """
        with self._writing.begin() as session:
            session.execute(update(TestRow).where(TestRow.name == name).values(closed=closed))

    def change(self, test: Test) -> None:
        """Take the changed test for the one of its name, with its key. Raises InputError where
        a rater has agreed to take it."""
        with self._writing.begin() as session:
            row = session.get(TestRow, test.name, with_for_update=True)
            if queries.count_raters(session, test.name):
                raise InputError(BEGUN)
            if row is not None:
                row.fingerprint, row.sounds, row.events, row.looks = test.fingerprint, None, 0, None

    def raters(self, name: str) -> int:
        """Count all who have agreed to take the test of that name, with those who withdrew."""
        with Session(self.engine) as session:
            return queries.count_raters(session, name)

    def real_raters(self) -> int:
        """Count the raters of all tests who are not simulated."""
        real = select(func.count()).select_from(RaterRow).where(~RaterRow.id.startswith(SIMULATED))
        with Session(self.engine) as session:
            return session.scalars(real).one()

    def state(self, test: Test) -> tuple[object, ...]:
        """Read what changes with anything that raters of the test do: cheap, and to be compared
        only.
        """
        of_raters = select(
            func.count(),
            func.count(RaterRow.outcome),
            func.count(RaterRow.headphones),
            func.count(RaterRow.environment),
            func.max(RaterRow.seen),
            func.count().filter(RaterRow.withdrawn),
        )
        of_items = select(func.sum(ItemRow.version), func.count(ItemRow.missing))
        of_items = of_items.join(RaterRow, RaterRow.id == ItemRow.rater)
        with Session(self.engine) as session:
            both = [each.where(RaterRow.test == test.name) for each in (of_raters, of_items)]
            return tuple(value for each in both for value in session.execute(each).one())

    def visit(self, test: Test) -> None:
        """Count a browser that opens the raters' page for the first time."""
        with self._writing.begin() as session:
            count = update(TestRow).where(TestRow.name == test.name)
            session.execute(count.values(visits=TestRow.visits + 1))

    def look(self, test: Test) -> None:
        """Record that the organiser looks at estimates before the test has ended; again at those of
        the same raters is no other look."""
        if self.looks(test)[-1:] == [self.places(test).finished]:
            return  # without the lock of those who write
        with self._writing.begin() as session:
            row = queries.lock_test(session, test)
            finished = raters.count_places(session, test).finished
            if (row.looks or [])[-1:] != [finished]:
                row.looks = [*(row.looks or []), finished]

    def looks(self, test: Test) -> list[int]:
        """List how many raters had finished each time that the organiser looked at estimates."""
        with Session(self.engine) as session:
            row = session.get(TestRow, test.name)
            return list(row.looks or []) if row else []

    def delete(self, name: str, answers_only: bool = False) -> None:
        """Delete the test of that name, its raters and their answers. answers_only: the test stays
        as it is, with its key.
        """
        with self._writing.begin() as session:
            ids = select(RaterRow.id).where(RaterRow.test == name)
            session.execute(delete(ChangeRow).where(ChangeRow.rater.in_(ids)))
            session.execute(delete(ItemRow).where(ItemRow.rater.in_(ids)))
            session.execute(delete(RaterRow).where(RaterRow.test == name))
            fresh = update(TestRow).values(events=0, sounds=None, looks=None, visits=0)
            row = fresh if answers_only else delete(TestRow)
            session.execute(row.where(TestRow.name == name))

    def finishes(self, test: Test) -> list[Finish]:
        """List the raters who have finished, and in which hour."""
        with Session(self.engine) as session:
            return raters.list_finishes(session, test)

    def conduct(self, test: Test) -> Conduct:
        """Count what became of everybody who came."""
        with Session(self.engine) as session:
            return raters.count_conduct(session, test)

    def among_others(self, test: Test, token: str) -> dict[str, Any]:
        """Find how the answers of the rater with this token lie among others', by scale, once they
        have finished a test whose raters may see it: see answers.among_others."""
        rater = self.resume(test, token)
        if not test.show_others or rater is None or rater.outcome != "complete":
            return {}
        ratings = self.ratings(test)
        each = {scale.name: answers.among_others(ratings, rater.id, scale) for scale in test.rated}
        return {name: lines for name, lines in each.items() if lines}

    def ratings(self, test: Test) -> pd.DataFrame:
        """Make the tidy table so far: see earshot.study.storage.answers."""
        with Session(self.engine) as session:
            return ratings_table(session, test)


def _change(row: ItemRow) -> ChangeRow:
    """Copy the answer that stands in the row, for the log of changes."""
    return ChangeRow(
        rater=row.rater,
        place=row.place,
        version=row.version,
        answer=row.answer,
        plays=row.plays,
        milliseconds=row.milliseconds,
    )


def _count_time(rater: RaterRow, row: ItemRow, least: float) -> None:
    """Keep how long the rater took for an item by the server's clock. Raises InputError where it
    was less than so many seconds."""
    now = tables.now()
    passed = (now - rater.seen).total_seconds()
    if 0 <= passed < least:  # less than 0: the server's clock was set back
        raise InputError(TOO_SOON)
    row.server_milliseconds = max(0, round(1000 * passed))
    rater.seen = now


def _finish(session: Session, test: Test, rater: RaterRow) -> None:
    """Screen out a rater who has failed too many checks, where the test does; else assign a
    completion code, once, where nothing is left to answer."""
    session.flush()
    if test.panel.screens("attention") and queries.is_inattentive(session, test, rater.id):
        rater.outcome = "attention"
    elif rater.code is None and not queries.count_unanswered(session, rater):
        rater.code, rater.outcome = secrets.token_hex(4).upper(), "complete"
