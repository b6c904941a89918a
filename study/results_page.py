"""The organiser's page: results while the test runs, behind the test's key."""

import secrets
import threading
from typing import Final

from fastapi import APIRouter, HTTPException, Response
from fastapi.responses import HTMLResponse

from media.errors import InputError
from study import rater_page
from study.library import Library, Opened

WRONG_KEY: Final = "The key in this link is not this test's. Copy the whole link once more."
PRIVATE: Final = {"Cache-Control": "private, no-store", "Referrer-Policy": "no-referrer"}
LIVE: Final = PRIVATE | {"Refresh": "60"}  # s


class Reports:
    """Reports on tests, each made anew when there are other ratings than it was made from."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._made: dict[str, tuple[int, str]] = {}
        self._lock = threading.Lock()  # one at a time: raters come first

    def of(self, opened: Opened) -> str:
        """The report as a page of HTML."""
        # Late, for it takes seconds to import.
        from study.analysis import analyse
        from study.analysis.report import page

        test = opened.test
        with self._lock:
            ratings = self._library.store.ratings(test)
            seen = hash(ratings.to_csv())
            if self._made.get(test.name, (None,))[0] != seen:
                self._made[test.name] = seen, page(analyse(test, ratings))
            return self._made[test.name][1]


def router(library: Library) -> APIRouter:
    """Routes /results/TEST?key=KEY and, to take along, /results/TEST/ratings.csv?key=KEY."""
    routes = APIRouter(include_in_schema=False)
    reports = Reports(library)

    def mine(test: str, key: str) -> Opened:
        opened = library.get(test)
        if not secrets.compare_digest(opened.key.encode(), key.encode()):
            raise InputError(WRONG_KEY)
        return opened

    @routes.get("/results/{test}")
    def page(test: str, key: str = "") -> HTMLResponse:
        try:
            opened = mine(test, key)
        except InputError as error:
            return rater_page.message("No results here", str(error), 403)
        return HTMLResponse(reports.of(opened), headers=LIVE)

    @routes.get("/results/{test}/ratings.csv")
    def ratings(test: str, key: str = "") -> Response:
        try:
            opened = mine(test, key)
        except InputError as error:
            raise HTTPException(403, str(error)) from error
        table = library.store.ratings(opened.test).to_csv(index=False)
        return Response(table, 200, PRIVATE, "text/csv")

    return routes
