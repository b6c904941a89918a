"""Compare words, the threshold, own words, and which sound was wrong, in a real browser."""

import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gradio as gr
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from earshot.app import launch
from earshot.core.paths import ASSETS
from earshot.systems.words import Words
from earshot.tabs.words.compare import CompareSection, ThresholdSection
from earshot.tabs.words.find import FindSection
from earshot.tabs.words.sounds import SoundsSection
from earshot.tabs.words.tab import library_getter
from earshot.tabs.words.vocabulary import VocabularySection
from tests.browser.visit import SIZES, Visit
from tests.support.fake_words import FakeLibrary, Spoken, write_word
from tests.support.serving import close
from tests.tabs.words.test_threshold import CURVE, Measured

# On a busy machine recordings last longer than was meant: each is heard for as long.
CUT = (0.2, 0.7)  # seconds
PLAYING = "() => window.sounds.filter((sound) => !sound.paused).length"
# Players of panels are not in the page's tree.
WATCH = """
window.sounds = [];
const start = HTMLMediaElement.prototype.play;
HTMLMediaElement.prototype.play = function () {
  window.sounds.push(this);
  return start.call(this);
};
"""


class Patient(Measured):
    """Hears only the beginning of a recording, and takes its time, as a network does: meanwhile
    the page has loaded what it draws, before the file is deleted."""

    def embed_audio(self, audio: Any, cut: tuple[float, float] | None = None) -> Spoken:
        time.sleep(0.3)
        return super().embed_audio(audio, CUT)


@pytest.fixture(scope="module")
def address(tiny_checkpoints: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A page with the five sections alone; sounds are checked by the shipped networks."""
    words: Any = Patient(CURVE)
    network = Words.from_pretrained(tiny_checkpoints / "words", "cpu")
    library: Any = FakeLibrary(folder := tmp_path_factory.mktemp("library"))
    gr.set_static_paths([folder])
    with gr.Blocks(title="Words") as page:
        for section in (CompareSection, ThresholdSection, VocabularySection):
            section(lambda: words, lambda: library)
        FindSection(lambda: network)
        shipped = Words.from_pretrained("words", "cpu")
        SoundsSection(lambda: shipped, library_getter(lambda: shipped, ASSETS / "words.index"))
    yield launch.launch(page, launch.options([], {}), block=False)
    close(page)


@pytest.fixture
def visit(browser: Browser, address: str, tmp_path: Path) -> Iterator[Visit]:
    width, height = SIZES["desktop"]
    context = browser.new_context(
        viewport={"width": width, "height": height}, permissions=["microphone"]
    )
    context.add_init_script(WATCH)
    visitor = Visit(context.new_page(), address, tmp_path)
    visitor.page.goto(f"{address}?__theme=light")
    yield visitor
    context.close()
    assert visitor.complaints == []


@pytest.fixture
def page(visit: Visit) -> Page:
    return visit.page


def say(page: Page, number: int) -> None:
    """Records a second with one of the recorders that can be seen."""
    recorder = page.locator(".sound-input:visible").nth(number)
    recorder.get_by_role("button", name="Record", exact=True).click()
    page.wait_for_timeout(1000)
    recorder.locator(".stop-button").click()


def upload(page: Page, number: int, path: Path) -> None:
    """Uploads a file where something was recorded before."""
    recorder = page.locator(".sound-input:visible").nth(number)
    # It is emptied a moment after the answer: what comes sooner would be lost.
    expect(recorder.get_by_role("button", name="Record", exact=True)).to_be_visible()
    recorder.get_by_role("button", name="Upload file").click()
    recorder.locator('input[type="file"]').set_input_files(path)


def fold(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=name)


def test_compared_words_are_shown_and_played(visit: Visit, page: Page) -> None:
    fold(page, "Compare words").click()
    rows = page.locator("#compared-words table").first.locator("tbody tr")
    expect(rows).to_have_count(6)
    page.get_by_role("button", name="bat, cat and water").click()
    expect(rows.first).to_contain_text("bat")
    page.locator(".token-remove:visible").first.click()
    expect(rows).to_have_count(5)
    say(page, 0)
    expect(rows).to_have_count(6)
    expect(rows.last).to_contain_text("your word")
    assert page.evaluate(PLAYING) == 0, "nothing starts by itself"
    # A number plays both words, one after the other.
    rows.first.locator("td button").nth(2).click()
    page.wait_for_function("() => window.sounds.length === 2")
    rows.last.locator("th button").click()
    expect(rows.last.locator("th button")).to_have_class("word-play tl-on")
    page.get_by_label("Written words to compare with").fill("threat, shape")
    page.keyboard.press("Enter")
    expect(page.locator("#compared-words")).to_contain_text("threat")
    visit.look("compare")


def test_word_in_long_recording_is_exported(visit: Visit, page: Page, speech: Path) -> None:
    """A word is found in a long recording and exported."""
    page.get_by_role("button", name="Find a word in a recording").click()
    find = page.get_by_role("button", name="Find the word", exact=True)
    find.click()
    expect(page.get_by_role("alert")).to_contain_text("Type the word to look for")
    upload(page, 0, speech)
    recorder = page.locator(".sound-input:visible").first
    expect(recorder.get_by_role("button", name="Play", exact=True)).to_be_visible()
    page.get_by_label("The word", exact=True).fill("hello")
    find.click()
    places = page.locator("#found-places .tl-caption i")
    expect(places.first).to_be_visible()
    expect(page.locator("#found-places .tl")).to_have_attribute("aria-label", re.compile("“hello”"))
    with page.expect_download() as download:
        page.get_by_role("link", name="TextGrid").click()
    assert 'class = "IntervalTier"' in download.value.path().read_text()
    visit.look("found")


def test_wrong_sound_is_shown_and_another_text_is_not(visit: Visit, page: Page) -> None:
    fold(page, "Which sound was wrong").click()
    page.get_by_role("button", name="“think”, said as “sink”").click()
    wrong = page.locator("#checked-sounds .tl-wrong")
    expect(wrong).to_have_attribute("aria-label", re.compile("/θ/ heard as /s/"))
    expect(page.locator("#checked-sounds .tl-expected")).to_have_count(7)  # the voice's too
    expect(page.locator(".sound-report.prose")).to_contain_text("between the teeth")
    page.locator("#checked-sounds .tl-play").nth(1).click()
    page.wait_for_function("() => [...window.sounds].some((sound) => sound.currentTime > 0)")
    visit.look("sounds")
    # The microphone hears no speech: nothing is called wrong.
    say(page, 0)
    expect(page.get_by_role("alert")).to_contain_text(re.compile("no speech|does not sound like"))
    expect(wrong).to_have_count(0)


def test_threshold_moves_with_the_keyboard(visit: Visit, page: Page) -> None:
    fold(page, "Same or different?").click()
    panel = page.locator("#threshold")
    expect(panel).to_contain_text("At 0.60")
    expect(panel.locator(".side")).to_have_count(4)
    page.locator('input[type="range"]:visible').focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    expect(panel).to_contain_text("At 0.65")
    panel.locator(".cosine").first.click()
    page.wait_for_function("() => window.sounds.length === 2")
    visit.look("threshold")


def test_upload_is_taught_once(page: Page, tmp_path: Path) -> None:
    bodies: list[str | None] = []
    page.on("request", lambda r: bodies.append(r.post_data) if "queue/join" in r.url else None)
    fold(page, "Your own words").click()
    expect(page.locator("#found-word")).to_contain_text("An example")
    # Choosing a source empties the recorder, which was heard as a recording without a sound: what
    # was uploaded meanwhile was lost.
    upload(page, 0, write_word(tmp_path / "zoo.wav", "zoo"))
    expect(page.locator("#taught-words")).to_contain_text("word 11 recording")
    assert len(bodies) == 1
    assert "zoo.wav" in str(bodies[0])


def test_own_words_are_taught_and_deleted(visit: Visit, page: Page, tmp_path: Path) -> None:
    """Own words are recognised in between."""
    fold(page, "Your own words").click()
    result, taught = page.locator("#found-word"), page.locator("#taught-words")
    expect(result).to_contain_text("An example")
    page.get_by_label("Name").fill("hello")
    say(page, 0)
    expect(taught).to_contain_text("hello1 recording")
    page.get_by_label("Name").fill("")
    upload(page, 0, write_word(tmp_path / "zoo.wav", "zoo"))
    expect(taught).to_contain_text("word 11 recording")
    say(page, 1)
    expect(result.locator("h3")).to_have_text("hello")
    upload(page, 1, write_word(tmp_path / "yes.wav", "yes"))
    expect(result.locator("h3")).to_have_text("None of them")
    visit.look("vocabulary")
    taught.get_by_role("button", name="Remove word 1").click()
    expect(taught.locator("li")).to_have_count(1)
    page.get_by_role("button", name="Delete my words").click()
    expect(taught).to_contain_text("No words yet")
