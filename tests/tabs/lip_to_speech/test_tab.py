"""The tab through its API and its handlers, on a tiny model that reads the painted heads."""

import json
import shutil
import wave
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gradio as gr
import numpy as np
import pytest
from gradio_client import Client, handle_file
from gradio_client.exceptions import AppError

import app
from media.text.grammar import GRID
from media.video import frames
from pipelines.lip_to_speech import LipToSpeech
from tabs import lip_to_speech
from tabs.lip_to_speech import example, tab
from tabs.lip_to_speech.coach import coach
from tabs.lip_to_speech.events import NO_SOUND, NOTHING, LipEvents, LipVisit
from tabs.lip_to_speech.view import Watched, take

ADA = lip_to_speech.HEADS / "ada.mp4"
VISITOR: Any = SimpleNamespace(session_hash="a visitor")
PROGRESS = gr.Progress()


@pytest.fixture(scope="module")
def pipeline(tiny_checkpoints: Path) -> LipToSpeech:
    return LipToSpeech.from_pretrained(tiny_checkpoints / lip_to_speech.MODEL, "cpu")


@pytest.fixture(scope="module")
def events(pipeline: LipToSpeech) -> LipEvents:
    return LipEvents(lambda: pipeline)


@pytest.fixture(scope="module")
def answer(events: LipEvents) -> tuple:
    """What the tab shows of a head."""
    return events.read(None, str(ADA), "neural", VISITOR, PROGRESS)


@pytest.fixture
def visit(answer: tuple) -> LipVisit:
    return LipVisit(answer[1].watched)


@pytest.fixture(scope="module")
def client(pipeline: LipToSpeech) -> Iterator[Client]:
    page = lip_to_speech.build(lambda: pipeline)
    address = app.launch(page, app.options([], {}), block=False)
    yield Client(address, verbose=False)
    page.close()


def test_the_tab_offers_what_the_pipeline_has() -> None:
    assert tuple(tab.VOCODERS.values()) == LipToSpeech.VOCODERS
    assert tab.PITCHES == LipToSpeech.PITCHES


def test_without_a_model_the_tab_says_how_to_make_one() -> None:
    page = lip_to_speech.build(None)
    (said,) = [block for block in page.blocks.values() if isinstance(block, gr.HTML)]
    assert "python -m training.lip_to_speech train" in str(said.value)


def test_the_coach_knows_the_sentences_of_the_model() -> None:
    with gr.Blocks():
        value = str(coach("camera").value)
    slots = json.loads(value.split('data-slots="')[1].split('"')[0].replace("&quot;", '"'))
    assert [[word.lower() for word in slot] for slot in slots] == [list(slot) for slot in GRID]
    assert "F" in slots[3] and "f" not in slots[3]


def test_a_film_is_read_and_spoken(answer: tuple, pipeline: LipToSpeech) -> None:
    message, visit, compare, pitch, timbre, heading, lanes, numbers = answer
    assert "does not look like a sentence I know" in message, "a tiny model knows none"
    reading = visit.watched.speech.reading
    assert (pitch, timbre) == pytest.approx((reading.voice.pitch, reading.voice.timbre), abs=0.6)
    assert compare.visible
    assert "sure" in heading and "s of film" in numbers
    html = lanes["html"]
    places = [html.index(kind) for kind in ("<video", "tl-said", "Spectrogram:", "tl-strip")]
    assert places == sorted(places)
    film, _, speech, landmarks = (Path(file["path"]) for file in lanes["files"])
    pictures = list(frames(film, 30))
    assert len(pictures) == pytest.approx(len(reading.mouth.crops), abs=1)
    with wave.open(str(speech)) as file:
        assert file.getnframes() / file.getframerate() == pytest.approx(reading.mouth.seconds)
    lips = np.array(json.loads(landmarks.read_text())["lips"])
    assert lips.shape == (len(reading.mouth.crops), 40, 2)
    height, width = pictures[0].image.shape[:2]
    assert (lips > 0).all() and (lips < (width, height)).all()


def test_another_voice_needs_no_new_tracking(
    events: LipEvents, visit: LipVisit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LipToSpeech, "watch", lambda *_: pytest.fail("it was tracked anew"))
    before = visit.watched
    _, visit, heading, lanes, _ = events.speak(visit, 222, 0.9, "neural", VISITOR, PROGRESS)
    assert visit.watched and before and visit.watched.speech.reading is before.speech.reading
    assert "222" in heading and lanes["files"]
    assert not np.array_equal(visit.watched.speech.drawn, before.speech.drawn)
    _, visit, pitch, *_ = events.guess(visit, "neural", VISITOR, PROGRESS)
    assert pitch == round(before.speech.reading.voice.pitch)


def test_what_was_really_said_is_shown_on_request_only(events: LipEvents, visit: LipVisit) -> None:
    assert visit.watched and not visit.watched.result().real
    _, button, _, lanes, numbers = events.compare(visit)
    assert not button.visible
    assert "What was really said" in lanes["html"]
    assert "STOI" in numbers and "ESTOI" in numbers
    visit.watched = Watched(visit.watched.speech, visit.watched.film, b"", None)
    assert NO_SOUND in events.compare(visit)[0]
    assert NO_SOUND in events.compare(None)[0]


def test_the_speech_goes_into_a_listening_test_beside_what_was_said(visit: LipVisit) -> None:
    assert take(None) is None
    assert visit.watched
    added = take(visit.watched)
    assert added
    assert added.sound[:4] == b"RIFF" and isinstance(added.source, bytes)
    assert added.settings["words"] is not None
    silent = take(replace(visit.watched, sound=None))
    assert silent and isinstance(silent.source, str)


def test_a_visitor_who_leaves_is_forgotten(
    events: LipEvents, visit: LipVisit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tabs.lip_to_speech.events.FINISHED", tmp_path / "none.json")
    events.visits.of(visit, VISITOR)
    events.visits.leave(VISITOR)
    events.visits.expire(str(VISITOR.session_hash))
    assert visit.watched is None
    assert NOTHING in events.speak(visit, 100, 0.5, "neural", VISITOR, PROGRESS)[0]


def test_an_upload_is_deleted_even_if_it_was_of_no_use(
    events: LipEvents, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    upload = tmp_path / "film.mp4"
    upload.write_bytes(b"no film")
    message, *others = events.read(None, str(upload), "neural", VISITOR, PROGRESS)
    assert "cannot be read as video" in message
    assert len(others) == 7 and not upload.exists()


def test_the_finished_example_is_read_as_it_was_written(
    visit: LipVisit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(example, "FINISHED", tmp_path / "finished-lips.json")
    assert example.read_finished() is None
    assert visit.watched
    result = visit.watched.result()
    example.write_finished(result)
    again = example.read_finished()
    assert again is not None
    assert again.heading() == result.heading() and again.line() == result.line()
    assert again.sheet().value() == result.sheet().value()


def test_only_these_endpoints_are_public(client: Client) -> None:
    api = client.view_api(return_format="dict")
    assert isinstance(api, dict)
    assert set(api["named_endpoints"]) == {"/lip_to_speech", "/respeak"}


def test_programs_read_films_and_change_their_voice(client: Client, tmp_path: Path) -> None:
    with pytest.raises(AppError, match="Call /lip_to_speech first"):
        client.predict(100, 0.5, "neural", api_name="/respeak")
    film = shutil.copy(ADA, tmp_path / "film.mp4")
    sound, read = client.predict(handle_file(film), "neural", api_name="/lip_to_speech")
    assert read["sentence"].split() == [
        word["word"].upper() if len(word["word"]) == 1 else word["word"] for word in read["words"]
    ]
    assert 0 <= read["confidence"] <= 1 and read["voice"]["pitch"] > 0
    other = client.predict(250, 1, "griffin-lim", api_name="/respeak")
    with wave.open(sound) as first, wave.open(other) as second:
        assert first.getnframes() == second.getnframes()
    assert Path(sound).read_bytes() != Path(other).read_bytes()


def test_errors_say_what_is_wrong(client: Client, tmp_path: Path) -> None:
    text = tmp_path / "text.mp4"
    text.write_text("this is no film")
    with pytest.raises(AppError, match="cannot be read as video"):
        client.predict(handle_file(text), "neural", api_name="/lip_to_speech")
