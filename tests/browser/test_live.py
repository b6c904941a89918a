"""A visitor speaks, and hears themselves in another voice meanwhile."""

import pytest
from playwright.sync_api import expect

from tests.browser.visit import Visit

LOADING = 300_000  # ms: its process imports torch, beside other work
LOOKS = [("desktop", "light"), ("phone", "dark")]
DRAWN = """() => {
  const canvas = document.querySelector(".live-units");
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  return data.some((value) => value > 0);
}"""


@pytest.mark.parametrize("visit", LOOKS, indirect=True)
def test_live_shows_units_and_delay_and_gives_what_was_said_to_the_tab(visit: Visit) -> None:
    page = visit.page
    visit.button("Live").click()
    expect(page.locator(".live")).to_have_attribute("data-state", "running", timeout=LOADING)
    page.wait_for_function(DRAWN)
    expect(page.locator(".live-line")).to_contain_text("ms delay")
    expect(page.locator(".live-line")).to_contain_text("dropout")
    page.locator("label").filter(has_text="SF1").click()
    assert visit.faint() == []
    visit.shoot("live")

    page.keyboard.press("Escape")
    expect(page.locator(".live")).to_have_attribute("data-state", "off")
    expect(page.locator(".live-said")).to_have_attribute("download", "live.wav")
    expect(visit.button("Convert")).to_be_disabled()
    visit.button("Take what you said apart").click()
    visit.convert()
    visit.shoot("kept")
