"""Which sound was wrong: what the page shows, the endpoint, and refused inputs."""

from typing import Any

import gradio as gr
import pytest

from earshot.core.paths import ASSETS
from earshot.systems.words import Words
from earshot.tabs.words.sounds import ADVICE, NO_RECORDING, NO_TEXT, SoundsSection
from earshot.tabs.words.tab import library_getter

SINK = str(ASSETS / "words" / "sink-rms.ogg")


@pytest.fixture(scope="module")
def section() -> SoundsSection:
    words = Words.from_pretrained("words", "cpu")
    with gr.Blocks():
        return SoundsSection(lambda: words, library_getter(lambda: words, ASSETS / "words.index"))


def values(section: SoundsSection, recording: str | None, text: str) -> tuple[Any, ...]:
    update = section.show(recording, text)
    return tuple(update[each] for each in (section.message, section.sounds, section.report))


def test_wrong_sound_is_named_with_advice(section: SoundsSection) -> None:
    message, sounds, report = values(section, SINK, "think")
    assert message == ""
    assert 'aria-label="/θ/ heard as /s/' in sounds["html"]
    assert "A synthetic voice" in sounds["html"] and "Both at once" in sounds["html"]
    assert "between the teeth" in report
    assert "heard as expected" in values(section, SINK, "sink")[2]


def test_word_without_synthetic_voice_is_checked_alone(section: SoundsSection) -> None:
    message, sounds, _ = values(section, SINK, "zinc")
    assert "No synthetic voice here says “zinc”" in message
    assert "A synthetic voice" not in sounds["html"]


@pytest.mark.parametrize(
    ("recording", "text", "sentence"),
    [
        (SINK, " ", NO_TEXT),
        (None, "think", NO_RECORDING),
        (SINK, "<b>lighthouse</b>", "has no sound in English"),
        (SINK, "butterfly", "does not sound like"),
    ],
)
def test_what_cannot_be_checked_is_one_sentence(
    section: SoundsSection, recording: str | None, text: str, sentence: str
) -> None:
    message, sounds, report = values(section, recording, text)
    assert sentence in message and "tl-wrong" not in sounds["html"] + report


def test_endpoint_answers_each_phoneme(section: SoundsSection) -> None:
    answer = section.check_pronunciation(SINK, "think")
    assert [p["phoneme"] for p in answer["phonemes"]] == ["θ", "ɪ", "ŋ", "k"]
    assert [p["verdict"] for p in answer["phonemes"]] == ["wrong", *["expected"] * 3]
    assert answer["words"] == ["think"]


def test_ten_confusions_have_advice() -> None:
    assert len(ADVICE) == 10
