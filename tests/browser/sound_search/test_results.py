"""What a visitor does with found sounds: play, vote, export, keep and compare."""

import re
import zipfile
from dataclasses import replace
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from earshot.sound_index.index import SoundIndex
from earshot.systems.sound_search import SearchResult, SoundSearch
from tests.browser.visit import PLAYING, SIZES, Visit


@pytest.mark.stays
def test_new_search_closes_comparison(visit: Visit, page: Page) -> None:
    """The results are no more than a page."""
    visit.search("rain")
    page.get_by_role("button", name="Show more results").click()
    expect(page.locator(".card")).to_have_count(12)
    page.locator("#best-sound").get_by_role("button", name="A/B").click()
    page.locator("#other-sounds").get_by_role("button", name="A/B").first.click()
    expect(page.locator("#compared .tl-play")).to_have_count(2)
    visit.search("thunder without bells")
    expect(page.locator("#compared")).to_be_hidden()
    expect(page.locator("#query-chips")).to_contain_text("not bells")
    expect(page.locator(".card")).to_have_count(9)
    visit.shoot("without")


@pytest.mark.stays
def test_two_sounds_share_one_playhead(visit: Visit, page: Page) -> None:
    visit.search("rain")
    page.locator("#best-sound").get_by_role("button", name="A/B").click()
    panel = page.locator("#compared")
    expect(panel).to_contain_text("A is")
    page.locator("#other-sounds").get_by_role("button", name="A/B").first.click()
    sides = panel.locator(".tl-play")
    expect(sides).to_have_count(2)
    names = panel.locator(".tl-label").all_inner_texts()
    box = panel.locator(".tl-box").first.bounding_box()
    assert box
    panel.locator(".tl-box").first.click(position={"x": 0.4 * box["width"], "y": 20})
    expect(sides.first).to_have_attribute("aria-pressed", "true")
    sides.last.click()
    expect(sides.last).to_have_attribute("aria-pressed", "true")
    expect(sides.first).to_have_attribute("aria-pressed", "false")
    expect(panel.locator(".tl-time")).to_have_text(re.compile(r"^(0\.[89]|1\.)"))
    visit.look("compared")
    panel.get_by_role("button", name="Exchange").click()
    expect(panel.locator(".tl-label").first).to_have_text(names[1].replace("B: ", "A: "))
    panel.get_by_role("button", name="Close", exact=True).click()
    expect(panel).to_be_hidden()


@pytest.mark.stays
def test_search_without_match_shows_nearest_sounds(
    visit: Visit, page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    search = SoundSearch.__call__

    def failing(self: SoundSearch, index: SoundIndex, *args: Any, **kwargs: Any) -> SearchResult:
        return replace(search(self, index, *args, **kwargs), matched=False)

    monkeypatch.setattr(SoundSearch, "__call__", failing)
    visit.search("a spaceship")
    expect(page.locator("#found")).to_contain_text("Nothing here matches “a spaceship” well")
    expect(page.locator("#best-sound .card")).to_be_visible()
    expect(page.locator("#other-sounds .card").first).to_be_visible()
    visit.shoot("nothing")


@pytest.mark.stays
@pytest.mark.parametrize("visit", [("phone", "dark")], indirect=True)
def test_collections_of_sounds_outlast_visit(visit: Visit, page: Page) -> None:
    visit.search("rain")
    first, second, *_ = visit.cards()
    keep = page.locator("#best-sound").get_by_role("button", name="Keep")
    keep.click()
    expect(keep).to_have_attribute("aria-pressed", "true")
    page.locator("#other-sounds").get_by_role("button", name="Keep").first.click()
    page.get_by_role("button", name="Collections").click()
    panel = page.locator("#own-collections")
    expect(panel).to_contain_text("Favourites2 sounds")
    visit.unfold("Options", "Only these collections").click()
    page.get_by_role("option", name="Favourites").click()
    visit.search("a bell")
    assert set(visit.cards()) == {first, second}
    panel.get_by_role("button", name="Show Favourites").click()
    expect(page.locator("#found")).to_contain_text("Collection: Favourites")
    assert set(visit.cards()) == {first, second}
    expect(page.get_by_role("button", name="Fits")).to_have_count(0)
    visit.look("collection")
    page.reload()
    visit.enter("Sound search")
    page.get_by_role("button", name="Collections").click()
    expect(panel).to_contain_text("Favourites2 sounds")
    panel.get_by_role("button", name="Delete Favourites").click()
    expect(panel).not_to_contain_text("Favourites")


@pytest.mark.stays
def test_filters_and_the_export_of_results(visit: Visit, page: Page) -> None:
    visit.unfold("Options", "Title or file name contains").fill("bell")
    visit.search("a sound")
    assert len(visit.cards()) == 1
    expect(page.locator("#best-sound h4")).to_have_text("A church bell rings.")
    for width, height in SIZES.values():
        page.set_viewport_size({"width": width, "height": height})
        heading = page.locator("#found").bounding_box()
        assert heading and heading["width"] >= 300, "the buttons next to it leave it no room"
        assert heading["height"] <= 120, "nor does it keep more than it needs"
    with page.expect_download() as download:
        page.get_by_role("button", name="Export 1 result").click()
    with zipfile.ZipFile(download.value.path()) as file:
        assert "sounds/01-bell.wav" in file.namelist()
    visit.look("filtered")


@pytest.mark.parametrize("visit", [("phone", "dark")], indirect=True)
def test_search_results_are_played_and_exported(visit: Visit, page: Page) -> None:
    """A result is voted on in between."""
    visit.search("rain on a roof")
    cards = visit.cards()
    assert len(cards) == 9
    assert page.evaluate(PLAYING) == 0, "nothing starts by itself"

    # A click on the heat strip plays from there; another card stops the first.
    strip = page.locator("#best-sound .tl-heat .tl-box")
    box = strip.bounding_box()
    assert box
    strip.click(position={"x": 0.55 * box["width"], "y": 8})
    play = page.locator("#best-sound .tl-play")
    expect(play).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#best-sound .tl-time")).to_have_text(re.compile(r"^1\.[1-9]"))
    page.locator("#other-sounds .tl-play").first.click()
    expect(play).to_have_attribute("aria-pressed", "false")

    fits = page.locator("#other-sounds .card").nth(2).get_by_role("button", name="Fits")
    fits.click()
    expect(page.locator("#best-sound .card")).to_have_attribute("data-sound", cards[3])
    best = page.locator("#best-sound").get_by_role("button", name="Fits")
    expect(best).to_have_attribute("aria-pressed", "true")
    with page.expect_download() as download:
        page.get_by_role("button", name="Export 1 label").click()
    assert "rain on a roof" in download.value.path().read_text()

    visit.look("searched")
