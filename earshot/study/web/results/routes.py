"""The organiser's page: results while the test runs, behind the test's key."""

import logging
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Final, Literal
from urllib.parse import parse_qs

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool

from earshot.core.errors import InputError
from earshot.core.http import SmallRequest
from earshot.core.limits import RateLimit, address_of
from earshot.study import preregistration, publishing
from earshot.study.library import BusyError, Opened, TestLibrary, parsed
from earshot.study.storage.database import UNAVAILABLE
from earshot.study.web import rater_page
from earshot.study.web.plainly import RETRY
from earshot.study.web.results import files, parts
from earshot.study.web.results.reports import Reports

NOT_TYPED: Final = "To delete a test, type its name as it is in the link."
NOT_READ: Final = "The server cannot read the answers at the moment. Try again in a few seconds."
GONE: Final = ("The test is deleted", "Nothing of it is left.")
EMPTIED: Final = ("All answers are deleted", "Raters may begin the test anew.")
PRIVATE: Final = {
    "Cache-Control": "private, no-store",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": parts.POLICY,
}
logger = logging.getLogger("earshot")
FILES: Final = {
    "ratings.csv": "text/csv",
    "answers.jsonl": "application/jsonl",
    "report.pdf": "application/pdf",
    "dataset.zip": "application/zip",
}
OF_ANSWERS: Final = {
    "ratings.csv": files.ratings_csv,
    "answers.jsonl": files.answers_jsonl,
    "dataset.zip": files.dataset_zip,
}


def router(library: TestLibrary) -> APIRouter:
    """Make the routes /results/TEST?key=KEY and, below it, the files to take along, compare, close,
    reopen and delete. The report of a public test, and nothing else of it, is shown without the
    key.
    """
    pages_of_results = RateLimit.of("pages of results")
    files_of_results = RateLimit.of("files of results")  # and comparisons

    def limit(rate: RateLimit, request: Request) -> None:
        if rate.take(address_of(request)):
            again = {"Retry-After": str(RETRY)}
            raise RefusalError(rater_page.message("One moment", rate.refusal, 429, again))

    async def limited(request: Request) -> None:
        limit(pages_of_results, request)

    async def limited_files(request: Request) -> None:
        limit(files_of_results, request)

    routes = APIRouter(
        route_class=PagesThatSayWhy, include_in_schema=False, dependencies=[Depends(limited)]
    )
    reports = Reports(library)

    mine = library.with_key

    def readable(test: str, key: str) -> Opened:
        public = not key and library.get(test).public
        return library.get(test) if public else mine(test, key)

    def shown(opened: Opened, key: str, estimates: bool) -> HTMLResponse:
        """Show the page of results: with estimates where the test has ended, or a look at those of
        the raters who have finished by now is recorded.
        """
        store, name = library.store, opened.test.name
        places, looks = store.places(opened.test), store.looks(opened.test)
        published = publishing.published(name, library)
        looked = estimates and looks[-1:] == [places.finished]
        whole = looked or places.ended or not key
        page = reports.page(opened) if whole else reports.running(opened, key)
        live = parts.live(page, opened.test, key, places, published, reloads=not looked)
        return HTMLResponse(live, headers=PRIVATE)

    async def look(request: Request, *shown: Opened) -> None:
        """Record that what these tests have found is shown: see preregistration.look."""
        tests = [(library.store, opened.test) for opened in shown if not opened.public]
        await reports.make(address_of(request), partial(preregistration.look, *tests))

    @routes.get("/results/{test}")
    async def page(
        request: Request, test: str, key: str = "", estimates: bool = False
    ) -> HTMLResponse:
        with refused("No results here"):
            opened = await run_in_threadpool(readable, test, key)
            return await reports.make(address_of(request), partial(shown, opened, key, estimates))

    @routes.post("/results/{test}/look")
    async def estimates(request: Request, test: str, key: str = "") -> Response:
        with refused("No results here"):
            await look(request, await run_in_threadpool(mine, test, key))
        return RedirectResponse(f"../{test}?key={key}&estimates=true", 303)

    @routes.get("/results/{test}/compare", dependencies=[Depends(limited_files)])
    async def compare(request: Request, test: str, key: str, other: str = "") -> HTMLResponse:
        with refused("Not compared"):
            one = await run_in_threadpool(mine, test, key)
            two = await run_in_threadpool(readable, *parsed(other))
            await run_in_threadpool(reports.check_comparable, one, two)
            await look(request, one, two)
            make = partial(reports.comparison, one, two)
            compared = await reports.make(address_of(request), make)
        return HTMLResponse(parts.with_bar(compared, parts.back(test, key)), headers=PRIVATE)

    @routes.post("/results/{test}/delete")
    async def remove(request: Request, test: str, key: str = "") -> HTMLResponse:
        with refused("Not deleted"):
            await run_in_threadpool(mine, test, key)
            body = await SmallRequest(request.scope, request.receive).body()
            typed = parse_qs(body.decode(errors="replace")).get("typed", [""])[0]
            if typed.strip() != test:
                raise InputError(NOT_TYPED)
            whole = publishing.published(test, library)
            await run_in_threadpool(publishing.delete, test, library)
        return rater_page.message(*(GONE if whole else EMPTIED), 200)

    @routes.post("/results/{test}/{what}")
    def close(test: str, what: Literal["close", "reopen"], key: str = "") -> Response:
        with refused("Not changed"):
            opened = mine(test, key)
        store = library.store
        shown = store.places(opened.test).ended
        store.close(test, what == "close")
        if shown and what == "reopen":  # more raters come, and what these have found was open
            store.look(opened.test)
        return RedirectResponse(f"../{test}?key={key}", 303)

    @routes.get("/results/{test}/{file}", dependencies=[Depends(limited_files)])
    async def take_along(
        request: Request,
        test: str,
        file: Literal["ratings.csv", "answers.jsonl", "report.pdf", "dataset.zip"],
        key: str,
    ) -> Response:
        with refused("No file here"):
            opened = await run_in_threadpool(mine, test, key)
            await look(request, opened)
            make = partial(reports.pdf, opened)
            if file != "report.pdf":
                make = partial(reports.file, OF_ANSWERS[file], opened)
            content = await reports.make(address_of(request), make)
        name = {"Content-Disposition": f'attachment; filename="{test}-{file}"'}
        return Response(content, 200, PRIVATE | name, FILES[file])

    return routes


class RefusalError(Exception):
    """A page that says why there is none of another kind."""

    def __init__(self, response: HTMLResponse) -> None:
        super().__init__()
        self.response = response


class PagesThatSayWhy(APIRoute):
    """A route that answers with the page of a RefusalError."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def answered(request: Request) -> Response:
            try:
                return await handle(request)
            except RefusalError as refusal:
                return refusal.response

        return answered


@contextmanager
def refused(title: str) -> Iterator[None]:
    """Turn what an organiser can cause into a page with this title that says what to do."""
    try:
        yield
    except BusyError as error:
        again = {"Retry-After": str(RETRY), "Refresh": str(RETRY)}
        raise RefusalError(rater_page.message("One moment", str(error), 503, again)) from error
    except InputError as error:
        raise RefusalError(rater_page.message(title, str(error), 403)) from error
    except UNAVAILABLE as error:
        logger.error("the store of answers failed: %s", error)
        again = {"Retry-After": str(RETRY)}
        raise RefusalError(rater_page.message("One moment", NOT_READ, 503, again)) from error
