"""The rater's page as routes to put into any app: /listen/TEST and what it needs."""

import math
import secrets
from functools import cache
from typing import Any, Final

from fastapi import APIRouter, Depends, HTTPException, Request, Response
from fastapi.responses import FileResponse, HTMLResponse, StreamingResponse

from earshot.core.errors import InputError
from earshot.core.http import RateLimit, address_of
from earshot.study.library import BusyError, Library, Opened
from earshot.study.preview import Previews
from earshot.study.sounds import headphones
from earshot.study.sounds.copies import as_wav
from earshot.study.storage import panel
from earshot.study.storage.answers import lesson
from earshot.study.storage.database import UNAVAILABLE
from earshot.study.web import rater_page
from earshot.study.web.bodies import Answered, Check, Consent, Leaving, Reply
from earshot.study.web.checks import NO_SOUND, check_invitation, checked, item_at, least_seconds
from earshot.study.web.plainly import RETRY, PlainErrors, explained
from earshot.study.web.raters import Raters, member

PARTS: Final = {p.name: p for p in rater_page.PAGE.iterdir() if p.suffix in (".js", ".css")}
UNHEARD: Final = "Listen to every sound before you answer."
# A sound never changes at its address, which is one rater's alone.
KEEP: Final = {"Cache-Control": "private, max-age=86400, immutable"}
MANY: Final = "Many people began this test from your network just now. Try again in a minute."


def router(library: Library) -> APIRouter:
    """The rater's routes over the tests of a library."""
    routes = APIRouter(route_class=PlainErrors, include_in_schema=False)
    store = library.store
    raters = Raters(store, cache(Previews))  # made when somebody tries a test
    newcomers = RateLimit(burst=30, per_minute=6)  # of one address: a class, then one in 10 s

    def find(test: str) -> Opened:
        with explained(404):
            return library.get(test)

    named = Depends(find)

    @routes.get("/study-page/{name}")
    def part(name: str) -> FileResponse:
        if name not in PARTS:
            raise HTTPException(404)
        return FileResponse(PARTS[name], headers={"Cache-Control": "no-cache"})

    @routes.get("/listen/{test}")
    def page(
        request: Request, test: str, rater: str | None = None, lang: str | None = None
    ) -> HTMLResponse:
        try:
            opened = library.get(test)
        except BusyError as error:
            return rater_page.message("One moment", str(error), 503, {"Refresh": str(RETRY)})
        except InputError as error:
            return rater_page.message("No test here", str(error), 404)
        return rater_page.html(opened.test, raters.language(request, opened, rater, lang))

    @routes.get("/listen/{test}/session")
    def session(
        request: Request,
        response: Response,
        rater: str | None = None,
        lang: str | None = None,
        opened: Opened = named,
    ) -> dict[str, Any]:
        check_invitation(opened, rater)
        response.headers.update(rater_page.HEADERS)
        rater = rater or member(request, opened)
        kept, test = raters.keeper(opened, rater)
        known = kept.resume(test, checked(rater)) if rater else None
        if rater and known:
            kept.draw(test, rater)
            known = raters.taking(opened, rater)
        outcome = known and known.outcome
        refusal = None if outcome else kept.places(test).refusal
        if refusal and (known is None or refusal.outcome == "closed"):
            outcome = refusal.outcome
        language = raters.language(request, opened, rater, lang)
        about = rater_page.about(test, known, language, outcome, kept is not store)
        return about | {"rater": known and rater}

    @routes.post("/listen/{test}/consent")
    def consent(request: Request, body: Consent, opened: Opened = named) -> dict[str, str]:
        token, address = body.rater and checked(body.rater), address_of(request)
        check_invitation(opened, token)
        kept, test = raters.keeper(opened, token)
        known = token and kept.resume(test, token)
        with explained(409):
            if test.panel.link and kept is store and not known:
                token = panel.token(test.panel, opened.key, body.panel)
                known = store.resume(test, token)
            if not known and (wait := newcomers.take(address)):
                raise HTTPException(429, MANY, {"Retry-After": str(math.ceil(wait))})
            said = panel.hashes(test.panel, opened.key, body.panel)
            token = token or secrets.token_urlsafe(16)
            try:
                return {"rater": kept.enrol(test, token, said, body.language).token}
            except UNAVAILABLE:  # who could not be stored may come again
                newcomers.give_back(address)
                raise

    @routes.get("/listen/{test}/sound/{order}/{place}")
    def sound(order: int, place: int, rater: str, opened: Opened = named) -> Response:
        found = opened.sounds(item_at(raters.taking(opened, rater), order))
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
        raters.taking(opened, rater)
        if not 0 <= trial < headphones.TRIALS * headphones.ATTEMPTS:
            raise HTTPException(404, NO_SOUND)
        return Response(headphones.sound(opened.key, rater, trial), 200, KEEP, "audio/wav")

    @routes.post("/listen/{test}/headphones")
    def check(body: Check, opened: Opened = named) -> dict[str, Any]:
        raters.taking(opened, body.rater)
        kept, test = raters.keeper(opened, body.rater)
        passed = headphones.passed(opened.key, body.rater, body.answers, body.attempt)
        last = body.attempt + 1 == headphones.ATTEMPTS
        attempt = (body.rater, passed, body.attempt, last)
        with explained(409):
            result = kept.headphones(test, *attempt)
        after = rater_page.ended(opened.test, raters.taking(opened, body.rater))
        return {"passed": result is True, "again": result is None} | after

    @routes.post("/listen/{test}/answer")
    def answer(body: Answered, opened: Opened = named) -> dict[str, Any]:
        """Answers only when the rater's answer is on the disk."""
        rater = raters.taking(opened, body.rater)
        kept, test = raters.keeper(opened, body.rater)
        given = (body.order, body.answer, body.plays, body.milliseconds)
        with explained(422):
            if not all(body.plays):
                raise InputError(UNHEARD)
            least = library.least_time * least_seconds(opened, rater, body.order)
            kept.answer(test, body.rater, *given, least)
        kept.draw(test, body.rater)
        rater = raters.taking(opened, body.rater)
        after = rater_page.coming(opened.test, rater, rater.language or opened.test.language)
        told = lesson(opened.test, item_at(rater, body.order), body.answer)
        return rater_page.ended(opened.test, rater) | {
            "coming": after,
            "lesson": told and vars(told),
        }

    @routes.post("/listen/{test}/reply")
    def reply(body: Reply, opened: Opened = named) -> dict[str, bool]:
        kept, test = raters.keeper(opened, body.rater)
        given = (body.question, body.trials, body.reply)
        with explained(422):
            kept.reply(test, checked(body.rater), *given)
        return {"stored": True}

    @routes.post("/listen/{test}/withdraw")
    def withdraw(body: Leaving, opened: Opened = named) -> dict[str, bool]:
        kept, test = raters.keeper(opened, body.rater)
        with explained(404):
            kept.withdraw(test, checked(body.rater))
        return {"withdrawn": True}

    return routes
