"""What a visitor asks for: examples, two sounds, German, a recording, and no usable text."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from earshot.tabs.sound_search import EXAMPLES
from tests.browser.visit import Visit
from tests.support.sounds import CAPTIONS, write_sound


@pytest.mark.stays
def test_example_query_needs_one_click(visit: Visit, page: Page) -> None:
    visit.button(EXAMPLES[0]).click()
    expect(page.locator("#found")).to_contain_text(f"“{EXAMPLES[0]}”")
    expect(page.locator("#best-sound .card")).to_have_count(1)


@pytest.mark.stays
def test_german_query_is_put_into_english(visit: Visit, page: Page) -> None:
    visit.search("ein Hund bellt, dann klingelt eine Glocke")
    understood = page.get_by_text("German, read as “a dog barks, then rings a bell”.")
    expect(understood).to_be_visible()
    expect(page.locator("#query-chips .chip-part")).to_have_count(2)
    assert visit.faint() == []
    visit.shoot("german")
    visit.search("a dog barks")
    expect(understood).to_have_count(0)


@pytest.mark.stays
def test_file_placeholder_is_shown_as_text(visit: Visit, page: Page) -> None:
    for text in ("qqqq @file99 xx", "@file0", 'src="@file0 <b>', "\u202eكلب 狗 bark 🐕"):
        visit.search(text)
        assert len(visit.cards()) == 9
        expect(page.locator("#sound-map .map-query title")).to_have_text(f"“{text}”")


@pytest.mark.stays
def test_unusable_query_shows_only_error(visit: Visit, page: Page) -> None:
    """Nothing else on the page changes."""
    visit.search("rain")
    before = visit.cards()
    for text, message in (("", "Type what"), ("x" * 10_000, "too long"), ("🐕", "words")):
        page.locator(".query textarea").fill(text)
        visit.button("Search").click()
        expect(page.get_by_role("alert")).to_contain_text(message)
        assert visit.cards() == before


@pytest.mark.stays
@pytest.mark.parametrize("visit", [("phone", "dark")], indirect=True)
def test_chips_change_query_for_two_sounds(visit: Visit, page: Page) -> None:
    visit.search("a dog barks, then a bell rings")
    chips = page.locator("#query-chips")
    expect(chips.locator(".chip-part")).to_have_count(2)
    expect(page.locator("#best-sound .tl-cells")).to_have_count(2)
    chips.get_by_label("Exchange these two").click()
    expect(page.locator("#found")).to_contain_text("“a bell rings, then a dog barks”")
    expect(page.locator(".query textarea")).to_have_value("a bell rings, then a dog barks")
    visit.look("two-sounds")
    chips.get_by_label("Leave out: a dog barks").click()
    expect(chips.locator(".chip-part")).to_have_count(0)
    expect(page.locator("#found")).to_contain_text("“a bell rings”")


@pytest.mark.stays
def test_search_by_uploaded_sound_finds_it(visit: Visit, page: Page, tmp_path: Path) -> None:
    page.locator(".query textarea").fill("")
    page.get_by_role("button", name="Search by a sound").click()
    box = page.locator(".sound-input", has=page.locator(":visible")).last
    box.get_by_role("button", name="Upload file").click()
    path = write_sound(tmp_path / "dog.wav", list(CAPTIONS).index("dog.wav"))
    box.locator('input[type="file"]').set_input_files(path)
    expect(box.locator('[data-testid="waveform-Waveform"], #waveform').first).to_be_visible()
    visit.button("Search").click()
    expect(page.locator("#found")).to_contain_text("like your recording")
    expect(page.locator("#best-sound h4")).to_have_text("A dog barks twice.")


@pytest.mark.stays
def test_more_like_this_honours_exclusion(visit: Visit, page: Page) -> None:
    """“More like this” with an exclusion leaves out the result."""
    visit.search("a bell")
    first = visit.cards()[0]
    visit.unfold("Options", "But not …").fill("water")
    page.locator("#best-sound").get_by_role("button", name="More like this").click()
    expect(page.locator("#found")).to_contain_text("but not “water”")
    assert first not in visit.cards()
    chip = page.locator("button.liked")
    expect(chip).to_contain_text("Like “")
    visit.search("quiet")
    expect(page.locator("#found")).to_contain_text("“quiet” and like “")
    chip.click()
    expect(chip).to_be_hidden()
