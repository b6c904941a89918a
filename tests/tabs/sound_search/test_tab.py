"""The sound search tab: endpoints, visitors' libraries, and what a search shows."""

import csv
import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from html import escape
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gradio as gr
import pytest
from gradio_client import Client, handle_file
from gradio_client.exceptions import AppError

import app
from media.errors import InputError
from pipelines.hub_download import Permission
from pipelines.sound_search import SoundSearch, store
from pipelines.sound_search.encoders.models import DEFAULT_MODEL
from pipelines.sound_search.index import SoundIndex
from synthetic.sounds import RECIPES
from tabs import sound_search
from tabs.components.hub_picker import HubModels
from tabs.components.map.map import sound_map
from tabs.components.timeline.timeline import TEMPLATE
from tabs.shared.events import reporting
from tabs.shared.sessions import SessionStore
from tabs.sound_search import example
from tabs.sound_search.cards import cards_value
from tabs.sound_search.chips import chips, edited
from tabs.sound_search.events import SoundEvents
from tabs.sound_search.families import CATEGORIES, FAMILIES, OTHER, family
from tabs.sound_search.filters import filter_section
from tabs.sound_search.library import MOST_FILES, DemoLibrary, Library, VisitorLibrary
from tabs.sound_search.own_sounds import OwnSoundEvents, own_section
from tabs.sound_search.search import OWN, Search
from tabs.sound_search.tab import CLAPS
from tabs.sound_search.view import Components, ResultView
from tests.fake_sound_encoder import FakeEncoder
from tests.sounds import CAPTIONS, write_library, write_sound

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def search(tiny_checkpoints: Path) -> SoundSearch:
    names = [tiny_checkpoints / name for name in sound_search.MODELS]
    return SoundSearch.from_pretrained(names, "cpu")


@pytest.fixture(scope="module")
def index(search: SoundSearch, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_library(tmp_path_factory.mktemp("library"), search)


@pytest.fixture(scope="module")
def library(search: SoundSearch, index: Path) -> Library:
    return DemoLibrary(index)(search)


@pytest.fixture(scope="module")
def client(tiny_checkpoints: Path, index: Path) -> Iterator[Client]:
    page = app.build("cpu", tiny_checkpoints, index=index)
    address = app.launch(page, app.options([], {}), block=False)
    yield Client(address, verbose=False)
    page.close()


@pytest.fixture
def view() -> ResultView:
    message, found, best, chart, rest = (gr.HTML() for _ in range(5))
    downloads = gr.DownloadButton(), gr.DownloadButton()
    return ResultView(message, gr.State(), found, best, chart, rest, *downloads)


def sound_events(search: SoundSearch, index: Path, view: ResultView) -> SoundEvents:
    """The handlers of a page."""
    with gr.Blocks():
        filters = filter_section()
    text, without = gr.Textbox(), gr.Textbox()
    query = (text, gr.HTML(), gr.Audio(), without, gr.State(), gr.Button(), filters)
    components = Components(view, *query)
    return SoundEvents(lambda: search, DemoLibrary(index), components)


@pytest.fixture
def uploads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Gradio's folder, with uploads as it keeps them: each in a folder named after its content."""
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    return tmp_path


def test_models_of_the_tab_are_those_of_the_pipeline() -> None:
    assert tuple(folder.name for folder in DEFAULT_MODEL) == sound_search.MODELS


def test_search_sounds_returns_ten_hits_best_first(client: Client) -> None:
    hits = client.predict("a dog barks", "", api_name="/search_sounds")
    assert len(hits) == 10
    assert hits[0]["score"] >= hits[-1]["score"]
    assert hits[0]["name"] in CAPTIONS
    assert (hits[0]["kind"], hits[0]["caption"]) == CAPTIONS[hits[0]["name"]]
    assert len(hits[0]["seconds"]) == 2


def test_similar_sounds_of_a_library_sound_returns_it_first(client: Client, index: Path) -> None:
    sound = handle_file(index.parent / "sounds" / "bell.wav")
    hits = client.predict(sound, "", "", api_name="/similar_sounds")
    assert hits[0]["name"] == "bell.wav" and hits[0]["score"] == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize(
    ("text", "message"),
    [("", "Type what"), ("x" * 10_000, "too long"), ("🐕🌧", "words"), (" \n", "Type what")],
)
def test_search_sounds_without_a_usable_text_is_refused(
    client: Client, text: str, message: str
) -> None:
    with pytest.raises(AppError, match=message):
        client.predict(text, "", api_name="/search_sounds")


def test_similar_sounds_of_a_server_file_is_refused(client: Client) -> None:
    hidden = {"path": "/etc/hostname", "meta": {"_type": "gradio.FileData"}}
    with pytest.raises(AppError):
        client.predict(hidden, "", "", api_name="/similar_sounds")


def test_endpoints_name_their_parameters_and_returns(client: Client) -> None:
    api: Any = client.view_api(return_format="dict")
    named = api["named_endpoints"]
    for name, parameters in (
        ("/search_sounds", ["text", "without"]),
        ("/similar_sounds", ["audio", "text", "without"]),
    ):
        assert [p["parameter_name"] for p in named[name]["parameters"]] == parameters
        assert [value["label"] for value in named[name]["returns"]] == ["sounds"]


def test_search_sounds_for_two_sounds_returns_both_parts(client: Client) -> None:
    hits = client.predict("a dog barks, then a bell rings", "", api_name="/search_sounds")
    parts = hits[0]["parts"]
    assert [part["text"] for part in parts] == ["a dog barks", "a bell rings"]
    assert parts[0]["start"] < parts[1]["start"] and len(parts[0]["seconds"]) == 2


@pytest.mark.parametrize(
    ("action", "number", "text"),
    [
        ("link", 0, "a dog barks together with a bell rings"),
        ("swap", 0, "a bell rings, then a dog barks"),
        ("drop", 1, "a dog barks"),
        ("whole", 0, '"a dog barks, then a bell rings"'),
        ("drop", 7, "a dog barks, then a bell rings"),
        ("link", None, "a dog barks, then a bell rings"),
        (None, "x", "a dog barks, then a bell rings"),
    ],
)
def test_edited_chip_changes_the_text(action: object, number: object, text: str) -> None:
    assert edited("a dog barks, then a bell rings", action, number) == text


def test_chips_of_one_sound_are_none_and_of_several_are_escaped() -> None:
    assert chips("a dog barks") == ""
    shown = chips("a <b>dog</b> barks, then a bell rings")
    assert "a &lt;b&gt;dog&lt;/b&gt; barks" in shown and shown.count("chip-part") == 2


def test_family_of_every_library_kind_is_unique() -> None:
    kinds = [kind for kinds in FAMILIES.values() for kind in kinds.split()]
    assert len(kinds) == len(set(kinds))
    # A scene is several sounds at once.
    assert {recipe.kind for recipe in RECIPES if family(recipe.kind) == OTHER} == {"scene"}
    assert family("no such kind") == OTHER and OTHER in CATEGORIES


def test_show_with_votes_presses_their_buttons_and_exports_them(
    search: SoundSearch, library: Library, view: ResultView
) -> None:
    result = replace(search(library.index, "rain"), matched=True)
    liked = result.hits[1].sound.id
    asked = Search("rain").voted(liked, 1)
    update = view.show(asked, result, library)
    found, best, rest = (update[part] for part in (view.found, view.best, view.rest))
    chart, labels = update[view.chart], update[view.labels]
    assert "“rain”" in found and f"<b>{len(CAPTIONS)}</b> sounds" in found
    assert best["html"].count('class="card"') == 1 and rest["html"].count('class="card"') == 9
    card = rest["html"].split('class="card"')[1]
    assert liked in card and re.search('aria-pressed="true"[^>]*data-action="up"', card)
    assert best["html"].count("@file0") == 1 and len(rest["files"]) == 9
    assert "base64" not in re.sub(r"data:image/png;base64", "", best["html"])
    assert chart.constructor_args["value"]["html"].count('class="map-point"') == len(CAPTIONS)
    assert labels.constructor_args["visible"]
    rows = list(csv.DictReader(Path(labels.constructor_args["value"]).read_text().splitlines()))
    assert [(row["query"], row["grade"]) for row in rows] == [("rain", "1")]
    # The map is sent once.
    again = view.show(update[view.search], result, library)
    assert "value" not in again[view.chart].constructor_args


def test_show_without_a_match_says_so_and_folds_the_nearest(
    search: SoundSearch, library: Library, view: ResultView
) -> None:
    result = replace(search(library.index, "a <b>spaceship</b>"), matched=False)
    update = view.show(Search("a <b>spaceship</b>"), result, library)
    best, rest = update[view.best], update[view.rest]
    assert "Nothing here matches “a &lt;b&gt;spaceship" in best["html"]
    assert "card" not in best["html"]
    assert rest["html"].startswith('<details class="nearest">')
    assert rest["html"].count('class="card"') == 10


def test_show_of_a_sound_whose_file_is_gone_still_lists_it(
    search: SoundSearch, tmp_path: Path, view: ResultView
) -> None:
    library = DemoLibrary(write_library(tmp_path, search))(search)
    shutil.rmtree(tmp_path / "sounds")
    result = replace(search(library.index, "rain"), matched=True)
    best = view.show(Search("rain"), result, library)[view.best]
    assert "cannot be reached" in best["html"] and not best["files"]


def test_voted_with_the_same_vote_again_removes_it() -> None:
    asked = Search("rain").voted("x", 1).voted("y", -1)
    assert dict(asked.votes) == {"x": 1, "y": -1}
    assert dict(asked.voted("x", -1).votes) == {"x": -1, "y": -1}
    assert dict(asked.voted("x", 1).votes) == {"y": -1}
    other = replace(asked, text="wind")
    assert not other.votes and replace(other, text="rain").votes == asked.votes


def test_query_of_different_recordings_differs() -> None:
    assert Search("rain").query == "rain"
    first, second = (Search(like=f"/tmp/{h}/audio.wav", like_name="your recording") for h in "ab")
    assert first.query != second.query
    assert Search("dog", "x1", "Rain", "wind").name == "“dog” and like “Rain”, but not “wind”"


def test_clear_leaves_added_files_outside_uploads(
    search: SoundSearch, uploads: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    ours = write_sound(tmp_path_factory.mktemp("ours") / "sound.wav", 0)
    own = VisitorLibrary(search)
    list(own.add([str(ours)]))
    assert len(own.sounds) == 1
    own.clear()
    assert ours.exists()


def test_add_of_one_file_name_by_two_visitors_keeps_both(
    search: SoundSearch, uploads: Path
) -> None:
    mine, yours = VisitorLibrary(search), VisitorLibrary(search)
    for seed, own in enumerate((mine, yours)):
        list(own.add([str(write_sound(uploads / f"hash{seed}" / "sound.wav", seed))]))
    (one,), (other,) = mine.sounds, yours.sounds
    assert one.name == other.name == "sound.wav"
    assert one.content_hash != other.content_hash and one.path != other.path
    mine.clear()
    assert not one.path.exists() and other.path.exists()
    assert mine.sounds == ()
    yours.clear()
    assert not list(uploads.glob("sounds-*/*/*"))


def test_add_of_one_upload_by_two_visitors_gives_it_to_both(
    search: SoundSearch, uploads: Path
) -> None:
    """Gradio names an upload by its content: the same file of two visitors has one path."""
    upload = str(write_sound(uploads / "hash" / "dog.wav", 0))
    mine, yours = VisitorLibrary(search), VisitorLibrary(search)
    for own in (mine, yours):
        assert list(own.add([upload])) == [(1, [])]
    mine.clear()
    (kept,) = yours.sounds
    assert kept.path.read_bytes() == Path(upload).read_bytes()


def test_add_of_an_upload_in_another_format_leaves_it_there(
    search: SoundSearch, uploads: Path
) -> None:
    upload = write_sound(uploads / "hash" / "dog.aiff", 0)
    for _ in range(2):
        own = VisitorLibrary(search)
        assert list(own.add([str(upload)])) == [(1, [])]
        assert own.sounds[0].path.suffix == ".wav"


def test_add_after_clear_begins_anew(search: SoundSearch, uploads: Path) -> None:
    own = VisitorLibrary(search)
    for _ in range(2):
        list(own.add([str(write_sound(uploads / "h" / "a.wav", 1))]))
        assert len(own.sounds) == 1
        own.clear()


def test_catalogue_at_every_visit_reads_the_index_once(
    search: SoundSearch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_library(tmp_path, search)
    reads = []
    read = store.read
    monkeypatch.setattr(
        store, "read", lambda folder, *more: reads.append(folder) or read(folder, *more)
    )
    demo = DemoLibrary(folder)
    first = demo.catalogue()[1]
    assert demo.catalogue()[1] is first and len(reads) == 1
    write_library(tmp_path, search)  # replaced
    assert demo.catalogue()[1] is not first and len(reads) == 2


def test_visitor_library_when_collected_deletes_its_files(
    search: SoundSearch, uploads: Path
) -> None:
    own = VisitorLibrary(search)
    list(own.add([str(write_sound(uploads / "h" / "a.wav", 1))]))
    del own
    assert not list(uploads.glob("sounds-*"))


def test_add_with_unusable_files_names_them_and_adds_the_rest(
    search: SoundSearch, uploads: Path
) -> None:
    (uploads / "t").mkdir()
    (uploads / "t" / "notes.txt").write_text("no sound")
    (uploads / "t" / "broken.wav").write_text("no sound either")
    files = [write_sound(uploads / f"{i}" / "same.wav", i) for i in range(3)]
    files[1:1] = [uploads / "t" / "notes.txt", uploads / "t" / "broken.wav"]
    own = VisitorLibrary(search)
    steps = list(own.add([*map(str, files), str(uploads / "gone.wav")]))
    assert [done for done, _ in steps] == [4, 6]
    skipped = dict(steps[-1][1])
    assert set(skipped) == {"notes.txt", "broken.wav", "gone.wav"}
    assert "cannot be read as audio" in skipped["notes.txt"]
    assert len(own.sounds) == 3 and len(own.stored().layout) == 3
    own.clear()


def test_add_beyond_the_limit_of_files_is_refused(
    search: SoundSearch, uploads: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tabs.sound_search.library.MOST_FILES", 2)
    assert MOST_FILES > 2
    own = VisitorLibrary(search)
    files = [str(write_sound(uploads / f"{i}" / f"{i}.wav", i)) for i in range(3)]
    _, skipped = list(own.add(files))[-1]
    assert len(own.sounds) == 2 and skipped[0][0] == "2.wav" and "room" in skipped[0][1]
    own.clear()


def test_search_without_an_index_says_so(
    search: SoundSearch, library: Library, tmp_path: Path, view: ResultView
) -> None:
    events = sound_events(search, tmp_path / "sounds.index", view)
    run = reporting(events.search, view.message)
    query = (Search(), None, "rain", None, "", None, "ours", {})
    assert "no index" in events.first_look()[view.message]
    assert "no index" in run(*query)[view.message]
    # One that was open stays in use.
    folder = write_library(tmp_path, search)
    run(*query)
    shutil.rmtree(folder)
    assert run(*query)[view.message] == ""


def test_search_in_own_sounds_without_any_says_so(
    search: SoundSearch, index: Path, view: ResultView
) -> None:
    run = reporting(sound_events(search, index, view).search, view.message)
    update = run(Search(), None, "rain", None, "", None, OWN, {})
    assert list(update) == [view.message] and "Your own sounds" in update[view.message]


@pytest.mark.parametrize("text", ["low \udc00 tone", "rain 🌧 @file99", "z" * 1000])
def test_search_for_strange_text_gives_values_that_can_be_sent(
    search: SoundSearch, index: Path, view: ResultView, text: str
) -> None:
    events = sound_events(search, index, view)
    update = events.search(Search(), None, text, None, text, None, "ours", {})
    voted = update[view.search].voted("x", 1)
    assert voted.query.encode() and voted.name.encode()
    json.dumps(update[view.best], ensure_ascii=False).encode()
    assert update[view.found].encode()


@pytest.mark.parametrize("sound", ["/etc/hostname", None, 7])
def test_like_and_vote_for_an_unknown_sound_are_refused(
    search: SoundSearch, index: Path, view: ResultView, sound: object
) -> None:
    events = sound_events(search, index, view)
    event: Any = SimpleNamespace(_data={"sound": sound, "action": "up"})
    with pytest.raises(gr.Error, match="no longer in the library"):
        events.like(Search(), None, event)
    update = reporting(events.vote, view.message)(Search("rain"), None, event)
    assert "no longer in the library" in update[view.message]


@pytest.mark.parametrize("template", [TEMPLATE, sound_map("m").html_template])
def test_template_leaves_placeholders_in_text_of_visitors_alone(template: str) -> None:
    attribute, address = re.findall(r"replace\(/(.*?)/g", template)

    def filled(html: str) -> str:
        return re.sub(attribute, lambda m: m[1] + re.sub(address, r"\1/u\2", m[2]), html)

    texts = ["qqqq @file99 xx", "@file0", 'src="@file0', '" data-sound="@file1']
    for text in texts:
        for html in (f"<h3>{escape(text)}</h3>", f'<p title="{escape(text)}">'):
            assert filled(html) == html
    assert filled('<audio src="@file12">') == '<audio src="/u12">'
    assert filled('<b data-sounds="@file0 @file1">') == '<b data-sounds="/u0 /u1">'


def test_read_finished_returns_what_was_written(
    search: SoundSearch,
    library: Library,
    index: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    view: ResultView,
) -> None:
    monkeypatch.setattr(example, "FINISHED", tmp_path / "finished.json")
    fingerprint, catalogue = DemoLibrary(index).catalogue()
    assert example.read_finished(catalogue.stored(), fingerprint) is None
    result = search(library.index, "rain")
    example.write_finished("rain", result, search.encoder.fingerprint)
    again = example.read_finished(catalogue.stored(), fingerprint)
    assert again is not None and again[0] == "rain"
    assert [hit.sound for hit in again[1].hits] == [hit.sound for hit in result.hits]
    assert again[1].hits[0].score == pytest.approx(result.hits[0].score, abs=1e-4)
    assert example.read_finished(catalogue.stored(), "another model") is None
    events = sound_events(search, index, view)
    assert "an example" in events.first_look()[view.found]


def test_demo_library_with_another_model_embeds_anew(
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


def test_library_on_the_disk_is_searched_and_a_map_of_it_shows_a_share(
    search: SoundSearch,
    index: Path,
    view: ResultView,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tabs.sound_search.catalogue.MOST_POINTS", 5)
    on_disk = tmp_path / "sounds.index"
    SoundIndex.open(index, search.encoder).save(on_disk, "disk")
    query = (Search(), None, "rain", None, "", None, "ours", {})
    cards = [
        _first_card(sound_events(search, folder, view).search(*query)[view.best])
        for folder in (index, on_disk)
    ]
    assert cards[0] == cards[1]
    chart = DemoLibrary(on_disk).catalogue()[1].chart()
    assert len(chart.points) == 4 and "4 of 12 sounds" in chart.name
    with pytest.raises(InputError, match="--index-backend disk"):
        DemoLibrary(index, "disk").catalogue()


def test_search_with_filters_passes_them_on_and_a_vote_keeps_them(
    search: SoundSearch, index: Path, view: ResultView
) -> None:
    events = sound_events(search, index, view)
    dog = next(sound.id for sound in store.read(index)[1].sounds if sound.kind == "dog")
    query = (Search(), None, "rain", None, "", None, "ours", {"Dogs": [dog]})
    update = events.search(*query, "a", ["animals", OTHER], [], [], ["Dogs"], 1.0, 3.0)
    only = update[view.search].only
    assert (only.title, only.shortest, only.longest) == ("a", 1.0, 3.0)
    assert only.ids == {dog} and only.licences is None and not only.tags
    assert {"dog", "scene"} <= set(only.kinds or ()) and "rain" not in (only.kinds or ())
    assert update[view.best]["html"].count("animals") == 1
    assert update[view.export].constructor_args["visible"]
    event: Any = SimpleNamespace(_data={"sound": _first_card(update[view.best]), "action": "up"})
    again = events.vote(update[view.search], None, event)
    assert again[view.search].only == only
    refused = reporting(events.search, view.message)(*query, "no such title")
    assert "No sound passes" in refused[view.message]


def test_add_of_one_recording_or_of_nothing(
    search: SoundSearch, index: Path, view: ResultView, uploads: Path
) -> None:
    with gr.Blocks():
        section = own_section()
    sessions = SessionStore(lambda: VisitorLibrary(search))
    state = gr.State()
    events = OwnSoundEvents(sound_events(search, index, view), section, state, sessions)
    recording = str(write_sound(uploads / "h" / "audio.wav", 1))
    request: Any = SimpleNamespace(session_hash="one")
    *_, last = events.add(recording, Search(), None, request)
    own = last[state]
    assert [sound.name for sound in own.sounds] == ["audio.wav"]
    for nothing in (None, []):
        with pytest.raises(InputError, match="no files"):
            list(events.add(nothing, Search(), own, request))
    own.clear()


def test_card_of_a_copied_file_says_so(search: SoundSearch, uploads: Path) -> None:
    own = VisitorLibrary(search)
    for folder in ("a", "b"):
        list(own.add([str(write_sound(uploads / folder / f"{folder}.wav", 1))]))
    result = search(own.index, "rain")
    html = cards_value(result, result.hits, own, Search("rain"))["html"]
    assert html.count("same file as 1 other") == 2
    own.clear()


def _first_card(value: dict[str, Any]) -> str:
    match = re.search('data-sound="([^"]*)"', value["html"])
    assert match
    return match[1]


def test_choosing_a_model_embeds_all_libraries_by_it_and_keeps_it_for_the_next_search(
    search: SoundSearch, index: Path, view: ResultView, uploads: Path
) -> None:
    other = SoundSearch(FakeEncoder())
    models = HubModels(CLAPS, Permission(), lambda *_: (other, DemoLibrary(index)))
    events = sound_events(search, index, view)
    events.hub = models
    own = VisitorLibrary(search)
    own.index.add([index.parent / "sounds" / "bell.wav"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tabs.components.hub_picker.fetch", lambda *_: uploads)
        name = next(iter(CLAPS.listed))
        chosen = events.choose_model(name, Search(), own)[view.search]
    found = events.search(chosen, own, "deep", None, "", None, "ours", {})
    assert found[view.search].model == name and found[view.search].best
    events.search(chosen, own, "deep", None, "", None, OWN, {})
    assert own.index.encoder is other.encoder and len(own.sounds) == 1
    ours = events.choose_model("", found[view.search], own)[view.search]
    assert ours.model == ""
