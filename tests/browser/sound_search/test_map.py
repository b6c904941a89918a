"""The map of sounds by mouse, finger and keyboard."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.visit import PLAYING, Visit
from tests.support.sounds import CAPTIONS

AREA = [(0, 0), (0.6, 0), (0.6, 1), (0, 1)]  # its corners on the map: its left part


@pytest.mark.stays
def test_map_area_is_chosen_by_keyboard(visit: Visit, page: Page) -> None:
    visit.search("rain")
    chart = page.locator("#sound-map")
    chart.get_by_role("button", name="Choose an area").press("Enter")
    expect(chart.locator(".map-plane")).to_be_focused()
    page.keyboard.press("ArrowRight")
    status = chart.locator(".map-choose span")
    expect(status).to_contain_text("in this area")
    for _ in range(20):
        page.keyboard.press("+")
    expect(status).to_have_text(f"{len(CAPTIONS)} points in this area")
    page.keyboard.press("Enter")
    expect(page.locator("#found")).to_contain_text(f"{len(CAPTIONS)} sounds of the map")
    assert len(visit.cards()) == len(CAPTIONS)


@pytest.mark.stays
def test_map_is_walked_by_arrow_keys(visit: Visit, page: Page) -> None:
    """The sounds that the keys reach are played."""
    visit.search("rain")
    plane = page.locator("#sound-map .map-plane")
    expect(page.locator("#sound-map .map-query")).to_have_count(1)
    expect(page.locator("#sound-map .map-highlighted")).to_have_count(9)
    plane.focus()
    chosen = page.locator('#sound-map .map-point[aria-selected="true"]')
    seen = set()
    for key in ("ArrowRight", "ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp"):
        page.keyboard.press(key)
        expect(chosen).to_have_count(1)
        seen.add(chosen.get_attribute("data-name"))
    assert len(seen) > 2
    page.keyboard.press("Enter")
    expect(page.locator("#sound-map .map-playing")).to_have_count(1)
    assert page.evaluate(PLAYING) == 1
    name = chosen.get_attribute("data-name")
    page.locator("#sound-map").get_by_role("button", name="More like this").click()
    expect(page.locator("#found")).to_contain_text(f"like “{name}”")


@pytest.mark.parametrize(
    "visit",
    [pytest.param(("desktop", "light"), marks=pytest.mark.stays), ("phone", "dark")],
    indirect=True,
)
def test_map_area_is_listed(visit: Visit, page: Page) -> None:
    visit.search("rain")
    chart = page.locator("#sound-map")
    choose = chart.get_by_role("button", name="Choose an area")
    choose.click()
    expect(choose).to_have_attribute("aria-pressed", "true")
    plane = chart.locator(".map-plane")
    plane.scroll_into_view_if_needed()
    box = plane.bounding_box()
    assert box
    corners = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in AREA]
    text = draw(page, chart, corners, touch=page.viewport_size == {"width": 390, "height": 844})
    count = int(text.split()[0])
    assert 0 < count < len(CAPTIONS)
    expect(page.locator("#found")).to_contain_text(f"{count} sounds of the map")
    assert len(visit.cards()) == count
    expect(choose).to_have_attribute("aria-pressed", "false")
    visit.shoot("area")


def draw(page: Page, chart: Locator, corners: list[tuple[float, float]], touch: bool) -> str:
    """Draws around an area by mouse or finger; what the map says of it before it is finished."""
    status = chart.locator(".map-choose span")
    if not touch:
        page.mouse.move(*corners[0])
        page.mouse.down()
        for corner in corners[1:]:
            page.mouse.move(*corner, steps=4)
        text = status.inner_text()
        page.mouse.up()
        return text
    finger = page.context.new_cdp_session(page)
    for number, (x, y) in enumerate(corners):
        kind = "touchMove" if number else "touchStart"
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y}]})
    expect(status).to_contain_text("in this area")
    # The page counts once a frame: what the last touch encloses is said after the next.
    page.evaluate("() => new Promise((d) => requestAnimationFrame(() => requestAnimationFrame(d)))")
    text = status.inner_text()
    finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    return text
