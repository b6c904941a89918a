"""The rater's page as routes to put into any app, /listen/TEST and what it needs, with the bodies
of its requests.

More than 400 lines, for the routes share what they know of raters and lines, and a body is read
next to the route that takes it.
"""

import math
import secrets
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial, wraps
from inspect import Parameter, signature
from os import fstat
from typing import Annotated, Any, BinaryIO, Final, TypeVar
from weakref import WeakValueDictionary

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import FileResponse, HTMLResponse, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from earshot.core.errors import InputError
from earshot.core.limits import RateLimit, address_of
from earshot.study import rater_links
from earshot.study.design import Item, Test
from earshot.study.design.designs import MAX_CONDITIONS
from earshot.study.design.raters import MAX_CHARACTERS, MAX_NAMES, MAX_PAIRS
from earshot.study.design.scales import MAX_COMMENT, MAX_SCALES, MAX_SENTENCE
from earshot.study.library import BusyError, Opened, TestLibrary
from earshot.study.publishing import published
from earshot.study.sounds import checks
from earshot.study.sounds.copies import UNREADABLE, as_wav
from earshot.study.storage.answers import lesson
from earshot.study.storage.database import UNAVAILABLE
from earshot.study.storage.store import Store
from earshot.study.web import rater_page
from earshot.study.web.rater_requests import (
    BEGUN,
    NO_SOUND,
    RETRY_SECONDS,
    Previews,
    RaterSessions,
    SentenceErrors,
    check_invitation,
    check_token,
    claimed,
    explain_errors,
    min_seconds,
)

T = TypeVar("T")
PARTS: Final = {p.name: p for p in rater_page.PAGE.iterdir() if p.suffix in (".js", ".css")}
UNHEARD: Final = "Listen to every sound before you answer."
# A sound never changes at its address, which is one rater's alone.
KEEP_FOREVER: Final = {"Cache-Control": "private, max-age=86400, immutable"}
MAX_DRAWING: Final = 2  # requests of a test that draw trials, one of them while another is stored
MAX_SENDING: Final = 4  # blocks of sounds to one address that are made at a time
FILE_BLOCK: Final = 2**18  # bytes of a picture that are read at once
MAX_NUMBER: Final = 2**31 - 1  # of a number, for any database
MAX_TOKEN: Final = 4000  # characters of what a panel signs
MAX_ANSWERS: Final = MAX_SCALES + 2  # of a trial, with faults and a comment
MAX_PLACES: Final = MAX_CONDITIONS + 1  # of a trial, with the open reference
Token = Annotated[str, Field(max_length=128)]
Whole = Annotated[int, Field(ge=0, le=MAX_NUMBER)]
Counted = Annotated[int, Field(ge=0, le=10_000)]  # of what happens to a device in one trial
Wholes = Annotated[list[Whole], Field(max_length=MAX_PLACES)]
Name = Annotated[str, Field(max_length=40)]
ScaleAnswer = (  # to one of several scales, or what was written
    Annotated[int, Field(ge=-MAX_NUMBER, le=MAX_NUMBER)]
    | Annotated[str, Field(max_length=max(MAX_COMMENT, MAX_SENTENCE))]
    | Wholes
)
Claim = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{16,64}$")]  # of a browser, random
LinkValue = Annotated[str, Field(max_length=200)]  # by a panel's link
# By the name of a test and the arguments of a handler: the line in which the request waits.
Line = Callable[[str, Mapping[str, Any]], CapacityLimiter | None]


def router(library: TestLibrary) -> APIRouter:
    """Make the rater's routes over the tests of a library."""
    routes = APIRouter(route_class=SentenceErrors, include_in_schema=False)
    store = library.store
    raters = RaterSessions(store, cache(Previews))  # made when a test is first tried
    newcomers, visits = RateLimit.of("raters"), RateLimit.of("visits")
    listening: WeakValueDictionary[str, CapacityLimiter] = WeakValueDictionary()  # by address
    lines: WeakValueDictionary[str, CapacityLimiter] = WeakValueDictionary()  # by test

    def on_test(handle: Callable[..., Any], line: Line = lambda *_: None) -> Callable[..., Any]:
        """Give a handler the test that a request names, in the one thread where all of it is done:
        on a busy server a request waits anew for each thread that it goes through.

        line: the line in which the request waits, if not with all others, by the test's name and
        the other arguments.
        """

        def run(test: str, arguments: Mapping[str, Any]) -> Any:
            with explain_errors(404):
                opened = library.get(test)
            return handle(opened=opened, **arguments)

        @wraps(handle)
        async def handled(test: str, **arguments: Any) -> Any:
            return await to_thread.run_sync(run, test, arguments, limiter=line(test, arguments))

        name = Parameter("test", Parameter.KEYWORD_ONLY, annotation=str)
        taken = signature(handle)
        others = [each for each in taken.parameters.values() if each.name != "opened"]
        handled.__signature__ = taken.replace(parameters=[*others, name])  # type: ignore[attr-defined]
        return handled

    def of_test(test: str, _: Mapping[str, Any]) -> CapacityLimiter:
        """Requests that draw trials wait in a line of their test: in the threads of all they would
        hold up the raters of other tests."""
        return lines.setdefault(test, CapacityLimiter(MAX_DRAWING))

    def of_draws(test: str, arguments: Mapping[str, Any]) -> CapacityLimiter | None:
        """These draw trials where the test is an adaptive one, or not known yet."""
        opened = library.in_memory(test)
        return None if opened and not opened.test.draws_late else of_test(test, arguments)

    def of_address(_: str, arguments: Mapping[str, Any]) -> CapacityLimiter:
        """What is heard or seen is made in a line of the address that asks for it."""
        address = address_of(arguments["request"])
        return listening.setdefault(address, CapacityLimiter(MAX_SENDING))

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
            return rater_page.message(
                "One moment", str(error), 503, {"Refresh": str(RETRY_SECONDS)}
            )
        except InputError as error:
            return rater_page.message("No test here", str(error), 404)
        return rater_page.page(opened.test, raters.language(request, opened, rater, lang))

    @routes.get("/listen/{test}/session")
    @partial(on_test, line=of_draws)
    def session(
        opened: Opened,
        request: Request,
        response: Response,
        rater: str | None = None,
        lang: str | None = None,
        claim: str | None = None,
        first: bool = False,
    ) -> dict[str, Any]:
        check_invitation(opened, rater)
        response.headers.update(rater_page.HEADERS)
        query, asked_by = dict(request.query_params), opened.test.panel
        if not rater and asked_by.link and query.get(asked_by.link[0]):
            signed = query.get(asked_by.signed.name) if asked_by.signed else None
            with explain_errors(409):
                token, member = raters.member(opened, query, signed, claim)
            rater = token if member else None
        own_store, test = raters.store_for(opened, rater)
        known_rater = own_store.resume(test, check_token(rater)) if rater else None
        new = first and known_rater is None and own_store is store
        if new and not visits.take(address_of(request)):
            with suppress(*UNAVAILABLE):  # raters matter more than that they are counted
                store.visit(test)
        if rater and known_rater:
            own_store.draw(test, rater)
            known_rater = raters.rater(opened, rater)
        outcome = None
        if known_rater:
            outcome = "withdrawn" if known_rater.withdrawn else known_rater.outcome
        refusal = None if outcome else own_store.places(test).refusal
        if refusal and (known_rater is None or refusal.outcome == "closed"):
            outcome = refusal.outcome
        language = raters.language(request, opened, rater, lang)
        about = rater_page.about(
            test,
            opened,
            known_rater,
            language,
            outcome,
            preview=own_store is not store,
            visitors=published(opened.test.name, library),
            public=opened.public,
        )
        return about | {"rater": known_rater and rater}

    @routes.post("/listen/{test}/consent")
    @partial(on_test, line=of_test)
    def consent(opened: Opened, request: Request, body: Consent) -> dict[str, str]:
        token, address = body.rater and check_token(body.rater), address_of(request)
        check_invitation(opened, token)
        own_store, test = raters.store_for(opened, token)
        known_rater = token and own_store.resume(test, token)
        values: Mapping[str, str] = body.panel
        with explain_errors(409):
            if test.panel.link and own_store is store and not known_rater:
                token, known_rater = raters.member(opened, values, body.signed, body.claim)
                if test.panel.signed:
                    values = rater_links.signed_values(test.panel, body.signed)
            if not known_rater and (wait := newcomers.take(address)):
                raise HTTPException(429, newcomers.refusal, {"Retry-After": str(math.ceil(wait))})
            hashes = rater_links.panel_hashes(test.panel, opened.key, values)
            token, claim = token or secrets.token_urlsafe(16), claimed(opened, body.claim) or None
            try:
                new = own_store.enrol(test, token, hashes, body.language, body.device, claim)
            except UNAVAILABLE:  # a rater who could not be stored may come again
                newcomers.give_back(address)
                raise
            member = test.panel.link and own_store is store and not known_rater
            if member and not test.panel.signed and new.claim != claim:
                raise InputError(BEGUN)  # by another browser, in the same moment
            return {"rater": new.token}

    def item_at(opened: Opened, token: str, order: int) -> Item:
        """Find what the rater is asked at that place. Raises HTTPException (404) where that is
        nothing."""
        item = raters.item(opened, token, order)
        if item is None:
            raise HTTPException(404, NO_SOUND)
        return item

    @routes.get("/listen/{test}/sound/{order}/{place}")
    @partial(on_test, line=of_address)
    def sound(opened: Opened, request: Request, order: int, place: int, rater: str) -> Response:
        copy = _at(place, opened.sounds(item_at(opened, rater, order)))
        try:
            size, blocks = as_wav(copy.path, opened.noise(rater, order, place))
        except UNREADABLE as error:  # the test is being deleted, or its copies are
            raise HTTPException(404, NO_SOUND) from error
        # No type, date or tag: they might tell one system from another.
        return send(request, size, blocks, "application/octet-stream")

    @routes.get("/listen/{test}/picture/{order}/{place}")
    @partial(on_test, line=of_address)
    def picture(opened: Opened, request: Request, order: int, place: int, rater: str) -> Response:
        path = _at(place, opened.pictures(item_at(opened, rater, order)))
        try:
            file = path.open("rb")
        except OSError as error:  # as of a sound
            raise HTTPException(404, NO_SOUND) from error
        kind = f"video/{path.suffix[1:]}"  # without which Safari plays none
        return send(request, fstat(file.fileno()).st_size, _blocks(file), kind)

    def send(request: Request, size: int, blocks: Iterator[bytes], kind: str) -> Response:
        """Send what one hears or sees in blocks: the first, mostly the only one, is made now."""
        first = next(blocks, b"")
        if len(first) == size:
            return Response(first, 200, KEEP_FOREVER, kind)
        line = of_address("", {"request": request})
        headers = KEEP_FOREVER | {"Content-Length": str(size)}
        return StreamingResponse(_in_line(first, blocks, line), 200, headers, kind)

    @routes.post("/listen/{test}/missing")
    @partial(on_test, line=of_draws)
    def missing(opened: Opened, body: MissingSound) -> dict[str, Any]:
        """Let a rater go on to whom a sound does not come."""
        copy = _at(body.place, opened.sounds(item_at(opened, body.rater, body.order)))
        own_store, test = raters.store_for(opened, body.rater)
        with explain_errors(422):
            own_store.skip(test, body.rater, body.order, body.place, copy.whole())
        return after(opened, body.rater)

    def after(opened: Opened, token: str) -> dict[str, Any]:
        """Return how it stands after an item: the end, or what comes next in an adaptive test."""
        own_store, test = raters.store_for(opened, token)
        if not test.draws_late:
            return rater_page.ended(opened.test, own_store.end(test, token)) | {"coming": []}
        own_store.draw(test, token)
        rater = raters.rater(opened, token)
        coming = rater_page.coming(opened, rater, rater.language or opened.test.language)
        return rater_page.ended(opened.test, rater) | {"coming": coming}

    @routes.get("/listen/{test}/check/{trial}")
    @on_test
    def headphone_sound(
        opened: Opened, trial: int, rater: str, kind: checks.HeadphoneKind = "huggins"
    ) -> Response:
        raters.rater(opened, rater)
        most = checks.trials_of(opened.test.headphones) * checks.MAX_ATTEMPTS
        if not 0 <= trial < most:
            raise HTTPException(404, NO_SOUND)
        sounds = {"huggins": checks.headphone_sound, "antiphase": checks.antiphase_sound}
        return Response(sounds[kind](opened.key, rater, trial), 200, KEEP_FOREVER, "audio/wav")

    @routes.post("/listen/{test}/headphones")
    @on_test
    def check_headphones(opened: Opened, body: HeadphoneCheck) -> dict[str, Any]:
        raters.rater(opened, body.rater)
        own_store, test = raters.store_for(opened, body.rater)
        attempt, result = (body.rater, body.attempt, body.answers), None
        passed = not body.loudspeakers and _passed(opened, own_store, test, *attempt)
        last = body.attempt + 1 == checks.MAX_ATTEMPTS or body.loudspeakers
        if passed is not None:
            with explain_errors(409):
                result = own_store.screen(
                    test, body.rater, "headphones", passed, body.attempt, last
                )
        rater = raters.rater(opened, body.rater)
        again = passed is not None and result is None
        reply = {"passed": result is True, "again": again, "more": passed is None}
        step = {"check": rater_page.headphone_step(opened, rater)}
        return reply | step | rater_page.ended(opened.test, rater)

    @routes.get("/listen/{test}/room/{trial}")
    @on_test
    def room_sound(opened: Opened, trial: int, rater: str) -> Response:
        raters.rater(opened, rater)
        room = opened.test.environment
        if room is None or not 0 <= trial < room.pairs * checks.MAX_ATTEMPTS:
            raise HTTPException(404, NO_SOUND)
        return Response(checks.room_sound(opened.key, rater, trial), 200, KEEP_FOREVER, "audio/wav")

    @routes.post("/listen/{test}/environment")
    @on_test
    def check_room(opened: Opened, body: RoomCheck) -> dict[str, Any]:
        raters.rater(opened, body.rater)
        own_store, test = raters.store_for(opened, body.rater)
        room = test.environment
        if room is None or len(body.answers) != room.pairs:
            raise HTTPException(422, NO_SOUND)
        passed = checks.room_passed(opened.key, body.rater, body.answers, room, body.attempt)
        last = body.attempt + 1 == checks.MAX_ATTEMPTS
        with explain_errors(409):
            result = own_store.screen(test, body.rater, "environment", passed, body.attempt, last)
        ended = rater_page.ended(opened.test, raters.rater(opened, body.rater))
        return {"passed": result is True, "again": result is None} | ended

    @routes.post("/listen/{test}/answer")
    @partial(on_test, line=of_draws)
    def answer(opened: Opened, body: AnswerBody) -> dict[str, Any]:
        """Store an answer; the reply comes only when the answer is on the disk."""
        item = raters.item(opened, body.rater, body.order)
        own_store, test = raters.store_for(opened, body.rater)
        answer = (body.order, body.answer, body.plays, body.milliseconds)
        with explain_errors(422):
            if not all(body.plays):
                raise InputError(UNHEARD)
            least = library.min_time * min_seconds(opened, item) if item else 0.0
            figures = [each.model_dump() if each else None for each in (body.video, body.playback)]
            own_store.answer(test, body.rater, *answer, least, body.version, *figures)
        learnt = lesson(opened.test, item, body.answer) if item else None
        return after(opened, body.rater) | {"lesson": learnt and vars(learnt)}

    @routes.post("/listen/{test}/reply")
    @on_test
    def reply(opened: Opened, body: Reply) -> dict[str, bool]:
        own_store, test = raters.store_for(opened, body.rater)
        answered = (body.question, body.trials, body.reply)
        with explain_errors(422):
            own_store.reply(test, check_token(body.rater), *answered)
        return {"stored": True}

    @routes.get("/listen/{test}/others")
    @partial(on_test, line=of_test)
    def others(opened: Opened, rater: str, response: Response) -> dict[str, Any]:
        """Describe how the answers of a rater who has finished lie among others', by scale."""
        response.headers.update(rater_page.HEADERS)
        own_store, test = raters.store_for(opened, rater)
        return own_store.among_others(test, check_token(rater))

    @routes.post("/listen/{test}/withdraw")
    @on_test
    def withdraw(opened: Opened, body: Leaving) -> dict[str, Any]:
        own_store, test = raters.store_for(opened, body.rater)
        with explain_errors(404):
            own_store.withdraw(test, check_token(body.rater))
        return {"withdrawn": True} | rater_page.ended(opened.test, None, "withdrawn")

    return routes


def _passed(
    opened: Opened, store: Store, test: Test, rater: str, attempt: int, answers: list[int]
) -> bool | None:
    """Whether an attempt at the headphone check is passed; None where it goes on."""
    if test.headphones is None:
        if len(answers) != checks.HEADPHONE_TRIALS:
            raise HTTPException(422, f"Send {checks.HEADPHONE_TRIALS} answers.")
        return checks.headphones_passed(opened.key, rater, answers, attempt)
    with explain_errors(409):
        stored = store.headphone_answers(test, rater, answers, attempt)
    if stored is None:  # sent again: the result of the attempt stays
        return False
    return checks.judge_headphones(opened.key, rater, test.headphones, stored, attempt)[0]


def _at(place: int, parts: Sequence[T]) -> T:
    """Take what is at a place of an item. Raises HTTPException (404) where there is nothing."""
    if not 0 <= place < len(parts):
        raise HTTPException(404, NO_SOUND)
    return parts[place]


def _blocks(file: BinaryIO) -> Iterator[bytes]:
    """Read the file in blocks, then close it."""
    with file:
        while block := file.read(FILE_BLOCK):
            yield block


async def _in_line(
    first: bytes, others: Iterator[bytes], line: CapacityLimiter
) -> AsyncIterator[bytes]:
    """Give the first block, and make one after the other in threads of the line."""
    yield first
    while block := await to_thread.run_sync(next, others, b"", limiter=line):
        yield block


class Body(BaseModel):
    """The body of a request; anything else in it is an error."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Consent(Body):
    rater: Token | None = None
    language: Annotated[str, Field(pattern=r"^[a-z]{2,3}$", max_length=3)] = "en"
    device: Annotated[str, Field(pattern=r"^(phone|tablet|computer), [A-Za-z ]{1,20}$")] | None = (
        None
    )
    claim: Claim | None = None
    signed: Annotated[str, Field(max_length=MAX_TOKEN)] | None = None
    panel: Annotated[dict[Name, LinkValue], Field(max_length=MAX_NAMES)] = {}


class Leaving(Body):
    rater: Token


class HeadphoneCheck(Body):
    rater: Token
    attempt: int = Field(ge=0, lt=checks.MAX_ATTEMPTS)
    loudspeakers: bool = False  # a rater with these is not asked again
    answers: list[Whole] = Field(min_length=1, max_length=checks.MAX_HEADPHONE_ANSWERS)


class RoomCheck(Body):
    rater: Token
    attempt: int = Field(ge=0, lt=checks.MAX_ATTEMPTS)
    answers: list[Whole] = Field(min_length=1, max_length=MAX_PAIRS)


class MissingSound(Body):
    rater: Token
    order: Whole
    place: Annotated[int, Field(ge=0, lt=MAX_PLACES)]


class Reply(Body):
    rater: Token
    question: Whole
    trials: Whole
    reply: Whole | Annotated[str, Field(max_length=MAX_CHARACTERS)] | None


class VideoFigures(Body):
    """What the page measured of a trial's pictures: how many were to be seen, how many of them the
    browser left out, and how far they were from the sound at most, in ms."""

    frames: Whole
    dropped: Whole
    drift: Whole


class PlaybackFigures(Body):
    """What the page measured of the device in a trial: see earshot.study.storage.tables.ItemRow."""

    dropouts: Counted
    lost: Annotated[int, Field(ge=0, le=3_600_000)]
    stalls: Counted
    hidden: Counted
    changes: Counted | None
    rate: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    latency: Annotated[int, Field(ge=0, le=60_000)] | None = None


class AnswerBody(Body):
    rater: Token
    order: Whole
    answer: (
        Annotated[int, Field(ge=-MAX_NUMBER, le=MAX_NUMBER)]
        | Annotated[str, Field(max_length=16)]
        | Wholes
        | Annotated[dict[Name, ScaleAnswer], Field(max_length=MAX_ANSWERS)]
    )
    plays: Wholes
    milliseconds: Whole
    video: VideoFigures | None = None
    playback: PlaybackFigures | None = None
    version: Whole = 0
