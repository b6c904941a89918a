"""A visitor speaks, and hears themselves in another voice meanwhile."""

from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect

from earshot.systems.voice_conversion import AnyVoiceConversion, Voice
from earshot.systems.voice_conversion.live.process import LiveProcess
from tests.browser.visit import PLAYING, Visit

LOADING = 300_000  # ms: its process imports torch, beside other work
DRAWN = """() => {
  const canvas = document.querySelector(".live-units");
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  return data.some((value) => value > 0);
}"""


# The devices that Live has been played through, "" for the computer's own.
SINKS = """() => {
  window.sinks = [];
  const { setSinkId } = AudioContext.prototype;
  AudioContext.prototype.setSinkId = function (id) {
    return setSinkId.call(this, id).then(() => sinks.push(id));
  };
}"""


@pytest.mark.parametrize("visit", [("phone", "dark")], indirect=True)
def test_live_shows_units_and_delay(visit: Visit) -> None:
    """What was said is given to the tab."""
    page = visit.page
    page.evaluate(SINKS)
    visit.button("Live").click()
    expect(page.locator(".live")).to_have_attribute("data-state", "running", timeout=LOADING)
    page.wait_for_function(DRAWN)
    expect(page.locator(".live-line")).to_contain_text("ms delay")
    expect(page.locator(".live-line")).to_contain_text("dropout")
    # It hears of new units twelve times a second, of the level twenty times; the line of numbers
    # changes four times at most.
    assert visit.layouts(3) <= 24
    output = page.get_by_label("Play through")
    name, other = output.locator("option").all_inner_texts()[-2:]
    output.select_option(other)
    page.wait_for_function("sinks.length > 1 && sinks.at(-1)")
    assert page.evaluate("localStorage['earshot-live-output'] === sinks.at(-1)") and name != other
    visit.choose("Sophie")
    page.wait_for_timeout(1000)
    assert page.evaluate(PLAYING) == 0, "it is heard live, and nothing else starts"
    visit.look("live")

    page.keyboard.press("Escape")
    expect(page.locator(".live")).to_have_attribute("data-state", "off")
    expect(page.locator(".live-said")).to_have_attribute("download", "live.wav")
    expect(visit.button("Convert")).to_be_disabled()
    visit.button("Analyse what you said").click()
    expect(page.locator("#conversion")).to_contain_text("Converted · Sophie")
    visit.shoot("kept")


def test_live_speaks_in_own_voice(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    """Live speaks in the visitor's own voice until they forget it."""
    voices: list[str | Voice] = []
    push = LiveProcess.push

    def noted(*arguments: Any) -> tuple[dict, np.ndarray]:
        voices.append(arguments[-1].voice)
        return push(*arguments)

    monkeypatch.setattr(LiveProcess, "push", noted)
    # What they read is judged by another test.
    read = np.random.default_rng(0).normal(0, 0.1, 160_000).astype(np.float32)
    monkeypatch.setattr(AnyVoiceConversion, "reference", lambda *_: read)
    own = visit.page.locator(".own-voice")
    visit.choose("Your voice")
    own.get_by_role("button", name="Record").click()
    visit.page.wait_for_timeout(1000)
    own.locator(".stop-button").click()
    expect(own).to_contain_text("your voice now")

    visit.button("Live").click()
    expect(visit.page.locator(".live-line")).to_contain_text("ms delay", timeout=LOADING)
    assert voices and all(isinstance(voice, Voice) for voice in voices)
    visit.button("Forget my voice").click()
    expect(visit.page.locator(".live-message")).to_contain_text("Read the lines")
    expect(visit.page.locator(".live")).to_have_attribute("data-state", "off")
