"""The layout of the tabs on the narrowest phone, and the arrows of accordions."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from earshot.media.audio.features import SAMPLE_RATE
from earshot.media.audio.load import wav_bytes
from tests.browser.visit import Visit

NARROWEST = 360  # px

# Visible elements that reach over the right edge, outside boxes that scroll by themselves.
OVERFLOWING = """() => {
  const width = document.documentElement.clientWidth;
  const scrolls = (element) => {
    for (let e = element.parentElement; e && e !== document.body; e = e.parentElement) {
      if (getComputedStyle(e).overflowX !== "visible") return true;
    }
    return false;
  };
  return [...document.querySelectorAll("body *")]
    .filter((e) => e.checkVisibility() && e.getBoundingClientRect().right > width + 1)
    .filter((e) => !scrolls(e))
    .map((e) => `${e.tagName}.${e.getAttribute("class") ?? ""}`.slice(0, 80));
}"""
WIDER = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture
def on_phone(
    browser: Browser, address: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Visit]:
    context = browser.new_context(viewport={"width": NARROWEST, "height": 740}, has_touch=True)
    visitor = Visit(context.new_page(), address, tmp_path_factory.mktemp("shots"))
    visitor.open()
    yield visitor
    context.close()


@pytest.fixture
def narrow(on_phone: Visit) -> Page:
    return on_phone.page


def test_waveform_of_a_long_recording_stays_on_the_phone(on_phone: Visit, tmp_path: Path) -> None:
    path = tmp_path / "long.wav"
    noise = np.random.default_rng(0).normal(0, 0.1, 55 * SAMPLE_RATE).astype(np.float32)
    path.write_bytes(wav_bytes(noise, SAMPLE_RATE))
    on_phone.upload(path)
    box = on_phone.page.locator(".sound-input").first
    expect(box.locator("#waveform canvas").first).to_be_attached()
    expect(on_phone.button("Convert")).to_be_enabled()
    # It used to widen the page, which drew it anew, narrower, and so on without end.
    assert on_phone.layouts(3) <= 9
    assert box.evaluate("box => box.getBoundingClientRect().right") <= NARROWEST


def test_no_tab_scrolls_sideways_on_the_narrowest_phone(narrow: Page) -> None:
    names = narrow.get_by_role("tab").all_inner_texts()
    assert len(names) == 4
    for name in names:
        narrow.get_by_role("tab", name=name).click()
        panel = narrow.get_by_role("tabpanel").filter(visible=True).first
        expect(panel).to_be_visible()
        closed = panel.locator("button.label-wrap:not(.open)").filter(visible=True)
        while closed.count():
            closed.first.click()
        expect(closed).to_have_count(0)
        at_rest(narrow)
        assert narrow.evaluate(WIDER) <= 0, f"{name}: {narrow.evaluate(OVERFLOWING)}"


def test_accordions_point_right_when_closed_and_down_when_open(narrow: Page) -> None:
    header = narrow.locator("button.label-wrap").filter(has_text="Options").first
    angle = """(button) => {
      const { a, b } = new DOMMatrix(getComputedStyle(button.querySelector(".icon")).transform);
      return Math.round((Math.atan2(b, a) * 180) / Math.PI);
    }"""
    expect(header.locator(".icon")).to_have_text("▼")
    assert header.evaluate(angle) == -90  # ▼ turned right
    header.click()
    at_rest(narrow)
    assert header.evaluate(angle) == 0


def at_rest(page: Page) -> None:
    """Wait until nothing on the page moves but what moves for ever."""
    page.wait_for_function("""() => document.getAnimations().every((one) =>
      one.playState !== "running" || one.effect.getComputedTiming().endTime === Infinity)""")
