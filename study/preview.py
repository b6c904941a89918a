"""A whole test for its organiser to try: as it is for raters, but nothing of it is stored."""

import hmac
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from media.errors import InputError
from study.design import Answer, Test
from study.storage import answers
from study.storage.assignment import assign
from study.storage.queries import NOBODY
from study.storage.raters import Rater

BEGINS: Final = "preview-"  # of tokens
CODE: Final = "PREVIEW"
MOST: Final = 100  # that are remembered


def new_token(key: str) -> str:
    """A preview's token, which only who has the test's key can make."""
    number = secrets.token_hex(8)
    return f"{BEGINS}{number}-{_proof(key, number)}"


def is_preview(key: str, token: str | None) -> bool:
    """Whether the token is one of the test with this key."""
    number, _, proof = (token or "").removeprefix(BEGINS).partition("-")
    whole = (token or "").startswith(BEGINS)
    return whole and secrets.compare_digest(proof.encode(), _proof(key, number).encode())


class Previews:
    """Stands in for the store: keeps the last previews in memory, and forgets them."""

    def __init__(self) -> None:
        self._raters: dict[str, Rater] = {}

    def enrol(self, test: Test, token: str, panel: Mapping[str, str], language: str) -> Rater:
        """Somebody new, with a sequence."""
        del panel  # is not kept
        while len(self._raters) >= MOST:
            self._raters.pop(next(iter(self._raters)))
        # Nothing is learnt of a preview, so an adaptive test asks any pairs.
        balanced = replace(test, pairing="balanced")
        items = tuple(assign(balanced, {}, secrets.randbits(32)))
        fresh = Rater(token, token, items, frozenset(), 0, None, None, False, language=language)
        return self._raters.setdefault(token, fresh)

    def reply(self, test: Test, token: str, question: int, trials: int, reply: int | str) -> None:
        """Keeps nothing but that it was given."""
        del reply
        rater = self._taking(test, token)
        self._raters[token] = replace(rater, replied=(*rater.replied, (question, trials)))

    def draw(self, test: Test, token: str) -> None:
        """All is drawn at the beginning."""

    def resume(self, test: Test, token: str) -> Rater | None:
        """As they left; None before consent."""
        del test  # is in the token
        return self._raters.get(token)

    def headphones(
        self, test: Test, token: str, passed: bool, attempt: int = 0, last: bool = True
    ) -> bool | None:
        """The result of the check, None where it may be tried again. Nobody is screened out."""
        rater = self._taking(test, token)
        result = passed if passed or last else None
        self._raters[token] = replace(rater, attempts=attempt + 1, headphones=result)
        return result

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
        """Checks an answer, and keeps that it was given → at the end, a code that is none."""
        del milliseconds, least
        rater = self._taking(test, token)
        item = next((item for item in rater.items if item.order == order), None)
        if item is None:
            raise InputError("There is no such trial. Open the link again.")
        answers.check(test, item, answer, plays)
        rater = replace(rater, answered=rater.answered | {order})
        if rater.finished:
            rater = replace(rater, code=CODE, outcome="complete")
        self._raters[token] = rater
        return rater.code

    def withdraw(self, test: Test, token: str) -> None:
        """Forgets the preview."""
        self._raters[token] = replace(self._taking(test, token), withdrawn=True, items=())

    def _taking(self, test: Test, token: str) -> Rater:
        rater = self.resume(test, token)
        if rater is None:
            raise InputError(NOBODY)
        return rater


def _proof(key: str, number: str) -> str:
    return hmac.digest(key.encode(), f"preview {number}".encode(), "sha256").hex()[:24]
