"""A request of a rater: who asks and which store has what they do, what is checked before it is
answered, and errors as sentences that explain what to do.
"""

import logging
import math
import re
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final

from fastapi import HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute

from earshot.core.errors import InputError
from earshot.core.http import SmallRequest
from earshot.study import rater_links
from earshot.study.design import Item, Test
from earshot.study.library import BusyError, Opened
from earshot.study.rater_links import is_gap
from earshot.study.storage.database import MEMORY, UNAVAILABLE
from earshot.study.storage.raters import SIMULATED, NoPlaceError, Rater
from earshot.study.storage.store import StaleAnswerError, Store
from earshot.study.web import rater_page
from earshot.study.web.rater_page import own_languages

BEGUN: Final = (
    "You began this test in another browser, or on another device: go on there. Nobody gets your "
    "answers to go on with for your number alone."
)
MAX_PREVIEWERS: Final = 20  # of a test, then all are forgotten
NOBODY: Final = "Nobody with this link takes part in this test. Open it again from the beginning."
# Ours, or the organiser's, who may take the numbers of a panel; too long to be guessed.
TOKEN_FORM: Final = re.compile(r"[A-Za-z0-9_-]{16,128}")
WRONG_TOKEN: Final = "This link is not complete. Copy it once more, or ask whoever sent it to you."
NO_SOUND: Final = "There is no such sound."
MUSHRA_SECONDS: Final = 1.0  # seconds of each sound in MUSHRA, as in player.js
NOT_STORED: Final = "The server cannot store anything at the moment. Try again in a few seconds."
RETRY_SECONDS: Final = 2  # seconds
logger = logging.getLogger("earshot")


def previewed(opened: Opened) -> Test:
    """Change the test to one that a preview takes: never full or closed, and called by its key and
    its trials, for a test that is opened later may have its name, and one that is changed its key.
    """
    name = f"{opened.key}-{opened.test.fingerprint}"
    return replace(opened.test, name=name, raters=None, closes=None)


class Previews(Store):
    """A store in memory, which forgets."""

    def __init__(self) -> None:
        super().__init__(MEMORY)
        self._enrolling = threading.Lock()

    def enrol(self, test: Test, *about: Any, **more: Any) -> Rater:
        """Enrol a rater as Store.enrol does."""
        with self._enrolling:  # or two who come first would delete each other
            if not 0 < self.raters(test.name) < MAX_PREVIEWERS:
                self.delete(test.name)
                self.open(test)
            return super().enrol(test, *about, **more)


class RaterSessions:
    """The raters of all tests. Those who only try a test are kept apart."""

    def __init__(self, store: Store, previews: Callable[[], Previews]) -> None:
        """Keep the stores. previews: keeps what is done on trial."""
        self._store, self._previews = store, previews

    def store_for(self, opened: Opened, token: str | None) -> tuple[Store, Test]:
        """Choose the store of what the rater does, and the test as they take it."""
        if rater_links.is_preview(opened.key, token):
            return self._previews(), previewed(opened)
        return self._store, opened.test

    def rater(self, opened: Opened, token: str) -> Rater:
        """Find the rater. Raises HTTPException where nobody has this token."""
        store, test = self.store_for(opened, token)
        rater = store.resume(test, check_token(token))
        if rater is None:
            raise HTTPException(404, NOBODY)
        return rater

    def item(self, opened: Opened, token: str, order: int) -> Item | None:
        """Read what the rater is asked at that place, without the rest of their sequence: None
        where that is nothing. Raises HTTPException where nobody has this token.
        """
        store, test = self.store_for(opened, token)
        try:
            return store.item(test, check_token(token), order)
        except LookupError as error:
            raise HTTPException(404, NOBODY) from error

    def member(
        self, opened: Opened, values: Mapping[str, str], signed: str | None, claim: str | None
    ) -> tuple[str, Rater | None]:
        """Find the token of a member who comes by a panel's link, which does not hold it, and the
        rater: None for a newcomer.

        values, signed: what the link holds, and what the panel has signed of it; claim: the secret
        of the browser. Raises InputError where the link is no member's, and for a member who began
        elsewhere: a number proves nothing, for others may know it.
        """
        of_test = opened.test.panel
        proved = rater_links.signed_values(of_test, signed) if of_test.signed else values
        token = rater_links.panel_token(of_test, opened.key, proved)
        rater = self._store.resume(opened.test, token)
        if rater and not of_test.signed and rater.claim != claimed(opened, claim):
            raise InputError(BEGUN)
        return token, rater

    def language(
        self, request: Request, opened: Opened, token: str | None, wish: str | None
    ) -> str:
        """Choose the rater's language: the one in which they agreed, else the one to show them."""
        rater = None
        if token and TOKEN_FORM.fullmatch(token):
            store, test = self.store_for(opened, token)
            rater = store.resume(test, token)
        if rater and rater.language:
            return rater.language
        accepted = request.headers.get("accept-language", "")
        return rater_page.choose_language(
            wish, accepted, own_languages(opened.test), opened.test.language
        )


def claimed(opened: Opened, claim: str | None) -> str:
    """Hash the secret of a browser; what no rater has where there is none."""
    return rater_links.keyed_hash(opened.key, "claim", claim) if claim else ""


def check_token(token: str) -> str:
    """Check that a token can be a rater's. Raises HTTPException (404) where it cannot."""
    if not TOKEN_FORM.fullmatch(token) or token.startswith(SIMULATED) or is_gap(token):
        raise HTTPException(404, WRONG_TOKEN)
    return token


def check_invitation(opened: Opened, token: str | None) -> None:
    """Refuse a rater who was not invited to a test that is for those who were, its organiser
    apart.
    """
    welcome = rater_links.is_preview(opened.key, token) or rater_links.is_invited(opened.key, token)
    if opened.test.invited and not welcome:
        raise HTTPException(403, rater_links.INVITED_ONLY)


def min_seconds(opened: Opened, item: Item) -> float:
    """Compute how long the page plays before it takes an answer: each sound once to its end, in
    MUSHRA, and where levels are set, a second of each.
    """
    design = opened.test.design
    longest = MUSHRA_SECONDS if design.switched or design.scale.adjusted else math.inf
    return sum(min(copy.seconds, longest) for copy in opened.sounds(item))


class SentenceErrors(APIRoute):
    """A route that explains in a sentence what is wrong, in a request or with the store of answers,
    and refuses a request that is too long.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def plainly(request: Request) -> Response:
            try:
                return await handle(SmallRequest(request.scope, request.receive))
            except RequestValidationError as error:
                raise HTTPException(422, describe_damage(error)) from error
            except UNAVAILABLE as error:
                logger.error("the store of answers failed: %s", error)
                raise HTTPException(503, NOT_STORED, {"Retry-After": str(RETRY_SECONDS)}) from error

        return plainly


def describe_damage(error: RequestValidationError) -> str:
    """Describe what is wrong with a request. Its first mistake is named in ASCII, for a name in it
    may hold half a character, which no reply can.
    """
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"][1:]) or "body"
    named = f"{place}: {first['msg']}".encode("ascii", "backslashreplace").decode()
    return f"This request was damaged on its way ({named})."


async def refuse_damaged(_: Request, error: RequestValidationError) -> JSONResponse:
    """Refuse a damaged request in place of FastAPI's own reply, which repeats the request: that
    fails where it holds NaN or half a character.
    """
    return JSONResponse({"detail": describe_damage(error)}, 422)


@contextmanager
def explain_errors(status: int) -> Iterator[None]:
    """Turn what a rater can cause into an answer that explains what to do."""
    try:
        yield
    except BusyError as error:
        raise HTTPException(503, str(error), {"Retry-After": str(RETRY_SECONDS)}) from error
    except StaleAnswerError as error:
        raise HTTPException(409, str(error)) from error
    except NoPlaceError as error:  # the page asks anew how the test stands
        raise HTTPException(410, str(error)) from error
    except InputError as error:
        raise HTTPException(status, str(error)) from error
