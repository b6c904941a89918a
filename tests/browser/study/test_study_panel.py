"""Raters whom a panel sends: a small local server plays Prolific."""

from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from playwright.sync_api import Page, expect

from benchmarks.support.listening import write_test
from earshot.study.library import TestLibrary
from earshot.study.publishing import MARK
from earshot.study.web.rater_page import page_texts
from tests.browser.rater_form import RaterForm
from tests.browser.study.test_study import LOOKS, in_order
from tests.support.serving import serving

MEMBER = {"PROLIFIC_PID": "5f1e9ab2c03d4e5f6a7b8c9d", "STUDY_ID": "study-1", "SESSION_ID": "s 7"}


# Keeps the contexts of Web Audio, so that a test can interrupt the last one.
CONTEXTS = """
  window.contexts = [];
  window.AudioContext = class extends AudioContext {
    constructor(...given) { super(...given); window.contexts.push(this); }
  };
"""


class Panel(ThreadingHTTPServer):
    """Sends its member to the test (/go), and notes what they come back with (/back)."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Desk)
        self.sends_to = ""
        self.returned: list[dict[str, list[str]]] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


# Its icon is none, so that no request for one is cut off when the server ends.
BACK = b'<link rel="icon" href="data:,"><title>Panel</title><h1>Back at the panel</h1>'


class Desk(BaseHTTPRequestHandler):
    """One request to the panel."""

    server: Panel

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        if url.path == "/go":
            self.send_response(302)
            self.send_header("Location", f"{self.server.sends_to}?{urlencode(MEMBER)}")
            self.end_headers()
            return
        if url.path == "/back":
            self.server.returned.append(parse_qs(url.query))
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(BACK)))
        self.end_headers()
        self.wfile.write(BACK)

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""


@pytest.fixture
def panel() -> Iterator[Panel]:
    server = Panel()
    with serving(server):
        yield server


@pytest.fixture
def form(page: Page, address: str, tests: TestLibrary, panel: Panel) -> RaterForm:
    """A member of the panel in front of a test in German."""
    folder: Path = tests.folders[0]
    name = f"member-{panel.server_port}"
    back = f"{panel.address}/back?cc="
    write_test(
        folder / name,
        "ab",
        1.0,
        trials=2,
        pairing="adaptive",
        raters=1,
        texts={"de": {"title": "Welche Stimme?", "consent": "Die Teilnahme ist freiwillig."}},
        panel={
            "link": [*MEMBER],
            "complete": f"{back}DONE&session={{SESSION_ID}}",
            "no_consent": f"{back}NO",
            "full": f"{back}FULL",
        },
    )
    tests.open(name)
    panel.sends_to = f"{address}/listen/{name}"
    return RaterForm(page, address, name, tests, page_texts("de"))


@pytest.mark.parametrize("page", [("phone", "light", "de-DE")], indirect=True)
def test_interrupted_member_returns_with_code(
    form: RaterForm, panel: Panel, tests: TestLibrary, tmp_path: Path
) -> None:
    """A member of a panel comes back to an adaptive test, in German, on a phone, and finishes."""
    page = form.page
    page.add_init_script(CONTEXTS)
    page.goto(f"{panel.address}/go")
    expect(page.get_by_role("heading", level=1)).to_have_text("Welche Stimme?")
    in_order(page)
    form.button(form.words["consent.agree"]).click()
    form.listen()
    form.check()
    form.prefer("fine")
    page.goto(f"{panel.address}/go")  # closes the page, and comes by the panel's link again
    form.listen(back=True)
    form.item()
    form.button(form.say("play.one", name="A")).click()
    page.evaluate("() => window.contexts.at(-1).suspend()")  # as a call does
    expect(page.locator(".hint")).to_have_text(form.words["trial.interrupted"])
    for _ in range(2):
        form.prefer("fine")
    in_order(page, LOOKS[1:])  # quickly, for it goes back to the panel by itself
    page.wait_for_url(f"{panel.address}/back**")
    assert panel.returned == [{"cc": ["DONE"], "session": ["s 7"]}]
    table = tests.store.ratings(form.test)
    assert {*table["language"]} == {"de"} and len(table) == 3
    # The one place is taken: the next hears so, and goes back with another code.
    page.goto(panel.sends_to + "?PROLIFIC_PID=another")
    expect(page.get_by_role("heading", level=1)).to_have_text(form.words["end.full.title"])
    page.get_by_role("link", name=form.words["end.back"]).click()
    page.wait_for_url(f"{panel.address}/back?cc=FULL")


def test_member_not_agreeing_goes_back(form: RaterForm, panel: Panel) -> None:
    form.page.goto(f"{panel.sends_to}?{urlencode(MEMBER)}&lang=de")
    form.button(form.words["consent.decline"]).click()
    form.page.wait_for_url(f"{panel.address}/back?cc=NO")
    assert form.tests.store.raters(form.test.name) == 0


def test_visitors_test_redirects_no_rater(
    form: RaterForm, panel: Panel, tests: TestLibrary
) -> None:
    """The end of a visitor's test takes a rater to no address by itself."""
    page = form.page
    (tests.folders[0] / form.test.name / MARK).write_text(datetime.now(UTC).isoformat())
    tests.store.enrol(form.test)  # who has the one place
    page.clock.install()
    page.goto(f"{panel.sends_to}?PROLIFIC_PID=another&lang=de")
    expect(page.get_by_role("heading", level=1)).to_have_text(form.words["end.full.title"])
    page.clock.fast_forward(60_000)
    expect(page.locator(".hint")).to_have_text(urlsplit(panel.address).netloc)
    assert page.url.startswith(panel.sends_to) and panel.returned == []
