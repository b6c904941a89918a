"""A visitor's way through the words tab, in a real browser."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from earshot.app import launch, site
from tests.browser.visit import PLAYING, Visit
from tests.support.fake_words import SPOKEN, VOICES, getters, write_word

LOOKS = [(size, scheme) for size in ("desktop", "phone") for scheme in ("light", "dark")]


@pytest.fixture(scope="module")
def address(tiny_checkpoints: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("words")
    words, library = getters(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("earshot.app.models.word_embeddings", lambda *_: words)
        patch.setattr("earshot.tabs.words.tab.library_getter", lambda *_: library)
        page = site.build("cpu", tiny_checkpoints, word_index=folder / "words.index")
    yield launch.launch(page, launch.options([], {}), block=False)
    page.close()


@pytest.fixture(scope="module")
def browser(
    chromium: Callable[[Path], Browser], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Browser]:
    """Its microphone hears a yellow, once."""
    heard = write_word(tmp_path_factory.mktemp("heard") / "yellow.wav", "yellow")
    started = chromium(heard.with_name(f"{heard.name}%noloop"))
    yield started
    started.close()


@pytest.fixture(autouse=True)
def room(visit: Visit) -> None:
    visit.enter("Words")
    expect(visit.page.locator("#word-found h3")).to_have_text("sheep")


def find(visit: Visit, text: str) -> None:
    visit.page.locator(".query textarea:visible, .query input:visible").fill(text)
    visit.button("Find its place").click()


def upload(visit: Visit, path: Path) -> None:
    box = visit.page.locator(".sound-input:visible")
    box.get_by_role("button", name="Upload file").click()
    box.locator('input[type="file"]').set_input_files(path)


@pytest.mark.parametrize("visit", LOOKS, indirect=True)
def test_recording_is_recognised_and_cut_again(visit: Visit, page: Page) -> None:
    points = page.locator("#word-map .map-point")
    assert points.count() == len(SPOKEN) * (len(VOICES) + 1)
    assert page.evaluate(PLAYING) == 0, "nothing starts by itself"
    before = points.first.get_attribute("d")

    visit.button("Record").click()
    page.wait_for_timeout(900)
    page.locator(".sound-input:visible .stop-button").click()
    expect(page.locator("#word-found h3")).to_have_text("Did you say “yellow”?")
    expect(page.locator("#word-found .guesses li").last).to_contain_text("another word")
    expect(page.locator("#word-map .map-query")).to_have_count(1)
    assert points.first.get_attribute("d") == before, "the other words stay where they are"
    spoken, written = page.locator("#word-near tbody").all()
    expect(spoken.locator("tr")).to_have_count(10)
    expect(written.locator("tr")).to_have_count(10)
    expect(written.locator("tr").first).to_contain_text("yellow")
    expect(written.locator("tr .near-edits").first).to_have_text("0")
    visit.shoot("said")
    assert visit.faint() == []

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

    root = "document.documentElement"
    assert page.evaluate(f"() => {root}.scrollWidth <= {root}.clientWidth")


def test_typed_word_shows_its_pronunciation(visit: Visit, page: Page) -> None:
    points = page.locator("#word-map .map-point")
    points.first.evaluate("point => { point.kept = true; }")
    find(visit, "ship")
    expect(page.locator("#word-found h3")).to_have_text("“ship”")
    assert points.first.evaluate("point => point.kept"), "the star moves, nothing is drawn again"
    expect(page.locator("#word-found")).to_contain_text("/ʃɪp/ from the pronouncing dictionary")
    visit.button("onomatopoeia").click()
    expect(page.locator("#word-found")).to_contain_text("predicted from the spelling")


def test_example_recording_needs_one_click(visit: Visit, page: Page) -> None:
    visit.button("tree").click()
    expect(page.locator("#word-found h3")).to_have_text("Did you say “tree”?")
    expect(page.locator("#word-cut .cut")).to_be_visible()


def test_map_plays_a_word_and_shows_its_neighbours(visit: Visit, page: Page) -> None:
    page.locator("#word-map .map-plane").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    chosen = page.locator('#word-map .map-point[aria-selected="true"]')
    name = str(chosen.get_attribute("data-name")).split(", ")[0]
    expect(page.locator("#word-found h3")).to_have_text(name)
    sound = chosen.get_attribute("data-sound")
    assert sound and page.request.get(sound).ok
    expect(page.locator("#word-near .near-look")).to_have_count(20)
    page.locator("#word-near .word-play").first.click()
    page.locator("#word-near .near-look").first.click()
    expect(page.locator("#word-found p")).to_contain_text("spoken by")


def test_map_layout_and_colours_can_be_changed(visit: Visit, page: Page) -> None:
    legend = page.locator("#word-map .map-legend")
    expect(legend).to_contain_text("vowels")
    first = page.locator("#word-map .map-point").first
    place = first.get_attribute("d")
    page.get_by_label("t-SNE").check()
    expect(first).not_to_have_attribute("d", str(place))
    expect(page.get_by_text("trustworthiness of 0.96")).to_be_visible()
    page.get_by_label("word", exact=True).check()
    expect(legend).to_contain_text("ship")
    expect(legend).to_contain_text("other words")
    page.get_by_label("voice", exact=True).check()
    expect(legend).to_have_text(re.compile("awb.*kal16.*slt.*written"))


@pytest.mark.parametrize(
    ("text", "message"), [("", "Say a word"), ("🐕", "letters"), ("a" * 60, "too long")]
)
def test_unusable_text_changes_only_the_message(
    visit: Visit, page: Page, text: str, message: str
) -> None:
    before = page.locator("#word-near").inner_text()
    find(visit, text)
    expect(page.get_by_role("alert")).to_contain_text(message)
    assert page.locator("#word-near").inner_text() == before
    expect(page.locator("#word-found h3")).to_have_text("sheep")


def test_silence_shows_an_error_beside_the_recorder(
    visit: Visit, page: Page, tmp_path: Path
) -> None:
    silence = tmp_path / "silence.wav"
    silence.write_bytes(write_word(tmp_path / "w.wav", "tree", 0.0).read_bytes())
    upload(visit, silence)
    expect(page.get_by_role("alert")).to_contain_text("silent")
    expect(page.locator("#word-found h3")).to_have_text("sheep")
