"""The sounds of a bucket on the page."""

import zipfile
from collections.abc import Iterator
from pathlib import Path

import gradio as gr
import pytest
from markupsafe import escape
from starlette.applications import Starlette
from starlette.testclient import TestClient

from benchmarks.support.fake_sound_encoder import WORDS, FakeEncoder, write_tone
from earshot.core.errors import InputError
from earshot.sound_index.files import folder_of
from earshot.sound_index.scan import scan
from earshot.systems.sound_search import SoundSearch
from earshot.tabs.sound_search.compare import compared
from earshot.tabs.sound_search.library import DemoLibrary
from earshot.tabs.sound_search.query import Search
from earshot.tabs.sound_search.view import GONE, ResultView, draft_item
from tests.support.buckets import FakeBuckets, fake_buckets


@pytest.fixture
def buckets(tmp_path: Path) -> Iterator[FakeBuckets]:
    with fake_buckets(tmp_path) as buckets:
        for word in WORDS:
            write_tone(tmp_path / "library" / f"{word}.wav", word)
        yield buckets


def test_bucket_sounds_are_played_and_exported(buckets: FakeBuckets, tmp_path: Path) -> None:
    """And when the bucket does not answer any more, they are still found."""
    search = SoundSearch(FakeEncoder())
    scan(folder_of("s3://library"), tmp_path / "index", search.encoder)
    library = DemoLibrary(tmp_path / "index")(search)
    message, summary, best, chart, rest = (gr.HTML() for _ in range(5))
    downloads = gr.DownloadButton(), gr.DownloadButton()
    view = ResultView(message, gr.State(), summary, best, chart, rest, gr.Button(), *downloads)
    result = search(library.index, "high")
    update = view.show(Search("high"), result, library)
    played = [file["url"] for part in (view.best, view.rest) for file in update[part]["files"]]
    server = TestClient(Starlette(routes=[DemoLibrary(tmp_path / "index").route()]))
    contents = [server.get(f"/{address}").content for address in played]
    there = [(tmp_path / "library" / hit.sound.name).read_bytes() for hit in result.hits]
    assert contents == there
    assert library.chart().value()["files"] == [], "the map fetches nothing"
    with zipfile.ZipFile(update[view.export].value["path"]) as exported:
        assert exported.read("sounds/01-high.wav") == there[0]
    draft = draft_item(update[view.search])
    assert draft and draft.sound == there[0]
    pair = result.hits[0].sound.id, result.hits[1].sound.id
    assert len(compared(pair, [library])["files"]) == 2
    buckets.down = True
    for hit in result.hits:
        hit.sound.file.unlink()
    update = view.show(Search("high"), result, library)
    assert server.get(f"/{played[0]}").status_code == 404
    assert escape(GONE) in update[view.best]["html"] and not update[view.best]["files"]
    assert draft_item(update[view.search]) is None
    other = SoundSearch(FakeEncoder("other"))
    with pytest.raises(InputError, match="^The sounds cannot be fetched now"):
        DemoLibrary(tmp_path / "index")(other)
