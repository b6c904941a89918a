"""Where raters, their sequences and their answers are kept: SQLite or PostgreSQL."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from study.design import Answer, Item, Test


@dataclass(frozen=True)
class Rater:
    """Someone taking a test, as they stand now. token is the secret in their link.

    headphones: whether the check was passed, None before it. items is empty once withdrawn.
    """

    id: str
    token: str
    items: tuple[Item, ...]
    answered: frozenset[int]
    headphones: bool | None
    withdrawn: bool

    @property
    def next(self) -> Item | None:
        """The first item that is not answered; None when all are."""
        return next((item for item in self.items if item.order not in self.answered), None)

    @property
    def finished(self) -> bool:
        return bool(self.items) and self.next is None

    @property
    def code(self) -> str:
        """The completion code, to be shown once finished."""
        raise NotImplementedError


class Store:
    """Raters and answers at a URL of SQLAlchemy's: "sqlite:///answers.db",
    "postgresql+pg8000://user:password@host/database".

    Safe to share between threads and processes. Every method is one transaction, and returns when
    it is on the disk.
    """

    def __init__(self, url: str) -> None:
        """Opens the store; its tables are made, or brought up to date, first."""
        raise NotImplementedError

    def open(self, test: Test) -> str:
        """Lets raters come, and returns the key with which the organiser sees the results.

        Raises InputError where the store holds another test of that name.
        """
        raise NotImplementedError

    def enrol(self, test: Test, token: str | None = None) -> Rater:
        """The rater with this token: as they left, or new, with a sequence of their own.

        To be called once the rater has agreed to take part. A token is made where none is given.
        """
        raise NotImplementedError

    def resume(self, test: Test, token: str) -> Rater | None:
        """The rater with this token as they left; None if nobody has it."""
        raise NotImplementedError

    def headphones(self, test: Test, token: str, passed: bool) -> None:
        """Keeps the result of the headphone check."""
        raise NotImplementedError

    def answer(
        self,
        test: Test,
        token: str,
        order: int,
        answer: Answer,
        plays: Sequence[int],
        milliseconds: int,
    ) -> None:
        """Keeps the answer to the item at that place; given again, it replaces the first.

        plays: how often each position was played, then the open reference where there is one.
        Raises InputError for an unknown rater or place, or an answer that is not on the scale.
        """
        raise NotImplementedError

    def withdraw(self, test: Test, token: str) -> None:
        """Deletes the rater's sequence, answers and checks; only that someone withdrew is kept."""
        raise NotImplementedError

    def ratings(self, test: Test) -> pd.DataFrame:
        """The tidy table, a row a rating (in mushra a row a condition), with these columns:

        test; rater (hash); trial (its id); order (place in the rater's sequence); position (of
        system on the screen, 0 is left or A); system; other (what it was compared with, or "");
        stimulus; answer (see study.answers.rows); kind; expected (float or NaN); plays;
        milliseconds; headphones (True, False or NA); finished (bool); started (ISO day).
        """
        raise NotImplementedError
