"""A word in many recordings, on the page: a visitor's own files, the places, what is refused."""

import io
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gradio as gr
import pytest

from earshot.core.paths import ASSETS
from earshot.systems.words import Words
from earshot.systems.words.word_index import WordIndex
from earshot.tabs.shared.events import reporting
from earshot.tabs.words import collection
from earshot.tabs.words.collection import NO_FILES, OWN, READY, CollectionSection

pytestmark = pytest.mark.slow

VISITOR: Any = SimpleNamespace(session_hash="visitor")
EXAMPLES = ASSETS / "examples"


@pytest.fixture(scope="module")
def words() -> Words:
    return Words.from_pretrained(device="cpu")


@pytest.fixture
def section(words: Words, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CollectionSection:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "uploads"))
    with gr.Blocks():
        return CollectionSection(lambda: words)


def uploads(folder: Path, *names: str) -> list[str]:
    """Copies of examples as Gradio stores uploads, and a file that holds no sound."""
    paths = []
    for name in names:
        path = folder / "uploads" / name / name
        path.parent.mkdir(parents=True, exist_ok=True)
        source = EXAMPLES / name
        path.write_bytes(source.read_bytes() if source.exists() else b"no sound")
        paths.append(str(path))
    return paths


def quiet(*_: object, **__: object) -> None:
    """A progress bar that nobody sees."""


def test_own_recordings_are_searched_and_forgotten(
    section: CollectionSection, words: Words, tmp_path: Path
) -> None:
    files = uploads(tmp_path, "woman-lighthouse.ogg", "scot-digits.ogg", "<b>.txt")
    answer = section.add(files, None, VISITOR, quiet)  # type: ignore[arg-type]
    own = answer[section.own]
    assert answer[section.scope] == OWN and own.count == 2
    assert "&lt;b&gt;.txt: This file cannot be read" in answer[section.message]
    shown_places = section.show("lighthouse", None, OWN, own)[section.places]
    assert "1 place in 2 recordings" in shown_places["html"]
    assert "1. woman-lighthouse" in shown_places["html"]
    assert len(shown_places["files"]) == 3  # a table, a zip and a clip
    assert (
        NO_FILES
        in reporting(section.show, section.message)("tree", None, OWN, None)[section.message]
    )
    section.forget(own)
    assert own.count == 0 and list(own.path.iterdir()) == []


def test_files_beyond_the_limit_are_named(
    section: CollectionSection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collection, "MAX_FILES", 1)
    files = uploads(tmp_path, "woman-lighthouse.ogg", "scot-digits.ogg")
    answer = section.add(files, None, VISITOR, quiet)  # type: ignore[arg-type]
    assert "scot-digits.ogg: There is room for 1 files only." in answer[section.message]


def test_ready_collection_holds_the_words_of_the_chips(
    section: CollectionSection, words: Words
) -> None:
    index: WordIndex = section.ready()
    assert 28 * 60 < index.seconds < 34 * 60
    for word in collection.EXAMPLES:
        assert len(index.find(words.embed_text(word)).matches) >= 2, word
    value = section.show("umbrella", None, READY, None)[section.places]
    assert "6 recordings" in value["html"]


def test_zip_of_ready_collection_opens(section: CollectionSection, words: Words) -> None:
    from earshot.exports.words import hits_zip

    index = section.ready()
    hits = index.find(words.embed_text("thunder")).matches
    names = zipfile.ZipFile(io.BytesIO(hits_zip(hits, "thunder", index))).namelist()
    assert sum(name.startswith("clips/") for name in names) == len(hits)
