"""A visitor's way through voice conversion, in a real browser."""

import itertools
import json
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
import soundfile
from playwright.sync_api import Browser, expect

from earshot.core.cancellation import Job
from earshot.media.audio.load import wav_bytes
from earshot.media.audio.speech import Speech
from earshot.provenance.detection import detect
from earshot.provenance.keys import installation_number
from earshot.provenance.mark import NO_MARK
from earshot.systems.voice_conversion import AnyVoiceConversion
from earshot.systems.voice_conversion.reading import Reading
from earshot.systems.voice_conversion.settings import MODELS
from earshot.tabs.voice_conversion import own_voice
from tests.browser.visit import FITS, PLACE_BLUE, PLAYING, SIZES, Visit

# Notes what starts to play outside the page's tree.
HEAR = """() => {
  window.heard = [];
  const play = HTMLMediaElement.prototype.play;
  HTMLMediaElement.prototype.play = function () {
    window.heard.push(this.src);
    return play.call(this);
  };
}"""
# The conversion, which is the last track, plays.
CONVERSION_PLAYS = """() => [...document.querySelectorAll("#conversion audio")].length > 1
  && ![...document.querySelectorAll("#conversion audio")].at(-1).paused"""
PAUSE = "() => document.querySelectorAll('audio').forEach((a) => a.pause())"
# So long was recorded, or longer: a busy machine may miss the second in which it says so.
CLOCK_SHOWS = """time => {
  const clock = document.querySelector(".recording-now time");
  return clock && clock.textContent.length === time.length && clock.textContent >= time;
}"""
LENGTHS = itertools.count(2.0, 0.1)  # seconds
TIMES = "() => [...document.querySelectorAll('#conversion audio')].map((a) => a.currentTime)"


@pytest.mark.stays
def test_timeline_plays_one_sound_at_once(visit: Visit, tmp_path: Path) -> None:
    page = visit.page
    playing = "() => [...document.querySelectorAll('#conversion audio')].map(a => !a.paused)"
    assert page.evaluate(playing) == [False, False], "nothing starts by itself"
    # So long that none ends meanwhile, however busy the machine is.
    visit.convert(long_speech(tmp_path, 40.0))
    page.wait_for_function(CONVERSION_PLAYS)
    source, converted = page.locator("#conversion .tl-play").all()
    source.click()
    expect(source).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#conversion .tl-time")).not_to_have_text("0.00 / 40.00 s")
    converted.click()
    expect(source).to_have_attribute("aria-pressed", "false")
    expect(converted).to_have_attribute("aria-pressed", "true")
    assert page.evaluate(playing) == [False, True]
    # The keys do the same, wherever on the page one is: the place stays, the track changes.
    page.locator("h2").first.click()
    page.keyboard.press("1")
    assert page.evaluate(playing) == [True, False]
    before = page.evaluate(TIMES)[0]
    page.keyboard.press("2")
    assert page.evaluate(playing) == [False, True]
    # Two players agree on a time to some milliseconds.
    assert before - 0.1 <= page.evaluate(TIMES)[1] < before + 5
    # A start that the page is told of when another sound plays by now silences nothing.
    page.evaluate("[...document.querySelectorAll('#conversion audio')].forEach((a) => a.play())")
    page.wait_for_timeout(300)
    assert page.evaluate(playing) == [False, True]
    page.keyboard.press(" ")
    expect(converted).to_have_attribute("aria-pressed", "false")

    lane = page.locator("#conversion .tl-spectrogram .tl-box").first
    box = lane.bounding_box()
    assert box is not None
    lane.click(position={"x": box["width"] / 2, "y": 20})
    expect(page.locator("#conversion .tl-time")).to_have_text("20.00 / 40.00 s")


@pytest.mark.stays
def test_player_paused_early_raises_nothing(visit: Visit) -> None:
    """The player is paused before it starts."""
    stopped = """() => {
      const player = new Audio(document.querySelector("#conversion audio").src);
      const started = player.play();
      player.pause();
      return started.then(() => "no error", (error) => error.name);
    }"""
    expect(visit.page.locator("#conversion audio").first).to_be_attached()
    assert visit.page.evaluate(stopped) == "no error"
    gone = "() => new Audio('data:audio/wav,').play().catch((error) => error.name)"
    assert visit.page.evaluate(gone) == "NotSupportedError"


@pytest.mark.stays
def test_sentence_of_a_voice_is_heard(visit: Visit) -> None:
    page = visit.page
    page.get_by_role("button", name="Play a sentence of Sophie").click()
    page.wait_for_function(
        "() => [...document.querySelectorAll('.voice audio')].some((a) => !a.paused)"
    )
    assert page.evaluate(PLAYING) == 1


@pytest.mark.stays
def test_example_converts_in_one_click(visit: Visit) -> None:
    chips, conversion = (visit.page.locator(s) for s in (".chips button", "#conversion audio"))
    assert chips.count() >= 3
    before = conversion.last.get_attribute("src")
    chips.first.click()
    expect(conversion.last).not_to_have_attribute("src", str(before))
    expect(visit.button("Convert")).to_be_visible()
    assert len(visit.units()) > 25


@pytest.mark.stays
def test_file_without_sound_shows_only_error(visit: Visit, tmp_path: Path) -> None:
    """Nothing else on the page changes."""
    visit.convert(another_speech(tmp_path))
    before = visit.page.locator("#conversion .tl-lanes").inner_text()
    text = tmp_path / "text.wav"
    text.write_text("This is no sound.")
    visit.upload(text)
    expect(visit.page.get_by_role("alert")).to_contain_text("cannot be read as audio")
    assert visit.page.locator("#conversion .tl-lanes").inner_text() == before
    visit.shoot("refused")
    # The recorder's own player cannot load the file either, and says so, perhaps later.
    visit.page.wait_for_timeout(1000)
    assert set(visit.complaints) <= {"Waveform load error: MediaError"}
    visit.complaints.clear()


@pytest.mark.stays
def test_upload_converts_and_plays_by_itself(visit: Visit, speech: Path) -> None:
    visit.page.evaluate(PAUSE)
    visit.upload(speech)
    expect(visit.page.locator("#conversion .tl-time")).to_contain_text("/ 5.00 s")
    visit.page.wait_for_function(CONVERSION_PLAYS)


@pytest.mark.stays
def test_recording_that_comes_meanwhile_is_converted(visit: Visit, tmp_path: Path) -> None:
    """A second recording is not passed over while the first is converted."""
    visit.upload(long_speech(tmp_path, 40).rename(tmp_path / "first.wav"))
    expect(visit.button("Stop")).to_be_visible()
    visit.upload(long_speech(tmp_path, 2.5))
    expect(visit.page.locator("#conversion .tl-time")).to_contain_text("/ 2.50 s")
    expect(visit.button("Convert")).to_be_visible()
    expect(visit.button("Stop")).to_be_hidden()


@pytest.mark.stays
def test_voice_clicked_says_recording(visit: Visit, tmp_path: Path) -> None:
    """The voice is played when it has been made."""
    visit.convert(another_speech(tmp_path))
    page = visit.page
    units = visit.units()
    visit.cell(3).click()
    visit.button("Delete").click()
    expect(page.locator("#conversion")).to_contain_text("edited, not spoken yet")
    for name in ("Sophie", "Tessa", "Tessa"):  # a voice that is chosen already is heard again
        page.evaluate(PAUSE)
        visit.choose(name)
        expect(page.locator("#conversion")).to_contain_text(f"Converted · {name}")
        page.wait_for_function(CONVERSION_PLAYS)
    assert len(visit.units()) == len(units) - 1, "the edit stays"
    visit.shoot("voice")


@pytest.mark.stays
def test_units_are_heard_before_insertion(visit: Visit, tmp_path: Path) -> None:
    """Units can be heard before one is put in."""
    page = visit.page
    visit.convert(another_speech(tmp_path))
    page.wait_for_function(CONVERSION_PLAYS)
    page.evaluate(HEAR)
    visit.button("Hear the units").click()
    swatches = page.locator("#conversion .tl-swatch")
    expect(swatches.first).to_be_visible()
    number = swatches.nth(5).get_attribute("data-number")
    swatches.nth(5).click()
    expect(page.get_by_label("Replace by: unit number")).to_have_value(str(number))
    page.wait_for_function("() => window.heard.some((url) => url.endsWith('unit.wav'))")
    visit.cell(3).click()
    visit.button("Replace by").click()
    expect(visit.cell(3)).to_have_attribute("data-name", f"unit {number}")
    assert visit.faint() == []
    visit.shoot("palette")


@pytest.mark.stays
def test_units_are_selected(visit: Visit, tmp_path: Path) -> None:
    """The mouse selects units, and so does the keyboard."""
    visit.convert(another_speech(tmp_path))
    page = visit.page

    def chosen() -> list[int]:
        return page.locator("#conversion [role=option]").evaluate_all(
            "cells => cells.flatMap((c, i) => c.ariaSelected === 'true' ? [i] : [])"
        )

    visit.cell(10).click()
    assert chosen() == [10]
    visit.cell(13).click(modifiers=["Shift"])
    assert chosen() == [10, 11, 12, 13]
    page.locator("#conversion [role=listbox]").focus()
    page.keyboard.press("ArrowRight")
    assert chosen() == [14]
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("Shift+ArrowRight")
    assert chosen() == [14, 15, 16]
    count = len(visit.units())
    page.keyboard.press("Delete")
    expect(page.locator("#conversion [role=option]")).to_have_count(count - 3)
    page.keyboard.press("u")
    expect(page.locator("#conversion [role=option]")).to_have_count(count)
    page.keyboard.press("Home")
    page.keyboard.press("Escape")
    assert chosen() == []
    expect(visit.button("Mute")).to_be_disabled()


@pytest.mark.stays
def test_downloads_say_what_they_are(
    visit: Visit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sound is signed, as another program reads it, and its mark outlives Opus; units are loaded
    again."""
    monkeypatch.delenv(NO_MARK)
    visit.convert(long_speech(tmp_path, 6.0))
    units = visit.units()
    with visit.page.expect_download() as download:
        visit.page.get_by_role("link", name="WAV").click()
    download.value.save_as(sound := tmp_path / "converted.wav")
    read = "import c2pa, sys; print(c2pa.Reader(sys.argv[1]).json())"
    manifest = subprocess.check_output([sys.executable, "-c", read, str(sound)], text=True)
    assert json.loads(manifest)["validation_state"] == "Valid"
    samples, rate = soundfile.read(sound)
    opus = tmp_path / "converted.opus"
    soundfile.write(opus, samples, rate, format="OGG", subtype="OPUS")
    result = detect(opus)
    assert (result.manifest.state, result.mark.installation) == ("none", installation_number())
    with visit.page.expect_download() as download:
        visit.page.get_by_role("link", name="Units").click()
    path = tmp_path / "units.json"
    download.value.save_as(path)
    visit.open()
    visit.page.locator('.under-timeline input[type="file"]').set_input_files(path)
    expect(visit.page.locator("#conversion .tl-play")).to_have_count(1)
    assert visit.units() == units


@pytest.mark.stays
def test_rates_compared_show_every_model(visit: Visit, tmp_path: Path) -> None:
    visit.convert(another_speech(tmp_path))
    visit.page.get_by_role("button", name="What bits cost").click()
    rates = visit.page.locator("#rates")
    visit.button("Run four rates").click()
    expect(rates.locator(".tl-play")).to_have_count(1 + 4)
    expect(rates).to_contain_text("not limited")
    visit.button("Run every rate").click()
    expect(rates.locator(".tl-play")).to_have_count(1 + len(MODELS))
    for rate in ("150", "200", "300", "450", "1350"):
        expect(rates).to_contain_text(f"{rate} bit/s")
    expect(rates).to_contain_text("not limited")
    expect(visit.button("Run every rate")).to_be_visible()


@pytest.mark.stays
def test_stop_restores_button_and_leaves_result(
    visit: Visit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the work goes on for a while after the server was told to stop it."""
    decode, stop = AnyVoiceConversion.decode, Job.stop
    stopped, ended = threading.Event(), threading.Event()

    def slowly(*args: Any) -> Speech:
        stopped.wait(60)
        try:
            return decode(*args)
        finally:
            ended.set()

    def stop_and_signal(job: Job) -> None:
        stop(job)
        stopped.set()

    monkeypatch.setattr(AnyVoiceConversion, "decode", slowly)
    monkeypatch.setattr(Job, "stop", stop_and_signal)
    before = visit.units()  # those of the finished example, where there is one
    visit.upload(another_speech(tmp_path))
    expect(visit.page.locator("#conversion").get_by_text("speaking as Tessa")).to_be_in_viewport()
    visit.shoot("progress")
    visit.button("Stop").click()
    expect(visit.button("Convert")).to_be_visible()
    assert ended.wait(60)
    visit.page.wait_for_timeout(1000)
    assert visit.units() == before


@pytest.mark.stays
def test_all_voices_play_in_turn(visit: Visit, tmp_path: Path) -> None:
    """One click plays one voice after another."""
    page = visit.page
    visit.convert(long_speech(tmp_path, 1.0))
    visit.button("Hear it in all voices").click()
    plays = page.locator("#conversion .tl-play")
    expect(plays).to_have_count(3)  # of the tiny model's voices
    assert plays.all_inner_texts() == ["Source", "Sophie", "Tessa"]
    for i in (1, 2):
        expect(plays.nth(i)).to_have_attribute("aria-pressed", "true")
        assert page.evaluate(PLAYING) == 1
    visit.shoot("all voices")
    visit.choose("Sophie")
    expect(page.locator("#conversion")).to_contain_text("Converted · Sophie")
    expect(plays).to_have_count(2)


def test_microphone_is_checked_before_one_records(visit: Visit) -> None:
    page = visit.page
    visit.button("Check the microphone").click()
    expect(page.locator(".mic small")).to_contain_text("dBFS")
    expect(page.locator(".mic [role=status]")).to_contain_text("voice")
    assert float(page.locator(".mic-level").get_attribute("aria-valuenow") or -99) > -50
    visit.shoot("checked")
    visit.button("Record").click()
    expect(visit.button("Check the microphone")).to_be_visible()


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        ("new DOMException('', 'NotAllowedError')", "blocked"),
        ("new DOMException('', 'NotFoundError')", "There is no microphone"),
        ("new TypeError('')", "secure pages only"),  # where the page has no mediaDevices
    ],
)
def test_microphone_check_says_why_none_opens(visit: Visit, error: str, advice: str) -> None:
    refuse = f"navigator.mediaDevices.getUserMedia = async () => {{ throw {error}; }}"
    visit.page.evaluate(f"() => {{ {refuse} }}")
    visit.button("Check the microphone").click()
    expect(visit.page.locator(".mic [role=status]")).to_contain_text(advice)


@pytest.mark.parametrize("visit", [("phone", "dark")], indirect=True)
def test_visitor_converts_and_speaks_again(visit: Visit) -> None:
    """A visitor records, converts, edits the units and speaks again."""
    page = visit.page
    expect(visit.button("Convert")).to_be_disabled()
    visit.button("Record").click()
    expect(page.locator(".recording-now")).to_be_visible()
    visit.click_again()
    level = page.get_by_role("meter", name="Level of the microphone").last
    clock = page.locator(".recording-now time")
    page.wait_for_function(CLOCK_SHOWS, arg="0:01")
    assert float(level.get_attribute("aria-valuenow") or -60) > -60
    page.wait_for_timeout(500)
    page.locator(".sound-input .stop-button").click()
    expect(clock).to_have_count(0)
    page.wait_for_function(CONVERSION_PLAYS)
    expect(visit.button("Record again")).to_be_visible()
    units = visit.units()
    assert len(units) > 25
    expect(page.locator(".block.numbers")).to_contain_text(f"{len(units)} units")

    visit.cell(3).click()
    expect(visit.button("Mute")).to_be_enabled()
    visit.button("Mute").click()
    expect(visit.cell(3)).to_have_attribute("data-name", "muted")
    expect(visit.cell(3)).to_have_attribute("aria-label", "muted, edited, 0.06 s")
    expect(page.locator("#conversion")).to_contain_text("edited, not spoken yet")

    page.get_by_label("Replace by: unit number").fill("7")
    visit.button("Replace by").click()
    expect(visit.cell(3)).to_have_attribute("data-name", "unit 7")
    visit.button("Undo").click()
    expect(visit.cell(3)).to_have_attribute("data-name", "muted")

    visit.button("Speak it again").click()
    expect(page.locator("#conversion")).not_to_contain_text("not spoken yet")
    expect(page.locator(".block.numbers")).to_contain_text("s of speech")
    visit.look("spoken")


@pytest.mark.stays
@pytest.mark.parametrize("visit", [("phone", "light")], indirect=True)
def test_finger_staying_on_units_selects_them(visit: Visit, tmp_path: Path) -> None:
    page = visit.page
    visit.convert(another_speech(tmp_path))
    expect(page.locator("#conversion .tl-play").first).to_be_in_viewport()
    touch = page.context.new_cdp_session(page)

    def finger(kind: str, index: int = 0) -> None:
        box = visit.cell(index).bounding_box()
        assert box is not None
        place = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
        points = [] if kind == "touchEnd" else [place]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    chosen = page.locator("#conversion [aria-selected=true]")
    visit.cell(40).scroll_into_view_if_needed()
    finger("touchStart", 40)
    finger("touchEnd")
    expect(chosen).to_have_count(0)  # a tap only goes there
    expect(page.locator("#conversion .tl-time")).not_to_contain_text("0.00 /")
    finger("touchStart", 40)
    expect(chosen).to_have_count(1)
    finger("touchMove", 45)
    finger("touchMove", 60)
    expect(chosen).to_have_count(21)
    finger("touchEnd")
    visit.button("Mute").click()
    expect(visit.cell(50)).to_have_attribute("data-name", "muted")
    visit.shoot("selected")


@pytest.mark.stays
@pytest.mark.parametrize("visit", [("phone", "light")], indirect=True)
def test_minute_of_speech_fits_card(visit: Visit, tmp_path: Path) -> None:
    """A minute can be looked at closely."""
    page = visit.page
    visit.convert(long_speech(tmp_path, 60.0))
    out, closer = (page.locator("#conversion .tl-zoom").nth(i) for i in (0, 1))

    def width() -> float:
        sizes = "(box) => box.scrollWidth / box.clientWidth"
        return page.locator("#conversion .tl-scroll").evaluate(sizes)

    assert len(visit.units()) == 3000
    assert width() == pytest.approx(1, abs=0.01)
    expect(out).to_be_disabled()
    visit.shoot("minute")
    for zoom in (2, 4, 8):
        closer.click()
        assert width() == pytest.approx(zoom, rel=0.1)
    while closer.is_enabled():
        closer.click()
    box = visit.cell(0).bounding_box()
    assert box is not None and box["width"] >= 12
    assert page.locator("#conversion .tl-axis [data-zoom]:not([hidden])").count() == 1
    page.locator("#conversion .tl-play").last.click()
    expect(page.locator("#conversion .tl-head")).to_be_in_viewport()
    visit.shoot("closely")
    while out.is_enabled():
        out.click()
    assert width() == pytest.approx(1, abs=0.01)
    for size in reversed(SIZES):  # what it looks like is seen in "spoken"
        visit.resize(size)
        assert width() == pytest.approx(1, abs=0.01)
        assert page.evaluate(FITS)


@pytest.mark.stays
def test_finished_sound_starts_again(visit: Visit, tmp_path: Path) -> None:
    """A sound that is over starts again however slow the machine draws."""
    page = visit.page
    visit.convert(long_speech(tmp_path, 1.0))
    page.wait_for_function(CONVERSION_PLAYS)
    page.evaluate("() => (window.requestAnimationFrame = () => 0)")
    last = "[...document.querySelectorAll('#conversion audio')].at(-1)"
    page.wait_for_function(f"() => {last}.ended")
    page.evaluate(
        f"() => {last}.addEventListener('play', (e) => (window.from = e.target.currentTime))"
    )
    page.locator("#conversion .tl-play").last.click()
    page.wait_for_function("() => window.from !== undefined")
    assert page.evaluate("() => window.from") < 0.5


@pytest.mark.stays
def test_verdict_goes_with_its_file(visit: Visit, speech: Path, tmp_path: Path) -> None:
    """What was found in a file does not stand under the next."""
    section = visit.page.locator("#made-here")
    visit.page.get_by_role("button", name="Was this made here?").click()
    unreadable = tmp_path / "text.wav"
    unreadable.write_text("These are words.")
    source = section.locator('input[type="file"]')
    source.set_input_files(speech)
    expect(section.locator("h3")).to_be_visible()
    section.get_by_role("button", name="Clear").click()
    expect(section.locator("h3")).to_have_count(0)
    source.set_input_files(unreadable)
    expect(section.locator(".error")).to_be_visible()
    section.get_by_role("button", name="Clear").click()
    expect(section.locator(".error")).to_have_count(0)


def test_visitor_hears_speech_in_own_voice(
    chromium: Callable[[Path], Browser],
    address: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A visitor reads lines and hears speech in their own voice."""
    monkeypatch.setattr(own_voice, "SystemRandom", lambda: Random(0))
    text = Reading.draw(Random(0)).text
    reading = tmp_path / "reading.wav"
    subprocess.run(["espeak-ng", "-v", "en-us", "-s", "190", "-w", reading, text], check=True)
    browser = chromium(reading)
    visit = Visit(browser.new_context(permissions=["microphone"]).new_page(), address, tmp_path)
    visit.open()
    visit.page.get_by_text("Your voice", exact=True).first.click()
    panel = visit.page.locator(".own-voice")
    expect(panel).to_contain_text(text)
    panel.get_by_role("button", name="Record").click()
    visit.page.wait_for_timeout(2000)
    panel.locator(".stop-button").click()
    expect(panel).to_contain_text("10 s or more")  # it takes no voice from so little
    expect(panel.locator(".error")).to_be_in_viewport(ratio=0.9)

    panel.get_by_role("button", name="Record again").click()
    visit.page.wait_for_function(CLOCK_SHOWS, arg="0:13")
    # The player may have asked for the first recording after it was refused, and so deleted.
    assert all("load" in complaint for complaint in visit.complaints)
    visit.complaints.clear()
    panel.locator(".stop-button").click()
    expect(panel).to_contain_text("your voice now")
    visit.shoot("own voice")
    visit.button("Fit it closer, in half a minute").click()
    expect(panel).to_contain_text("fitted to the recording")
    visit.button(PLACE_BLUE).click()
    expect(visit.page.locator("#conversion")).to_contain_text("Converted · your voice")

    visit.button("Forget my voice").click()
    expect(panel.get_by_role("button", name="Record")).to_be_visible()
    visit.button("Convert").click()
    expect(visit.page.get_by_role("alert")).to_contain_text("Read the lines")
    assert not visit.complaints
    browser.close()


def long_speech(folder: Path, seconds: float) -> Path:
    """Something like vowels for so long, as a WAV file."""
    time = np.arange(round(seconds * 16_000)) / 16_000
    tones = sum(np.sin(2 * np.pi * 140 * k * time) / k for k in range(1, 20))
    waveform = 0.1 * tones * (0.55 + 0.45 * np.sin(2 * np.pi * 3 * time))
    path = folder / "long.wav"
    path.write_bytes(wav_bytes(np.asarray(waveform, np.float32), 16_000))
    return path


def another_speech(folder: Path) -> Path:
    """Something like vowels, of another length each time: what is converted is another sound."""
    return long_speech(folder, next(LENGTHS))
