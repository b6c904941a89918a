"""The organiser's page: results while the test runs, behind the test's key."""

import json
import re
import secrets
from typing import Final, Literal
from urllib.parse import parse_qs

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.concurrency import run_in_threadpool

from earshot.core.errors import InputError
from earshot.core.http import SmallRequest
from earshot.study import publishing
from earshot.study.library import Library, Opened
from earshot.study.storage.export import csv, lines
from earshot.study.web import rater_page
from earshot.study.web.results import parts
from earshot.study.web.results.reports import Reports

WRONG_KEY: Final = "The key in this link is not this test's. Copy the whole link once more."
NOT_TYPED: Final = "To delete a test, type its name as it is in the link."
GONE: Final = ("The test is deleted", "Nothing of it is left.")
EMPTIED: Final = ("All answers are deleted", "Raters may begin the test anew.")
NO_LINK: Final = "Paste the whole link to the other test's results on this server."
LINK: Final = re.compile(r"/results/([\w-]{1,100})(?:\?key=([\w-]{1,100}))?\s*$")
PRIVATE: Final = {"Cache-Control": "private, no-store", "Referrer-Policy": "no-referrer"}
FILES: Final = {
    "ratings.csv": "text/csv",
    "answers.jsonl": "application/jsonl",
    "report.pdf": "application/pdf",
}


def router(library: Library) -> APIRouter:
    """Routes /results/TEST?key=KEY and, below it, the files to take along, compare, close, reopen
    and delete. The report of a public test, and nothing else of it, is shown without the key."""
    routes = APIRouter(include_in_schema=False)
    reports = Reports(library)

    def mine(test: str, key: str) -> Opened:
        opened = library.get(test)
        if not secrets.compare_digest(opened.key.encode(), key.encode()):
            raise InputError(WRONG_KEY)
        return opened

    def readable(test: str, key: str) -> Opened:
        public = not key and library.get(test).public
        return library.get(test) if public else mine(test, key)

    @routes.get("/results/{test}")
    def page(test: str, key: str = "") -> HTMLResponse:
        try:
            opened = readable(test, key)
        except InputError as error:
            return rater_page.message("No results here", str(error), 403)
        places, published = library.store.places(opened.test), publishing.published(test, library)
        shown = parts.live(reports.page(opened), test, key, places, published)
        return HTMLResponse(shown, headers=PRIVATE)

    @routes.get("/results/{test}/compare")
    def compare(test: str, key: str, other: str = "") -> HTMLResponse:
        try:
            one, link = mine(test, key), LINK.search(other)
            if link is None:
                raise InputError(NO_LINK)
            two = readable(link[1], link[2] or "")
            compared = reports.comparison(one, two)
        except InputError as error:
            return rater_page.message("Not compared", str(error), 403)
        return HTMLResponse(parts.with_bar(compared, parts.back(test, key)), headers=PRIVATE)

    @routes.post("/results/{test}/delete")
    async def remove(request: Request, test: str, key: str = "") -> HTMLResponse:
        try:
            await run_in_threadpool(mine, test, key)
            body = await SmallRequest(request.scope, request.receive).body()
            typed = parse_qs(body.decode(errors="replace")).get("typed", [""])[0]
            if typed.strip() != test:
                raise InputError(NOT_TYPED)
            whole = publishing.published(test, library)
            await run_in_threadpool(publishing.delete, test, library)
        except InputError as error:
            return rater_page.message("Not deleted", str(error), 403)
        return rater_page.message(*(GONE if whole else EMPTIED), 200)

    @routes.post("/results/{test}/{what}")
    def close(test: str, what: Literal["close", "reopen"], key: str = "") -> Response:
        try:
            mine(test, key)
        except InputError as error:
            return rater_page.message("Not changed", str(error), 403)
        library.store.close(test, what == "close")
        return RedirectResponse(f"../{test}?key={key}", 303)

    @routes.get("/results/{test}/{file}")
    def take_along(
        test: str, file: Literal["ratings.csv", "answers.jsonl", "report.pdf"], key: str
    ) -> Response:
        try:
            opened = mine(test, key)
        except InputError as error:
            raise HTTPException(403, str(error)) from error
        if file == "report.pdf":
            content = reports.pdf(opened)
        elif file == "ratings.csv":
            content = csv(library.store.ratings(opened.test))
        else:
            written = lines(opened.test, library.store)
            content = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in written)
        name = {"Content-Disposition": f'attachment; filename="{test}-{file}"'}
        return Response(content, 200, PRIVATE | name, FILES[file])

    return routes
