"""A visitor's own vocabulary: taught, recognised, private, forgotten."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gradio as gr
import numpy as np
import pytest

from earshot.media.audio.load import load, wav_bytes
from earshot.tabs.shared.events import reporting
from earshot.tabs.words.panel import SEVERAL
from earshot.tabs.words.vocabulary import (
    EXAMPLE,
    VocabularySection,
)
from tests.support.fake_words import getters, write_word

pytestmark = pytest.mark.slow

VISITOR: Any = SimpleNamespace(session_hash="visitor")


@pytest.fixture
def events(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> VocabularySection:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "uploads"))
    with gr.Blocks():
        return VocabularySection(*getters(tmp_path))  # type: ignore[arg-type]


def shown_error(message: gr.HTML, handler: Any, *inputs: Any) -> str:
    """The message of a handler that fails; nothing else may change."""
    answer = reporting(handler, message)(*inputs)
    assert set(answer) == {message} and "alert" in answer[message]
    return answer[message]


def taught_words(events: VocabularySection, say: Any, word: str, name: str, own: Any = None) -> Any:
    """The visitor's vocabulary after one more example."""
    return events.teach(say(word), name, own, VISITOR)[events.own]


@pytest.fixture
def say(tmp_path: Path, events: VocabularySection) -> Any:
    """Uploads a recording of a word."""
    return lambda word: str(write_word(tmp_path / "uploads" / "x" / "audio.wav", word))


def pressed(word: str) -> Any:
    return SimpleNamespace(_data={"action": "remove", "word": word})


def test_find_after_teach_recognises_the_word(events: VocabularySection, say: Any) -> None:
    page, own, answer = events, None, {}
    for name, word in (("door", "ship"), ("door", "ship"), ("", "zoo")):
        upload = say(word)
        answer = events.teach(upload, name, own, VISITOR)
        own = answer[page.own]
        assert answer[page.message] == "" and not Path(upload).exists()
    assert own and own.words == {"door": 2, "word 1": 1}
    assert "2 recordings" in answer[page.words]["html"]
    assert answer[page.delete].constructor_args["visible"]
    upload = say("ship")
    answer = events.find(upload, own)
    assert answer[page.problem] == "" and "<h3>door</h3>" in answer[page.result]["html"]
    assert not Path(upload).exists()
    unknown = events.find(say("yellow"), own)[page.result]
    assert "<h3>None of them</h3>" in unknown["html"]


def test_find_without_words_is_refused(events: VocabularySection, say: Any) -> None:
    message = shown_error(events.problem, events.find, say("ship"), None)
    assert "no words of yours yet" in message


def test_teach_of_unusable_recording_changes_nothing(events: VocabularySection, say: Any) -> None:
    """The recording is deleted."""
    own, page = taught_words(events, say, "ship", "door"), events
    silent = Path(say("ship"))
    silent.write_bytes(silent.read_bytes()[:44] + bytes(16_000))
    shown_error(page.message, events.teach, str(silent), "other", own, VISITOR)
    assert own.words == {"door": 1} and not silent.exists()
    upload = say("ship")
    message = shown_error(page.message, events.teach, upload, "?!", own, VISITOR)
    assert "no name" in message and not Path(upload).exists()
    assert "no recording yet" in shown_error(page.problem, events.find, None, own)


def test_find_shows_time_of_each_word(events: VocabularySection, say: Any, tmp_path: Path) -> None:
    own, page = taught_words(events, say, "ship", "door"), events
    both = tmp_path / "uploads" / "both.wav"
    sounds = [load(say(word), 16_000).waveform for word in ("zoo", "ship")]
    both.write_bytes(wav_bytes(np.concatenate([sounds[0], np.zeros(8000), sounds[1]]), 16_000))
    content = both.read_bytes()
    answer = events.find(str(both), own)
    first, second = answer[page.result]["html"].split("<h4>")[1:]
    assert answer[page.problem] == "" and not both.exists()
    assert "At 0.2 s" in first and "None of them" in first
    assert "At 1.6 s" in second and "<h3>door</h3>" in second
    both.write_bytes(content)
    message = shown_error(page.message, events.teach, str(both), "two", own, VISITOR)
    assert SEVERAL in message


def test_removing_words_updates_list_and_button(events: VocabularySection, say: Any) -> None:
    page = events
    own = taught_words(events, say, "ship", "door")
    answer = events.teach(say("ship"), "<i>&", own, VISITOR)
    listed = answer[page.words]["html"]
    assert "<i>&" not in listed and "&lt;i&gt;&amp;" in listed
    answer = events.remove(own, pressed("door"))
    assert list(answer[page.own].words) == ["<i>&"]
    assert answer[page.delete].constructor_args["visible"]
    answer = events.forget(own)
    assert answer[page.own] is None and not own.words
    assert "No words yet" in answer[page.words]["html"]
    assert not answer[page.delete].constructor_args["visible"]


def test_vocabulary_of_leaving_visitor_is_cleared(events: VocabularySection, say: Any) -> None:
    own = taught_words(events, say, "ship", "door")
    somebody: Any = SimpleNamespace(session_hash="other")
    other = events.teach(say("zoo"), "zoo", None, somebody)[events.own]
    events.store.leave(VISITOR)
    events.store.expire(str(VISITOR.session_hash))
    assert not own.words and list(other.words) == ["zoo"]


def test_first_look_shows_example_without_words(events: VocabularySection, say: Any) -> None:
    page = events
    answer = events.first_look(None)
    assert "No words yet" in answer[page.words]["html"]
    assert f"<h3>{EXAMPLE[-1]}</h3>" in answer[page.result]["html"]
    answer = events.first_look(taught_words(events, say, "ship", "door"))
    assert "door" in answer[page.words]["html"] and page.result not in answer
