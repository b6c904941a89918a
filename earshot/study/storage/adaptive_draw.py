"""The log of an adaptive test in its tables, and the trials that are chosen from it."""

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from earshot.study.design import Item, Test
from earshot.study.design.model import UNDRAWN
from earshot.study.pairing.adaptive import AHEAD, Event, choose, side
from earshot.study.storage import queries
from earshot.study.storage.answers import rows
from earshot.study.storage.assignment import shown
from earshot.study.storage.raters import item_of
from earshot.study.storage.tables import ItemRow, RaterRow


def waiting(session: Session, rater: str) -> int | None:
    """Find the rater's next place for which no trial is chosen, if it is among those to choose
    now.
    """
    of_rater = select(ItemRow).where(ItemRow.rater == rater, ItemRow.milliseconds.is_(None))
    soon = session.scalars(of_rater.order_by(ItemRow.place).limit(AHEAD))
    return next((row.place for row in soon if row.trial == UNDRAWN), None)


def log(session: Session, test: Test) -> list[Event]:
    """Read every choice of the test, with its vote where there is one."""
    drawn = select(ItemRow).join(RaterRow, RaterRow.id == ItemRow.rater)
    drawn = drawn.where(RaterRow.test == test.name, ItemRow.drawn.is_not(None))
    return [_event(test, row) for row in session.scalars(drawn.order_by(ItemRow.drawn))]


def chosen(test: Test, past: list[Event], rater: str, place: int, knew: int) -> Item:
    """Choose what the rater is asked at that place, from what had happened before event number
    knew.
    """
    trial = choose(test, past, rater, place, knew)
    nth = sum(event.rater == rater for event in past)
    order = shown(test, trial, side(test, rater, nth), np.random.default_rng(0))
    return Item(place, trial.id, order)


def keep(session: Session, test: Test, rater: str, item: Item, knew: int) -> None:
    """Write the choice into the rater's sequence, unless another process has chosen."""
    opened = queries.opened(session, test)
    row = session.get(ItemRow, (rater, item.order))
    if row is None or row.trial != UNDRAWN:
        return
    row.trial, row.shown, row.knew, row.drawn = item.trial, [*item.shown], knew, opened.events
    opened.events += 1


def _event(test: Test, row: ItemRow) -> Event:
    first = None
    if row.answer is not None:
        first = rows(test, item_of(row), row.answer, row.plays or [])[0].answer
    assert row.knew is not None and row.drawn is not None
    return Event(row.rater, row.place, row.trial, row.knew, row.drawn, row.voted, first)
