"""The layout of the tabs on the narrowest phone, and the arrows of accordions."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

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
def narrow(
    browser: Browser, address: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": NARROWEST, "height": 740}, has_touch=True)
    visitor = Visit(context.new_page(), address, tmp_path_factory.mktemp("shots"))
    visitor.open()
    yield visitor.page
    context.close()


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
        narrow.wait_for_timeout(500)
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
    narrow.wait_for_timeout(400)
    assert header.evaluate(angle) == 0
