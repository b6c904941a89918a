"""Sounds that a visitor chooses: collections, an area of the map, and two to compare."""

from types import SimpleNamespace
from typing import Any

import gradio as gr
import numpy as np
import pytest

from benchmarks.support.fake_sound_encoder import FakeEncoder
from earshot.core.errors import InputError
from earshot.sound_index.index import SoundIndex
from earshot.sound_index.sound import Description
from earshot.systems.sound_search import list_sounds
from earshot.tabs.sound_search.collections import (
    MAX_CHARACTERS,
    MAX_COLLECTIONS,
    panel,
    restored,
    toggled,
)
from earshot.tabs.sound_search.compare import (
    CompareSection,
    changed,
    compared,
    joined,
)
from earshot.tabs.sound_search.events import NO_AREA, SoundEvents
from earshot.tabs.sound_search.library import IndexedCatalogue
from earshot.tabs.sound_search.query import Search, filter_section
from earshot.tabs.sound_search.view import GONE, cards_value
from tests.support.sounds import write_sound


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> IndexedCatalogue:
    """Four sounds with licences and tags."""
    folder = tmp_path_factory.mktemp("sounds")
    paths = [write_sound(folder / f"{i}.wav", i, 1.0 + i) for i in range(4)]
    index = SoundIndex.empty(FakeEncoder())
    licences, tags = ("CC0", "CC BY", "CC0", ""), (("wet",), (), ("wet", "loud"), ())
    about = {
        path: Description("", f"sound {i}", licences[i], tags[i]) for i, path in enumerate(paths)
    }
    index.add(paths, about)
    return IndexedCatalogue(index)


def ids(library: IndexedCatalogue) -> list[str]:
    return [sound.id for sound in library.sounds]


def event(**data: object) -> Any:
    return SimpleNamespace(_data=data)


def test_toggled_keeps_and_removes_sound() -> None:
    collections = toggled(toggled({}, " My  bells ", "a"), "My bells", "b")
    assert collections == {"My bells": ("a", "b")}
    assert toggled(collections, "My bells", "a") == {"My bells": ("b",)}
    assert toggled({"My bells": ("a",)}, "My bells", "a") == {}
    with pytest.raises(InputError, match="a name"):
        toggled(collections, "  ", "a")


def test_toggled_without_room_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says what to do."""
    monkeypatch.setattr("earshot.tabs.sound_search.collections.MAX_COLLECTIONS", 1)
    monkeypatch.setattr("earshot.tabs.sound_search.collections.MAX_SOUNDS", 1)
    with pytest.raises(InputError, match="Delete one"):
        toggled({"x": ("a",)}, "y", "a")
    with pytest.raises(InputError, match="Begin another"):
        toggled({"x": ("a",)}, "x", "b")
    assert toggled({"x": ("a",)}, "x", "a") == {}


@pytest.mark.parametrize("value", [None, 7, [], "x", {"x": 7}, {"x": {"a": 1}}])
def test_restored_of_no_collection_is_empty(value: object) -> None:
    assert restored(value) == {}


def test_restored_limits_names_and_sounds() -> None:
    collections = restored({"n" * 99: ["a" * 99, 7, "b"], **{str(i): [] for i in range(99)}})
    assert len(collections) == MAX_COLLECTIONS
    (name, sounds), *_ = collections.items()
    assert len(name) == MAX_CHARACTERS == len(sounds[0]) and sounds[1] == "b"


def test_panel_escapes_names() -> None:
    html = panel({'<b>"': ("a",)})
    assert "&lt;b&gt;&#34;" in html and '<b>"' not in html and "1 sound<" in html


def test_joined_takes_two_and_replaces_second() -> None:
    assert joined((), "x") == ("x",)
    assert joined(("x",), "y") == ("x", "y") == joined(("x", "z"), "y")
    assert joined(("x", "y"), "x") == ("y",)
    assert changed(("x", "y"), "swap") == ("y", "x") and changed(("x", "y"), "close") == ()
    assert changed(("x", "y"), None) == ("x", "y")


def test_new_search_closes_comparison() -> None:
    """A sound that waits for another is kept."""
    with gr.Blocks():
        panel = CompareSection(SimpleNamespace())  # type: ignore[arg-type]
    assert panel.leave(("x",)) == {panel.pair: ("x",)}  # Gradio wants one output at least
    closed = panel.leave(("x", "y"))
    assert closed[panel.pair] == () and not closed[panel.panel].constructor_args["visible"]


def test_compared_sounds_share_one_time_axis(library: IndexedCatalogue) -> None:
    first, _, third, _ = ids(library)
    assert "A is “Sound 0”" in compared((first,), [library])["html"]
    value = compared((first, third), [library])
    assert 'data-seconds="3.0000"' in value["html"] and "width:33.3333%" in value["html"]
    assert "A: Sound 0" in value["html"] and "B: Sound 2" in value["html"]
    assert [file["url"] for file in value["files"]] == [
        f"library-sounds/{sound}.wav" for sound in (first, third)
    ]
    with pytest.raises(InputError, match=GONE):
        compared((first, "nobody"), [library])


def test_listed_sounds_come_most_typical_first(library: IndexedCatalogue) -> None:
    """They have no votes."""
    chosen_ids = ids(library)[1:]
    result = list_sounds(library.index, chosen_ids, "Three", 2)
    assert len(result.hits) == 2 and np.isfinite(result.scores).sum() == 3
    assert result.hits[0].score >= result.hits[1].score
    html = cards_value(result, result.hits, library, Search().listed("Three", chosen_ids))["html"]
    assert "like the rest" in html and 'data-action="up"' not in html
    assert html.count('data-action="keep"') == 2


def test_filters_offer_licences_and_tags(library: IndexedCatalogue) -> None:
    with gr.Blocks():
        filters = filter_section()
    offered = filters.offered(library)
    names = [update.constructor_args["choices"] for update in offered.values()]
    assert names == [["CC BY", "CC0"], ["loud", "wet"]]
    collections = {"Mine": ids(library)[1:3]}
    values: dict[Any, Any] = dict.fromkeys(filters.components, [])
    values |= {filters.title: "", filters.min_seconds: None, filters.max_seconds: None}
    everything = filters.read(values, collections, True)
    values |= {filters.licences: ["CC0"], filters.tags: ["wet"], filters.collections: ["Mine"]}
    only = filters.read(values, collections, True)
    assert [sound.name for sound in library.sounds if only(sound)] == ["2.wav"]
    assert all(map(everything, library.sounds))


def test_area_without_sounds_is_refused() -> None:
    events: Any = SimpleNamespace()
    for ids_sent in (None, [], "all"):
        with pytest.raises(InputError, match=NO_AREA):
            SoundEvents.area(events, Search(), None, event(ids=ids_sent))
