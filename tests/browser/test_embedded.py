"""The page as a Space shows it: in an iframe of another site, which gets no third-party cookies."""

import os
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, FrameLocator, Page, expect

from earshot.app import launch, site
from earshot.systems.sound_search import SoundSearch
from earshot.tabs import listening_tests
from earshot.tabs.shared.services import Services
from earshot.tabs.sound_search import MODELS
from tests.browser.visit import PATIENCE
from tests.support.fake_words import getters
from tests.support.serving import close, serving
from tests.support.sounds import write_library
from tests.support.systems import replace_system

pytestmark = pytest.mark.slow

NO_COOKIES = "--test-third-party-cookie-phaseout"
COOKIES = "() => (document.cookie = 'a=1; SameSite=None; Secure', document.cookie)"


@pytest.fixture(scope="module")
def address(tiny_checkpoints: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The app that `make space-check` has started, at EARSHOT_ADDRESS; else one on tiny models."""
    if running := os.environ.get("EARSHOT_ADDRESS"):
        yield running
        return
    folder = tmp_path_factory.mktemp("embedded")
    search = SoundSearch.from_pretrained([tiny_checkpoints / name for name in MODELS], "cpu")
    index = write_library(folder, search)
    words, library = getters(folder)
    tests = listening_tests.opened(folder / "tests", None)
    with pytest.MonkeyPatch.context() as patch:
        replace_system(patch, "words", words)
        patch.setattr("earshot.tabs.words.tab.library_getter", lambda *_: library)
        page = site.build(Services(device="cpu", tests=tests), tiny_checkpoints, index=index)
    yield launch.launch(page, launch.options([], {}), block=False)
    close(page)


@pytest.fixture(scope="module")
def outer(address: str) -> Iterator[str]:
    """The address of a page of another site, with the app in an iframe."""
    frame = (
        f'<iframe src="{address}" allow="microphone; camera" width="1400" height="860"></iframe>'
    )

    class Outer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(f"<!doctype html><title>Space</title>{frame}</iframe>".encode())

        def log_message(self, format: str, *args: object) -> None:
            """Nothing: tests print enough."""

    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Outer)) as address:
        yield address.replace("127.0.0.1", "localhost")  # another site, to a browser


@pytest.fixture
def page(chromium: Callable[..., Browser], speech: Path) -> Iterator[Page]:
    # The shell gives an iframe its cookies all the same.
    browser = chromium(speech, flags=(NO_COOKIES,), whole=True)
    page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
    page.set_default_timeout(PATIENCE)
    expect.set_options(timeout=PATIENCE)
    yield page
    browser.close()


def test_every_tab_runs_in_iframe(page: Page, address: str, outer: str) -> None:
    """Every tab runs an example in an iframe without cookies."""
    page.goto(f"{address}/theme.css")
    assert "a=1" in page.evaluate(COOKIES), "even the app's own site could not set this cookie"
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(outer)
    frame = page.frame_locator("iframe")
    expect(frame.locator("#conversion .tl-units")).to_be_visible()
    assert page.frames[1].evaluate(COOKIES) == ""

    convert_example(frame)
    find_word(frame)
    search_sounds(frame)
    read_lips(frame)
    be_a_rater(frame, page)
    assert complaints == []


def convert_example(frame: FrameLocator) -> None:
    numbers = frame.locator(".numbers:visible").first
    before = numbers.inner_text()
    frame.locator(".chips button").first.click()  # of another length than what is shown at first
    expect(numbers).not_to_have_text(before)


def find_word(frame: FrameLocator) -> None:
    frame.get_by_role("tab", name="Words").click()
    frame.locator(".query textarea:visible, .query input:visible").fill("three")
    frame.get_by_role("button", name="Find its place", exact=True).click()
    expect(frame.locator("#word-found")).to_contain_text("“three”")


def search_sounds(frame: FrameLocator) -> None:
    frame.get_by_role("tab", name="Sound search").click()
    frame.locator(".query textarea:visible").fill("a dog barks")
    frame.get_by_role("button", name="Search", exact=True).click()
    expect(frame.locator("#found")).to_contain_text("“a dog barks”")


def read_lips(frame: FrameLocator) -> None:
    frame.get_by_role("tab", name="Lip to speech").click()
    frame.get_by_role("button", name="Kofi").click()
    expect(frame.get_by_role("button", name="Stop", exact=True)).to_be_visible()
    expect(frame.get_by_role("button", name="Read my lips", exact=True)).to_be_visible()
    expect(frame.locator("#lips .tl-strip img").first).to_be_visible()


def be_a_rater(frame: FrameLocator, page: Page) -> None:
    """The test opens on a page of its own, where its memory is no third party's."""
    frame.get_by_role("tab", name="Listening tests").click()
    with page.expect_popup() as opened:
        frame.get_by_role("link", name="Take the example test").click()
    expect(opened.value.get_by_role("heading").first).to_contain_text("Which voice")
