"""The tab through its API, as a program uses it."""

import json
import wave
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gradio_client import Client, handle_file
from gradio_client.exceptions import AppError

from earshot.app import launch, site
from earshot.core.paths import ASSETS
from earshot.media.audio.load import wav_bytes
from earshot.pretrained.recogniser import A_GUESS, NO_WORDS
from earshot.systems.voice_conversion import settings
from earshot.systems.voice_conversion.units import Units
from earshot.tabs.shared.services import Services
from earshot.tabs.voice_conversion import tab
from earshot.tabs.voice_conversion.view import delete_units
from tests.support.serving import close
from tests.support.systems import labels

pytestmark = pytest.mark.slow

RATE = 16_000


@pytest.fixture(scope="module")
def client(tiny_checkpoints: Path) -> Iterator[Client]:
    page = site.build(
        Services(device="cpu", transcriber=site.transcriber("", "cpu")), tiny_checkpoints
    )
    address = launch.launch(page, launch.options([], {}), block=False)
    yield Client(address, verbose=False)
    close(page)


@pytest.fixture(scope="module")
def speech(tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("speech") / "noise.wav"
    noise = 0.1 * np.random.default_rng(0).standard_normal(RATE)
    path.write_bytes(wav_bytes(noise.astype(np.float32), RATE))
    return handle_file(path)


def seconds(path: str) -> float:
    with wave.open(path) as file:
        assert file.getsampwidth() == 2
        return file.getnframes() / file.getframerate()


def test_tab_offers_choices_of_pipeline() -> None:
    assert tuple(tab.VOICES) == settings.VOICES
    assert tuple(tab.VOCODERS.values()) == settings.VOCODERS
    assert tuple(tab.INTONATIONS.values()) == settings.INTONATIONS
    assert list(labels("voice_conversion")) == list(settings.MODELS)


def test_api_has_these_public_endpoints_only(client: Client) -> None:
    api = client.view_api(return_format="dict")
    assert isinstance(api, dict)
    voices = {"/convert", "/speak_as_nobody", "/encode", "/decode", "/transcribe"}
    sounds = {"/search_sounds", "/similar_sounds"}
    words = {"/embed_audio", "/embed_text", "/nearest", "/compare_words"}
    words |= {"/find_word", "/embed_words", "/check_pronunciation"}
    lips = {"/lip_to_speech", "/respeak"}
    provenance = {"/detect"}
    assert set(api["named_endpoints"]) == voices | words | sounds | lips | provenance


@pytest.mark.parametrize("voice", [{}, [1], None, 1e38, "nobody", {"path": "/etc/passwd"}])
def test_voice_that_is_none_is_refused(client: Client, speech: Any, voice: Any) -> None:
    """The message says so, and does not speak of a fault on our side."""
    with pytest.raises(AppError, match="voice") as refused:
        client.predict(speech, voice, "vqvae-64", "griffin-lim", "keep", api_name="/convert")
    assert "our side" not in str(refused.value)


def test_convert_returns_speech_units_and_numbers(client: Client, speech: Any) -> None:
    wav, units, numbers = client.predict(
        speech, "SM1", "vqvae-64", "griffin-lim", "keep", api_name="/convert"
    )
    assert seconds(wav) == pytest.approx(1.0)
    assert units["model"] == "vqvae-64" and len(units["codes"]) == 25
    assert "25 units · 150 bit/s" in numbers


def test_convert_says_recording_ends_early(client: Client, tmp_path: Path) -> None:
    """Encode says so, too."""
    noise = 0.1 * np.random.default_rng(0).standard_normal(2 * RATE)
    cut = tmp_path / "cut.wav"
    cut.write_bytes(wav_bytes(noise, RATE)[: 2 * RATE])
    spoken = ("SM1", "vqvae-64", "griffin-lim", "keep")
    _, converted, _ = client.predict(handle_file(cut), *spoken, api_name="/convert")
    encoded = client.predict(handle_file(cut), "vqvae-64", api_name="/encode")
    assert converted["notices"] == encoded["notices"]
    assert "ends early" in encoded["notices"][0]
    client.predict(encoded, "TF2", "griffin-lim", "keep", api_name="/decode")  # as it came


def test_convert_keeps_intonation_where_possible(client: Client, speech: Any) -> None:
    _, units, numbers = client.predict(
        speech, "TF2", "units-512", "griffin-lim", "keep", api_name="/convert"
    )
    assert set(units["intonation"]) == {"voiced", "log_f0"}
    assert "450 bit/s · 200 bit/s of intonation" in numbers


@pytest.mark.parametrize("model", ["continuous", "units-64", "vqvae-64"])
def test_decode_lasts_as_long_as_units(client: Client, speech: Any, model: str) -> None:
    units = client.predict(speech, model, api_name="/encode")
    shorter = delete_units(Units.from_json(json.dumps(units)), range(5, len(units["codes"])))
    wav = client.predict(
        json.loads(shorter.to_json()), "Tessa", "neural", "keep", api_name="/decode"
    )
    assert seconds(wav) == pytest.approx(5 * units["step"])
    assert b"Converted by Earshot" in Path(wav).read_bytes()


def test_transcribe_says_it_guesses_other_languages(client: Client, speech: Any) -> None:
    """It hears English, and no words in noise."""
    mandarin = ASSETS / "words" / "zhong1_guo2-espeak-woman.ogg"
    recordings = [handle_file(ASSETS / "examples" / "woman-lighthouse.ogg"), handle_file(mandarin)]
    english, guessed, noise = [
        client.predict(each, api_name="/transcribe") for each in (*recordings, speech)
    ]
    assert "keeper of the old" in english["text"] and english["notices"] == []
    assert guessed["notices"] == [A_GUESS] and guessed["confidence"] < english["confidence"]
    assert noise == {"text": "", "confidence": 0, "notices": [NO_WORDS]}


def test_endpoints_explain_invalid_input(client: Client, tmp_path: Path) -> None:
    text = tmp_path / "text.wav"
    text.write_text("this is no sound")
    with pytest.raises(AppError, match="cannot be read as audio"):
        client.predict(handle_file(text), "vqvae-64", api_name="/encode")
    with pytest.raises(AppError, match="not a units file"):
        client.predict({"codes": "x"}, "TF2", "neural", "keep", api_name="/decode")
    stranger = {"model": "../secret", "fingerprint": "", "step": 0.04, "codes": [1]}
    with pytest.raises(AppError, match="no model"):
        client.predict(stranger, "TF2", "neural", "keep", api_name="/decode")


def test_endpoints_refuse_files_of_the_server(client: Client) -> None:
    hidden = {"path": "/etc/hostname", "meta": {"_type": "gradio.FileData"}}
    with pytest.raises(AppError, match="not allowed|Invalid|Cannot|cannot"):
        client.predict(hidden, "vqvae-64", api_name="/encode")


@pytest.mark.parametrize("name", ["/convert", "/speak_as_nobody", "/encode", "/decode"])
def test_endpoint_names_its_parameters_and_returns(client: Client, name: str) -> None:
    api = client.view_api(return_format="dict")
    assert isinstance(api, dict)
    endpoint = api["named_endpoints"][name]
    returns = {
        "/convert": ["speech", "units", "numbers"],
        "/speak_as_nobody": ["speech", "units", "numbers"],
        "/encode": ["units"],
        "/decode": ["speech"],
    }
    assert [value["label"] for value in endpoint["returns"]] == returns[name]
    names = {parameter["parameter_name"] for parameter in endpoint["parameters"]}
    assert names <= {"audio", "target", "model", "vocoder", "intonation", "units", "strength"}
