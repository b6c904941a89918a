"""The organiser's page: results while the test runs, behind the test's key."""

import json
import secrets
import threading
from typing import Final, Literal
from urllib.parse import parse_qs

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.concurrency import run_in_threadpool

from media.errors import InputError
from study import preview, publishing
from study.library import Library, Opened
from study.storage.export import csv, lines
from study.storage.places import Places
from study.web import rater_page
from study.web.limits import SmallRequest

WRONG_KEY: Final = "The key in this link is not this test's. Copy the whole link once more."
PRIVATE: Final = {"Cache-Control": "private, no-store", "Referrer-Policy": "no-referrer"}
LIVE: Final = PRIVATE | {"Refresh": "60"}  # s
BAR: Final = """<nav style="display:flex;flex-wrap:wrap;gap:.4rem 1.25rem;margin:0 0 2rem;padding:0
0 .7rem;border-bottom:1px solid var(--line);font-size:.92rem;color:var(--quiet)"><span>Live, anew
every minute</span>{links}</nav>"""
NO_ICON: Final = '<link rel="icon" href="data:,">'  # or browsers ask for one
LINK: Final = '<a href="{href}" style="color:var(--accent)">{text}</a>'

STANDING: Final = """<div style="display:flex;flex-wrap:wrap;gap:.4rem 1.25rem;margin:0 0 1.5rem">
<span>{text}</span>{button}</div>"""
BUTTON: Final = '<form method="post" action="{action}"><button>{button}</button></form>'
DELETE: Final = """<details><summary style="cursor:pointer">Delete the test</summary><form
method="post" action="{action}" style="padding:.6rem 0"><p>This deletes its sounds and all answers,
and cannot be undone. Type its name, <b>{name}</b>: <input name="typed" autocomplete="off"
aria-label="Name of the test"></p><button>Delete all of it</button></form></details>"""
NOT_TYPED: Final = "To delete a test, type its name as it is in the link."


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


def standing(places: Places) -> str:
    """How many raters there are, and how many may come, in a sentence."""
    at_it = f"{places.finished} finished, {places.at_it} at it"
    wanted = "" if places.wanted is None else f" of {places.wanted} wanted"
    left = "" if places.left is None else f", {places.left} places left"
    return f"{'Closed' if places.closed else 'Open'}: {at_it}{wanted}{left}."


def live(report: str, name: str, key: str, places: Places) -> str:
    """The report with what the organiser, who has the key, needs while the test runs."""
    targets = {"The raters’ page": f"../listen/{name}"}
    if key:
        targets |= {
            "Try it, storing nothing": f"../listen/{name}?rater={preview.new_token(key)}",
            "Ratings (CSV)": f"{name}/ratings.csv?key={key}",
            "Everything (JSON lines)": f"{name}/answers.jsonl?key={key}",
        }
    links = "".join(LINK.format(href=href, text=text) for text, href in targets.items())
    links += DELETE.format(action=f"{name}/delete?key={key}", name=name) if key else ""
    bar = BAR.format(links=links)
    if key:
        text = "Reopen the test" if places.closed else "Close the test"
        action = f"{name}/{'reopen' if places.closed else 'close'}?key={key}"
        button = "" if places.over else BUTTON.format(action=action, button=text)
        bar += STANDING.format(text=standing(places), button=button)
    report = report.replace("<title>", f"{NO_ICON}<title>", 1)
    return report.replace("<h1>", f"{bar}<h1>", 1)


def router(library: Library) -> APIRouter:
    """Routes /results/TEST?key=KEY and, below it, ratings.csv and answers.jsonl to take along, and
    delete. The report of a public test, and nothing else of it, is shown without the key."""
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
            public = not key and library.get(test).public
            opened = library.get(test) if public else mine(test, key)
        except InputError as error:
            return rater_page.message("No results here", str(error), 403)
        places = library.store.places(opened.test)
        return HTMLResponse(live(reports.of(opened), test, key, places), headers=LIVE)

    @routes.post("/results/{test}/delete")
    async def remove(request: Request, test: str, key: str = "") -> HTMLResponse:
        try:
            await run_in_threadpool(mine, test, key)
            body = await SmallRequest(request.scope, request.receive).body()
            typed = parse_qs(body.decode(errors="replace")).get("typed", [""])[0]
            if typed.strip() != test:
                raise InputError(NOT_TYPED)
            await run_in_threadpool(publishing.delete, test, library)
        except InputError as error:
            return rater_page.message("Not deleted", str(error), 403)
        return rater_page.message("The test is deleted", "Nothing of it is left.", 200)

    @routes.post("/results/{test}/{what}")
    def close(test: str, what: Literal["close", "reopen"], key: str = "") -> Response:
        try:
            mine(test, key)
        except InputError as error:
            return rater_page.message("Not changed", str(error), 403)
        library.store.close(test, what == "close")
        return RedirectResponse(f"../{test}?key={key}", 303)

    @routes.get("/results/{test}/{file}")
    def take_along(test: str, file: Literal["ratings.csv", "answers.jsonl"], key: str) -> Response:
        try:
            opened = mine(test, key).test
        except InputError as error:
            raise HTTPException(403, str(error)) from error
        if file == "ratings.csv":
            text, kind = csv(library.store.ratings(opened)), "text/csv"
        else:
            written = (
                json.dumps(line, ensure_ascii=False) for line in lines(opened, library.store)
            )
            text, kind = "".join(f"{line}\n" for line in written), "application/jsonl"
        name = {"Content-Disposition": f'attachment; filename="{test}-{file}"'}
        return Response(text, 200, PRIVATE | name, kind)

    return routes
