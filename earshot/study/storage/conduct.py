"""The conduct of a test: what became of everybody who came, in which hours they finished, and how
often its results were looked at.
"""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from earshot.study.design import Test
from earshot.study.storage.tables import RaterRow, TestRow


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
    """A rater (hash), and the full hour, in UTC, in which they gave their last answer: all that is
    told of times by the clock.
    """

    rater: str
    hour: datetime


def conduct(session: Session, test: Test) -> Conduct:
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


def finishes(session: Session, test: Test) -> list[Finish]:
    """List all who have finished, the first one first."""
    of_test = select(RaterRow.id, RaterRow.seen).where(
        RaterRow.test == test.name, RaterRow.outcome == "complete"
    )
    found = session.execute(of_test.order_by(RaterRow.seen, RaterRow.id))
    return [Finish(rater, seen.replace(minute=0, second=0, microsecond=0)) for rater, seen in found]
