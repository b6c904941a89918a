"""The rater's page as routes to put into any app: /listen/TEST and what it needs."""

import logging
import math
import re
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, HTMLResponse, StreamingResponse
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict, Field

from media.errors import InputError
from study import invitations
from study.design import Item
from study.design.model import MOST_CONDITIONS
from study.library import BusyError, Library, Opened
from study.sounds import headphones
from study.sounds.copies import as_wav
from study.storage.database import UNAVAILABLE
from study.storage.raters import Rater
from study.web import rater_page
from study.web.limits import RateLimit, SmallRequest, address_of

PARTS: Final = {p.name: p for p in rater_page.PAGE.iterdir() if p.suffix in (".js", ".css")}
# Ours, or the organiser's, who may take the numbers of a panel; too long to be guessed.
TOKEN: Final = re.compile(r"[A-Za-z0-9_-]{16,128}")
WRONG_TOKEN: Final = "This link is not complete. Copy it once more, or ask whoever sent it to you."
NOBODY: Final = "Nobody with this link takes part in this test. Open it again from the beginning."
NO_SOUND: Final = "There is no such sound."
UNHEARD: Final = "Listen to every sound before you answer."
# A sound never changes at its address, which is one rater's alone.
KEEP: Final = {"Cache-Control": "private, max-age=86400, immutable"}
MOST: Final = 2**31 - 1  # of a number, for any database
MOST_PLACES: Final = MOST_CONDITIONS + 1  # of a trial, with the open reference
HEARD: Final = 1.0  # seconds of each sound in MUSHRA, as in player.js
MANY: Final = "Many people began this test from your network just now. Try again in a minute."
NOT_STORED: Final = "The server cannot store anything at the moment. Try again in a few seconds."
RETRY: Final = 2  # seconds

logger = logging.getLogger("earshot")

Token = Annotated[str, Field(max_length=128)]
Whole = Annotated[int, Field(ge=0, le=MOST)]
Wholes = Annotated[list[Whole], Field(max_length=MOST_PLACES)]


class Body(BaseModel):
    """What a request of the page holds; anything else in it is an error."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Consent(Body):
    rater: Token | None = None


class Leaving(Body):
    rater: Token


class Check(Body):
    rater: Token
    attempt: int = Field(ge=0, lt=headphones.ATTEMPTS)
    answers: list[Whole] = Field(min_length=headphones.TRIALS, max_length=headphones.TRIALS)


class Answered(Body):
    rater: Token
    order: Whole
    answer: Annotated[int, Field(ge=-MOST, le=MOST)] | Annotated[str, Field(max_length=16)] | Wholes
    plays: Wholes
    milliseconds: Whole


class Plain(APIRoute):
    """Says in a sentence what is wrong, in a request or with the store of answers, and refuses a
    request that is too long."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def plainly(request: Request) -> Response:
            try:
                return await handle(SmallRequest(request.scope, request.receive))
            except RequestValidationError as error:
                first = error.errors()[0]
                place = ".".join(str(part) for part in first["loc"][1:]) or "body"
                text = f"This request was damaged on its way ({place}: {first['msg']})."
                raise HTTPException(422, text) from error
            except UNAVAILABLE as error:
                logger.error("the store of answers failed: %s", error)
                raise HTTPException(503, NOT_STORED, {"Retry-After": str(RETRY)}) from error

        return plainly


@contextmanager
def explained(status: int) -> Iterator[None]:
    """Turns what a rater can cause into an answer that says what to do."""
    try:
        yield
    except BusyError as error:
        raise HTTPException(503, str(error), {"Retry-After": str(RETRY)}) from error
    except InputError as error:
        raise HTTPException(status, str(error)) from error


def router(library: Library) -> APIRouter:
    """The rater's routes over the tests of a library."""
    routes = APIRouter(route_class=Plain, include_in_schema=False)
    store = library.store
    newcomers = RateLimit(burst=30, per_minute=6)  # of one address: a class, then one in 10 s

    def find(test: str) -> Opened:
        with explained(404):
            return library.get(test)

    named = Depends(find)

    def taking(opened: Opened, token: str) -> Rater:
        rater = store.resume(opened.test, _token(token))
        if rater is None:
            raise HTTPException(404, NOBODY)
        return rater

    @routes.get("/study-page/{name}")
    def part(name: str) -> FileResponse:
        if name not in PARTS:
            raise HTTPException(404)
        return FileResponse(PARTS[name], headers={"Cache-Control": "no-cache"})

    @routes.get("/listen/{test}")
    def page(test: str) -> HTMLResponse:
        try:
            found = library.get(test).test
        except BusyError as error:
            return rater_page.message("One moment", str(error), 503, {"Refresh": str(RETRY)})
        except InputError as error:
            return rater_page.message("No test here", str(error), 404)
        return rater_page.html(found.title, found.language)

    @routes.get("/listen/{test}/session")
    def session(
        response: Response, rater: str | None = None, opened: Opened = named
    ) -> dict[str, Any]:
        _check_invitation(opened, rater)
        response.headers.update(rater_page.HEADERS)
        known = store.resume(opened.test, _token(rater)) if rater else None
        return rater_page.about(opened.test, known)

    @routes.post("/listen/{test}/consent")
    def consent(request: Request, body: Consent, opened: Opened = named) -> dict[str, str]:
        _check_invitation(opened, body.rater)
        token = body.rater and _token(body.rater)
        known = token and store.resume(opened.test, token)
        if not known and (wait := newcomers.take(address_of(request))):
            raise HTTPException(429, MANY, {"Retry-After": str(math.ceil(wait))})
        with explained(409):
            return {"rater": store.enrol(opened.test, token).token}

    @routes.get("/listen/{test}/sound/{order}/{place}")
    def sound(order: int, place: int, rater: str, opened: Opened = named) -> Response:
        found = opened.sounds(_item(taking(opened, rater), order))
        if not 0 <= place < len(found):
            raise HTTPException(404, NO_SOUND)
        try:
            size, blocks = as_wav(found[place].path, opened.noise(rater, order, place))
        except OSError as error:  # the test is being deleted
            raise HTTPException(404, NO_SOUND) from error
        # No type, date or tag: they might tell one system from another.
        headers = KEEP | {"Content-Length": str(size)}
        return StreamingResponse(blocks, 200, headers, "application/octet-stream")

    @routes.get("/listen/{test}/check/{trial}")
    def noises(trial: int, rater: str, opened: Opened = named) -> Response:
        taking(opened, rater)
        if not 0 <= trial < headphones.TRIALS * headphones.ATTEMPTS:
            raise HTTPException(404, NO_SOUND)
        return Response(headphones.sound(opened.key, rater, trial), 200, KEEP, "audio/wav")

    @routes.post("/listen/{test}/headphones")
    def check(body: Check, opened: Opened = named) -> dict[str, bool]:
        taking(opened, body.rater)
        passed = headphones.passed(opened.key, body.rater, body.answers, body.attempt)
        last = body.attempt + 1 == headphones.ATTEMPTS
        with explained(409):
            kept = store.headphones(opened.test, body.rater, passed, body.attempt, last)
        return {"passed": kept is True, "again": kept is None}

    @routes.post("/listen/{test}/answer")
    def answer(body: Answered, opened: Opened = named) -> dict[str, str | None]:
        """Answers only when the rater's answer is on the disk."""
        rater = taking(opened, body.rater)
        given = (body.order, body.answer, body.plays, body.milliseconds)
        with explained(422):
            if not all(body.plays):
                raise InputError(UNHEARD)
            least = library.least_time * _least_seconds(opened, rater, body.order)
            return {"code": store.answer(opened.test, body.rater, *given, least)}

    @routes.post("/listen/{test}/withdraw")
    def withdraw(body: Leaving, opened: Opened = named) -> dict[str, bool]:
        with explained(404):
            store.withdraw(opened.test, _token(body.rater))
        return {"withdrawn": True}

    return routes


def _token(text: str) -> str:
    if not TOKEN.fullmatch(text):
        raise HTTPException(404, WRONG_TOKEN)
    return text


def _check_invitation(opened: Opened, token: str | None) -> None:
    """Refuses whoever was not invited to a test that is for those who were."""
    if opened.test.invited and not invitations.is_invited(opened.key, token):
        raise HTTPException(403, invitations.NEEDED)


def _least_seconds(opened: Opened, rater: Rater, order: int) -> float:
    """How long the page plays before it takes an answer: each sound once to its end, in MUSHRA a
    second of each. 0 where there is no such trial."""
    item = next((item for item in rater.items if item.order == order), None)
    if item is None:
        return 0.0
    longest = HEARD if opened.test.design == "mushra" else math.inf
    return sum(min(copy.seconds, longest) for copy in opened.sounds(item))


def _item(rater: Rater, order: int) -> Item:
    found = next((item for item in rater.items if item.order == order), None)
    if found is None:
        raise HTTPException(404, NO_SOUND)
    return found
