"""A visitor's own words: taught, found, private, gone."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gradio as gr
import numpy as np
import pytest

from media.audio.load import load, wav_bytes
from tabs.shared.sessions import SEVERAL
from tabs.words.vocabulary_events import EXAMPLE, VocabularyEvents
from tests.fake_words import getters, write_word

VISITOR: Any = SimpleNamespace(session_hash="visitor")


@pytest.fixture
def events(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> VocabularyEvents:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "uploads"))
    return VocabularyEvents(*getters(tmp_path))  # type: ignore[arg-type]


@pytest.fixture
def say(tmp_path: Path, events: VocabularyEvents) -> Any:
    """Uploads a recording of a word."""
    return lambda word: str(write_word(tmp_path / "uploads" / "x" / "audio.wav", word))


def pressed(word: str) -> Any:
    return SimpleNamespace(_data={"action": "remove", "word": word})


def test_a_taught_word_is_found(events: VocabularyEvents, say: Any) -> None:
    own = None
    for name, word in (("door", "ship"), ("door", "ship"), ("", "zoo")):
        upload = say(word)
        message, own, listed, delete = events.teach(upload, name, own, VISITOR)
        assert message == "" and not Path(upload).exists()
    assert own.words == {"door": 2, "word 1": 1}
    assert "2 recordings" in listed["html"] and delete.constructor_args["visible"]
    upload = say("ship")
    message, result = events.find(upload, own)
    assert message == "" and "<h3>door</h3>" in result["html"] and not Path(upload).exists()
    _, result = events.find(say("yellow"), own)
    assert "<h3>None of them</h3>" in result["html"]


def test_nothing_is_found_among_no_words(events: VocabularyEvents, say: Any) -> None:
    message, result = events.find(say("ship"), None)
    assert "no words of yours yet" in message and result == gr.skip()


def test_a_recording_of_no_use_is_deleted_and_changes_nothing(
    events: VocabularyEvents, say: Any
) -> None:
    _, own, *_ = events.teach(say("ship"), "door", None, VISITOR)
    silent = Path(say("ship"))
    silent.write_bytes(silent.read_bytes()[:44] + bytes(16_000))
    message, *rest = events.teach(str(silent), "other", own, VISITOR)
    assert "alert" in message and rest == [gr.skip()] * 3
    assert own.words == {"door": 1} and not silent.exists()
    upload = say("ship")
    assert "no name" in events.teach(upload, "?!", own, VISITOR)[0] and not Path(upload).exists()
    assert "no recording yet" in events.find(None, own)[0]


def test_several_words_are_found_where_they_are(
    events: VocabularyEvents, say: Any, tmp_path: Path
) -> None:
    _, own, *_ = events.teach(say("ship"), "door", None, VISITOR)
    both = tmp_path / "uploads" / "both.wav"
    sounds = [load(say(word), 16_000).waveform for word in ("zoo", "ship")]
    both.write_bytes(wav_bytes(np.concatenate([sounds[0], np.zeros(8000), sounds[1]]), 16_000))
    content = both.read_bytes()
    message, result = events.find(str(both), own)
    first, second = result["html"].split("<h4>")[1:]
    assert message == "" and not both.exists()
    assert "At 0.2 s" in first and "None of them" in first
    assert "At 1.6 s" in second and "<h3>door</h3>" in second
    both.write_bytes(content)
    assert SEVERAL in events.teach(str(both), "two", own, VISITOR)[0]


def test_words_are_removed_one_by_one_and_all_at_once(events: VocabularyEvents, say: Any) -> None:
    own = None
    for name in ("door", "<i>&"):
        _, own, listed, _ = events.teach(say("ship"), name, own, VISITOR)
    assert "<i>&" not in listed["html"] and "&lt;i&gt;&amp;" in listed["html"]
    own, listed, delete = events.remove(own, pressed("door"))
    assert own and list(own.words) == ["<i>&"] and delete.constructor_args["visible"]
    gone, listed, delete = events.forget(own)
    assert gone is None and not own.words
    assert "No words yet" in listed["html"] and not delete.constructor_args["visible"]


def test_a_visitor_who_leaves_takes_their_words_along(events: VocabularyEvents, say: Any) -> None:
    _, own, *_ = events.teach(say("ship"), "door", None, VISITOR)
    _, other, *_ = events.teach(say("zoo"), "zoo", None, SimpleNamespace(session_hash="other"))
    events.visits.leave(VISITOR)
    events.visits.expire(str(VISITOR.session_hash))
    assert not own.words and list(other.words) == ["zoo"]


def test_an_example_stands_there_until_there_are_words(events: VocabularyEvents, say: Any) -> None:
    _, listed, result = events.first_look(None)
    assert "No words yet" in listed["html"] and f"<h3>{EXAMPLE[-1]}</h3>" in result["html"]
    _, own, *_ = events.teach(say("ship"), "door", None, VISITOR)
    _, listed, result = events.first_look(own)
    assert "door" in listed["html"] and result == gr.skip()
