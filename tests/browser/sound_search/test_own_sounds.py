"""Visitors' own sounds: kept apart, gone after the visit, and deleted on request."""

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Error, Page, expect

from earshot.systems.sound_search import SearchResult, SoundSearch
from tests.browser.visit import Visit
from tests.support.sounds import CAPTIONS, write_sound


@pytest.fixture
def other(browser: Browser, visit: Visit, tmp_path: Path) -> Iterator[Visit]:
    """Another visitor at the same time."""
    context = browser.new_context()
    visitor = Visit(context.new_page(), visit.address, tmp_path)
    visitor.open()
    visitor.enter("Sound search")
    yield visitor
    context.close()


def test_same_file_names_stay_apart(
    visit: Visit, other: Visit, page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two visitors' sounds of the same file name are kept apart."""
    monkeypatch.setattr("earshot.tabs.shared.sessions.GRACE", 2.0)
    for seed, visitor in enumerate((visit, other)):
        files = [write_sound(tmp_path / f"{seed}" / "same.wav", seed, 1.0 + seed)]
        (tmp_path / "notes.txt").write_text("no sound")
        visitor.page.get_by_role("button", name="Your own sounds").click()
        chooser = visitor.page.locator('input[type="file"][multiple]').first
        chooser.set_input_files([*files, tmp_path / "notes.txt"])
        expect(visitor.page.locator(".block.numbers:visible")).to_contain_text("1 sound of yours")
        expect(visitor.page.get_by_text("Not added: notes.txt")).to_be_visible()
        visitor.search("anything")
        assert len(visitor.cards()) == 1
    for visitor, length in ((visit, "1.00 s"), (other, "2.00 s")):
        expect(visitor.page.locator("#best-sound .tl-time")).to_contain_text(length)
    sound = page.locator("#best-sound audio").get_attribute("src")
    assert sound and _served(other.page, sound)
    visit.page.close()
    deadline = time.monotonic() + 20
    while (exists := _served(other.page, sound)) and time.monotonic() < deadline:
        time.sleep(0.5)
    assert not exists, "a visitor's sounds outlive the visit"


def test_own_sounds_without_match_are_ranked(
    visit: Visit, page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Own sounds are ranked even where none counts as a match."""
    search = SoundSearch.__call__

    def failing(self: SoundSearch, *args: Any, **kwargs: Any) -> SearchResult:
        return replace(search(self, *args, **kwargs), matched=False)

    monkeypatch.setattr(SoundSearch, "__call__", failing)
    page.get_by_role("button", name="Your own sounds").click()
    files = [write_sound(tmp_path / f"{seed}.wav", seed) for seed in range(3)]
    page.locator('input[type="file"][multiple]').first.set_input_files(files)
    expect(page.get_by_label("My sounds")).to_be_checked()
    visit.search("a spaceship")
    expect(page.locator(".card").filter(visible=True)).to_have_count(3)
    expect(page.locator("#found")).to_contain_text("the nearest come first")
    expect(page.locator("#best-sound")).not_to_contain_text("Nothing here matches")


def test_own_sounds_are_deleted_on_request(visit: Visit, page: Page, tmp_path: Path) -> None:
    page.get_by_role("button", name="Your own sounds").click()
    chooser = page.locator('input[type="file"][multiple]').first
    chooser.set_input_files(write_sound(tmp_path / "mine.wav", 3))
    expect(page.get_by_label("My sounds")).to_be_checked()
    visit.button("Delete my sounds").click()
    expect(page.get_by_text("Your sounds are deleted.")).to_be_visible()
    expect(page.locator("#sound-map .map-point")).to_have_count(len(CAPTIONS))


def _served(page: Page, address: str) -> bool:
    try:
        return page.request.get(address).ok
    except Error as error:  # deleted while it was sent
        if "aborted" not in str(error):
            raise
        return False
