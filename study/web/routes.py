"""The rater's page as routes to put into any app: /listen/TEST and what it needs."""

import re
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, HTMLResponse
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict, Field

from media.errors import InputError
from study.design import Item
from study.library import Library, Opened
from study.sounds import headphones
from study.storage.raters import Rater
from study.web import rater_page

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


class Body(BaseModel):
    """What a request of the page holds; anything else in it is an error."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Consent(Body):
    rater: str | None = None


class Leaving(Body):
    rater: str


class Check(Body):
    rater: str
    attempt: int = Field(ge=0, lt=headphones.ATTEMPTS)
    answers: list[int] = Field(min_length=headphones.TRIALS, max_length=headphones.TRIALS)


class Answered(Body):
    rater: str
    order: int = Field(ge=0, le=MOST)
    answer: int | str | list[int]
    plays: list[Annotated[int, Field(ge=0, le=MOST)]]
    milliseconds: int = Field(ge=0, le=MOST)


class Plain(APIRoute):
    """Says in a sentence what is wrong in a request."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def plainly(request: Request) -> Response:
            try:
                return await handle(request)
            except RequestValidationError as error:
                first = error.errors()[0]
                place = ".".join(str(part) for part in first["loc"][1:]) or "body"
                text = f"This request was damaged on its way ({place}: {first['msg']})."
                raise HTTPException(422, text) from error

        return plainly


@contextmanager
def explained(status: int) -> Iterator[None]:
    """Turns what a rater can cause into an answer that says what to do."""
    try:
        yield
    except InputError as error:
        raise HTTPException(status, str(error)) from error


def router(library: Library) -> APIRouter:
    """The rater's routes over the tests of a library."""
    routes = APIRouter(route_class=Plain, include_in_schema=False)
    store = library.store

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
        except InputError as error:
            return rater_page.message("No test here", str(error), 404)
        return rater_page.html(found.title, found.language)

    @routes.get("/listen/{test}/session")
    def session(
        response: Response, rater: str | None = None, opened: Opened = named
    ) -> dict[str, Any]:
        response.headers.update(rater_page.HEADERS)
        known = store.resume(opened.test, _token(rater)) if rater else None
        return rater_page.about(opened.test, known)

    @routes.post("/listen/{test}/consent")
    def consent(body: Consent, opened: Opened = named) -> dict[str, str]:
        token = body.rater and _token(body.rater)
        return {"rater": store.enrol(opened.test, token).token}

    @routes.get("/listen/{test}/sound/{order}/{place}")
    def sound(order: int, place: int, rater: str, opened: Opened = named) -> Response:
        files = rater_page.sounds(opened.test, _item(taking(opened, rater), order))
        if not 0 <= place < len(files):
            raise HTTPException(404, NO_SOUND)
        # No type, date or tag: they might tell one system from another.
        return Response(files[place].read_bytes(), 200, KEEP, "application/octet-stream")

    @routes.get("/listen/{test}/check/{trial}")
    def noises(trial: int, rater: str, opened: Opened = named) -> Response:
        taking(opened, rater)
        if not 0 <= trial < headphones.TRIALS * headphones.ATTEMPTS:
            raise HTTPException(404, NO_SOUND)
        return Response(headphones.sound(rater, trial), 200, KEEP, "audio/wav")

    @routes.post("/listen/{test}/headphones")
    def check(body: Check, opened: Opened = named) -> dict[str, bool]:
        taking(opened, body.rater)
        passed = headphones.passed(body.rater, body.answers, body.attempt)
        again = not passed and body.attempt + 1 < headphones.ATTEMPTS
        if not again:
            store.headphones(opened.test, body.rater, passed)
        return {"passed": passed, "again": again}

    @routes.post("/listen/{test}/answer")
    def answer(body: Answered, opened: Opened = named) -> dict[str, str | None]:
        """Answers only when the rater's answer is on the disk."""
        rater = taking(opened, body.rater)
        given = (body.order, body.answer, body.plays, body.milliseconds)
        with explained(422):
            if not all(body.plays):
                raise InputError(UNHEARD)
            store.answer(opened.test, body.rater, *given)
        done = {item.order for item in rater.items} == rater.answered | {body.order}
        return {"code": rater.code if done else None}

    @routes.post("/listen/{test}/withdraw")
    def withdraw(body: Leaving, opened: Opened = named) -> dict[str, bool]:
        taking(opened, body.rater)
        store.withdraw(opened.test, body.rater)
        return {"withdrawn": True}

    return routes


def _token(text: str) -> str:
    if not TOKEN.fullmatch(text):
        raise HTTPException(404, WRONG_TOKEN)
    return text


def _item(rater: Rater, order: int) -> Item:
    found = next((item for item in rater.items if item.order == order), None)
    if found is None:
        raise HTTPException(404, NO_SOUND)
    return found
