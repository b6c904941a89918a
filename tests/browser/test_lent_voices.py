"""A page that was started with --allow-reference and --transcripts."""

from collections.abc import Iterator
from itertools import cycle
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, expect

from earshot.app import launch, site
from earshot.core.paths import ASSETS
from earshot.media.audio.load import load, wav_bytes
from earshot.pretrained.recogniser import RecognisedWord, Transcriber, Transcript
from earshot.tabs.shared.services import Services
from earshot.tabs.voice_conversion.own_voice import ANYBODY_TITLE, CONSENT
from tests.browser.visit import PLACE_BLUE, Visit
from tests.support.serving import close

RATE = 16_000
# Of conversion and source, in turn.
TRANSCRIPTS = [("the", "old", "house"), ("the", "cold", "house")]


@pytest.fixture
def address(tiny_checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    words = cycle(TRANSCRIPTS)

    def transcribe(_: bytes) -> Transcript:
        return Transcript(tuple(RecognisedWord(word, 0.9) for word in next(words)))

    monkeypatch.setattr(Transcriber, "from_pretrained", lambda *_: transcribe)
    page = site.build(
        Services(device="cpu", allow_reference=True, transcriber=site.transcriber("", "cpu")),
        tiny_checkpoints,
    )
    yield launch.launch(page, launch.options([], {}), block=False)
    close(page)


def test_visitor_speaks_in_lent_voice(browser: Browser, address: str, tmp_path: Path) -> None:
    """A visitor sees what is heard and speaks as somebody who agreed."""
    visit = Visit(browser.new_context().new_page(), address, tmp_path)
    visit.open()
    visit.button(PLACE_BLUE).click()
    transcript = visit.page.locator("#heard")
    expect(transcript).to_contain_text("2 of 3 words are heard in the conversion")
    expect(transcript.locator("del")).to_have_text("cold")
    expect(transcript.locator("ins")).to_have_text("old")
    assert visit.faint() == []

    clip = tmp_path / "clip.wav"
    speech = np.tile(load(ASSETS / "voices" / "Vera.ogg", RATE).waveform, 4)
    clip.write_bytes(wav_bytes(speech, RATE))
    visit.page.get_by_text("Any voice", exact=True).first.click()
    panel = visit.page.locator(".own-voice")
    panel.get_by_role("button", name=ANYBODY_TITLE).click()
    expect(panel.locator("input[type=file]")).to_have_count(0)
    panel.get_by_label(CONSENT).check()
    panel.locator("input[type=file]").set_input_files(clip)
    expect(panel).to_contain_text("This voice is one of them now")
    visit.shoot("lent voice")
    visit.button("Convert").click()
    expect(visit.page.locator("#conversion")).to_contain_text(
        "Converted · the voice of a recording"
    )
    visit.button("Forget my voice").click()
    expect(panel.get_by_role("button", name=ANYBODY_TITLE)).to_be_visible()
    assert visit.complaints == []
