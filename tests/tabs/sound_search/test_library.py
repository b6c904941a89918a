"""The library of the server: read once, embedded anew by another model, and its example."""

from pathlib import Path

import pytest

from earshot.sound_index import index as index_module
from earshot.systems.sound_search import SoundSearch
from earshot.tabs.sound_search import events as handlers
from earshot.tabs.sound_search.library import DemoLibrary, IndexedCatalogue
from earshot.tabs.sound_search.view import ResultView
from tests.support.sounds import CAPTIONS, write_library
from tests.tabs.sound_search.handlers import sound_events

pytestmark = pytest.mark.slow


def test_catalogue_reads_index_once(
    search: SoundSearch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is read again when it is replaced."""
    folder = write_library(tmp_path, search)
    reads = []
    read = index_module.read_index
    monkeypatch.setattr(
        index_module,
        "read_index",
        lambda folder, *more: reads.append(folder) or read(folder, *more),
    )
    demo = DemoLibrary(folder)
    first = demo.catalogue()[1]
    assert demo.catalogue()[1] is first and len(reads) == 1
    write_library(tmp_path, search)  # replaced
    assert demo.catalogue()[1] is not first and len(reads) == 2


def test_read_finished_returns_what_was_written(
    search: SoundSearch,
    library: IndexedCatalogue,
    index: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    view: ResultView,
) -> None:
    monkeypatch.setattr(handlers, "FINISHED", tmp_path / "finished.json")
    fingerprint, catalogue = DemoLibrary(index).catalogue()
    assert handlers.read_finished(catalogue.stored(), fingerprint) is None
    result = search(library.index, "rain")
    handlers.write_finished("rain", result, search.encoder.fingerprint)
    again = handlers.read_finished(catalogue.stored(), fingerprint)
    assert again is not None and again[0] == "rain"
    assert [hit.sound for hit in again[1].hits] == [hit.sound for hit in result.hits]
    assert again[1].hits[0].score == pytest.approx(result.hits[0].score, abs=1e-4)
    assert handlers.read_finished(catalogue.stored(), "another model") is None
    events = sound_events(search, index, view)
    assert "an example" in events.first_look()[view.summary]
    assert events.first_look() is events.first_look()  # made once: it takes .1 s


def test_another_model_embeds_library_anew(
    search: SoundSearch, tiny_checkpoints: Path, index: Path
) -> None:
    other = SoundSearch.from_pretrained(tiny_checkpoints / "sound-passt", "cpu")
    demo = DemoLibrary(index)
    library = demo(other)
    assert [sound.name for sound in library.sounds] == list(CAPTIONS)
    assert library.sounds[0].caption == CAPTIONS["rain.wav"][1]
    assert other(library.index, "rain").hits
    assert demo(other) is library and demo.catalogue()[1] is library
    assert DemoLibrary(index).catalogue()[0] == search.encoder.fingerprint, "the index is as it was"
