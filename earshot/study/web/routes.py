"""The rater's page as routes to put into any app: /listen/TEST and what it needs."""

import math
import secrets
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache, partial, wraps
from typing import Any, Final
from weakref import WeakValueDictionary

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, Depends, HTTPException, Request, Response
from fastapi.responses import FileResponse, HTMLResponse, StreamingResponse

from earshot.core.errors import InputError
from earshot.core.limits import RateLimit, address_of
from earshot.study.library import BusyError, Opened, TestLibrary
from earshot.study.preview import Previews
from earshot.study.publishing import published
from earshot.study.sounds import checks
from earshot.study.sounds.copies import UNREADABLE, as_wav
from earshot.study.storage import panel
from earshot.study.storage.answers import lesson
from earshot.study.storage.database import UNAVAILABLE
from earshot.study.web import rater_page
from earshot.study.web.bodies import (
    Answered,
    Check,
    Consent,
    Leaving,
    Missing,
    Reply,
    RoomCheck,
)
from earshot.study.web.checks import NO_SOUND, check_invitation, checked, item_at, min_seconds
from earshot.study.web.plainly import RETRY, PlainErrors, explained
from earshot.study.web.raters import BEGUN, Raters, claimed

PARTS: Final = {p.name: p for p in rater_page.PAGE.iterdir() if p.suffix in (".js", ".css")}
UNHEARD: Final = "Listen to every sound before you answer."
# A sound never changes at its address, which is one rater's alone.
KEEP: Final = {"Cache-Control": "private, max-age=86400, immutable"}
MAX_DRAWING: Final = 2  # requests of a test that draw trials, one of them while another is stored
MAX_SENDING: Final = 4  # blocks of sounds to one address that are made at a time


def router(library: TestLibrary) -> APIRouter:
    """Make the rater's routes over the tests of a library."""
    routes = APIRouter(route_class=PlainErrors, include_in_schema=False)
    store = library.store
    raters = Raters(store, cache(Previews))  # made when somebody tries a test
    newcomers, visits = RateLimit.of("raters"), RateLimit.of("visits")
    listening: WeakValueDictionary[str, CapacityLimiter] = WeakValueDictionary()  # by address
    lines: WeakValueDictionary[str, CapacityLimiter] = WeakValueDictionary()  # by test

    def find(test: str) -> Opened:
        with explained(404):
            return library.get(test)

    named = Depends(find)

    def drawing(handle: Callable[..., Any], of_all: bool = False) -> Callable[..., Any]:
        """Let requests that draw trials, of all tests or of adaptive ones, wait in a line of their
        test: in the threads they would hold up the raters of other tests."""

        @wraps(handle)
        async def waiting(opened: Opened, **given: Any) -> Any:
            line = lines.setdefault(opened.test.name, CapacityLimiter(MAX_DRAWING))
            draws = of_all or opened.test.pairing == "adaptive"
            what = partial(handle, opened=opened, **given)
            return await to_thread.run_sync(what, limiter=line if draws else None)

        return waiting

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
    @drawing
    def session(
        request: Request,
        response: Response,
        rater: str | None = None,
        lang: str | None = None,
        claim: str | None = None,
        first: bool = False,
        opened: Opened = named,
    ) -> dict[str, Any]:
        check_invitation(opened, rater)
        response.headers.update(rater_page.HEADERS)
        said, asked_by = dict(request.query_params), opened.test.panel
        if not rater and asked_by.link and said.get(asked_by.link[0]):
            signed = asked_by.signed and said.get(asked_by.signed.name)
            with explained(409):
                token, member = raters.member(opened, said, signed, claim)
            rater = token if member else None
        kept, test = raters.store_for(opened, rater)
        known = kept.resume(test, checked(rater)) if rater else None
        if first and known is None and kept is store and not visits.take(address_of(request)):
            with suppress(*UNAVAILABLE):  # raters matter more than that they are counted
                store.visit(test)
        if rater and known:
            kept.draw(test, rater)
            known = raters.rater(opened, rater)
        outcome = known and ("withdrawn" if known.withdrawn else known.outcome)
        refusal = None if outcome else kept.places(test).refusal
        if refusal and (known is None or refusal.outcome == "closed"):
            outcome = refusal.outcome
        language = raters.language(request, opened, rater, lang)
        about = rater_page.about(
            test,
            known,
            language,
            outcome,
            preview=kept is not store,
            visitors=published(opened.test.name, library),
            public=opened.public,
        )
        return about | {"rater": known and rater}

    @routes.post("/listen/{test}/consent")
    @partial(drawing, of_all=True)
    def consent(request: Request, body: Consent, opened: Opened = named) -> dict[str, str]:
        token, address = body.rater and checked(body.rater), address_of(request)
        check_invitation(opened, token)
        kept, test = raters.store_for(opened, token)
        known = token and kept.resume(test, token)
        said: Mapping[str, str] = body.panel
        with explained(409):
            if test.panel.link and kept is store and not known:
                token, known = raters.member(opened, said, body.signed, body.claim)
                said = panel.signed(test.panel, body.signed) if test.panel.signed else said
            if not known and (wait := newcomers.take(address)):
                raise HTTPException(429, newcomers.refusal, {"Retry-After": str(math.ceil(wait))})
            hashes = panel.hashes(test.panel, opened.key, said)
            token, claim = token or secrets.token_urlsafe(16), claimed(opened, body.claim) or None
            try:
                new = kept.enrol(test, token, hashes, body.language, body.device, claim)
            except UNAVAILABLE:  # whoever could not be stored may come again
                newcomers.give_back(address)
                raise
            member = test.panel.link and kept is store and not known
            if member and not test.panel.signed and new.claim != claim:
                raise InputError(BEGUN)  # by another browser, in the same moment
            return {"rater": new.token}

    @routes.get("/listen/{test}/sound/{order}/{place}")
    def sound(
        request: Request, order: int, place: int, rater: str, opened: Opened = named
    ) -> Response:
        found = opened.sounds(item_at(raters.rater(opened, rater), order))
        if not 0 <= place < len(found):
            raise HTTPException(404, NO_SOUND)
        try:
            size, blocks = as_wav(found[place].path, opened.noise(rater, order, place))
        except UNREADABLE as error:  # the test is being deleted, or its copies are
            raise HTTPException(404, NO_SOUND) from error
        # No type, date or tag: they might tell one system from another.
        headers = KEEP | {"Content-Length": str(size)}
        line = listening.setdefault(address_of(request), CapacityLimiter(MAX_SENDING))
        return StreamingResponse(_sent(blocks, line), 200, headers, "application/octet-stream")

    @routes.post("/listen/{test}/missing")
    @drawing
    def missing(body: Missing, opened: Opened = named) -> dict[str, Any]:
        """Let a rater go on to whom a sound does not come."""
        found = opened.sounds(item_at(raters.rater(opened, body.rater), body.order))
        if body.place >= len(found):
            raise HTTPException(404, NO_SOUND)
        kept, test = raters.store_for(opened, body.rater)
        with explained(422):
            kept.skip(test, body.rater, body.order, body.place, there=found[body.place].whole())
        return after(opened, body.rater)

    def after(opened: Opened, token: str) -> dict[str, Any]:
        """Tell how it stands after an item: the end, or what comes next in an adaptive test."""
        kept, test = raters.store_for(opened, token)
        kept.draw(test, token)
        rater = raters.rater(opened, token)
        coming = rater_page.coming(opened.test, rater, rater.language or opened.test.language)
        return rater_page.ended(opened.test, rater) | {"coming": coming}

    @routes.get("/listen/{test}/check/{trial}")
    def noises(trial: int, rater: str, opened: Opened = named) -> Response:
        raters.rater(opened, rater)
        if not 0 <= trial < checks.HEADPHONE_TRIALS * checks.MAX_ATTEMPTS:
            raise HTTPException(404, NO_SOUND)
        return Response(checks.headphone_sound(opened.key, rater, trial), 200, KEEP, "audio/wav")

    @routes.post("/listen/{test}/headphones")
    def check(body: Check, opened: Opened = named) -> dict[str, Any]:
        raters.rater(opened, body.rater)
        kept, test = raters.store_for(opened, body.rater)
        passed = checks.headphones_passed(opened.key, body.rater, body.answers, body.attempt)
        last = body.attempt + 1 == checks.MAX_ATTEMPTS or body.loudspeakers
        attempt = (body.rater, passed, body.attempt, last)
        with explained(409):
            result = kept.headphones(test, *attempt)
        ended = rater_page.ended(opened.test, raters.rater(opened, body.rater))
        return {"passed": result is True, "again": result is None} | ended

    @routes.get("/listen/{test}/room/{trial}")
    def hisses(trial: int, rater: str, opened: Opened = named) -> Response:
        raters.rater(opened, rater)
        room = opened.test.environment
        if room is None or not 0 <= trial < room.pairs * checks.MAX_ATTEMPTS:
            raise HTTPException(404, NO_SOUND)
        return Response(checks.room_sound(opened.key, rater, trial), 200, KEEP, "audio/wav")

    @routes.post("/listen/{test}/environment")
    def check_room(body: RoomCheck, opened: Opened = named) -> dict[str, Any]:
        raters.rater(opened, body.rater)
        kept, test = raters.store_for(opened, body.rater)
        room = test.environment
        if room is None or len(body.answers) != room.pairs:
            raise HTTPException(422, NO_SOUND)
        passed = checks.room_passed(opened.key, body.rater, body.answers, room, body.attempt)
        last = body.attempt + 1 == checks.MAX_ATTEMPTS
        with explained(409):
            result = kept.environment(test, body.rater, passed, body.attempt, last)
        ended = rater_page.ended(opened.test, raters.rater(opened, body.rater))
        return {"passed": result is True, "again": result is None} | ended

    @routes.post("/listen/{test}/answer")
    @drawing
    def answer(body: Answered, opened: Opened = named) -> dict[str, Any]:
        """Keep an answer; the reply comes only when the answer is on the disk."""
        rater = raters.rater(opened, body.rater)
        kept, test = raters.store_for(opened, body.rater)
        given = (body.order, body.answer, body.plays, body.milliseconds)
        with explained(422):
            if not all(body.plays):
                raise InputError(UNHEARD)
            least = library.min_time * min_seconds(opened, rater, body.order)
            kept.answer(test, body.rater, *given, least, body.version)
        told = lesson(opened.test, item_at(rater, body.order), body.answer)
        return after(opened, body.rater) | {"lesson": told and vars(told)}

    @routes.post("/listen/{test}/reply")
    def reply(body: Reply, opened: Opened = named) -> dict[str, bool]:
        kept, test = raters.store_for(opened, body.rater)
        given = (body.question, body.trials, body.reply)
        with explained(422):
            kept.reply(test, checked(body.rater), *given)
        return {"stored": True}

    @routes.post("/listen/{test}/withdraw")
    def withdraw(body: Leaving, opened: Opened = named) -> dict[str, Any]:
        kept, test = raters.store_for(opened, body.rater)
        with explained(404):
            kept.withdraw(test, checked(body.rater))
        return {"withdrawn": True} | rater_page.ended(opened.test, None, "withdrawn")

    return routes


async def _sent(blocks: Iterator[bytes], line: CapacityLimiter) -> AsyncIterator[bytes]:
    """Make one block after the other in threads of the line."""
    while block := await to_thread.run_sync(next, blocks, b"", limiter=line):
        yield block
