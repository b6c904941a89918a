"""A page that stays open for longer than files are kept, and what leads away from it."""

import base64
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Route, expect

from earshot.app import launch, site
from earshot.core.paths import CHECKPOINTS
from earshot.tabs.shared.services import Services
from tests.browser.visit import PLACE_BLUE, Visit, shoot
from tests.fuzz.seeds import audio
from tests.support.serving import close

JOIN = "**/gradio_api/queue/join*"
AGE = 9  # seconds in which files are deleted, in place of an hour; a model loads meanwhile
LOADED = """async (player) => {
  const answer = await fetch(player.src, { cache: "no-store" });
  return answer.status;
}"""


@pytest.fixture(scope="module")
def hurried() -> Iterator[str]:
    """The app, which deletes the files of visitors after seconds."""
    page = site.build(Services(device="cpu"), CHECKPOINTS, delete_after=AGE)
    yield launch.launch(page, launch.options([], {}), block=False)
    close(page)


@pytest.fixture
def late(browser: Browser, hurried: str, tmp_path: Path) -> Iterator[Visit]:
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    visitor = Visit(context.new_page(), hurried, tmp_path)
    visitor.open()
    yield visitor
    context.close()


def test_examples_outlast_files_of_visitors(late: Visit) -> None:
    """A visitor's result says that its files are gone."""
    late.enter("Lip to speech")
    expect(late.page.locator("#lips .tl-strip img").first).to_be_visible()
    late.enter("Voice conversion")
    result = late.page.locator("#conversion")
    shipped = result.locator("audio").last.get_attribute("src")
    late.button(PLACE_BLUE).click()
    expect(result.locator("audio").last).not_to_have_attribute("src", str(shipped))
    expect(result.locator(".tl-gone")).to_be_hidden()
    late.page.wait_for_timeout(1500 * AGE)
    for player in late.page.locator("#lips :is(audio, video)").all():
        assert player.evaluate(LOADED) == 200
    player = result.locator("audio").last
    assert player.evaluate(LOADED) in (403, 404)
    player.evaluate("(player) => { player.src += '?'; }")  # as where the browser has not kept it
    expect(result.locator(".tl-gone")).to_be_visible()
    expect(late.page.locator(".colophon")).to_contain_text("deletes it within the hour")
    late.shoot("expired")
    late.button("Do it again").click()
    # A new result, or what became of the recording, which is a visitor's file too.
    message = late.page.locator(".message.error:visible")
    expect(result.locator(".tl-gone[hidden]").or_(message).first).to_be_attached()


@pytest.mark.stays
def test_manual_for_programs_opens_beside(visit: Visit) -> None:
    """“Use Earshot from a program” opens a page to read and leaves this one."""
    with visit.page.expect_popup() as opened:
        visit.page.get_by_role("link", name="Use Earshot from a program").click()
    manual = opened.value
    expect(manual.get_by_role("heading", name="Earshot for programs")).to_be_visible()
    expect(manual.get_by_role("heading", name="convert", exact=True)).to_be_attached()
    shoot(manual, visit.shots / "programs.png")
    expect(visit.page.locator("#conversion .tl-units")).to_be_visible()


@pytest.mark.stays
def test_webcam_clip_has_duration(visit: Visit) -> None:
    clip = base64.b64encode(audio("webm", "libopus", 48_000, options={"live": "1"})).decode()
    visit.page.evaluate(
        """(address) => {
          window.clip = document.body.appendChild(document.createElement("audio"));
          window.clip.src = address;
        }""",
        f"data:audio/webm;base64,{clip}",
    )
    visit.page.wait_for_function("() => Number.isFinite(clip.duration) && !clip.currentTime")
    assert visit.page.evaluate("() => clip.duration") == pytest.approx(0.4, abs=0.1)


@pytest.mark.stays
def test_refused_request_is_told_in_sentence(visit: Visit) -> None:
    replies: dict[str, dict[str, Any]] = {
        "Too many people are here.": {
            "status": 503,
            "json": {"detail": "Too many people are here."},
        },
        "did not answer": {"status": 502, "body": "<html>"},
    }
    for message, reply in replies.items():
        visit.page.route(JOIN, answering(reply))
        visit.button(PLACE_BLUE).click()
        expect(visit.page.get_by_text(message).first).to_be_visible()
        visit.page.unroute(JOIN)
    visit.complaints.clear()  # of the two answers


def answering(reply: dict[str, Any]) -> Callable[[Route], None]:
    """A handler of requests that answers so."""
    return lambda route: route.fulfill(**reply)
