"""Untrained models of sound search, their library, the running page, and a visitor's uploads."""

from collections.abc import Iterator
from pathlib import Path

import gradio as gr
import pytest
from gradio_client import Client

from earshot.app import launch, site
from earshot.systems.sound_search import SoundSearch
from earshot.tabs import sound_search
from earshot.tabs.shared.services import Services
from earshot.tabs.sound_search.library import DemoLibrary, IndexedCatalogue
from earshot.tabs.sound_search.view import ResultView
from tests.support.serving import close
from tests.support.sounds import write_library


@pytest.fixture(scope="module")
def search(tiny_checkpoints: Path) -> SoundSearch:
    names = [tiny_checkpoints / name for name in sound_search.MODELS]
    return SoundSearch.from_pretrained(names, "cpu")


@pytest.fixture(scope="module")
def index(search: SoundSearch, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_library(tmp_path_factory.mktemp("library"), search)


@pytest.fixture(scope="module")
def library(search: SoundSearch, index: Path) -> IndexedCatalogue:
    return DemoLibrary(index)(search)


@pytest.fixture(scope="module")
def client(tiny_checkpoints: Path, index: Path) -> Iterator[Client]:
    page = site.build(Services(device="cpu"), tiny_checkpoints, index=index)
    address = launch.launch(page, launch.options([], {}), block=False)
    yield Client(address, verbose=False)
    close(page)


@pytest.fixture
def view() -> ResultView:
    message, summary, best, chart, rest = (gr.HTML() for _ in range(5))
    downloads = gr.DownloadButton(), gr.DownloadButton()
    return ResultView(message, gr.State(), summary, best, chart, rest, gr.Button(), *downloads)


@pytest.fixture
def uploads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Gradio's folder, with uploads as it keeps them: each in a folder named after its content."""
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    return tmp_path
