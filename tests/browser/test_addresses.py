"""Addresses of tabs and of what was asked, and a page in a booth."""

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Error, Route, expect

from earshot.app import launch, site
from earshot.core.paths import CHECKPOINTS
from earshot.tabs.listening_tests.tab import opened
from earshot.tabs.shared.services import Services
from tests.browser.visit import FRAMES, Visit
from tests.support.serving import close

IDLE = 121_000  # ms
FINISHED = re.compile("finished-converted")


@pytest.mark.stays
def test_tab_and_question_become_the_address(visit: Visit) -> None:
    page = visit.page
    visit.enter("Sound search")
    page.wait_for_url("**tab=sound-search*")
    page.locator(".query textarea:visible").fill("a dog barks")
    visit.button("Search").click()
    page.wait_for_url("**tab=sound-search*#a%20dog%20barks")
    # Gradio complains in a page that is left in the middle of an answer.
    expect(page.locator("#found")).to_contain_text("“a dog barks”")
    page.reload()
    expect(page.locator("#found")).to_contain_text("“a dog barks”")


@pytest.mark.stays
def test_back_and_forward_walk_through_tabs(visit: Visit) -> None:
    page = visit.page
    visit.enter("Words")
    visit.enter("Sound search")
    visit.enter("Words")
    page.go_back()
    for _ in range(2):
        tab = page.get_by_role("tab", name="Sound search")
        expect(tab).to_have_attribute("aria-selected", "true")
        page.go_back()
        tab = page.get_by_role("tab", name="Words")
        expect(tab).to_have_attribute("aria-selected", "true")
        page.go_forward()
    page.wait_for_url("**tab=sound-search*")


@pytest.mark.stays
def test_address_opens_tab_and_asks(visit: Visit) -> None:
    """The query that the address holds is asked in the tab."""
    page = visit.page
    page.goto(f"{visit.address}?tab=sound-search#rain%20on%20a%20roof")
    tab = page.get_by_role("tab", name="Sound search")
    expect(tab).to_have_attribute("aria-selected", "true")
    expect(page.locator("#found")).to_contain_text("“rain on a roof”")


def test_booth_left_alone_begins_anew(browser: Browser, booth: str, tmp_path: Path) -> None:
    """A booth left alone runs an example of one tab after the other."""
    context = browser.new_context(viewport={"width": 1920, "height": 1080})
    visitor = Visit(context.new_page(), booth, tmp_path)
    page = visitor.page
    page.clock.install()
    visitor.open()
    page.get_by_role("button", name="Touch to try").click()
    expect(page.locator(".sound-input .record-button:visible").first).to_be_in_viewport()
    expect(page.locator(":is(.masthead, .colophon, .gr-accordion):visible")).to_have_count(0)
    page.get_by_role("tab", name="Words").click()
    words = page.get_by_role("tab", name="Words")
    expect(words).to_have_attribute("aria-selected", "true")
    page.clock.fast_forward(IDLE)
    first = page.get_by_role("tab", name="Voice conversion")
    expect(first).to_have_attribute("aria-selected", "true")
    result = page.locator("#conversion audio").last
    expect(result).to_have_attribute("src", FINISHED)
    held: list[Route] = []
    page.route("**/queue/join*", lambda route: held.append(route))
    page.clock.fast_forward(6_000)
    expect(visitor.button("Stop")).to_be_visible()  # an example runs by itself
    page.clock.fast_forward(21_000)
    page.evaluate(FRAMES)
    expect(first).to_have_attribute("aria-selected", "true")  # until it has come
    held.pop().continue_()
    page.unroute("**/queue/join*")
    expect(result).not_to_have_attribute("src", FINISHED)
    expect(visitor.button("Stop")).to_be_hidden()
    visitor.shoot("booth")
    page.clock.fast_forward(21_000)
    expect(words).to_have_attribute("aria-selected", "true")
    page.clock.fast_forward(3_000)
    chip = page.locator(".chips:visible button").first.inner_text()
    expect(page.locator("#word-found h3")).to_contain_text(chip)
    full = page.locator(".sound-input [aria-label='Clear']:visible")
    expect(full).to_have_count(1)
    page.keyboard.press("Shift")
    page.clock.fast_forward(2_000)
    expect(full).to_have_count(0)
    first.click()  # nor is there an example in another tab
    expect(full).to_have_count(0)
    words.click()
    expect(page.get_by_role("button", name="Touch to try")).to_have_count(0)
    page.clock.fast_forward(41_000)
    expect(words).to_have_attribute("aria-selected", "true")
    context.close()


def test_booth_leaves_nothing_to_the_next(browser: Browser, booth: str, tmp_path: Path) -> None:
    context = browser.new_context()
    visitor = Visit(context.new_page(), booth, tmp_path)
    page = visitor.page
    page.clock.install()
    visitor.open()
    page.get_by_role("button", name="Touch to try").click()
    page.evaluate("localStorage.setItem('listen /listen/ab', 'a rater')")
    visitor.enter("Listening tests")
    test = page.get_by_role("link", name="Take the example test")
    with context.expect_page() as window:
        test.click()
    page.clock.fast_forward(2_000)
    # It fills the screen of a stand. A click on a page that goes with it may fail for that.
    with window.value.expect_event("close"), suppress(Error):
        window.value.get_by_role("button", name="Back").click()
    with context.expect_page() as window:
        test.click()
    other = window.value
    other.wait_for_load_state()
    page.clock.fast_forward(IDLE - 20_000)
    other.keyboard.press("Shift")  # somebody is there
    page.clock.fast_forward(IDLE - 20_000)
    assert not other.is_closed()
    with other.expect_event("close"):
        page.clock.fast_forward(IDLE)
    page.wait_for_function("localStorage.getItem('listen /listen/ab') === null")
    context.close()


def test_booth_says_what_fails(browser: Browser, booth: str, tmp_path: Path) -> None:
    """And goes on, without anybody, once it is there again."""
    context = browser.new_context()
    visitor = Visit(context.new_page(), booth, tmp_path)
    page, notice = visitor.page, visitor.page.locator(".kiosk-notice")
    page.add_init_script("navigator.mediaDevices.enumerateDevices = async () => []")
    page.clock.install()
    visitor.open()
    expect(notice).to_contain_text("no microphone here just now: try the example")
    page.route("**/phone", lambda route: route.abort())
    page.clock.fast_forward(6_000)
    expect(notice).to_contain_text("Earshot is starting again")
    page.unroute("**/phone")
    page.clock.fast_forward(6_000)
    expect(notice).not_to_contain_text("starting again")
    visitor.complaints.clear()  # the browser's own, of the request without an answer
    context.close()


@pytest.fixture(scope="module")
def booth(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    options = launch.options(["--kiosk"], {})
    services = Services(device="cpu", tests=opened(tmp_path_factory.mktemp("studies"), None))
    page = site.build(services, CHECKPOINTS, delete_after=options.delete_after)
    yield launch.launch(page, options, block=False)
    close(page)
