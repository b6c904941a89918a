"""Raters as the tables know them."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

from sqlalchemy import select
from sqlalchemy.orm import Session

from earshot.study.design import Item, Test
from earshot.study.design.panel import Outcome
from earshot.study.storage.tables import ItemRow, RaterRow

SIMULATED = "simulated-"  # how tokens of made-up raters begin, and their ids


@dataclass(frozen=True)
class Rater:
    """A person taking a test, as they stand now. token is the secret in their link.

    attempts: headphone checks so far; headphones: whether it was passed, None before the last.
    rooms, environment: the same of the test of their room. code: the completion code, None until
    all is answered; outcome: how it ended, None before. items is empty once withdrawn. replied: to
    which questions, and after how many trials. versions: how often each item was answered, by its
    order. claim: see RaterRow.
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

    @property
    def next(self) -> Item | None:
        """Find the first item that is not answered; None when all are."""
        return next((item for item in self.items if item.order not in self.answered), None)

    @property
    def finished(self) -> bool:
        return bool(self.items) and self.next is None


def rater_id(test: Test, token: str) -> str:
    """Hash a token as it is stored: nobody gets from this to the link, nor from test to test.
    Raters who are made up (earshot.study.simulation) are called so.
    """
    if token.startswith(SIMULATED):
        return token
    return hashlib.sha256(f"{test.name}/{token}".encode()).hexdigest()[:32]


def read(session: Session, row: RaterRow, token: str) -> Rater:
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
    )


def item_of(row: ItemRow) -> Item:
    """Read the item of the row."""
    return Item(row.place, row.trial, tuple(row.shown))
