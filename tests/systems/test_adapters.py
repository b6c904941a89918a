"""Plug-ins that need no code: results made before, a system elsewhere, models of transformers."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gradio as gr
import numpy as np
import pytest
import soundfile

from earshot.core.errors import InputError, PlugInError
from earshot.media.video import frames
from earshot.sound_index.index import SoundIndex
from earshot.systems import adapters
from earshot.systems.adapters import Precomputed, Remote, Transformers
from earshot.systems.plug_in import PlugIn
from earshot.systems.plugged import (
    PluggedConverter,
    PluggedEmbedder,
    PluggedLipReader,
    PluggedSoundEncoder,
)
from earshot.systems.sound_search import SoundSearch
from tests.systems.voice_conversion.test_speecht5 import WIDTH, save_tiny_speecht5
from tests.systems.words.test_averaged_states import save as save_speech_model

RATE = 16_000
TONE = (0.1 * np.sin(2 * np.pi * 200 * np.arange(RATE) / RATE)).astype(np.float32)
VIDEO = np.zeros((25, 64, 64, 3), np.uint8)
HERE = Path(__file__)


def write(path: Path, gain: float) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(path, gain * TONE, RATE)


def peak(sound: tuple[np.ndarray, int]) -> float:
    return float(np.abs(sound[0]).max())


def test_precomputed_results_are_known_by_name_and_voice(tmp_path: Path) -> None:
    write(tmp_path / "one.wav", 1)
    write(tmp_path / "TF2" / "two.flac", 2)
    write(tmp_path / "three__SM1.wav", 3)
    write(tmp_path / "scho\u0308n.wav", 3)  # as disks of Macs write it
    write(tmp_path / "__MACOSX" / "._one.wav", 3)  # and their archives
    mine = Precomputed(tmp_path)
    assert peak(mine.result_for("sch\u00f6n", "TF2")) == pytest.approx(0.3, abs=0.01)
    assert mine.voices == ["SM1", "TF2"]
    assert peak(mine.result_for("one", "TF2")) == pytest.approx(0.1, abs=0.01)
    assert peak(mine.result_for("two", "TF2")) == pytest.approx(0.2, abs=0.01)
    assert peak(mine.result_for("three", "SM1")) == pytest.approx(0.3, abs=0.01)
    with pytest.raises(
        InputError, match="no result for “../one”, only for one, schön, three__SM1, two"
    ):
        mine.result_for("../one")
    with pytest.raises(FileNotFoundError, match="no folder with sounds"):
        Precomputed(tmp_path / "nowhere")
    plugged = PluggedConverter("mine", PlugIn("Mine", lambda: mine, HERE))
    spoken = plugged((RATE, TONE), "TF2", name="two")
    assert spoken.voice == "TF2" and peak((spoken.speech.waveform, 0)) > 0.19
    with pytest.raises(PlugInError, match="Mine says: There is no result for “a recording”"):
        plugged((RATE, TONE), "TF2")


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Gradio app that makes speech twice as loud, and refuses a voice; reads lips; embeds."""

    def convert(path: str, voice: str) -> tuple[str, tuple[int, np.ndarray]]:
        if voice == "nobody":
            raise gr.Error("There is no such voice.")
        samples = np.asarray(soundfile.read(path)[0])
        return "done", (RATE, (2 * samples * 32767).astype(np.int16))

    def read(path: str) -> str:
        assert len([*frames(path, 2)]) == len(VIDEO)
        return str(speech)

    def embed(path: str) -> dict:
        return {"about": ["words"], "vector": [0.5, len(soundfile.read(path)[0])]}

    speech = tmp_path_factory.mktemp("speech") / "read.wav"
    write(speech, 1)
    with gr.Blocks() as app:
        inputs = [gr.Audio(type="filepath"), gr.Textbox()]
        gr.Button().click(convert, inputs, [gr.Textbox(), gr.Audio()], api_name="convert")
        gr.Button().click(lambda text: text, inputs[1], gr.Textbox(), api_name="echo")
        video, embedding, text = gr.Video(), gr.JSON(), gr.Textbox()
        gr.Button().click(read, video, gr.Audio(), api_name="read")
        gr.Button().click(embed, inputs[0], embedding, api_name="embed")
        gr.Button().click(lambda text: [len(text), 1], text, embedding, api_name="spell")
    yield app.launch(prevent_thread_lock=True, quiet=True, allowed_paths=[str(speech.parent)])[1]
    app.close()


@pytest.mark.slow
def test_remote_system_is_called_by_its_endpoint(elsewhere: str) -> None:
    remote = Remote(elsewhere, "/convert", voices=["low"])
    samples, rate = remote(TONE, RATE, "low")
    assert len(samples) / rate == pytest.approx(1, abs=0.01)
    assert peak((samples, rate)) == pytest.approx(0.2, abs=0.02)
    assert not [*Path(remote._folder.name).rglob("*.wav")], "results are deleted"
    with pytest.raises(InputError, match="refuses"):
        remote(TONE, RATE, "nobody")
    with pytest.raises(InputError, match="no such endpoint"):
        Remote(elsewhere, "/nothing")(TONE, RATE, "low")
    echo = Remote(elsewhere, "/echo", arguments=lambda sound, voice: [voice])
    with pytest.raises(InputError, match="answers without a sound"):
        echo(TONE, RATE, "low")
    with pytest.raises(InputError, match="cannot be reached"):
        Remote("http://127.0.0.1:9", "/convert")(TONE, RATE, "low")


def test_speech_model_embeds_words(tmp_path: Path) -> None:
    folder = save_speech_model(tmp_path / "tiny")
    whole, layer = Transformers(str(folder), "cpu"), Transformers(f"{folder}:2", "cpu")
    vectors = [model.embed_audio(TONE, RATE) for model in (whole, layer)]
    assert vectors[0].shape == vectors[1].shape and not np.allclose(*vectors)
    assert not hasattr(whole, "embed_text")
    with pytest.raises(InputError, match="no layer 99"):
        Transformers(f"{folder}:99", "cpu")


def test_speecht5_has_four_voices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model, vocoder = save_tiny_speecht5(tmp_path)
    monkeypatch.setattr(adapters, "fetch", lambda *_: vocoder)
    monkeypatch.setattr(adapters, "fetch_from_dataset", lambda *_: tmp_path)
    voices = {voice: np.ones(WIDTH, np.float32) for voice in ("bdl", "rms", "clb", "slt")}
    monkeypatch.setattr("earshot.systems.voice_conversion.speecht5.read_voices", lambda *_: voices)
    plug_in = PlugIn("SpeechT5", lambda: Transformers(str(model), "cpu"), HERE)
    plugged = PluggedConverter("speecht5", plug_in)
    assert plugged.voices == tuple(voices) and not plugged.any_voice
    assert plugged((RATE, TONE), "slt").speech.sample_rate == RATE


def test_model_of_another_kind_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    with pytest.raises(InputError, match="of the kind bert; here it takes speecht5, clap"):
        Transformers(str(tmp_path))


class Bands:
    """Embeds a sound by its level, and its seconds by theirs."""

    def embed_audio(self, waveform: np.ndarray, sample_rate: int) -> np.ndarray:
        return np.array([1.0, np.abs(waveform).mean(), 0.5])

    def embed_seconds(self, waveform: np.ndarray, sample_rate: int) -> np.ndarray:
        return np.stack([self.embed_audio(w, sample_rate) for w in waveform.reshape(-1, 48_000)])


def test_sounds_are_embedded_in_segments_and_seconds() -> None:
    encoder: Any = PluggedSoundEncoder("mine", PlugIn("Mine", Bands, HERE))
    segments = encoder.segments(np.zeros(12 * 48_000, np.float32))
    assert segments.shape == (2, 6 * 48_000) and encoder.dimension == 3
    embedding = encoder.embed_audio(segments)
    assert embedding.vectors.shape == (2, 3) and embedding.per_second.shape == (2, 6, 3)
    assert np.linalg.norm(embedding.per_second, axis=2) == pytest.approx(1)
    with pytest.raises(PlugInError, match="Mine embeds no texts. Search by a sound."):
        encoder.embed_text(["rain"])


def test_remote_answer_names_no_file_of_this_machine(tmp_path: Path) -> None:
    """What a Space answers may be any text; it is neither played nor deleted."""
    write(tmp_path / "private.wav", 1)

    class Client:
        def predict(self, *values: Any, api_name: str) -> Any:
            return [str(tmp_path / "private.wav"), str(tmp_path / "down" / ".." / "private.wav")]

    remote = Remote("user/space")
    remote.__dict__["_client"] = Client()
    remote._folder = tempfile.TemporaryDirectory(dir=tmp_path)
    with pytest.raises(InputError, match="answers without a sound"):
        remote(TONE, RATE, "low")
    assert (tmp_path / "private.wav").exists()


def test_plug_in_that_fails_leaves_no_library_without_its_sounds(tmp_path: Path) -> None:
    """It would be searched by all visitors until the app is started again."""

    class FailsLater(Bands):
        left = 2

        def embed_audio(self, waveform: np.ndarray, sample_rate: int) -> np.ndarray:
            self.left -= 1
            if self.left < 0:
                raise RuntimeError
            return super().embed_audio(waveform, sample_rate)

    for gain in (1, 2, 3):
        write(tmp_path / f"{gain}.wav", gain)
    encoder: Any = PluggedSoundEncoder("mine", PlugIn("Mine", FailsLater, HERE))
    index = SoundIndex.empty(encoder)
    with pytest.raises(PlugInError, match="Mine failed: RuntimeError in test_adapters.py"):
        index.add(sorted(tmp_path.glob("*.wav")))
    assert not index.sounds


def test_precomputed_vectors_and_lips_are_known_by_name(tmp_path: Path) -> None:
    """Words, sounds and videos, too; what was made since is found."""
    (tmp_path / "v").mkdir()
    np.save(tmp_path / "v" / "dog.npy", np.array([3.0, 4.0]))
    texts: dict[str, Any] = {"A dog barks": np.array([1.0, 0.0])}
    np.savez(tmp_path / "v" / "texts.npz", **texts)
    plug_in = PlugIn("Mine", lambda: Precomputed(tmp_path / "v"), HERE)
    words = PluggedEmbedder("mine", plug_in)
    assert words.encode(TONE, "dog").tolist() == pytest.approx([0.6, 0.8])
    assert words.has_text and words.embed_text("a dog barks").tolist() == [1, 0]
    with pytest.raises(PlugInError, match="no vector for “a cat”, only for a dog barks"):
        words.embed_text("a cat")
    with pytest.raises(PlugInError, match="no result for “cat”, only for dog"):
        words.encode(TONE, "cat")
    np.save(tmp_path / "v" / "cat.npy", np.array([1.0, 0.0]))
    (tmp_path / "v" / "bad.npy").write_text("no array")
    write(tmp_path / "dog.wav", 1)
    write(tmp_path / "cat.wav", 2)
    encoder = PluggedSoundEncoder("mine", plug_in)
    index = SoundIndex.empty(encoder)
    index.add([tmp_path / "dog.wav", tmp_path / "cat.wav"])
    search = SoundSearch(encoder)
    assert [hit.sound.name for hit in search(index, "a dog barks").hits] == ["cat.wav", "dog.wav"]
    assert search.query(like=tmp_path / "dog.wav").tolist() == pytest.approx([0.6, 0.8])
    with pytest.raises(PlugInError, match="bad.npy cannot be read as an array"):
        words.encode(TONE, "bad")

    write(tmp_path / "lips" / "ada.wav", 1)
    lips = PlugIn("Mine", lambda: Precomputed(tmp_path / "lips"), HERE)
    spoken, text, _ = PluggedLipReader("mine", lips)(VIDEO, 25, "ada")
    assert len(spoken.speech.waveform) == 48_000 and not text
    with pytest.raises(PlugInError, match="no result for “a recording”, only for ada"):
        PluggedLipReader("mine", lips)(VIDEO, 25)


@pytest.mark.slow
def test_remote_system_reads_lips_and_embeds(elsewhere: str) -> None:
    remote = Remote(elsewhere, "/read")
    samples, rate = remote(VIDEO, 25.0)
    assert len(samples) / rate == pytest.approx(1, abs=0.1)
    remote = Remote(elsewhere, "/embed", text_api_name="/spell")
    assert remote.embed_audio(TONE, RATE).tolist() == [0.5, len(TONE)]
    assert remote.embed_text("abc").tolist() == [3, 1]
    assert not hasattr(Remote(elsewhere, "/embed"), "embed_text")
    with pytest.raises(InputError, match="answers without a list of numbers"):
        Remote(elsewhere, "/echo", arguments=lambda *_: ["words"]).embed_audio(TONE, RATE)
