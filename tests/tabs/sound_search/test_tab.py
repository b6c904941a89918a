"""The sound search tab by its handlers: searches, filters, votes, and models of the hub."""

import json
import re
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gradio as gr
import pytest

from benchmarks.support.fake_sound_encoder import FakeEncoder
from earshot.core.errors import InputError
from earshot.sound_index.index import SoundIndex, read_index
from earshot.systems.registry import Offer
from earshot.systems.sound_search import SoundSearch
from earshot.systems.sound_search.encoder import DEFAULT_MODEL
from earshot.tabs import sound_search
from earshot.tabs.shared.events import reporting
from earshot.tabs.shared.services import Services
from earshot.tabs.sound_search.catalogue import OTHER_FAMILY
from earshot.tabs.sound_search.library import DemoLibrary, IndexedCatalogue, Systems, VisitorLibrary
from earshot.tabs.sound_search.query import OWN, Search
from earshot.tabs.sound_search.systems import SystemSection, rank_changes
from earshot.tabs.sound_search.view import ResultView
from tests.support.sounds import CAPTIONS, write_library
from tests.tabs.sound_search.handlers import sent, sound_events

pytestmark = pytest.mark.slow


def test_tab_offers_models_of_pipeline() -> None:
    assert tuple(folder.name for folder in DEFAULT_MODEL) == sound_search.MODELS


def test_search_without_an_index_says_so(
    search: SoundSearch, library: IndexedCatalogue, tmp_path: Path, view: ResultView
) -> None:
    events = sound_events(search, tmp_path / "sounds.index", view)
    run = reporting(events.search, view.message)
    query = sent(events, text="rain")
    assert "no index" in events.first_look()[view.message]
    assert "no index" in run(query)[view.message]
    # One that was open stays in use.
    folder = write_library(tmp_path, search)
    run(query)
    shutil.rmtree(folder)
    assert run(query)[view.message] == ""


def test_search_without_own_sounds_says_so(
    search: SoundSearch, index: Path, view: ResultView
) -> None:
    events = sound_events(search, index, view)
    update = reporting(events.search, view.message)(sent(events, text="rain", scope=OWN))
    assert list(update) == [view.message] and "Your own sounds" in update[view.message]


@pytest.mark.parametrize("text", ["low \udc00 tone", "rain 🌧 @file99", "z" * 1000])
def test_strange_text_gives_sendable_values(
    search: SoundSearch, index: Path, view: ResultView, text: str
) -> None:
    events = sound_events(search, index, view)
    update = events.search(sent(events, text=text, without=text))
    voted = update[view.search].voted("x", 1)
    assert voted.query.encode() and voted.name.encode()
    json.dumps(update[view.best], ensure_ascii=False).encode()
    assert update[view.summary].encode()


@pytest.mark.parametrize("sound", ["/etc/hostname", None, 7])
def test_like_of_unknown_sound_is_refused(
    search: SoundSearch, index: Path, view: ResultView, sound: object
) -> None:
    """A vote for it is refused, too."""
    events = sound_events(search, index, view)
    event: Any = SimpleNamespace(_data={"sound": sound, "action": "up"})
    with pytest.raises(gr.Error, match="no longer in the library"):
        events.like(Search(), None, event)
    update = reporting(events.vote, view.message)(Search("rain"), None, event)
    assert "no longer in the library" in update[view.message]


def test_library_on_disk_is_searched(
    search: SoundSearch,
    index: Path,
    view: ResultView,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its map shows a share of the sounds."""
    monkeypatch.setattr("earshot.tabs.sound_search.catalogue.MAX_POINTS", 5)
    on_disk = tmp_path / "sounds.index"
    SoundIndex.open(index, search.encoder).save(on_disk, "disk")
    pages = [sound_events(search, folder, view) for folder in (index, on_disk)]
    cards = [_first_card(page.search(sent(page, text="rain"))[view.best]) for page in pages]
    assert cards[0] == cards[1]
    chart = DemoLibrary(on_disk).catalogue()[1].chart()
    assert len(chart.points) == 4 and "4 of 12 sounds" in chart.name
    with pytest.raises(InputError, match="--index-backend disk"):
        DemoLibrary(index, "disk").catalogue()


def test_search_passes_filters_on(search: SoundSearch, index: Path, view: ResultView) -> None:
    """A vote keeps them."""
    events = sound_events(search, index, view)
    dog = next(sound.id for sound in read_index(index)[1].sounds if sound.kind == "dog")
    query = {"text": "rain", "title": "a", "families": ["animals", OTHER_FAMILY], "among": ["Dogs"]}
    limits = {"collections": {"Dogs": [dog]}, "min_seconds": 1.0, "max_seconds": 3.0}
    update = events.search(sent(events, **query, **limits))
    only = update[view.search].only
    assert (only.title, only.min_seconds, only.max_seconds) == ("a", 1.0, 3.0)
    assert only.ids == {dog} and only.licences is None and not only.tags
    assert {"dog", "scene"} <= set(only.kinds or ()) and "rain" not in (only.kinds or ())
    assert update[view.best]["html"].count("animals") == 1
    assert update[view.export].constructor_args["visible"]
    event: Any = SimpleNamespace(_data={"sound": _first_card(update[view.best]), "action": "up"})
    again = events.vote(update[view.search], None, event)
    assert again[view.search].only == only
    query["title"] = "no such title"
    refused = reporting(events.search, view.message)(sent(events, **query, **limits))
    assert "No sound passes" in refused[view.message]


def test_more_shows_results_of_same_search(
    search: SoundSearch, index: Path, view: ResultView, monkeypatch: pytest.MonkeyPatch
) -> None:
    events = sound_events(search, index, view)
    update = events.search(sent(events, text="rain"))
    assert update[view.more].constructor_args["visible"]
    more = events.more(update[view.search], None)
    assert more[view.rest]["html"].count('class="card"') == len(CAPTIONS) - 1
    assert not more[view.more].constructor_args["visible"]
    first = _first_card(update[view.best])
    assert _first_card(more[view.best]) == first
    fresh = events.search(sent(events, text="rain", search=more[view.search]))
    assert fresh[view.rest]["html"].count('class="card"') == 8


def _first_card(value: dict[str, Any]) -> str:
    match = re.search('data-sound="([^"]*)"', value["html"])
    assert match
    return match[1]


@pytest.fixture
def section(search: SoundSearch, index: Path, view: ResultView) -> SystemSection:
    """The section of the systems, ours and another, connected to a tab."""
    other = SoundSearch(FakeEncoder())
    offer: Any = Offer(
        lambda name: {"sounds": search, "other": other}[name],
        {"sounds": "Ours"},
        {"other": "Other"},
    )
    events = sound_events(search, index, view)
    events.systems = Systems(offer, events.demo)
    with gr.Blocks():
        section = SystemSection(events.systems, Services())
    section.events = events
    return section


def test_chosen_system_embeds_all_libraries(
    search: SoundSearch, index: Path, view: ResultView, section: SystemSection
) -> None:
    """It is taken for the next search, until ours is chosen again."""
    events = section.events
    own = VisitorLibrary(search)
    own.index.add([index.parent / "sounds" / "bell.wav"])
    chosen = section.search_by("other", Search(), own)[view.search]
    update = events.search(sent(events, search=chosen, own=own, text="deep"))
    assert update[view.search].model == "other" and update[view.search].best
    events.search(sent(events, search=chosen, own=own, text="deep", scope=OWN))
    assert own.index.encoder.fingerprint == FakeEncoder().fingerprint and len(own.sounds) == 1
    assert section.search_by("", update[view.search], own)[view.search].model == ""
    with pytest.raises(InputError, match="Choose a system first"):
        section.search_by("nowhere", Search(), own)


def test_ranking_by_another_system_says_what_moved(section: SystemSection) -> None:
    rows = section.compare("other", Search(text="deep"), None)[section.ranks]
    assert "“deep”, ranked by both" in rows and "Other" in rows
    same = rank_changes(*2 * [section.events.rank(Search(text="deep"), None, "", 10)])
    assert {moved for name, moved in same if name} == {"="}
    with pytest.raises(InputError, match="Search for something first"):
        section.compare("other", Search(), None)
    with pytest.raises(InputError, match="Choose a system first"):
        section.compare("", Search(text="deep"), None)
