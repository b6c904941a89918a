"""What the page's server gives of a folder of sounds: those of the index, as audio."""

import json
import re
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from earshot.sound_index.index import read_index
from earshot.systems.sound_search import SoundSearch
from earshot.tabs.sound_search.catalogue import address_of
from earshot.tabs.sound_search.library import DemoLibrary
from earshot.tabs.sound_search.view import ResultView
from tests.support.sounds import write_library
from tests.tabs.sound_search.handlers import sent, sound_events


@pytest.fixture
def folder(search: SoundSearch, tmp_path: Path) -> Path:
    """A library of one's own, whose folder holds more than sounds."""
    index = write_library(tmp_path, search)
    for name in (".env", "notes.txt", "page.html", "picture.svg"):
        (tmp_path / "sounds" / name).write_text("<script>alert(1)</script>")
    return index


def test_only_indexed_sounds_are_served(folder: Path) -> None:
    client = TestClient(Starlette(routes=[DemoLibrary(folder).route()]))
    sound = next(s for s in read_index(folder)[1].sounds if s.name == "bell.wav")
    whole = client.get(f"/{address_of(sound)}")
    assert whole.content == sound.path.read_bytes()
    assert whole.headers["content-type"] in ("audio/x-wav", "audio/wav", "audio/vnd.wave")
    assert whole.headers["x-content-type-options"] == "nosniff"
    part = client.get(f"/{address_of(sound)}", headers={"Range": "bytes=0-3"})
    assert (part.status_code, part.content) == (206, b"RIFF")
    for name in (".env", "notes.txt", "page.html", "bell.wav", "..%2fsounds%2f.env", "x" * 5000):
        assert client.get(f"/library-sounds/{name}").status_code == 404
    sound.path.unlink()
    assert client.get(f"/{address_of(sound)}").status_code == 404


def test_sound_named_html_is_no_page(folder: Path, search: SoundSearch) -> None:
    sounds = folder.with_suffix("")
    (sounds / "bell.wav").rename(sounds / "bell.html")
    index = DemoLibrary(folder)(search).index
    index.add([sounds / "bell.html"])
    index.save(folder)
    named = next(s for s in read_index(folder)[1].sounds if s.name == "bell.html")
    assert address_of(named) == f"library-sounds/{named.id}"
    client = TestClient(Starlette(routes=[DemoLibrary(folder).route()]))
    response = client.get(f"/{address_of(named)}")
    assert response.headers["content-type"] == "application/octet-stream"


def test_page_shows_no_path_of_folder(search: SoundSearch, folder: Path, view: ResultView) -> None:
    events = sound_events(search, folder, view)
    update = events.search(sent(events, text="rain"))
    cards = json.dumps([update[part] for part in (view.best, view.rest)])
    chart = json.dumps(DemoLibrary(folder).catalogue()[1].chart().value())
    for text in (cards, chart):
        assert str(folder.parent) not in text and re.search(r"library-sounds/\w{16}\.wav", text)
