"""A visitor's way through the words tab, in a real browser."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from earshot.app import launch, site
from earshot.tabs.shared.services import Services
from tests.browser.visit import FRAMES, PLAYING, SIZES, Visit
from tests.support.fake_words import SPOKEN, VOICES, getters, write_word
from tests.support.serving import close
from tests.support.systems import replace_system

# Whether the answer can be seen, above the bar with the main button at the end of a phone's page.
ABOVE_BAR = """() => {
  const answer = document.getElementById("word-found").getBoundingClientRect();
  const bar = [...document.querySelectorAll(".main-button")].find((one) => one.checkVisibility());
  return answer.top >= 0 && answer.bottom <= bar.getBoundingClientRect().top;
}"""


@pytest.fixture(scope="module")
def address(tiny_checkpoints: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("words")
    words, library = getters(folder)
    with pytest.MonkeyPatch.context() as patch:
        replace_system(patch, "words", words)
        patch.setattr("earshot.tabs.words.tab.library_getter", lambda *_: library)
        page = site.build(
            Services(device="cpu"), tiny_checkpoints, word_index=folder / "words.index"
        )
    yield launch.launch(page, launch.options([], {}), block=False)
    close(page)


@pytest.fixture(scope="module")
def browser(
    chromium: Callable[[Path], Browser], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Browser]:
    """Its microphone hears a yellow, once."""
    word = write_word(tmp_path_factory.mktemp("word") / "yellow.wav", "yellow")
    started = chromium(word.with_name(f"{word.name}%noloop"))
    yield started
    started.close()


@pytest.fixture(autouse=True)
def room(visit: Visit) -> None:
    visit.enter("Words")
    expect(visit.page.locator("#word-found h3")).not_to_be_empty()


def find(visit: Visit, text: str) -> None:
    visit.page.locator(".query textarea:visible, .query input:visible").fill(text)
    visit.button("Find its place").click()


def upload(visit: Visit, path: Path) -> None:
    box = visit.page.locator(".sound-input:visible").first
    box.get_by_role("button", name="Upload file").click()
    box.locator('input[type="file"]').set_input_files(path)


@pytest.mark.stays
def test_map_changes_without_the_server(visit: Visit, page: Page) -> None:
    """Layouts, colours, zoom and labels; nothing is asked for meanwhile."""
    legend = page.locator("#word-map .map-legend")
    expect(legend).to_contain_text("vowels")
    labels = page.locator("#word-map .map-labels text")
    expect(labels.filter(has_text="ship")).to_have_count(1)
    search = page.get_by_role("button", name="Find a word in a recording").bounding_box()
    assert search and search["y"] + search["height"] < 768, "above the fold of a projector"
    addresses: list[str] = []
    page.on("request", lambda r: addresses.append(r.url) if "queue/join" in r.url else None)
    first = page.locator("#word-map .map-point").first
    place = first.get_attribute("style")
    expect(page.get_by_text("trustworthiness of 0.96")).to_be_visible()
    page.get_by_role("button", name="PCA").click()
    expect(first).not_to_have_attribute("style", str(place))
    expect(page.get_by_text("trustworthiness of 0.81")).to_be_visible()
    page.get_by_role("button", name="t-SNE").click()
    expect(page.get_by_text("trustworthiness of 0.96")).to_be_visible()
    page.get_by_role("button", name="nearest words").click()
    expect(legend).to_contain_text("ship")
    expect(legend).to_contain_text("other words")
    page.get_by_role("button", name="voice", exact=True).click()
    expect(legend).to_have_text(re.compile("voice 1.*voice 3.*voice 4.*written"))
    plane = page.locator("#word-map .map-plane svg")
    assert str(plane.get_attribute("viewBox")).startswith("0 0 1000 ")
    page.get_by_role("button", name="Zoom in").click()
    page.get_by_role("button", name="Zoom in").click()
    zoomed = str(plane.get_attribute("viewBox"))
    assert float(zoomed.split()[2]) == pytest.approx(1000 / 1.6**2)
    plane.scroll_into_view_if_needed()
    box = plane.bounding_box()
    assert box
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.move(*middle)
    page.mouse.down()
    page.mouse.move(middle[0] - 80, middle[1], steps=4)
    page.mouse.up()
    moved = str(plane.get_attribute("viewBox"))
    assert float(moved.split()[0]) > float(zoomed.split()[0]) + 20
    expect(page.locator('#word-map [aria-selected="true"]')).to_have_count(0)
    page.get_by_role("button", name="Show the whole map").click()
    expect(plane).to_have_attribute("viewBox", re.compile("^0 0 1000 "))
    page.mouse.move(*middle)
    scrolled = page.evaluate("scrollY")
    page.mouse.wheel(0, -300)
    expect(page.locator("#word-map .map-zoomed")).to_have_count(1)
    page.mouse.wheel(0, 600)
    expect(page.locator("#word-map .map-zoomed")).to_have_count(0)
    assert page.evaluate("scrollY") == scrolled
    page.mouse.wheel(0, 100)  # the whole map is seen: the wheel is the page's
    page.wait_for_function("before => scrollY !== before", arg=scrolled)
    assert addresses == []


@pytest.mark.stays
def test_unusable_text_changes_only_the_message(visit: Visit, page: Page) -> None:
    before = page.locator("#word-near").inner_text()
    for text, message in (("", "Say a word"), ("🐕", "letters"), ("a" * 60, "too long")):
        find(visit, text)
        expect(page.get_by_role("alert")).to_contain_text(message)
        assert page.locator("#word-near").inner_text() == before
        expect(page.locator("#word-found h3")).to_have_text("ship")


@pytest.mark.stays
def test_silence_shows_error_beside_recorder(visit: Visit, page: Page, tmp_path: Path) -> None:
    silence = tmp_path / "silence.wav"
    silence.write_bytes(write_word(tmp_path / "w.wav", "tree", 0.0).read_bytes())
    upload(visit, silence)
    expect(page.get_by_role("alert")).to_contain_text("silent")
    expect(page.locator("#word-found h3")).to_have_text("ship")


@pytest.mark.stays
def test_map_fits_page_and_phone(visit: Visit, page: Page) -> None:
    """Also where a window becomes as narrow as a phone, or a phone is turned."""
    for name, (width, height) in {**SIZES, "turned": SIZES["desktop"]}.items():
        page.set_viewport_size({"width": width, "height": height})
        page.evaluate(FRAMES)
        plane = page.locator("#word-map .map-plane svg").bounding_box()
        assert plane
        assert plane["width"] > 0.8 * min(width, 1320)
        shape = 1 if name == "phone" else 0.5
        assert plane["height"] == pytest.approx(shape * plane["width"], rel=0.1)
        boxes = page.locator("#word-map .map-point").evaluate_all(
            "points => points.map((point) => point.getBoundingClientRect().toJSON())"
        )
        middles = [box["y"] + box["height"] / 2 for box in boxes]
        assert plane["y"] < min(middles) and max(middles) < plane["y"] + plane["height"]
        assert max(middles) - min(middles) > 0.4 * plane["height"], "the words spread over it"
        visit.shoot(f"map-{name}")


@pytest.mark.stays
def test_typed_word_shows_its_pronunciation(visit: Visit, page: Page) -> None:
    points = page.locator("#word-map .map-point")
    points.first.evaluate("point => { point.kept = true; }")
    find(visit, "ship")
    expect(page.locator("#word-found h3")).to_have_text("“ship”")
    assert points.first.evaluate("point => point.kept"), "the star moves, nothing is drawn again"
    expect(page.locator("#word-found")).to_contain_text("/ʃɪp/ from the pronouncing dictionary")
    visit.button("onomatopoeia").click()
    expect(page.locator("#word-found")).to_contain_text("predicted from the spelling")


@pytest.mark.stays
def test_example_recording_needs_one_click(visit: Visit, page: Page) -> None:
    example = page.locator(".chips:visible button").first
    word = example.inner_text()
    example.click()
    expect(page.locator("#word-found h3")).to_have_text(f"Did you say “{word}”?")
    expect(page.locator("#word-cut .cut")).to_be_visible()


@pytest.mark.stays
def test_map_plays_word_and_keeps_own(visit: Visit, page: Page) -> None:
    """The map keeps the visitor's own word."""
    find(visit, "ship")
    own = page.locator("#word-found h3")
    expect(own).to_have_text("“ship”")
    page.locator("#word-map .map-plane").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    chosen = page.locator('#word-map .map-point[aria-selected="true"]')
    sound = chosen.get_attribute("data-sound")
    assert sound and page.request.get(sound).ok
    expect(page.locator("#word-map .map-playing")).to_have_count(1)
    expect(own).to_have_text("“ship”")
    page.get_by_role("button", name="Show its neighbours", exact=True).click()
    expect(own).to_have_text(str(chosen.get_attribute("data-name")).split(", ")[0])
    page.get_by_role("button", name="Back to your word").click()
    expect(own).to_have_text("“ship”")
    expect(page.locator("#word-near .near-look")).to_have_count(20)
    page.locator("#word-near .word-play").first.click()
    page.locator("#word-near .near-look").first.click()
    expect(page.locator("#word-found p").first).to_contain_text("spoken by voice")


@pytest.mark.parametrize("visit", [("phone", "dark")], indirect=True)
def test_recording_is_recognised_and_cut_again(visit: Visit, page: Page) -> None:
    points = page.locator("#word-map .map-point")
    assert points.count() == len(SPOKEN) * (len(VOICES) + 1)
    assert page.evaluate(PLAYING) == 0, "nothing starts by itself"
    before = points.first.get_attribute("style")

    recorder = page.locator(".sound-input:visible").first
    recorder.get_by_role("button", name="Record", exact=True).click()
    page.wait_for_timeout(900)
    recorder.locator(".stop-button").click()
    expect(page.locator("#word-found h3")).to_have_text("Did you say “yellow”?")
    expect(page.locator("#word-found .guesses li").last).to_contain_text("another word")
    assert "%" not in page.locator("#word-found").inner_text()
    page.wait_for_function(ABOVE_BAR)
    expect(page.locator("#word-map .map-query")).to_have_count(1)
    assert points.first.get_attribute("style") == before, "the other words stay where they are"
    spoken, written = page.locator("#word-near tbody").all()
    expect(spoken.locator("tr")).to_have_count(10)
    expect(written.locator("tr")).to_have_count(10)
    expect(written.locator("tr").first).to_contain_text("yellow")
    edits = written.locator("tr .near-edits").first
    expect(edits).to_be_hidden()
    page.locator(".near-switch input").check()
    expect(edits).to_have_text("0")
    expect(edits).to_be_visible()

    use = page.get_by_role("button", name="Use this cut")
    expect(use).to_be_disabled()
    end = page.locator(".cut-end")
    whole = float(end.input_value())
    end.focus()
    for _ in range(10):
        page.keyboard.press("ArrowLeft")
    expect(use).to_be_enabled()
    use.click()
    expect(use).to_be_disabled()
    assert float(end.input_value()) == pytest.approx(whole - 0.1, abs=0.011)
    expect(page.locator("#word-found h3")).to_contain_text("yellow")
    visit.look("said")
