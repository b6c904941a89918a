"""What a rater does to the tables, each within a transaction of the store's: see its methods of the
same names."""

import secrets
from collections.abc import Sequence
from typing import Final

from sqlalchemy import delete
from sqlalchemy.orm import Session

from earshot.core.errors import InputError
from earshot.study.design import Answer, Test
from earshot.study.design.model import UNDRAWN
from earshot.study.storage import answers, clock, places, queries
from earshot.study.storage.raters import item_of, rater_id
from earshot.study.storage.screening import inattentive
from earshot.study.storage.tables import ItemRow, RaterRow

TOO_SOON: Final = (
    "This answer came before its sounds can have ended. Listen to them, and answer again."
)
NO_QUESTION: Final = "There is no such question. Open the link again."
NO_CHECK: Final = "Do the check for headphones first. Open the link again."


def headphones(
    session: Session, test: Test, token: str, passed: bool, attempt: int, last: bool
) -> bool | None:
    """Keeps the result of an attempt at the headphone check → the final one, if there is one."""
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
    session: Session,
    test: Test,
    token: str,
    order: int,
    answer: Answer,
    plays: Sequence[int],
    milliseconds: int,
    least: float,
) -> str | None:
    """Keeps the answer to the item at that place → the completion code, once all is answered."""
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


def reply(
    session: Session, test: Test, token: str, question: int, trials: int, reply: int | str
) -> None:
    """Keeps the reply to one of the test's questions."""
    if not 0 <= question < len(test.questions):
        raise InputError(NO_QUESTION)
    choices = test.questions[question].said("")[1]
    chosen = isinstance(reply, int) and 0 <= reply < len(choices)
    if bool(choices) != chosen:
        raise InputError(NO_QUESTION)
    rater = queries.taking(session, test, token)
    at = {"question": question, "trials": trials}
    others = [each for each in rater.replies or [] if at.items() - each.items()]
    rater.replies = [*others, at | {"reply": reply}]


def withdraw(session: Session, test: Test, token: str) -> None:
    """Deletes the rater's sequence, answers and checks."""
    rater = session.get(RaterRow, rater_id(test, token), with_for_update=True)
    if rater is None:
        raise InputError(queries.NOBODY)
    session.execute(delete(ItemRow).where(ItemRow.rater == rater.id))
    rater.headphones, rater.attempts, rater.code = None, 0, None
    rater.outcome = rater.panel = rater.replies = None
    rater.withdrawn = True
