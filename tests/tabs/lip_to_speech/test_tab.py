"""The tab through its API and its handlers, on a tiny model that reads the rendered heads."""

import json
import shutil
import wave
from collections.abc import Iterator
from dataclasses import fields, replace
from html import unescape
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gradio as gr
import numpy as np
import pytest
from gradio_client import Client, handle_file
from gradio_client.exceptions import AppError

from earshot.app import launch
from earshot.core.errors import InputError
from earshot.media.audio.load import wav_bytes
from earshot.media.encode import MADE_BY
from earshot.media.text.grammar import GRID
from earshot.media.video import frames
from earshot.media.workers import stream
from earshot.pretrained.voice import Voice
from earshot.systems.adapters import Precomputed
from earshot.systems.lip_to_speech import LipToSpeech
from earshot.systems.plug_in import PlugIn
from earshot.systems.plugged import PluggedLipReader
from earshot.systems.registry import Offer
from earshot.tabs import lip_to_speech
from earshot.tabs.components.lanes import Spectrogram, VideoStrip, Word
from earshot.tabs.lip_to_speech import tab, view
from earshot.tabs.lip_to_speech.events import (
    FACE,
    NO_SOUND,
    NOTHING_READ,
    SET,
    LipComponents,
    LipEvents,
    LipVisit,
)
from earshot.tabs.lip_to_speech.tab import LipSideBySide, coach
from earshot.tabs.lip_to_speech.view import LipResult, VisitorVideo, draft_item
from earshot.tabs.shared.services import OWN, Services
from earshot.tabs.shared.sessions import SessionStore
from earshot.tabs.voice_conversion.own_voice import VoiceVisit
from tests.support.serving import close
from tests.support.sounds import samples_of

ADA = lip_to_speech.HEADS / "ada.mp4"
PROMPT = "bin blue at F two now"
VISITOR: Any = SimpleNamespace(session_hash="a visitor")
PROGRESS = gr.Progress()
NAMES: Any = [field.name for field in fields(LipComponents)]
COMPONENTS = LipComponents(*NAMES)  # handlers only use components as keys


@pytest.fixture(scope="module")
def pipeline(tiny_checkpoints: Path) -> LipToSpeech:
    return LipToSpeech.from_pretrained(tiny_checkpoints / lip_to_speech.MODEL, "cpu")


@pytest.fixture(scope="module")
def events(pipeline: LipToSpeech) -> LipEvents:
    return LipEvents(lambda: pipeline, SessionStore(LipVisit), COMPONENTS)


@pytest.fixture(scope="module")
def answer(events: LipEvents) -> dict:
    """What the tab shows of a head."""
    return events.read(None, str(ADA), "neural", FACE, 0, 0, None, PROMPT, VISITOR, PROGRESS)


@pytest.fixture
def visit(answer: dict) -> LipVisit:
    return LipVisit(answer["visit"].video)


@pytest.fixture(scope="module")
def client(pipeline: LipToSpeech) -> Iterator[Client]:
    page = lip_to_speech.build(Offer(lambda _: pipeline, {"lips": "Lips"}), Services())
    address = launch.launch(page, launch.options([], {}), block=False)
    yield Client(address, verbose=False)
    close(page)


def test_options_are_those_of_the_pipeline() -> None:
    assert tuple(tab.VOCODERS.values()) == LipToSpeech.VOCODERS
    assert tab.PITCHES == LipToSpeech.PITCHES


def test_tab_without_checkpoint_explains_training() -> None:
    page = lip_to_speech.build(Offer(lambda _: None, {}), Services())
    (block,) = [block for block in page.blocks.values() if isinstance(block, gr.HTML)]
    assert "python -m training.lip_to_speech train" in str(block.value)


def test_coach_offers_sentences_of_the_grammar() -> None:
    with gr.Blocks():
        value = str(coach("camera").value)
    slots = json.loads(unescape(value.split('data-slots="')[1].split('"')[0]))
    assert [[word.lower() for word in slot] for slot in slots] == [list(slot) for slot in GRID]
    assert "F" in slots[3] and "f" not in slots[3]


@pytest.mark.slow
def test_read_shows_words_speech_and_crops(answer: dict) -> None:
    assert set(answer) == set(NAMES) - {"voice"}, "what is chosen stays"
    assert "does not look like a sentence I know" in answer["message"], "a tiny model knows none"
    reading = answer["visit"].video.speech.reading
    assert answer["compare"].visible
    assert (
        f"of 6</b> words of “{PROMPT}”" in answer["heading"] and "s of video" in answer["numbers"]
    )
    assert len(reading.caption) == 0 or "a guess" in answer["timeline"]["html"]
    html, files = answer["timeline"]["html"], answer["timeline"]["files"]
    places = [html.index(kind) for kind in ("<video", "tl-caption", "Spectrogram:", "tl-strip")]
    assert places == sorted(places)
    video, _, speech, landmarks = (Path(file["path"]) for file in files)
    pictures = list(frames(video, 30))
    assert len(pictures) == pytest.approx(len(reading.mouth.crops), abs=1)
    with wave.open(str(speech)) as file:
        assert file.getnframes() / file.getframerate() == pytest.approx(reading.mouth.seconds)
    lips = np.array(json.loads(landmarks.read_text())["lips"])
    assert lips.shape == (len(reading.mouth.crops), 40, 2)
    height, width = pictures[0].image.shape[:2]
    assert (lips > 0).all() and (lips < (width, height)).all()


@pytest.mark.slow
def test_first_voice_is_that_of_face(answer: dict) -> None:
    suggested = answer["visit"].video.speech.reading.voice
    assert (answer["pitch"], answer["timbre"]) == (
        round(suggested.pitch),
        round(suggested.timbre, 2),
    )
    assert f"spoken at <b>{suggested.pitch:.0f}</b> Hz" in answer["heading"]


@pytest.mark.slow
def test_pictures_and_sound_are_decoded_once(
    events: LipEvents, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The video of the result is encoded while the face is tracked."""
    decoded: list[str] = []

    def counted(task: str, *args: Any, **options: Any) -> Any:
        decoded.append(task)
        return stream(task, *args, **options)

    for module in ("video", "audio.load"):
        monkeypatch.setattr(f"earshot.media.{module}.stream", counted)
    events.read(None, str(ADA), "neural", FACE, 0, 0, None, "", VISITOR, PROGRESS)
    assert decoded == ["video", "audio"]


def test_verdict_counts_words_in_place() -> None:
    words = tuple(Word(word, 0.9, 0.0, 0.1) for word in "bin red at F two please".split())
    heading = result_of(words, "bin blue at F two now").heading()
    assert "<b>4 of 6</b> words of “bin blue at F two now”" in heading
    assert "sure" in heading and "%" not in heading
    assert "words of" not in result_of(words, "").heading()


def result_of(words: tuple[Word, ...], prompt: str) -> LipResult:
    spectrogram, strip = Spectrogram("", "", 1.0), VideoStrip("", (), 1.0)
    return LipResult(b"", b"", b"", words, 0.9, spectrogram, strip, 120.0, 0.5, "", prompt)


@pytest.mark.slow
def test_speak_in_another_voice_rereads_nothing(
    events: LipEvents, visit: LipVisit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LipToSpeech, "encode", lambda *_: pytest.fail("it was read again"))
    before = visit.video
    values = events.slide(visit, 222, 0.9, "neural", VISITOR, PROGRESS)
    assert visit.video and before and visit.video.speech.reading is before.speech.reading
    assert "222" in values[COMPONENTS.heading] and values[COMPONENTS.timeline]["files"]
    assert values[COMPONENTS.voice] == SET
    assert not np.array_equal(visit.video.speech.predicted_mel, before.speech.predicted_mel)
    values = events.choose(visit, "neural", FACE, 222, 0.9, None, VISITOR, PROGRESS)
    assert values[COMPONENTS.pitch] == round(before.speech.reading.voice.pitch)


@pytest.mark.slow
def test_voice_comes_too_late_for_video(
    events: LipEvents, visit: LipVisit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another video was read while the one before was spoken."""
    assert visit.video
    other, speak = replace(visit.video), LipEvents.spoken

    def read_meanwhile(*args: Any) -> Any:
        visit.video = other
        return speak(*args)

    monkeypatch.setattr(LipEvents, "spoken", read_meanwhile)
    with pytest.raises(InputError, match="Another video was read"):
        events.slide(visit, 222, 0.9, "neural", VISITOR, PROGRESS)
    assert visit.video is other


@pytest.mark.slow
def test_lips_speak_in_chosen_voice(
    events: LipEvents, visit: LipVisit, pipeline: LipToSpeech
) -> None:
    """It is a shipped one, or that of another tab's visit, which may have none yet."""
    own = Voice("yours", np.eye(8, dtype=np.float32)[0], 5.2, 0.2)
    values = events.choose(visit, "neural", "TF2", 0, 0, None, VISITOR, PROGRESS)
    assert visit.video and visit.video.speech.voice is pipeline.voice_of("TF2")
    assert COMPONENTS.pitch not in values, "the sliders are of another choice"
    owner: Any = SimpleNamespace(own=own, voice=own)
    events.choose(visit, "neural", OWN, 0, 0, owner, VISITOR, PROGRESS)
    assert visit.video.speech.voice is own
    for nobody in (None, VoiceVisit()):
        with pytest.raises(InputError, match="not made yet"):
            events.choose(visit, "neural", OWN, 0, 0, nobody, VISITOR, PROGRESS)
    assert visit.video.speech.voice is own


@pytest.mark.slow
def test_compare_shows_original_on_request_only(events: LipEvents, visit: LipVisit) -> None:
    assert visit.video and not visit.video.result().original
    values = events.compare(visit)
    assert not values[COMPONENTS.compare].visible
    assert "Original audio" in values[COMPONENTS.timeline]["html"]
    assert "STOI" in values[COMPONENTS.numbers] and "ESTOI" in values[COMPONENTS.numbers]
    visit.video = VisitorVideo(visit.video.speech, visit.video.silent, b"", None)
    for silent in (visit, None):
        with pytest.raises(InputError, match=NO_SOUND):
            events.compare(silent)


@pytest.mark.slow
def test_draft_items_source_is_original_audio(visit: LipVisit) -> None:
    assert draft_item(None) is None
    assert visit.video
    added = draft_item(visit.video)
    assert added
    assert added.video and isinstance(added.source, bytes)
    assert added.sound[4:8] == added.source[4:8] == b"ftyp"  # the video, with either sound
    assert MADE_BY.encode() in added.sound and MADE_BY.encode() not in added.source
    assert added.settings["words"] is not None
    silent = draft_item(replace(visit.video, audio=None))
    assert silent and isinstance(silent.source, str)


@pytest.mark.slow
def test_video_of_leaving_visitor_is_deleted(
    events: LipEvents, visit: LipVisit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("earshot.tabs.lip_to_speech.events.FINISHED", tmp_path / "none.json")
    events.sessions.of(visit, VISITOR)
    events.sessions.leave(VISITOR)
    events.sessions.expire(str(VISITOR.session_hash))
    assert visit.video is None
    with pytest.raises(InputError, match=NOTHING_READ):
        events.slide(visit, 100, 0.5, "neural", VISITOR, PROGRESS)


@pytest.mark.slow
def test_refused_upload_is_deleted(
    events: LipEvents, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    upload = tmp_path / "video.mp4"
    upload.write_bytes(b"no video")
    with pytest.raises(InputError, match="cannot be read as video"):
        events.read(None, str(upload), "neural", FACE, 0, 0, None, "", VISITOR, PROGRESS)
    assert not upload.exists()


@pytest.mark.slow
def test_stored_example_is_shown_as_written(
    visit: LipVisit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(view, "FINISHED", tmp_path / "finished-lips.json")
    assert view.read_finished() is None
    assert visit.video
    result = visit.video.result()
    view.write_finished(result)
    again = view.read_finished()
    assert again is not None
    assert again.heading() == result.heading() and again.line() == result.line()
    first, second = (each.timeline().value() | {"id": 0} for each in (again, result))
    assert first == second


@pytest.mark.slow
def test_endpoints_name_their_returns(client: Client) -> None:
    api = client.view_api(return_format="dict")
    assert isinstance(api, dict)
    returns = {
        name: [one["label"] for one in endpoint["returns"]]
        for name, endpoint in api["named_endpoints"].items()
    }
    assert returns == {"/lip_to_speech": ["speech", "reading"], "/respeak": ["speech"]}


@pytest.mark.slow
def test_endpoints_read_video_and_change_voice(client: Client, tmp_path: Path) -> None:
    with pytest.raises(AppError, match="Call /lip_to_speech first"):
        client.predict(100, 0.5, "neural", api_name="/respeak")
    video = shutil.copy(ADA, tmp_path / "video.mp4")
    sound, read = client.predict(handle_file(video), "neural", api_name="/lip_to_speech")
    assert read["sentence"].split() == [
        word["word"].upper() if len(word["word"]) == 1 else word["word"] for word in read["words"]
    ]
    assert 0 <= read["confidence"] <= 1 and read["voice"]["pitch"] > 0
    other = client.predict(250, 1, "griffin-lim", api_name="/respeak")
    with wave.open(sound) as first, wave.open(other) as second:
        assert first.getnframes() == second.getnframes()
    assert samples_of(sound) != samples_of(other)
    named = client.predict(100, 0.5, "griffin-lim", "SF1", api_name="/respeak")
    assert samples_of(named) != samples_of(other)
    head = handle_file(shutil.copy(ADA, tmp_path / "again.mp4"))
    again, _ = client.predict(head, "griffin-lim", "SF1", api_name="/lip_to_speech")
    assert samples_of(again) == samples_of(named)
    with pytest.raises(AppError):
        client.predict(head, "neural", "yours", api_name="/lip_to_speech")


@pytest.mark.slow
def test_endpoint_error_says_what_is_wrong(client: Client, tmp_path: Path) -> None:
    text = tmp_path / "text.mp4"
    text.write_text("this is no video")
    with pytest.raises(AppError, match="cannot be read as video"):
        client.predict(handle_file(text), "neural", api_name="/lip_to_speech")


class Hum:
    """A plug-in that hums as long as the video lasts."""

    def __call__(self, frames: np.ndarray, fps: float) -> tuple[np.ndarray, int]:
        assert frames.dtype == np.uint8 and frames.ndim == 4 and fps == pytest.approx(25, abs=1)
        return 0.1 * np.sin(np.arange(round(len(frames) / fps * 16_000)) / 20), 16_000

    def caption(self, frames: np.ndarray, fps: float) -> tuple[str, float]:
        return "hum", 0.5


def test_systems_speak_side_by_side(pipeline: LipToSpeech, visit: LipVisit, tmp_path: Path) -> None:
    """Each is the video with its speech, in a listening test too; one may know it by its name."""
    plugged = PluggedLipReader("hum", PlugIn("Hum", Hum, Path(__file__)))
    (tmp_path / "ada.wav").write_bytes(wav_bytes(np.ones(48_000) / 2, 16_000))
    before = PluggedLipReader("m", PlugIn("M", lambda: Precomputed(tmp_path), Path(__file__)))
    systems = {"lips": pipeline, "hum": plugged, "mine": before}
    with gr.Blocks():
        parts = [gr.Textbox(FACE), gr.Slider(), gr.Slider(), gr.State(), gr.Textbox()]
        offer: Any = Offer(systems.__getitem__, {"lips": "Ours"}, {"hum": "Hum", "mine": "M"})
        panel = LipSideBySide(offer, Services(), gr.State(), parts)
    values: Any = dict(zip(parts, [FACE, 0, 0, None, "neural"], strict=True))
    values |= {panel.systems: ["lips", "hum", "mine"], panel.visit: visit}
    comparison = [*panel.run(values, PROGRESS)][-1][panel.result]
    timeline = comparison.timeline()
    assert [track.name for track in timeline.tracks] == ["Ours", "Hum", "M"]
    assert all(track.is_video for track in timeline.tracks)
    assert "Hum reads" in [lane.label for lane in timeline.lanes]
    assert comparison.faults == () and comparison.takes[1].notices == ()
    assert all(item.video for item in comparison.draft_items())
    with pytest.raises(InputError, match="no video yet"):
        next(iter(panel.run({**values, panel.visit: None}, PROGRESS)))
