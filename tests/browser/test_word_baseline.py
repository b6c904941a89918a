"""A pretrained speech model compared with our words, in a real browser."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gradio as gr
import pytest
from playwright.sync_api import Browser, expect

from earshot.app import launch
from earshot.media.audio.load import load
from earshot.systems.words import spoken_word
from earshot.tabs.components import hub_picker
from earshot.tabs.shared.services import Services
from earshot.tabs.words.baseline import BaselineSection
from tests.browser.visit import SIZES, Visit
from tests.support.fake_words import RATE, FakeLibrary
from tests.support.serving import close
from tests.systems.words.test_averaged_states import save as save_speech_model


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A page with the section alone; the hub gives a tiny HuBERT, whatever is asked for."""
    folder = save_speech_model(tmp_path_factory.mktemp("hub") / "tiny")
    library: Any = FakeLibrary(sounds := tmp_path_factory.mktemp("library"))
    gr.set_static_paths([sounds])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hub_picker, "fetch", lambda *_: folder)
        # No voice activity detector takes the library's tones for speech.
        patch.setattr(spoken_word, "find_word", lambda path, cut: load(path, RATE))
        with gr.Blocks(title="Words") as page:
            BaselineSection(lambda: library, Services(device="cpu"))
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


def test_loaded_model_draws_its_map(visit: Visit) -> None:
    """Without a layer, with two, and after a layer that is not there."""
    page = visit.page
    page.get_by_role("button", name="Compare with a pretrained speech model").click()
    load = visit.button("Load it")
    load.click()
    expect(page.locator(".prose.numbers")).to_contain_text("by layer 3,")
    expect(page.locator("#baseline-map .map-point")).to_have_count(36)
    expect(load).to_be_visible()
    done = page.locator(".message.done").filter(visible=True)
    expect(done).to_contain_text("is ready")
    red, green, blue = done.evaluate(
        "(said) => getComputedStyle(said).backgroundColor.match(/[\\d.]+/g).slice(0, 3).map(Number)"
    )
    assert green > max(red, blue), "what succeeded is green"
    page.get_by_label("Layer").fill("7")
    load.click()
    expect(page.get_by_role("alert")).to_contain_text("layers 1 to 4, and no layer 7")
    expect(load).to_be_visible()
    page.get_by_label("Layer").fill("2, 4")
    load.click()
    expect(page.locator(".prose.numbers")).to_contain_text("by layer 2, 4,")
