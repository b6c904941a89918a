"""Visitors' own sounds: added, refused, kept apart and deleted."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gradio as gr
import pytest
import soundfile

from earshot.core.errors import InputError
from earshot.systems.sound_search import SoundSearch
from earshot.tabs.shared.sessions import SessionStore
from earshot.tabs.sound_search.catalogue import YOURS
from earshot.tabs.sound_search.library import FILES_AT_ONCE, MAX_FILES, VisitorLibrary
from earshot.tabs.sound_search.own_sounds import OwnSounds, remarks_message
from earshot.tabs.sound_search.query import BOTH, Search
from earshot.tabs.sound_search.view import ResultView
from tests.support.sounds import CAPTIONS, write_sound
from tests.tabs.sound_search.handlers import sent, sound_events

pytestmark = pytest.mark.slow


def test_clear_leaves_added_files_outside_uploads(
    search: SoundSearch, uploads: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    ours = write_sound(tmp_path_factory.mktemp("ours") / "sound.wav", 0)
    own = VisitorLibrary(search)
    list(own.add([str(ours)]))
    assert len(own.sounds) == 1
    own.clear()
    assert ours.exists()


def test_add_keeps_files_of_one_name(search: SoundSearch, uploads: Path) -> None:
    """Two visitors have added them."""
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


def test_add_gives_upload_to_both_visitors(search: SoundSearch, uploads: Path) -> None:
    """Gradio names an upload by its content: the same file of two visitors has one path."""
    upload = str(write_sound(uploads / "hash" / "dog.wav", 0))
    mine, yours = VisitorLibrary(search), VisitorLibrary(search)
    for own in (mine, yours):
        assert list(own.add([upload])) == [(1, [], [])]
    mine.clear()
    (sound,) = yours.sounds
    assert sound.path.read_bytes() == Path(upload).read_bytes()


def test_add_leaves_upload_of_other_format(search: SoundSearch, uploads: Path) -> None:
    """A second visitor may add it, too."""
    upload = write_sound(uploads / "hash" / "dog.aiff", 0)
    for _ in range(2):
        own = VisitorLibrary(search)
        assert list(own.add([str(upload)])) == [(1, [], [])]
        assert own.sounds[0].path.suffix == ".wav"


def test_add_after_clear_begins_anew(search: SoundSearch, uploads: Path) -> None:
    own = VisitorLibrary(search)
    for _ in range(2):
        list(own.add([str(write_sound(uploads / "h" / "a.wav", 1))]))
        assert len(own.sounds) == 1
        own.clear()


def test_collected_visitor_library_deletes_its_files(search: SoundSearch, uploads: Path) -> None:
    own = VisitorLibrary(search)
    list(own.add([str(write_sound(uploads / "h" / "a.wav", 1))]))
    del own
    assert not list(uploads.glob("sounds-*"))


def test_add_names_unusable_files(search: SoundSearch, uploads: Path) -> None:
    """The rest is added."""
    (uploads / "t").mkdir()
    (uploads / "t" / "notes.txt").write_text("no sound")
    (uploads / "t" / "broken.wav").write_text("no sound either")
    files = [write_sound(uploads / f"{i}" / "same.wav", i) for i in range(3)]
    files[1:1] = [uploads / "t" / "notes.txt", uploads / "t" / "broken.wav"]
    own = VisitorLibrary(search)
    steps = list(own.add([*map(str, files), str(uploads / "gone.wav")]))
    assert [done for done, *_ in steps] == [4, 6]
    skipped = dict(steps[-1][1])
    assert set(skipped) == {"notes.txt", "broken.wav", "gone.wav"}
    assert "cannot be read as audio" in skipped["notes.txt"]
    assert len(own.sounds) == 3 and len(own.stored().layout) == 3
    own.clear()


@pytest.mark.parametrize("name", ["cut.wav", "cut.w64"])
def test_add_of_cut_recording_says_so(search: SoundSearch, uploads: Path, name: str) -> None:
    """It is added. Formats that browsers play are embedded as they are; others are converted."""
    file = uploads / "h" / name
    samples, rate = soundfile.read(write_sound(uploads / "h" / "whole.wav", 1))
    soundfile.write(file, samples, rate)
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    own = VisitorLibrary(search)
    [(done, skipped, noticed)] = own.add([str(file)])
    assert (done, skipped, len(own.sounds)) == (1, [], 1)
    [(named, notice)] = noticed
    assert named == name and "ends early" in notice
    assert f"Added: {name}: The file is damaged" in remarks_message(skipped, noticed)
    own.clear()


def test_files_refused_for_one_reason_are_named_together() -> None:
    """A list names so many, and how many more there are."""
    remarks = [(f"{number}.txt", "No sound." if number else "Empty.") for number in range(10)]
    message = remarks_message(remarks, [])
    assert "Not added: 0.txt: Empty. 1.txt, 2.txt, 3.txt" in message
    assert "7.txt: No sound. And 2 more." in message


def test_add_beyond_limit_is_refused(
    search: SoundSearch, uploads: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("earshot.tabs.sound_search.library.MAX_FILES", 2)
    assert MAX_FILES > 2
    own = VisitorLibrary(search)
    files = [str(write_sound(uploads / f"{i}" / f"{i}.wav", i)) for i in range(3)]
    _, skipped, _ = list(own.add(files))[-1]
    assert len(own.sounds) == 2 and skipped[0][0] == "2.wav" and "room" in skipped[0][1]
    own.clear()


def test_add_takes_one_recording(
    search: SoundSearch, index: Path, view: ResultView, uploads: Path
) -> None:
    """It refuses an upload of no files."""
    state = gr.State()
    with gr.Blocks():
        events = OwnSounds(state, SessionStore(lambda: VisitorLibrary(search)))
    events.events = sound_events(search, index, view)
    recording = str(write_sound(uploads / "h" / "audio.wav", 1))
    request: Any = SimpleNamespace(session_hash="one")
    *_, last = events.add(recording, Search(), None, request)
    own = last[state]
    assert [sound.name for sound in own.sounds] == ["audio.wav"]
    for nothing in (None, []):
        with pytest.raises(InputError, match="no files"):
            list(events.add(nothing, Search(), own, request))
    own.clear()


def test_sounds_deleted_while_added_stay_deleted(
    search: SoundSearch, index: Path, view: ResultView, uploads: Path
) -> None:
    own = VisitorLibrary(search)
    with gr.Blocks():
        events = OwnSounds(gr.State(), SessionStore(lambda: own))
    events.events = sound_events(search, index, view)
    files = [str(write_sound(uploads / "h" / f"{k}.wav", k)) for k in range(2 * FILES_AT_ONCE)]
    request: Any = SimpleNamespace(session_hash="one")
    adding = events.add(files, Search(), None, request)
    next(adding)
    events.forget(own)
    assert list(adding) == [] and own.sounds == ()


def test_search_covers_own_and_shipped_sounds(
    search: SoundSearch, index: Path, view: ResultView, uploads: Path
) -> None:
    own = VisitorLibrary(search)
    list(own.add([str(write_sound(uploads / "h" / "mine.wav", 99))]))
    events = sound_events(search, index, view)
    update = events.search(sent(events, text="rain", own=own, scope=BOTH))
    assert f"<b>{len(CAPTIONS) + 1}</b> sounds" in update[view.summary]
    mapped = update[view.chart].constructor_args["value"]["html"]
    assert mapped.count('class="map-point"') == len(CAPTIONS) + 1 and YOURS in mapped
    mine = own.sounds[0].id
    voted = events.vote(update[view.search], own, event(sound=mine, action="up"))
    assert f'data-sound="{mine}"' in voted[view.best]["html"] and YOURS in voted[view.best]["html"]
    (file,) = voted[view.best]["files"]
    assert file["path"] == str(own.sounds[0].path)
    assert all("url" in file and "path" not in file for file in voted[view.rest]["files"])
    assert voted[view.labels].constructor_args["visible"]
    liked = events.like(voted[view.search], own, event(sound=mine))
    assert liked[events.components.liked] == (mine, "mine.wav")
    again = events.library(voted[view.search], own)
    assert again is events.library(voted[view.search], own), "joined once"
    own.clear()
    with pytest.raises(InputError, match="no sounds of yours"):
        events.search(sent(events, text="rain", own=own, scope=BOTH))


def event(**data: object) -> Any:
    return SimpleNamespace(_data=data)
