"""The hours in which raters finished: all that is told of times by the clock, and that by the
hour.
"""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from earshot.study.design import Test
from earshot.study.storage.tables import RaterRow


@dataclass(frozen=True)
class Finish:
    """A rater (hash), and the full hour, in UTC, in which they gave their last answer."""

    rater: str
    hour: datetime


def finishes(session: Session, test: Test) -> list[Finish]:
    """List all who have finished, the first one first."""
    of_test = select(RaterRow.id, RaterRow.seen).where(
        RaterRow.test == test.name, RaterRow.outcome == "complete"
    )
    found = session.execute(of_test.order_by(RaterRow.seen, RaterRow.id))
    return [Finish(rater, seen.replace(minute=0, second=0, microsecond=0)) for rater, seen in found]
