"""A visitor speaks to a camera in which a rendered speaker speaks."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from earshot.media.video import frames
from earshot.tabs.lip_to_speech import HEADS
from tests.browser.visit import Visit
from tests.support.videos import write_pictures

# Words that are wider than their place, unless no letters could be read in it, or stand on end.
CLIPPED = """words => words
  .filter(({ textContent, parentElement }) => parentElement.clientWidth > 5 * textContent.length)
  .filter((word) => word.offsetWidth > word.parentElement.clientWidth
    || getComputedStyle(word).writingMode !== "horizontal-tb")
  .map((word) => word.textContent)"""
# Where sliders begin and end, of which each has a row for itself.
PLACES = """sliders => sliders.map((slider) => {
  const { left, right } = slider.getBoundingClientRect();
  return [left, right];
})"""
# Notes what the box of the camera plays, and the addresses that stand for files.
OBSERVE = """() => {
  window.sources = new Set();
  window.urls = new Set();
  const { createObjectURL: create, revokeObjectURL: revoke } = URL;
  URL.createObjectURL = (file) => (urls.add(file = create(file)), file);
  URL.revokeObjectURL = (address) => (urls.delete(address), revoke(address));
  document.addEventListener("loadstart", ({ target }) =>
    target.closest("#lip-camera") && sources.add(target.src), true);
}"""


@pytest.fixture(scope="module")
def browser(
    chromium: Callable[..., Browser], speech: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Browser]:
    """Its camera sees Ada."""
    seen = (frame.image for frame in frames(HEADS / "ada.mp4", 30))
    started = chromium(speech, write_pictures(tmp_path_factory.mktemp("seen") / "ada.y4m", seen))
    yield started
    started.close()


@pytest.fixture(autouse=True)
def room(visit: Visit) -> None:
    visit.enter("Lip to speech")
    expect(visit.button("Read my lips")).to_be_visible()


def read(visit: Visit, chip: str) -> None:
    """Has an example read."""
    visit.page.get_by_role("button", name=chip).click()
    done(visit)


def done(visit: Visit) -> None:
    """Waits until a video is being read, and until it was."""
    expect(visit.button("Stop")).to_be_visible()
    expect(visit.page.locator("#lips .tl-strip img").first).to_be_visible()
    expect(visit.button("Read my lips")).to_be_visible()


@pytest.mark.stays
def test_original_audio_is_shown_on_request(visit: Visit, page: Page) -> None:
    read(visit, "Noor")
    expect(page.locator("#lips")).not_to_contain_text("Original audio")
    page.get_by_role("button", name="Compare with the original audio").click()
    expect(page.locator("#lips")).to_contain_text("Original audio")
    expect(page.locator(".block.numbers:visible")).to_contain_text("STOI")


@pytest.mark.stays
def test_file_without_video_shows_only_error(visit: Visit, page: Page, tmp_path: Path) -> None:
    """Nothing else on the page changes, and it is in sight on a phone, where the result was shown
    while it was awaited; its box takes the next file."""
    read(visit, "Ada")
    visit.resize("phone")
    words = page.locator(".room-result:visible h3").inner_text()
    text = tmp_path / "video.txt"
    text.write_text("This is no video.")
    page.locator("#lip-camera").get_by_role("button", name="Upload file").click()
    page.locator('#lip-camera input[type="file"]').set_input_files(text)
    expect(page.locator(".room-input:visible .message.error")).to_be_in_viewport()
    expect(page.locator(".room-input:visible")).to_contain_text("cannot be read as video")
    expect(page.locator("#lip-camera")).to_contain_text("Drop Video Here")
    expect(page.locator(".room-result:visible h3")).to_have_text(words)
    expect(page.locator(".toast-body")).to_have_count(0)  # Gradio says nothing of its own
    visit.look("refused")


@pytest.mark.stays
def test_example_is_read_in_one_click(visit: Visit, page: Page) -> None:
    """Its sentence is in sight, and the example changes its voice afterwards."""
    visit.resize("desktop")
    read(visit, "Kofi")
    result = page.locator(".room-result:visible")
    words = result.locator("h3").inner_text()
    expect(result.locator("h3")).to_be_in_viewport(ratio=1)
    expect(result).to_contain_text("of 6 words of")
    hertz = int(re.findall(r"spoken at (\d+) Hz", result.inner_text())[0])
    pitch = page.get_by_role("slider", name=re.compile("Pitch"))
    pitch.focus()
    for _ in range(5):
        pitch.press("ArrowRight")
    expect(result).to_contain_text(f"spoken at {hertz + 5} Hz")
    voice = page.get_by_label("Voice", exact=True)
    expect(voice).to_have_value("By pitch and timbre")
    voice.click()
    page.get_by_role("option", name=re.compile("Sophie")).click()
    expect(result).not_to_contain_text(f"spoken at {hertz + 5} Hz")
    voice.click()
    page.get_by_role("option", name="Guessed from the face").click()
    expect(result).to_contain_text(f"spoken at {hertz} Hz")
    voice.click()
    page.get_by_role("option", name=re.compile("Your own")).click()
    expect(result).to_contain_text("Your voice is not made yet")
    expect(result.locator("h3")).to_have_text(words)


def test_upload_is_read_at_once_in_place_of_what_was(visit: Visit, page: Page) -> None:
    """A word of it is as large as its place, and the video stays to be seen until the camera
    records another, which begins at once where Record is pressed in the countdown."""
    page.evaluate(OBSERVE)
    result = page.locator(".room-result:visible")
    expect(result).to_contain_text("This example is Noor")
    page.locator("#lip-camera").get_by_role("button", name="Upload file").click()
    page.locator('#lip-camera input[type="file"]').set_input_files(HEADS / "tom.mp4")
    expect(result.locator("h3")).to_be_hidden()
    done(visit)
    expect(result).not_to_contain_text("Noor")
    expect(result.locator("h3")).to_be_visible()
    # It stays in its box, from the visitor's own file, for the server's is gone.
    expect(page.locator("#lip-camera video")).to_have_attribute("src", re.compile("^blob:"))
    expect(visit.button("Read my lips")).to_be_disabled()
    certainties = page.locator("#lips .tl-caption small").all_inner_texts()
    for name in {*certainties} - {""}:
        expect(result.locator(".found p")).to_contain_text(f"{certainties.count(name)} {name}")
    visit.resize("phone")
    assert page.locator("#lips .tl-caption b").evaluate_all(CLIPPED) == []
    [upload] = page.evaluate("() => [...sources].filter((src) => src.startsWith('blob:'))")
    assert page.evaluate("(src) => urls.has(src)", upload)

    page.locator("#lip-camera").get_by_role("button", name="Capture from camera").click()
    page.get_by_text("Click to Access Webcam").click()
    record = page.locator("#lip-camera .capture-button")
    record.click()
    expect(page.locator(".coach-hint")).to_contain_text("Get ready: 2")
    page.evaluate("() => sources.clear()")
    record.click()
    assert "Speak now" in page.locator(".coach-hint").inner_text()
    page.wait_for_timeout(1500)
    record.click()
    done(visit)
    assert any("/gradio_api/file=" in src for src in page.evaluate("() => [...sources]"))
    assert not page.evaluate("(src) => sources.has(src) || urls.has(src)", upload)


@pytest.mark.parametrize("visit", [("phone", "dark")], indirect=True)
def test_camera_recording_is_read_after_countdown(visit: Visit, page: Page) -> None:
    sentence = page.locator(".coach-sentence").inner_text()
    assert len(sentence.split()) == 6
    page.get_by_role("button", name="another sentence").click()
    expect(page.locator(".coach-sentence")).not_to_have_text(sentence)
    next_sentence = page.locator(".coach-sentence").inner_text()

    page.get_by_text("Click to Access Webcam").click()
    page.locator("#lip-camera .capture-button").click()
    expect(page.locator(".coach-hint")).to_contain_text("Get ready")
    expect(page.locator(".coach-hint")).to_contain_text("Speak now")
    done(visit)  # it stops by itself

    expect(page.locator("#lips")).to_contain_text("Mouth crops, the network's input")
    expect(page.locator("#lips .tl-caption")).to_have_count(1)
    expect(page.locator(".room-result:visible .found")).to_contain_text(
        f"of 6 words of “{next_sentence}”"
    )
    expect(page.locator(".room-result:visible h3")).to_be_in_viewport(ratio=1)
    sliders = page.locator(".lip-voice input[type=range]").evaluate_all(PLACES)
    assert sliders[0] == sliders[1]
    expect(page.locator(".block.numbers:visible")).to_contain_text("frames")
    expect(page.get_by_role("button", name="Compare with the original audio")).to_be_hidden()
    visit.look("spoken")
