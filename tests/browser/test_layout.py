"""The layout of the tabs: the narrowest phone, accordions, diagrams, and what is chosen."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from earshot.media.audio.load import wav_bytes
from earshot.media.constants import SAMPLE_RATE
from earshot.tabs.voice_conversion.tab import INTONATIONS, VOCODERS
from tests.browser.visit import Visit
from tests.support.systems import labels

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


# Words that reach out of their box, and arrows without their head, in the diagrams to be seen.
OUTSIDE = """() => [...document.querySelectorAll(".how svg")]
  .filter((svg) => svg.checkVisibility())
  .flatMap((svg) => {
    const boxes = [...svg.querySelectorAll(".how-box rect")].map((rect) => rect.getBBox());
    const words = [...svg.querySelectorAll("text")].filter((text) => {
      const { x, y, width, height } = text.getBBox();
      const within = (box) => y + height / 2 > box.y && y + height / 2 < box.y + box.height
        && x + width / 2 > box.x && x + width / 2 < box.x + box.width;
      const box = boxes.find(within);
      return box && (x < box.x + 2 || x + width > box.x + box.width - 2);
    });
    const arrows = [...svg.querySelectorAll(".how-arrow path")].filter((path) => {
      const [, head] = getComputedStyle(path).markerEnd.match(/#([\\w-]+)/) ?? [];
      return !head || !svg.querySelector(`#${head}`);
    });
    return [...words.map((text) => text.textContent), ...arrows.map(() => "an arrow without head")];
  })"""
# Those of these texts that an input is too narrow to show.
CUT = """(input, texts) => texts.filter((text) => {
  input.value = text;
  return input.scrollWidth > input.clientWidth;
})"""


@pytest.fixture(scope="module")
def on_phone(
    browser: Browser, address: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Visit]:
    context = browser.new_context(viewport={"width": NARROWEST, "height": 740}, has_touch=True)
    visitor = Visit(context.new_page(), address, tmp_path_factory.mktemp("shots"))
    visitor.open()
    yield visitor
    context.close()


@pytest.fixture(scope="module")
def narrow(on_phone: Visit) -> Page:
    return on_phone.page


@pytest.mark.stays
def test_options_show_whole_choice(visit: Visit) -> None:
    """Options show the whole of what is chosen."""
    page = visit.page
    for field, texts in (
        ("What passes to the new voice", labels("voice_conversion").values()),
        ("Intonation", INTONATIONS),
        ("Vocoder", VOCODERS),
        ("Blend with", ["No other", "Your voice"]),
    ):
        if field == "What passes to the new voice":
            visit.unfold("Options", field)
        chosen = page.get_by_role("combobox", name=field)
        assert chosen.evaluate(CUT, list(texts)) == [], field


@pytest.mark.stays
def test_diagrams_keep_words_in_boxes(visit: Visit) -> None:
    page = visit.page
    for name in page.get_by_role("tab").all_inner_texts():
        page.get_by_role("tab", name=name).click()
        page.get_by_role("button", name="How it works").filter(visible=True).click()
        expect(page.locator(".how svg").filter(visible=True)).to_have_count(1)
        at_rest(page)
        assert page.evaluate(OUTSIDE) == [], name


def test_accordions_point_right_or_down(narrow: Page) -> None:
    """Accordions point right when closed and down when open."""
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


def test_waveform_of_long_recording_fits_phone(on_phone: Visit, tmp_path: Path) -> None:
    path = tmp_path / "long.wav"
    noise = np.random.default_rng(0).normal(0, 0.1, 55 * SAMPLE_RATE).astype(np.float32)
    path.write_bytes(wav_bytes(noise, SAMPLE_RATE))
    on_phone.convert(path)
    box = on_phone.page.locator(".sound-input").first
    expect(box.locator("#waveform canvas").first).to_be_attached()
    on_phone.page.evaluate("() => document.querySelectorAll('audio').forEach((a) => a.pause())")
    # It used to widen the page, which drew it anew, narrower, and so on without end.
    assert on_phone.layouts(3) <= 9
    assert box.evaluate("box => box.getBoundingClientRect().right") <= NARROWEST


def test_no_tab_scrolls_on_narrowest_phone(narrow: Page) -> None:
    """No tab scrolls sideways."""
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


def at_rest(page: Page) -> None:
    """Wait until nothing on the page moves but what moves for ever."""
    page.wait_for_function("""() => document.getAnimations().every((one) =>
      one.playState !== "running" || one.effect.getComputedTiming().endTime === Infinity)""")
