"""A visitor's way through sound search, in a real browser."""

import re
import time
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Error, Locator, Page, expect

from pipelines.sound_search import SearchResult, SoundSearch
from pipelines.sound_search.index import SoundIndex
from tabs.sound_search import EXAMPLES
from tests.browser.visit import Visit
from tests.sounds import CAPTIONS, write_sound

LOOKS = [(size, scheme) for size in ("desktop", "phone") for scheme in ("light", "dark")]
AREA = [(0, 0), (0.6, 0), (0.6, 1), (0, 1)]  # its corners on the map: its left part
PLAYING = """() => [...document.querySelectorAll("audio")].filter((a) => !a.paused).length"""


@pytest.fixture(autouse=True)
def room(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    """Untrained networks match nothing: here, whatever is nearest matches."""
    search = SoundSearch.__call__

    def matching(self: SoundSearch, *args: Any, **kwargs: Any) -> SearchResult:
        return replace(search(self, *args, **kwargs), matched=True)

    monkeypatch.setattr(SoundSearch, "__call__", matching)
    visit.enter("Sound search")
    expect(visit.page.locator("#sound-map .map-point")).to_have_count(len(CAPTIONS))


@pytest.fixture
def other(browser: Browser, visit: Visit, tmp_path: Path) -> Iterator[Visit]:
    """Another visitor at the same time."""
    context = browser.new_context()
    visitor = Visit(context.new_page(), visit.address, tmp_path)
    visitor.open()
    visitor.enter("Sound search")
    yield visitor
    context.close()


@pytest.mark.parametrize("visit", LOOKS, indirect=True)
def test_search_results_are_played_voted_on_and_exported(visit: Visit, page: Page) -> None:
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

    root = "document.documentElement"
    assert page.evaluate(f"() => {root}.scrollWidth <= {root}.clientWidth")
    assert visit.faint() == []
    visit.shoot("searched")


def test_example_query_needs_one_click(visit: Visit, page: Page) -> None:
    visit.button(EXAMPLES[0]).click()
    expect(page.locator("#found")).to_contain_text(f"“{EXAMPLES[0]}”")
    expect(page.locator("#best-sound .card")).to_have_count(1)


@pytest.mark.parametrize("visit", [("desktop", "light"), ("phone", "dark")], indirect=True)
def test_filters_and_the_export_of_results(visit: Visit, page: Page) -> None:
    page.get_by_role("button", name="Options").last.click()
    page.get_by_label("Title or file name contains").fill("bell")
    visit.search("a sound")
    assert len(visit.cards()) == 1
    expect(page.locator("#best-sound h4")).to_have_text("A church bell rings.")
    with page.expect_download() as download:
        page.get_by_role("button", name="Export 1 result").click()
    with zipfile.ZipFile(download.value.path()) as file:
        assert "sounds/01-bell.wav" in file.namelist()
    assert visit.faint() == []
    visit.shoot("filtered")


@pytest.mark.parametrize("visit", [("desktop", "light"), ("phone", "dark")], indirect=True)
def test_sounds_are_kept_in_collections_that_outlast_the_visit(visit: Visit, page: Page) -> None:
    visit.search("rain")
    first, second, *_ = visit.cards()
    keep = page.locator("#best-sound").get_by_role("button", name="Keep")
    keep.click()
    expect(keep).to_have_attribute("aria-pressed", "true")
    page.locator("#other-sounds").get_by_role("button", name="Keep").first.click()
    page.get_by_role("button", name="Collections").click()
    panel = page.locator("#own-collections")
    expect(panel).to_contain_text("Favourites2 sounds")
    page.get_by_role("button", name="Options").last.click()
    page.get_by_label("Only these collections").click()
    page.get_by_role("option", name="Favourites").click()
    visit.search("a bell")
    assert set(visit.cards()) == {first, second}
    panel.get_by_role("button", name="Show Favourites").click()
    expect(page.locator("#found")).to_contain_text("Collection: Favourites")
    assert set(visit.cards()) == {first, second}
    expect(page.get_by_role("button", name="Fits")).to_have_count(0)
    assert visit.faint() == []
    visit.shoot("collection")
    page.reload()
    visit.enter("Sound search")
    page.get_by_role("button", name="Collections").click()
    expect(panel).to_contain_text("Favourites2 sounds")
    panel.get_by_role("button", name="Delete Favourites").click()
    expect(panel).not_to_contain_text("Favourites")


@pytest.mark.parametrize("visit", [("desktop", "light"), ("phone", "dark")], indirect=True)
def test_two_sounds_are_compared_under_one_playhead(visit: Visit, page: Page) -> None:
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
    assert visit.faint() == []
    visit.shoot("compared")
    panel.get_by_role("button", name="Exchange").click()
    expect(panel.locator(".tl-label").first).to_have_text(names[1].replace("B: ", "A: "))
    panel.get_by_role("button", name="Close", exact=True).click()
    expect(panel).to_be_hidden()


@pytest.mark.parametrize("visit", [("desktop", "light"), ("phone", "dark")], indirect=True)
def test_an_area_of_the_map_is_listed(visit: Visit, page: Page) -> None:
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
    said = draw(page, chart, corners, touch=page.viewport_size == {"width": 390, "height": 844})
    count = int(said.split()[0])
    assert 0 < count < len(CAPTIONS)
    expect(page.locator("#found")).to_contain_text(f"{count} sounds of the map")
    assert len(visit.cards()) == count
    expect(choose).to_have_attribute("aria-pressed", "false")
    visit.shoot("area")


def test_an_area_of_the_map_is_chosen_by_keyboard(visit: Visit, page: Page) -> None:
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


@pytest.mark.parametrize("visit", [("desktop", "light"), ("phone", "dark")], indirect=True)
def test_query_for_two_sounds_shows_chips_that_change_it(visit: Visit, page: Page) -> None:
    visit.search("a dog barks, then a bell rings")
    chips = page.locator("#query-chips")
    expect(chips.locator(".chip-part")).to_have_count(2)
    expect(page.locator("#best-sound .tl-cells")).to_have_count(2)
    chips.get_by_label("Exchange these two").click()
    expect(page.locator("#found")).to_contain_text("“a bell rings, then a dog barks”")
    expect(page.locator(".query textarea")).to_have_value("a bell rings, then a dog barks")
    assert visit.faint() == []
    visit.shoot("two-sounds")
    chips.get_by_label("Leave out: a dog barks").click()
    expect(chips.locator(".chip-part")).to_have_count(0)
    expect(page.locator("#found")).to_contain_text("“a bell rings”")


def test_german_query_is_put_into_english(visit: Visit, page: Page) -> None:
    visit.search("ein Hund bellt, dann klingelt eine Glocke")
    understood = page.get_by_text("German, read as “a dog barks, then rings a bell”.")
    expect(understood).to_be_visible()
    expect(page.locator("#query-chips .chip-part")).to_have_count(2)
    assert visit.faint() == []
    visit.shoot("german")
    visit.search("a dog barks")
    expect(understood).to_have_count(0)


def test_more_like_this_with_an_exclusion_leaves_out_the_result(visit: Visit, page: Page) -> None:
    visit.search("a bell")
    first = visit.cards()[0]
    page.get_by_role("button", name="Options").last.click()
    page.get_by_label("But not …").fill("water")
    page.locator("#best-sound").get_by_role("button", name="More like this").click()
    expect(page.locator("#found")).to_contain_text("but not “water”")
    assert first not in visit.cards()
    chip = page.locator("button.liked")
    expect(chip).to_contain_text("Like “")
    visit.search("quiet")
    expect(page.locator("#found")).to_contain_text("“quiet” and like “")
    chip.click()
    expect(chip).to_be_hidden()


def test_search_by_an_uploaded_sound_finds_it(visit: Visit, page: Page, tmp_path: Path) -> None:
    page.get_by_role("button", name="Search by a sound").click()
    box = page.locator(".sound-input", has=page.locator(":visible")).last
    box.get_by_role("button", name="Upload file").click()
    path = write_sound(tmp_path / "dog.wav", list(CAPTIONS).index("dog.wav"))
    box.locator('input[type="file"]').set_input_files(path)
    expect(box.locator('[data-testid="waveform-Waveform"], #waveform').first).to_be_visible()
    visit.button("Search").click()
    expect(page.locator("#found")).to_contain_text("like your recording")
    expect(page.locator("#best-sound h4")).to_have_text("A dog barks twice.")


@pytest.mark.parametrize(
    "text", ["qqqq @file99 xx", "@file0", 'src="@file0 <b>', "\u202eكلب 狗 bark 🐕"]
)
def test_search_for_a_file_placeholder_shows_it_as_text(
    visit: Visit, page: Page, text: str
) -> None:
    visit.search(text)
    assert len(visit.cards()) == 9
    expect(page.locator("#sound-map .map-query title")).to_have_text(f"“{text}”")


@pytest.mark.parametrize(
    ("text", "message"),
    [("", "Type what"), ("x" * 10_000, "too long"), ("🐕", "words")],
    ids=["nothing", "too long", "emoji"],
)
def test_unusable_query_shows_an_error_and_changes_nothing_else(
    visit: Visit, page: Page, text: str, message: str
) -> None:
    visit.search("rain")
    before = visit.cards()
    page.locator(".query textarea").fill(text)
    visit.button("Search").click()
    expect(page.get_by_role("alert")).to_contain_text(message)
    assert visit.cards() == before


def test_map_is_walked_by_arrow_keys_and_played(visit: Visit, page: Page) -> None:
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


def test_search_without_a_match_folds_the_nearest_sounds(
    visit: Visit, page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    search = SoundSearch.__call__

    def failing(self: SoundSearch, index: SoundIndex, *args: Any, **kwargs: Any) -> SearchResult:
        return replace(search(self, index, *args, **kwargs), matched=False)

    monkeypatch.setattr(SoundSearch, "__call__", failing)
    visit.search("a spaceship")
    expect(page.locator("#best-sound")).to_contain_text("Nothing here matches “a spaceship”.")
    card = page.locator("#other-sounds .card").first
    expect(card).to_be_hidden()
    page.get_by_text("nearest sounds anyway").click()
    expect(card).to_be_visible()
    visit.shoot("nothing")


def test_same_file_name_of_two_visitors_keeps_their_sounds_apart(
    visit: Visit, other: Visit, page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tabs.shared.sessions.GRACE", 2.0)
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
    while (kept := _served(other.page, sound)) and time.monotonic() < deadline:
        time.sleep(0.5)
    assert not kept, "a visitor's sounds outlive the visit"


def test_own_sounds_are_deleted_on_request(visit: Visit, page: Page, tmp_path: Path) -> None:
    page.get_by_role("button", name="Your own sounds").click()
    chooser = page.locator('input[type="file"][multiple]').first
    chooser.set_input_files(write_sound(tmp_path / "mine.wav", 3))
    expect(page.get_by_label("My sounds")).to_be_checked()
    visit.button("Delete my sounds").click()
    expect(page.get_by_text("Your sounds are deleted.")).to_be_visible()
    expect(page.locator("#sound-map .map-point")).to_have_count(len(CAPTIONS))


def draw(page: Page, chart: Locator, corners: list[tuple[float, float]], touch: bool) -> str:
    """Draws around an area by mouse or finger; what the map says of it before it is finished."""
    status = chart.locator(".map-choose span")
    if not touch:
        page.mouse.move(*corners[0])
        page.mouse.down()
        for corner in corners[1:]:
            page.mouse.move(*corner, steps=4)
        said = status.inner_text()
        page.mouse.up()
        return said
    finger = page.context.new_cdp_session(page)
    for number, (x, y) in enumerate(corners):
        kind = "touchMove" if number else "touchStart"
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y}]})
    expect(status).to_contain_text("in this area")
    # The page counts once a frame: what the last touch encloses is said after the next.
    page.evaluate("() => new Promise((d) => requestAnimationFrame(() => requestAnimationFrame(d)))")
    said = status.inner_text()
    finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    return said


def _served(page: Page, address: str) -> bool:
    try:
        return page.request.get(address).ok
    except Error as error:  # deleted while it was sent
        if "aborted" not in str(error):
            raise
        return False
