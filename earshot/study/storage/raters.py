"""Raters as the tables know them: one of them, how many a test still takes, and what became of
everybody who came.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, cast

from sqlalchemy import ColumnElement, func, or_, select
from sqlalchemy.orm import Session

from earshot.core.errors import InputError
from earshot.study.design import Item, Test
from earshot.study.design.raters import Outcome
from earshot.study.storage import tables
from earshot.study.storage.tables import ItemRow, RaterRow, TestRow

SIMULATED = "simulated-"  # how tokens of made-up raters begin, and their ids
# Without an answer; then the rest of the trials, and the place in the test, are given to others.
MAX_IDLE: Final = timedelta(hours=2)
FULL: Final = "This test is full: as many people as were asked for have taken part, or are at it."
CLOSED: Final = "This test is closed. What you have answered until then is stored."


@dataclass(frozen=True)
class Rater:
    """A person taking a test, as they stand now. token is the secret in their link.

    attempts: headphone checks so far; headphones: whether it was passed, None before the last.
    rooms, environment: the same of the test of their room. code: the completion code, None until
    all is answered; outcome: how it ended, None before. items is empty once withdrawn. replied: to
    which questions, and after how many trials. versions: how often each item was answered, by its
    order. claim, headphone_answers: see RaterRow.
    """

    id: str
    token: str
    items: tuple[Item, ...]
    answered: frozenset[int]
    attempts: int
    headphones: bool | None
    code: str | None
    withdrawn: bool
    rooms: int = 0
    environment: bool | None = None
    outcome: Outcome | None = None
    language: str | None = None
    replied: tuple[tuple[int, int], ...] = ()
    versions: Mapping[int, int] = field(default_factory=dict)
    claim: str | None = None
    headphone_answers: tuple[int, ...] = ()

    @property
    def next(self) -> Item | None:
        """Find the first item that is not answered; None when all are."""
        return next((item for item in self.items if item.order not in self.answered), None)

    @property
    def finished(self) -> bool:
        return bool(self.items) and self.next is None


@dataclass(frozen=True)
class End:
    """The end of a rater, as of Rater: how it ended, and the completion code."""

    outcome: Outcome | None
    code: str | None


def rater_id(test: Test, token: str) -> str:
    """Hash a token as it is stored: nobody gets from this to the link, nor from test to test.
    Raters who are made up (earshot.study.simulation) are called so.
    """
    if token.startswith(SIMULATED):
        return token
    return hashlib.sha256(f"{test.name}/{token}".encode()).hexdigest()[:32]


def read_rater(session: Session, row: RaterRow, token: str) -> Rater:
    """Read the rater of the row, whose token no table knows."""
    of_rater = select(ItemRow).where(ItemRow.rater == row.id).order_by(ItemRow.place)
    items = session.scalars(of_rater).all()
    return Rater(
        id=row.id,
        token=token,
        items=tuple(item_of(each) for each in items),
        answered=frozenset(each.place for each in items if each.milliseconds is not None),
        attempts=row.attempts,
        headphones=row.headphones,
        code=row.code,
        withdrawn=row.withdrawn,
        rooms=row.rooms,
        environment=row.environment,
        language=row.language,
        replied=tuple((each["question"], each["trials"]) for each in row.replies or []),
        claim=row.claim,
        versions={each.place: each.version for each in items},
        outcome=cast(Outcome | None, row.outcome),
        headphone_answers=tuple(row.headphone_answers or ()),
    )


def item_of(row: ItemRow) -> Item:
    """Read the item of the row."""
    return Item(row.place, row.trial, tuple(row.systems))


class NoPlaceError(InputError):
    """An error that the test takes no more raters, or no more ratings; outcome holds which."""

    def __init__(self, message: str, outcome: Outcome) -> None:
        super().__init__(message)
        self.outcome: Outcome = outcome


@dataclass(frozen=True)
class Places:
    """The places of a test: wanted raters, None for any number; finished ones; and those at it, who
    have a place too. closed: whether no rating is taken any more; over: because the time of the
    YAML has come.
    """

    planned: int | None
    finished: int
    at_it: int
    closed: bool
    over: bool = False

    @property
    def left(self) -> int | None:
        """Count the places for others; None for any number."""
        return self.planned and max(self.planned - self.finished - self.at_it, 0)

    @property
    def ended(self) -> bool:
        """Whether no more raters are to come: the test is closed, or as many as wanted are
        done.
        """
        return self.closed or (self.planned is not None and self.finished >= self.planned)

    @property
    def refusal(self) -> NoPlaceError | None:
        """Choose the error for a rater who comes now."""
        if self.closed:
            return NoPlaceError(CLOSED, "closed")
        return NoPlaceError(FULL, "full") if self.left == 0 else None


def count_places(session: Session, test: Test) -> Places:
    """Count finished, active and free places."""
    raters = select(func.count()).select_from(RaterRow).where(RaterRow.test == test.name)
    finished = session.scalars(raters.where(RaterRow.outcome == "complete")).one()
    at_it = session.scalars(raters.where(RaterRow.outcome.is_(None), is_present())).one()
    row = session.get(TestRow, test.name)
    ended = is_over(test)
    return Places(test.raters, finished, at_it, ended or (row is not None and row.closed), ended)


def check_open(session: Session, test: Test) -> TestRow | None:
    """Read the test's row. Raises NoPlaceError where it is closed; until the transaction ends,
    nobody closes it, nor writes another vote of an adaptive test.
    """
    shared = not test.draws_late
    row = session.get(TestRow, test.name, with_for_update={"read": shared})
    if is_over(test) or (row is not None and row.closed):
        raise NoPlaceError(CLOSED, "closed")
    return row


def is_over(test: Test) -> bool:
    """Whether the time of the YAML has come."""
    return test.closes is not None and tables.now() >= tables.without_zone(test.closes)


def is_present() -> ColumnElement[bool]:
    """Select raters who have neither withdrawn nor been away for long."""
    return ~RaterRow.withdrawn & (RaterRow.seen > tables.now() - MAX_IDLE)


def is_counted() -> ColumnElement[bool]:
    """Select raters whose ratings are wanted, since they were not screened out."""
    return or_(RaterRow.outcome.is_(None), RaterRow.outcome == "complete")


@dataclass(frozen=True)
class Conduct:
    """The counts of raters by outcome. consented: raters who agreed to take part; of these,
    withdrew; failed_headphones, failed_environment and failed_attention: screened out by the page,
    so that they could not go on; unfinished: left, or still at it; finished. opened: how many
    browsers have opened the page, None where it was not counted. looks: how often estimates were
    shown before the test was closed.
    """

    consented: int
    withdrew: int
    failed_headphones: int
    failed_attention: int
    unfinished: int
    finished: int
    failed_environment: int = 0
    opened: int | None = None
    looks: int = 0

    @property
    def screened_out(self) -> int:
        """Count those whom the page let go no further."""
        return self.failed_headphones + self.failed_environment + self.failed_attention


@dataclass(frozen=True)
class Finish:
    """A rater (hash), and the full hour, in UTC, in which they gave their last answer: the only
    time by the clock that leaves the store.
    """

    rater: str
    hour: datetime


def count_conduct(session: Session, test: Test) -> Conduct:
    """Count what became of each of the raters of a test."""
    rows = session.execute(
        select(RaterRow.withdrawn, RaterRow.outcome).where(RaterRow.test == test.name)
    )
    row = session.get(TestRow, test.name)
    ends = Counter("withdrew" if withdrawn else outcome for withdrawn, outcome in rows)
    # Fewer than have agreed where raters came before they were counted, or are made up.
    opened = row.visits if row and row.visits >= ends.total() else None
    return Conduct(
        consented=ends.total(),
        withdrew=ends["withdrew"],
        failed_headphones=ends["headphones"],
        failed_environment=ends["environment"],
        failed_attention=ends["attention"],
        unfinished=ends[None],
        finished=ends["complete"],
        opened=opened,
        looks=len(row.looks or []) if row else 0,
    )


def list_finishes(session: Session, test: Test) -> list[Finish]:
    """List all who have finished, the first one first."""
    of_test = select(RaterRow.id, RaterRow.seen).where(
        RaterRow.test == test.name, RaterRow.outcome == "complete"
    )
    rows = session.execute(of_test.order_by(RaterRow.seen, RaterRow.id))
    return [Finish(rater, seen.replace(minute=0, second=0, microsecond=0)) for rater, seen in rows]
