"""The words that a recogniser hears, as the page shows them."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, cast

import gradio as gr
import pytest

from earshot.pretrained.recogniser import RecognisedWord, Transcript
from earshot.systems.registry import Offer
from earshot.systems.voice_conversion import VoiceConversion
from earshot.tabs.shared.services import Services
from earshot.tabs.voice_conversion import tab
from earshot.tabs.voice_conversion.panels import TranscriptPanel, words_html
from earshot.tabs.voice_conversion.view import ConversionResult, read_finished
from tests.support.systems import labels


def transcript(text: str) -> Transcript:
    return Transcript(tuple(RecognisedWord(word, 1.0) for word in text.split()))


class Recogniser:
    """Hears one text in the first recording, and another in the second; counts the times."""

    def __init__(self) -> None:
        self.recordings: list[bytes] = []

    def __call__(self, audio: bytes) -> Transcript:
        self.recordings.append(audio)
        return transcript("one two" if audio == b"source" else "one too")


@pytest.fixture
def result() -> ConversionResult:
    finished = read_finished()
    assert finished and finished.source
    return replace(
        finished,
        source=replace(finished.source, content=b"source"),
        converted=replace(finished.converted, content=b"converted"),
    )


def panel(load: Callable[[], Any]) -> TranscriptPanel:
    with gr.Blocks():
        return TranscriptPanel(load)


def test_lost_words_are_struck_and_named() -> None:
    html = words_html(transcript("The <old> house, again."), transcript("the cold house again"))
    assert "The <del>&lt;old&gt;</del> house, again." in html
    assert "the <ins>cold</ins> house again" in html
    assert "<b>3</b> of <b>4</b> words" in html
    assert "they are lost: &lt;old&gt;." in html


def test_nothing_lost_says_so_without_marks() -> None:
    html = words_html(transcript("Lay blue."), transcript("lay blue"))
    assert "<del>" not in html and "<ins>" not in html and "lost" not in html
    assert "<b>2</b> of <b>2</b> words are heard" in html
    assert "<b>1</b> of <b>1</b> word is heard" in words_html(transcript("Go."), transcript("go"))
    assert "<i>no words</i>" in words_html(transcript(""), transcript("a"))


def test_lost_words_are_named_once_without_punctuation() -> None:
    html = words_html(transcript("The cat, the cat. The “Cat”?"), transcript("a dog"))
    assert "they are lost: The, cat." in html


def test_guessed_source_is_called_guess_and_loses_nothing() -> None:
    """Another language is guessed as noise is: neither is blamed."""
    unsure = Transcript((RecognisedWord("place", 0.3), RecognisedWord("blue", 0.7)))
    html = words_html(unsure, transcript("lay red"))
    assert "guessing" in html and "English only" in html
    assert "<del>" not in html and "lost" not in html
    assert "guessing" not in words_html(transcript("place blue"), unsure)


def test_source_without_speech_has_no_words(result: ConversionResult) -> None:
    """Of noise a recogniser makes words all the same."""
    recogniser = Recogniser()
    words = panel(lambda: recogniser)
    html = words.transcribe(replace(result, has_speech=False), None)[words.words]
    assert "No words were understood" in html and "lost" not in html
    assert recogniser.recordings == []
    assert "No words were understood" in words_html(transcript(""), transcript("you"))


def test_several_conversions_hear_source_once(result: ConversionResult) -> None:
    recogniser = Recogniser()
    words = panel(lambda: recogniser)
    first = words.transcribe(result, None)
    assert "<del>two</del>" in first[words.words]
    other = replace(result, converted=replace(result.converted, content=b"other voice"))
    words.transcribe(other, first[words.source])
    assert recogniser.recordings == [b"converted", b"source", b"other voice"]


def test_units_without_source_have_converted_words(result: ConversionResult) -> None:
    words = panel(Recogniser)
    html = words.transcribe(replace(result, source=None), None)[words.words]
    assert "Heard in the converted" not in html
    assert "one too" in html and "Heard in the source" not in html


def test_missing_recogniser_is_said(result: ConversionResult) -> None:
    def missing() -> Recogniser:
        raise FileNotFoundError("The recogniser is not installed: pip install it.")

    words = panel(missing)
    assert "not installed" in words.transcribe(result, None)[words.words]


@pytest.mark.parametrize("is_on", [False, True])
def test_page_shows_words_only_when_asked(tiny_checkpoints: Path, is_on: bool) -> None:
    models = partial(VoiceConversion.from_pretrained, device="cpu", checkpoints=tiny_checkpoints)
    load = cast("Any", Recogniser if is_on else None)
    page = tab.build(Offer(models, labels("voice_conversion")), Services(transcriber=load))
    assert ("transcribe" in {function.name for function in page.fns.values()}) is is_on
