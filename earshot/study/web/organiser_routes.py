"""The organiser's page: results while the test runs, behind the test's key, with how it stands,
what to take along and what to do.
"""

import logging
from base64 import b64encode
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from typing import Any, Final, Literal
from urllib.parse import parse_qs

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from fastapi.routing import APIRoute
from markupsafe import Markup
from starlette.concurrency import run_in_threadpool

from earshot.core.errors import InputError
from earshot.core.http import SmallRequest
from earshot.core.limits import RateLimit, address_of
from earshot.study import preregistration, publishing, rater_links
from earshot.study.design import Test
from earshot.study.library import BusyError, Opened, TestLibrary, parse_link
from earshot.study.storage.database import UNAVAILABLE
from earshot.study.storage.raters import Places
from earshot.study.web import rater_page, report_cache
from earshot.study.web.rater_page import render
from earshot.study.web.rater_requests import RETRY_SECONDS
from earshot.study.web.report_cache import ReportCache

NOT_TYPED: Final = "To delete a test, type its name as it is in the link."
NOT_READ: Final = "The server cannot read the answers at the moment. Try again in a few seconds."
GONE: Final = ("The test is deleted", "Nothing of it is left.")
EMPTIED: Final = ("All answers are deleted", "Raters may begin the test anew.")
# Not while something is unfolded, in which one may be typing.
RELOAD: Final = """setInterval(() => document.querySelector("details[open]") ??
location.reload(), 60000)"""
# Times are written in UTC, for the server does not know where its reader is.
LOCAL_TIMES: Final = r"""addEventListener("DOMContentLoaded", () => {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const short = { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" };
  while (texts.nextNode())
    texts.currentNode.data = texts.currentNode.data.replace(
      /(\d{4}-\d\d-\d\d) (\d\d:\d\d) UTC/g,
      (_, day, time) => new Date(`${day}T${time}Z`).toLocaleString([], short));
})"""
SCRIPT_HASHES: Final = " ".join(
    f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'"
    for script in (RELOAD, LOCAL_TIMES)
)
# What a page of results may do: run these two scripts, and fetch nothing.
POLICY: Final = (
    f"default-src 'none'; script-src {SCRIPT_HASHES}; style-src 'unsafe-inline'; "
    "img-src 'self' data:; form-action 'self'; base-uri 'self'; frame-ancestors 'self'"
)
PRIVATE: Final = {
    "Cache-Control": "private, no-store",
    # No other server is told the key; ours is told which page a form comes from (core.http).
    "Referrer-Policy": "same-origin",
    "Content-Security-Policy": POLICY,
}
logger = logging.getLogger("earshot")
FILES: Final = {
    "ratings.csv": "text/csv",
    "answers.jsonl": "application/jsonl",
    "report.pdf": "application/pdf",
    "dataset.zip": "application/zip",
}
OF_ANSWERS: Final = {
    "ratings.csv": report_cache.ratings_csv,
    "answers.jsonl": report_cache.answers_jsonl,
    "dataset.zip": report_cache.dataset_zip,
}
NO_ICON: Final = '<link rel="icon" href="data:,">'  # or browsers ask for one
STYLE: Final = """<style>button, input { padding: .15rem .6rem; border: 1px solid var(--quiet);
border-radius: .4rem; font: inherit; color: inherit; background: none }
button { cursor: pointer }
.bar, .standing { display: flex; flex-wrap: wrap; gap: .4rem 1.25rem; margin: 0 0 1.5rem }
.bar { padding: 0 0 .7rem; border-bottom: 1px solid var(--line); font-size: .92rem;
color: var(--quiet) }
.bar a { color: var(--accent) }
.bar form { padding: .6rem 0 }</style>"""
DELETE_TEST: Final = {
    "summary": "Delete the test",
    "text": "This deletes its sounds and all answers.",
    "button": "Delete all of it",
}
DELETE_ANSWERS: Final = {
    "summary": "Delete all answers",
    "text": "This deletes all raters and answers. Sounds and YAML stay in your folder.",
    "button": "Delete all answers",
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
            again = {"Retry-After": str(RETRY_SECONDS)}
            raise RefusalError(rater_page.message("One moment", rate.refusal, 429, again))

    async def limited(request: Request) -> None:
        limit(pages_of_results, request)

    async def limited_files(request: Request) -> None:
        limit(files_of_results, request)

    routes = APIRouter(
        route_class=PagesThatSayWhy, include_in_schema=False, dependencies=[Depends(limited)]
    )
    reports = ReportCache(library)

    mine = library.with_key

    def readable(test: str, key: str) -> Opened:
        public = not key and library.get(test).public
        return library.get(test) if public else mine(test, key)

    def results_page(opened: Opened, key: str, estimates: bool) -> HTMLResponse:
        """Show the page of results: with estimates where the test has ended, or a look at those of
        the raters who have finished by now is recorded.
        """
        store, name = library.store, opened.test.name
        places, looks = store.places(opened.test), store.looks(opened.test)
        published = publishing.published(name, library)
        looked = estimates and looks[-1:] == [places.finished]
        whole = looked or places.ended or not key
        page = reports.page(opened) if whole else reports.running(opened, key)
        live = with_organiser_bar(page, opened.test, key, places, published, reloads=not looked)
        return HTMLResponse(live, headers=PRIVATE)

    async def look(request: Request, *opened_tests: Opened) -> None:
        """Record that what these tests have found is shown: see preregistration.look."""
        tests = [(library.store, opened.test) for opened in opened_tests if not opened.public]
        await reports.make(address_of(request), partial(preregistration.look, *tests))

    @routes.get("/results/{test}")
    async def page(
        request: Request, test: str, key: str = "", estimates: bool = False
    ) -> HTMLResponse:
        with explain_refusal("No results here"):
            opened = await run_in_threadpool(readable, test, key)
            make = partial(results_page, opened, key, estimates)
            return await reports.make(address_of(request), make)

    @routes.post("/results/{test}/look")
    async def estimates(request: Request, test: str, key: str = "") -> Response:
        with explain_refusal("No results here"):
            await look(request, await run_in_threadpool(mine, test, key))
        return RedirectResponse(f"../{test}?key={key}&estimates=true", 303)

    @routes.get("/results/{test}/compare", dependencies=[Depends(limited_files)])
    async def compare(request: Request, test: str, key: str, other: str = "") -> HTMLResponse:
        with explain_refusal("Not compared"):
            one = await run_in_threadpool(mine, test, key)
            two = await run_in_threadpool(readable, *parse_link(other))
            await run_in_threadpool(reports.check_comparable, one, two)
            await look(request, one, two)
            make = partial(reports.comparison, one, two)
            compared = await reports.make(address_of(request), make)
        return HTMLResponse(with_bar(compared, back_link(test, key)), headers=PRIVATE)

    @routes.post("/results/{test}/delete")
    async def remove(request: Request, test: str, key: str = "") -> HTMLResponse:
        with explain_refusal("Not deleted"):
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
        with explain_refusal("Not changed"):
            opened = mine(test, key)
        store = library.store
        had_ended = store.places(opened.test).ended
        store.close(test, what == "close")
        if had_ended and what == "reopen":  # more raters come, and what these have found was open
            store.look(opened.test)
        return RedirectResponse(f"../{test}?key={key}", 303)

    @routes.get("/results/{test}/{file}", dependencies=[Depends(limited_files)])
    async def take_along(
        request: Request,
        test: str,
        file: Literal["ratings.csv", "answers.jsonl", "report.pdf", "dataset.zip"],
        key: str,
    ) -> Response:
        with explain_refusal("No file here"):
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
    """An error with a page that explains why there is none of another kind."""

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
def explain_refusal(title: str) -> Iterator[None]:
    """Turn what an organiser can cause into a page with this title that explains what to do."""
    try:
        yield
    except BusyError as error:
        again = {"Retry-After": str(RETRY_SECONDS), "Refresh": str(RETRY_SECONDS)}
        raise RefusalError(rater_page.message("One moment", str(error), 503, again)) from error
    except InputError as error:
        raise RefusalError(rater_page.message(title, str(error), 403)) from error
    except UNAVAILABLE as error:
        logger.error("the store of answers failed: %s", error)
        again = {"Retry-After": str(RETRY_SECONDS)}
        raise RefusalError(rater_page.message("One moment", NOT_READ, 503, again)) from error


def with_organiser_bar(
    page: str, test: Test, key: str, places: Places, published: bool, reloads: bool
) -> str:
    """Add to a page of results what the organiser, who has the key, needs while the test runs.

    published: whether a visitor opened the test, and so deletes all of it. reloads: whether the
    page is loaded anew every minute.
    """
    bar = render(
        "organiser_bar.html",
        name=test.name,
        key=key,
        preview=rater_links.preview_token(key) if key else "",
        deleting=DELETE_TEST if published else DELETE_ANSWERS,
        places=places,
        standing=standing(places),
    )
    return with_bar(page, f"<script>{RELOAD}</script>" * reloads + bar)


def with_bar(page: str, bar: str) -> str:
    """Put something above the title of a page of results."""
    times = f"<script>{LOCAL_TIMES}</script>"
    page = page.replace("<title>", f"{NO_ICON}{times}{STYLE}<title>", 1)
    return page.replace("<h1>", f"{bar}<h1>", 1)


def back_link(name: str, key: str) -> str:
    """Lead from a comparison to the test's own page."""
    text = '<nav class="bar"><a href="../{name}?key={key}">Back to {name}</a></nav>'
    return Markup(text).format(name=name, key=key)


def standing(places: Places) -> str:
    """Return how many raters there are, and how many may come."""
    at_it = f"{places.finished} finished, {places.at_it} at it"
    planned = "" if places.planned is None else f" of {places.planned} wanted"
    left = places.left
    room = "" if left is None else f", {left} place{'s' if left != 1 else ''} left"
    return f"{'Closed' if places.closed else 'Open'}: {at_it}{planned}{room}."
