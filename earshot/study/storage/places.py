"""The places of a test: how many raters it still takes, and whether it takes any."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from sqlalchemy import ColumnElement, func, or_, select
from sqlalchemy.orm import Session

from earshot.core.errors import InputError
from earshot.study.design import Test
from earshot.study.design.panel import Outcome
from earshot.study.storage import clock
from earshot.study.storage.tables import RaterRow, TestRow

# Without an answer; then the rest of the trials, and the place in the test, are given to others.
ABANDONED: Final = timedelta(hours=2)
FULL: Final = "This test is full: as many people as were asked for have taken part, or are at it."
CLOSED: Final = "This test is closed. What you have answered until then is stored."


class NoPlaceError(InputError):
    """An error that the test takes no more raters, or no more ratings; outcome says which."""

    def __init__(self, message: str, outcome: Outcome) -> None:
        super().__init__(message)
        self.outcome: Outcome = outcome


@dataclass(frozen=True)
class Places:
    """The places of a test: wanted raters, None for any number; finished ones; and those at it, who
    have a place too. closed: whether no rating is taken any more; over: because the time of the
    YAML has come.
    """

    wanted: int | None
    finished: int
    at_it: int
    closed: bool
    over: bool = False

    @property
    def left(self) -> int | None:
        """Count the places for others; None for any number."""
        return self.wanted and max(self.wanted - self.finished - self.at_it, 0)

    @property
    def ended(self) -> bool:
        """Say whether no more raters are to come: the test is closed, or as many as wanted are
        done.
        """
        return self.closed or (self.wanted is not None and self.finished >= self.wanted)

    @property
    def refusal(self) -> NoPlaceError | None:
        """Choose what somebody who comes now is told."""
        if self.closed:
            return NoPlaceError(CLOSED, "closed")
        return NoPlaceError(FULL, "full") if self.left == 0 else None


def count(session: Session, test: Test) -> Places:
    """Count finished, active and free places."""
    raters = select(func.count()).select_from(RaterRow).where(RaterRow.test == test.name)
    finished = session.scalars(raters.where(RaterRow.outcome == "complete")).one()
    at_it = session.scalars(raters.where(RaterRow.outcome.is_(None), present())).one()
    row = session.get(TestRow, test.name)
    ended = over(test)
    return Places(test.raters, finished, at_it, ended or (row is not None and row.closed), ended)


def check_open(session: Session, test: Test) -> TestRow | None:
    """Read the test's row. Raises NoPlaceError where it is closed; until the transaction ends,
    nobody closes it, nor writes another vote of an adaptive test.
    """
    shared = test.pairing != "adaptive"
    row = session.get(TestRow, test.name, with_for_update={"read": shared})
    if over(test) or (row is not None and row.closed):
        raise NoPlaceError(CLOSED, "closed")
    return row


def over(test: Test) -> bool:
    """Say whether the time of the YAML has come."""
    return test.closes is not None and clock.now() >= clock.without_zone(test.closes)


def present() -> ColumnElement[bool]:
    """Select raters who have neither withdrawn nor been away for long."""
    return ~RaterRow.withdrawn & (RaterRow.seen > clock.now() - ABANDONED)


def counted() -> ColumnElement[bool]:
    """Select raters whose ratings are wanted, since they were not screened out."""
    return or_(RaterRow.outcome.is_(None), RaterRow.outcome == "complete")
