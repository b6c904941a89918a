"""Sound search as a program uses it; whose sounds are whose; what is shown and remembered."""

import csv
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gradio as gr
import pytest
from gradio_client import Client, handle_file
from gradio_client.exceptions import AppError

import app
from pipelines.sound_search import SoundSearch
from pipelines.sound_search.models import DEFAULT_MODEL
from synthetic.sounds import RECIPES
from tabs import sound_search
from tabs.sound_search import example
from tabs.sound_search.events import SoundEvents
from tabs.sound_search.families import CATEGORIES, FAMILIES, OTHER, family
from tabs.sound_search.library import MOST_FILES, Library, Ours, OwnLibrary
from tabs.sound_search.view import MINE, Search, shown
from tests.sounds import CAPTIONS, write_library, write_sound


@pytest.fixture(scope="module")
def search(tiny_checkpoints: Path) -> SoundSearch:
    names = [tiny_checkpoints / name for name in sound_search.MODELS]
    return SoundSearch.from_pretrained(names, "cpu")


@pytest.fixture(scope="module")
def index(search: SoundSearch, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_library(tmp_path_factory.mktemp("library"), search)


@pytest.fixture(scope="module")
def library(search: SoundSearch, index: Path) -> Library:
    return Ours(index)(search)


@pytest.fixture(scope="module")
def client(tiny_checkpoints: Path, index: Path) -> Iterator[Client]:
    page = app.build("cpu", tiny_checkpoints, index=index)
    address = app.launch(page, app.options([], {}), block=False)
    yield Client(address, verbose=False)
    page.close()


@pytest.fixture
def uploads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Gradio's folder, with uploads as it keeps them: each in a folder named after its content."""
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    return tmp_path


def test_the_tab_names_the_models_that_the_pipeline_takes() -> None:
    assert tuple(folder.name for folder in DEFAULT_MODEL) == sound_search.MODELS


def test_words_find_sounds(client: Client) -> None:
    hits = client.predict("a dog barks", "", api_name="/search_sounds")
    assert len(hits) == 10
    assert hits[0]["score"] >= hits[-1]["score"]
    assert hits[0]["name"] in CAPTIONS
    assert (hits[0]["kind"], hits[0]["caption"]) == CAPTIONS[hits[0]["name"]]
    assert len(hits[0]["seconds"]) == 2


def test_a_sound_finds_itself(client: Client, index: Path) -> None:
    sound = handle_file(index.parent / "sounds" / "bell.wav")
    hits = client.predict(sound, "", "", api_name="/similar_sounds")
    assert hits[0]["name"] == "bell.wav" and hits[0]["score"] == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize(
    ("text", "message"),
    [("", "Type what"), ("x" * 10_000, "too long"), ("🐕🌧", "words"), (" \n", "Type what")],
)
def test_queries_that_say_nothing_are_refused(client: Client, text: str, message: str) -> None:
    with pytest.raises(AppError, match=message):
        client.predict(text, "", api_name="/search_sounds")


def test_files_of_the_server_cannot_be_heard(client: Client) -> None:
    hidden = {"path": "/etc/hostname", "meta": {"_type": "gradio.FileData"}}
    with pytest.raises(Exception, match="."):
        client.predict(hidden, "", "", api_name="/similar_sounds")


def test_every_kind_of_our_library_is_in_one_family() -> None:
    kinds = [kind for kinds in FAMILIES.values() for kind in kinds.split()]
    assert len(kinds) == len(set(kinds))
    # A scene is several sounds at once.
    assert {recipe.kind for recipe in RECIPES if family(recipe.kind) == OTHER} == {"scene"}
    assert family("no such kind") == OTHER and OTHER in CATEGORIES


def test_a_result_is_shown_with_its_votes(search: SoundSearch, library: Library) -> None:
    result = replace(search(library.index, "rain"), matched=True)
    liked = result.hits[1].sound.id
    asked = Search("rain").voted(liked, 1)
    asked, found, best, chart, rest, labels = shown(asked, result, library)
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
    assert "value" not in shown(asked, result, library)[3].constructor_args


def test_where_nothing_matches_that_is_said_and_the_nearest_are_folded(
    search: SoundSearch, library: Library
) -> None:
    result = replace(search(library.index, "a <b>spaceship</b>"), matched=False)
    _, _, best, _, rest, _ = shown(Search("a <b>spaceship</b>"), result, library)
    assert "Nothing here matches “a &lt;b&gt;spaceship" in best["html"]
    assert "card" not in best["html"]
    assert rest["html"].startswith('<details class="nearest">')
    assert rest["html"].count('class="card"') == 10


def test_a_sound_whose_file_is_gone_is_still_listed(search: SoundSearch, tmp_path: Path) -> None:
    library = Ours(write_library(tmp_path, search))(search)
    shutil.rmtree(tmp_path / "sounds")
    result = replace(search(library.index, "rain"), matched=True)
    best = shown(Search("rain"), result, library)[2]
    assert "no longer there" in best["html"] and not best["files"]


def test_a_vote_is_taken_back_by_casting_it_again() -> None:
    asked = Search("rain").voted("x", 1).voted("y", -1)
    assert dict(asked.votes) == {"x": 1, "y": -1}
    assert dict(asked.voted("x", -1).votes) == {"x": -1, "y": -1}
    assert dict(asked.voted("x", 1).votes) == {"y": -1}
    other = replace(asked, text="wind")
    assert not other.votes and replace(other, text="rain").votes == asked.votes


def test_queries_are_told_apart() -> None:
    assert Search(" rain ").query == "rain"
    first, second = (Search(like=f"/tmp/{h}/audio.wav", like_name="your recording") for h in "ab")
    assert first.query != second.query
    assert Search("dog", "x1", "Rain", "wind").name == "“dog” and like “Rain”, but not “wind”"


def test_what_is_no_upload_stays_where_it_is(
    search: SoundSearch, uploads: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    ours = write_sound(tmp_path_factory.mktemp("ours") / "sound.wav", 0)
    own = OwnLibrary(search)
    list(own.add([str(ours)]))
    assert len(own.sounds) == 1
    own.close()
    assert ours.exists()


def test_two_visitors_with_one_file_name_keep_their_own(search: SoundSearch, uploads: Path) -> None:
    mine, yours = OwnLibrary(search), OwnLibrary(search)
    for seed, own in enumerate((mine, yours)):
        list(own.add([str(write_sound(uploads / f"hash{seed}" / "sound.wav", seed))]))
    (one,), (other,) = mine.sounds, yours.sounds
    assert one.name == other.name == "sound.wav"
    assert one.content_hash != other.content_hash and one.path != other.path
    assert not list(uploads.glob("hash*/*")), "the uploads were moved"
    mine.close()
    assert not one.path.exists() and other.path.exists()
    assert mine.sounds == ()
    yours.close()
    assert not list(uploads.rglob("*.wav"))


def test_a_visitors_files_go_with_the_library(search: SoundSearch, uploads: Path) -> None:
    own = OwnLibrary(search)
    list(own.add([str(write_sound(uploads / "h" / "a.wav", 1))]))
    del own
    assert not list(uploads.rglob("*.wav"))


def test_what_cannot_be_used_is_named_and_the_rest_is_added(
    search: SoundSearch, uploads: Path
) -> None:
    (uploads / "t").mkdir()
    (uploads / "t" / "notes.txt").write_text("no sound")
    (uploads / "t" / "broken.wav").write_text("no sound either")
    files = [write_sound(uploads / f"{i}" / "same.wav", i) for i in range(3)]
    files[1:1] = [uploads / "t" / "notes.txt", uploads / "t" / "broken.wav"]
    own = OwnLibrary(search)
    steps = list(own.add([*map(str, files), str(uploads / "gone.wav")]))
    assert [done for done, _ in steps] == [4, 6]
    skipped = dict(steps[-1][1])
    assert set(skipped) == {"notes.txt", "broken.wav", "gone.wav"}
    assert "cannot be read as audio" in skipped["notes.txt"]
    assert len(own.sounds) == 3 and len(own.stored().layout) == 3
    own.close()


def test_there_is_room_for_so_many_files(
    search: SoundSearch, uploads: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tabs.sound_search.library.MOST_FILES", 2)
    assert MOST_FILES > 2
    own = OwnLibrary(search)
    files = [str(write_sound(uploads / f"{i}" / f"{i}.wav", i)) for i in range(3)]
    _, skipped = list(own.add(files))[-1]
    assert len(own.sounds) == 2 and skipped[0][0] == "2.wav" and "room" in skipped[0][1]
    own.close()


def test_an_index_that_was_deleted_is_missed_plainly(
    search: SoundSearch, library: Library, tmp_path: Path
) -> None:
    events = SoundEvents(lambda: search, Ours(tmp_path / "sounds.index"))
    message, *_ = events.first_look()
    assert "no index" in message
    message, *_ = events.search(Search(), None, "rain", None, None, "", "ours")
    assert "no index" in message
    # One that was open stays in use.
    folder = write_library(tmp_path, search)
    message, *_ = events.search(Search(), None, "rain", None, None, "", "ours")
    shutil.rmtree(folder)
    message, *_ = events.search(Search(), None, "rain", None, None, "", "ours")
    assert message == ""


def test_searching_among_sounds_of_mine_needs_some(search: SoundSearch, index: Path) -> None:
    events = SoundEvents(lambda: search, Ours(index))
    message, *_ = events.search(Search(), None, "rain", None, None, "", MINE)
    assert "Your own sounds" in message


@pytest.mark.parametrize("sound", ["/etc/hostname", None, 7])
def test_only_sounds_of_the_library_can_be_asked_for(
    search: SoundSearch, index: Path, sound: object
) -> None:
    events = SoundEvents(lambda: search, Ours(index))
    event: Any = SimpleNamespace(_data={"sound": sound, "action": "up"})
    with pytest.raises(gr.Error, match="no longer in the library"):
        events.like(Search(), None, event)
    message, *_ = events.vote(Search("rain"), None, event)
    assert "no longer in the library" in message


def test_the_finished_search_is_read_as_it_was_written(
    search: SoundSearch,
    library: Library,
    index: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(example, "FINISHED", tmp_path / "finished.json")
    fingerprint, shelf = Ours(index).shelf()
    assert example.read_finished(shelf.stored(), fingerprint) is None
    result = search(library.index, "rain")
    example.write_finished("rain", result, search.encoder.fingerprint)
    again = example.read_finished(shelf.stored(), fingerprint)
    assert again is not None and again[0] == "rain"
    assert [hit.sound for hit in again[1].hits] == [hit.sound for hit in result.hits]
    assert again[1].hits[0].score == pytest.approx(result.hits[0].score, abs=1e-4)
    assert example.read_finished(shelf.stored(), "another model") is None
    events = SoundEvents(lambda: search, Ours(index))
    assert "an example" in events.first_look()[2]


def test_another_model_hears_our_sounds_anew(
    search: SoundSearch, tiny_checkpoints: Path, index: Path
) -> None:
    other = SoundSearch.from_pretrained(tiny_checkpoints / "sound-passt", "cpu")
    ours = Ours(index)
    library = ours(other)
    assert [sound.name for sound in library.sounds] == list(CAPTIONS)
    assert library.sounds[0].caption == CAPTIONS["rain.wav"][1]
    assert other(library.index, "rain").hits
    assert ours(other) is library and ours.shelf()[1] is library
    assert Ours(index).shelf()[0] == search.encoder.fingerprint, "the index is as it was"
