"""Conversion to any voice on untrained networks: its contract, its limits and its messages."""

import math
from pathlib import Path

import numpy as np
import pytest

from media.errors import InputError
from pipelines.voice_conversion.any_voice import AnyVoiceConversion
from pipelines.voice_conversion.contour import Contour
from pipelines.voice_conversion.voice import Voice, pitch_statistics

RATE = 16_000


@pytest.fixture(scope="module")
def pipeline(tiny_checkpoints: Path) -> AnyVoiceConversion:
    return AnyVoiceConversion.from_pretrained(tiny_checkpoints / "any-voice", device="cpu")


def speech_like(seconds: float, rate: int = RATE) -> tuple[int, np.ndarray]:
    """A gliding buzz with formants that move, in syllables, and noise between them."""
    time = np.arange(round(seconds * rate)) / rate
    hz = 130 + 30 * np.sin(2 * np.pi * 0.7 * time)
    phase = 2 * np.pi * np.cumsum(hz) / rate
    formant = 700 + 400 * np.sin(2 * np.pi * 2.3 * time)
    buzz = sum(np.sin(k * phase) * np.exp(-(((k * hz - formant) / 300) ** 2)) for k in range(1, 20))
    noise = 0.01 * np.random.default_rng(0).normal(size=len(time))
    return rate, (0.1 * buzz * (np.sin(8 * np.pi * time) > -0.5) + noise).astype(np.float32)


@pytest.mark.parametrize("bottleneck", ["continuous", "units-64", "units-512", "units-512x3"])
def test_the_conversion_is_as_long_as_the_source(
    pipeline: AnyVoiceConversion, bottleneck: str
) -> None:
    result = pipeline(speech_like(1.23), "TF2", bottleneck)
    assert len(result.converted.waveform) == len(result.source.waveform)
    books = {"continuous": 0, "units-64": 1, "units-512": 1, "units-512x3": 3}[bottleneck]
    assert result.content.codes.shape == (62, books)
    assert np.isfinite(result.converted.waveform).all()


def test_bits_are_those_of_codes_and_contour(pipeline: AnyVoiceConversion) -> None:
    kept = pipeline(speech_like(1.0), bottleneck="units-512")
    assert (kept.content_bits, kept.contour_bits) == (450, 200)
    predicted = pipeline(speech_like(1.0), bottleneck="units-512", intonation="predicted")
    assert (predicted.content_bits, predicted.contour_bits) == (450, 0)
    assert math.isinf(pipeline(speech_like(1.0)).content_bits)


def test_codes_are_all_that_passes_through_units(pipeline: AnyVoiceConversion) -> None:
    content = pipeline.encode(speech_like(1.0), "units-64")[1]
    assert len(np.unique(content.vectors, axis=0)) == len(np.unique(content.codes))


@pytest.mark.parametrize("vocoder", AnyVoiceConversion.VOCODERS)
def test_silence_comes_out_as_silence(pipeline: AnyVoiceConversion, vocoder: str) -> None:
    result = pipeline((RATE, np.zeros(RATE, np.float32)), vocoder=vocoder)
    assert not result.converted.waveform.any()
    assert "silent" in result.notices[0]


def test_level_does_not_change_the_content(pipeline: AnyVoiceConversion) -> None:
    rate, waveform = speech_like(2.0)
    loud, quiet = (pipeline.encode((rate, g * waveform))[1].vectors for g in (1.0, 0.1))
    np.testing.assert_allclose(loud, quiet, atol=0.05)


@pytest.mark.parametrize("rate", [8_000, 44_100])
def test_any_sampling_rate(pipeline: AnyVoiceConversion, rate: int) -> None:
    assert len(pipeline(speech_like(1.0, rate)).content.vectors) == pytest.approx(50, abs=1)


def test_a_voice_of_a_recording_can_be_spoken_and_blended(pipeline: AnyVoiceConversion) -> None:
    voice = pipeline.voice(speech_like(12.0))
    assert np.exp(voice.pitch_mean) == pytest.approx(130, rel=0.1)
    assert voice.vector.shape == pipeline.voices["TF2"].vector.shape
    blend = voice.blend(pipeline.voices["TF2"], 0.5)
    assert blend.vector.std() == pytest.approx(1.0, abs=1e-3)
    spoken = pipeline(speech_like(1.0), blend)
    assert spoken.voice is blend
    ends = [voice.blend(pipeline.voices["TF2"], share).pitch_mean for share in (0, 1)]
    assert ends == [voice.pitch_mean, pipeline.voices["TF2"].pitch_mean]


def test_a_voice_stays_with_whoever_holds_it(pipeline: AnyVoiceConversion) -> None:
    before = dict(pipeline.voices)
    pipeline.voice(speech_like(12.0), "mine")
    assert dict(pipeline.voices) == before
    with pytest.raises(TypeError):
        pipeline.voices["mine"] = before["TF2"]  # type: ignore[index]


@pytest.mark.parametrize(
    ("audio", "message"),
    [
        (None, "no recording"),
        (speech_like(5.0), "10 s or more"),
        (speech_like(31.0), "30"),
        ((RATE, np.zeros(12 * RATE, np.float32)), "0 s of the recording are speech"),
        (b"no sound", "cannot be read"),
    ],
)
def test_a_recording_that_no_voice_can_be_made_from(
    pipeline: AnyVoiceConversion, audio: object, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        pipeline.voice(audio)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"target": "HAL"}, "no voice HAL"),
        ({"bottleneck": "units-7"}, "no bottleneck units-7"),
        ({"intonation": "sung"}, "keep, predicted"),
        ({"vocoder": "magic"}, "neural, griffin-lim"),
    ],
)
def test_choices_that_do_not_exist(
    pipeline: AnyVoiceConversion, choice: dict[str, str], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        pipeline(speech_like(0.5), **choice)


def test_a_blend_outside_its_range() -> None:
    voice = Voice("a", np.ones(4, np.float32), 5.0, 0.2)
    with pytest.raises(InputError, match="between 0"):
        voice.blend(voice, 1.5)


def test_a_contour_survives_its_bits() -> None:
    time = np.arange(400)
    pitch = np.where((time // 50) % 3 > 0, 180 * np.exp(0.3 * np.sin(time / 40)), 0)
    mean, std = pitch_statistics(pitch)
    back = Contour.of(pitch).frames(std)
    voiced = pitch > 0
    assert ((back[:, 0] > 0) == voiced).mean() > 0.98
    error = np.abs(back[voiced, 1] + mean - np.log(pitch[voiced]))
    assert np.median(error) < 0.02  # a third of a semitone


def test_a_contour_of_nothing_voiced() -> None:
    back = Contour.of(np.zeros(40)).frames(0.2)
    assert back.shape == (40, 2)
    assert not back.any()
