"""Other systems of words beside ours, in a real browser."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gradio as gr
import numpy as np
import pytest
from playwright.sync_api import Browser, expect

from earshot.app import launch
from earshot.media.audio.load import load
from earshot.systems.plug_in import PlugIn
from earshot.systems.plugged import PluggedEmbedder
from earshot.systems.registry import Offer
from earshot.systems.words import spoken_word
from earshot.tabs.shared.services import Services
from earshot.tabs.words.side_by_side import SideBySideSection
from tests.browser.visit import SIZES, Visit
from tests.support.fake_words import RATE, FakeLibrary
from tests.support.serving import close
from tests.tabs.words.test_side_by_side import spectrum


class Spectra:
    def embed_audio(self, waveform: np.ndarray, sample_rate: int) -> np.ndarray:
        return spectrum(waveform)


class Broken:
    def embed_audio(self, waveform: np.ndarray, sample_rate: int) -> float:
        return 1 / 0


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A page with the section alone."""
    library: Any = FakeLibrary(sounds := tmp_path_factory.mktemp("library"))
    gr.set_static_paths([sounds])
    kinds = {"spectra": Spectra, "broken": Broken}

    def plugged(name: str) -> PluggedEmbedder:
        return PluggedEmbedder(name, PlugIn(name.title(), kinds[name], Path(__file__)))

    offer: Any = Offer(plugged, {}, {name: name.title() for name in kinds})
    with pytest.MonkeyPatch.context() as patch:
        # No voice activity detector takes the library's tones for speech.
        patch.setattr(spoken_word, "find_word", lambda path, cut: load(path, RATE))
        with gr.Blocks(title="Words") as page:
            faults = ["mine.py failed: SyntaxError in mine.py, line 3."]
            SideBySideSection(offer, lambda: library, Services(plug_in_faults=faults))
        yield launch.launch(page, launch.options([], {}), block=False)
        close(page)


@pytest.fixture
def visit(browser: Browser, address: str, tmp_path: Path) -> Iterator[Visit]:
    width, height = SIZES["desktop"]
    context = browser.new_context(viewport={"width": width, "height": height})
    visitor = Visit(context.new_page(), address, tmp_path)
    visitor.page.goto(address)
    yield visitor
    context.close()
    assert visitor.complaints == []


def test_system_draws_its_map_beside_ours(visit: Visit) -> None:
    """One that fails says so, with its line."""
    page = visit.page
    page.get_by_role("button", name="Side by side").click()
    expect(page.get_by_text("mine.py failed: SyntaxError")).to_be_visible()
    run = visit.button("Compare with ours")
    run.click()
    expect(page.locator(".prose.numbers")).to_contain_text("by Spectra,")
    for place in ("#map-by-system", "#map-by-ours"):
        expect(page.locator(f"{place} .map-point")).to_have_count(36)
    expect(run).to_be_visible()
    page.get_by_label("System").click()
    page.get_by_role("option", name="Broken").click()
    run.click()
    alert = page.get_by_role("alert").filter(has_text="Broken failed")
    expect(alert).to_contain_text(f"ZeroDivisionError in {Path(__file__).name}, line ")
    expect(run).to_be_visible()
