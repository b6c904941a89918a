"""A visitor's way through voice conversion, in a real browser."""

import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from earshot.pipelines.speech import Speech
from earshot.pipelines.voice_conversion import AnyVoiceConversion
from earshot.pipelines.voice_conversion.reading import Reading
from earshot.pipelines.voice_conversion.settings import MODELS
from earshot.tabs.voice_conversion import own_voice
from tests.browser.visit import Visit

LOOKS = [(size, scheme) for size in ("desktop", "phone") for scheme in ("light", "dark")]


@pytest.mark.parametrize("visit", LOOKS, indirect=True)
def test_visitor_records_converts_edits_and_speaks_again(visit: Visit) -> None:
    page = visit.page
    expect(visit.button("Convert")).to_be_disabled()
    visit.button("Record").click()
    page.wait_for_timeout(1500)
    page.locator(".sound-input .stop-button").click()
    visit.convert()
    units = visit.units()
    assert len(units) > 25
    expect(page.locator(".block.numbers")).to_contain_text(f"{len(units)} units")

    visit.cell(3).click()
    expect(visit.button("Mute")).to_be_enabled()
    visit.button("Mute").click()
    expect(visit.cell(3)).to_have_attribute("data-name", "muted")
    expect(page.locator("#conversion")).to_contain_text("edited, not spoken yet")

    page.get_by_label("Replace by: unit number").fill("7")
    visit.button("Replace by").click()
    expect(visit.cell(3)).to_have_attribute("data-name", "unit 7")
    visit.button("Undo").click()
    expect(visit.cell(3)).to_have_attribute("data-name", "muted")

    visit.button("Speak it again").click()
    expect(page.locator("#conversion")).not_to_contain_text("not spoken yet")
    expect(page.locator(".block.numbers")).to_contain_text("s of speech")
    assert fits(visit), "the page scrolls sideways"
    assert visit.faint() == []
    visit.shoot("spoken")


def test_convert_of_a_file_without_sound_shows_an_error_and_changes_nothing_else(
    visit: Visit, speech: Path, tmp_path: Path
) -> None:
    visit.upload(speech)
    visit.convert()
    before = visit.page.locator("#conversion").inner_text()
    visit.page.get_by_role("button", name="Clear").click()
    text = tmp_path / "text.wav"
    text.write_text("This is no sound.")
    visit.upload(text)
    # Not visit.convert(): the refusal may come before anyone could see the button hidden.
    visit.button("Convert").click()
    expect(visit.page.get_by_role("alert")).to_contain_text("cannot be read as audio")
    assert visit.page.locator("#conversion").inner_text() == before
    visit.shoot("refused")
    # The recorder's own player cannot load the file either, and says so.
    assert set(visit.complaints) <= {"Waveform load error: MediaError"}
    visit.complaints.clear()


def test_example_converts_in_one_click(visit: Visit) -> None:
    chips = visit.page.locator(".chips button")
    assert chips.count() >= 3
    chips.first.click()
    expect(visit.page.locator("#conversion .tl-units")).to_be_visible()
    assert len(visit.units()) > 25


def test_timeline_plays_one_sound_at_a_time(visit: Visit, speech: Path) -> None:
    visit.upload(speech)
    visit.convert()
    page = visit.page
    source, converted = page.locator("#conversion .tl-play").all()
    playing = "() => [...document.querySelectorAll('#conversion audio')].map(a => !a.paused)"
    assert page.evaluate(playing) == [False, False], "nothing starts by itself"
    source.click()
    expect(source).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#conversion .tl-time")).not_to_have_text("0.00 / 5.00 s")
    converted.click()
    expect(source).to_have_attribute("aria-pressed", "false")
    expect(converted).to_have_attribute("aria-pressed", "true")
    assert page.evaluate(playing) == [False, True]
    converted.click()
    expect(converted).to_have_attribute("aria-pressed", "false")

    lane = page.locator("#conversion .tl-spectrogram .tl-box").first
    box = lane.bounding_box()
    assert box is not None
    lane.click(position={"x": box["width"] / 2, "y": 20})
    expect(page.locator("#conversion .tl-time")).to_have_text("2.50 / 5.00 s")


def test_player_paused_before_it_starts_raises_no_error(visit: Visit) -> None:
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


def test_units_are_selected_by_mouse_and_keyboard(visit: Visit, speech: Path) -> None:
    visit.upload(speech)
    visit.convert()
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


def test_units_are_downloaded_as_json_and_loaded_again(
    visit: Visit, speech: Path, tmp_path: Path
) -> None:
    visit.upload(speech)
    visit.convert()
    units = visit.units()
    with visit.page.expect_download() as download:
        visit.page.get_by_role("link", name="Units").click()
    path = tmp_path / "units.json"
    download.value.save_as(path)
    visit.page.reload()
    visit.open()
    visit.page.locator('.under-timeline input[type="file"]').set_input_files(path)
    expect(visit.page.locator("#conversion .tl-play")).to_have_count(1)
    assert visit.units() == units


def test_rates_compared_show_every_model(visit: Visit, speech: Path) -> None:
    visit.upload(speech)
    visit.convert()
    visit.page.get_by_role("button", name="What bits cost").click()
    visit.button("Run every rate").click()
    rates = visit.page.locator("#rates")
    expect(rates.locator(".tl-play")).to_have_count(1 + len(MODELS))
    for rate in ("150", "200", "300", "450", "1350"):
        expect(rates).to_contain_text(f"{rate} bit/s")
    expect(rates).to_contain_text("not limited")
    expect(visit.button("Run every rate")).to_be_visible()


def test_visitor_reads_lines_and_hears_speech_in_their_own_voice(
    chromium: Callable[[Path], Browser],
    address: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(own_voice, "SystemRandom", lambda: Random(0))
    text = Reading.draw(Random(0)).text
    said = tmp_path / "said.wav"
    subprocess.run(["espeak-ng", "-v", "en-us", "-s", "150", "-w", said, text], check=True)
    browser = chromium(said)
    visit = Visit(browser.new_context(permissions=["microphone"]).new_page(), address, tmp_path)
    visit.open()
    visit.page.get_by_text("Your voice", exact=True).first.click()
    panel = visit.page.locator(".own-voice")
    expect(panel).to_contain_text(text)
    panel.get_by_role("button", name="Record").click()
    visit.page.wait_for_timeout(2000)
    panel.locator(".stop-button").click()
    expect(panel).to_contain_text("10 s or more")  # it takes no voice from so little

    panel.get_by_role("button", name="Clear").click()
    panel.get_by_role("button", name="Record").click()
    visit.page.wait_for_timeout(17_000)
    # The player may have asked for the first recording after it was refused, and so deleted.
    assert all("load" in complaint for complaint in visit.complaints)
    visit.complaints.clear()
    panel.locator(".stop-button").click()
    expect(panel).to_contain_text("your voice now")
    visit.shoot("own voice")
    visit.button("Fit it closer, in half a minute").click()
    expect(panel).to_contain_text("fitted to what you read")
    visit.button("man place blue").click()
    expect(visit.page.locator("#conversion")).to_contain_text("Converted · your voice")

    visit.button("Forget my voice").click()
    expect(panel.get_by_role("button", name="Record")).to_be_visible()
    visit.button("Convert").click()
    expect(visit.page.get_by_role("alert")).to_contain_text("Read the lines")
    assert not visit.complaints
    browser.close()


def test_stop_restores_the_button_and_leaves_the_result(
    visit: Visit, speech: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    decode = AnyVoiceConversion.decode

    stopped = threading.Event()

    def slowly(*args: Any) -> Speech:
        stopped.wait(60)
        return decode(*args)

    monkeypatch.setattr(AnyVoiceConversion, "decode", slowly)
    visit.upload(speech)
    expect(visit.button("Convert")).to_be_enabled()
    before = visit.units()  # those of the finished example, where there is one
    visit.button("Convert").click()
    expect(visit.page.locator("#conversion").get_by_text("speaking as TF2")).to_be_in_viewport()
    visit.shoot("progress")
    visit.button("Stop").click()
    expect(visit.button("Convert")).to_be_visible()
    stopped.set()
    visit.page.wait_for_timeout(3000)
    assert visit.units() == before


def fits(visit: Visit) -> bool:
    root = "document.documentElement"
    return visit.page.evaluate(f"() => {root}.scrollWidth <= {root}.clientWidth")
