"""Conversion to any voice on untrained networks: its contract, its limits and its messages."""

import gc
import math
import shutil
import weakref
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from earshot.core.cancellation import Job, running
from earshot.core.errors import InputError
from earshot.pretrained.voice import Voice, check_one_voice, pitch_statistics
from earshot.systems.voice_conversion import AnyVoiceConversion, VoiceConversion
from earshot.systems.voice_conversion.any_voice import _error, _windows
from earshot.systems.voice_conversion.settings import MUTED
from earshot.systems.voice_conversion.units import Intonation, Units

RATE = 16_000


@pytest.fixture(scope="module")
def converter(tiny_checkpoints: Path) -> AnyVoiceConversion:
    return AnyVoiceConversion.load(tiny_checkpoints / "any-voice", device="cpu")


def speech_like(seconds: float, rate: int = RATE) -> tuple[int, np.ndarray]:
    """A gliding buzz with formants that move, in syllables, and noise between them."""
    time = np.arange(round(seconds * rate)) / rate
    hz = 130 + 30 * np.sin(2 * np.pi * 0.7 * time)
    phase = 2 * np.pi * np.cumsum(hz) / rate
    formant = 700 + 400 * np.sin(2 * np.pi * 2.3 * time)
    buzz = sum(np.sin(k * phase) * np.exp(-(((k * hz - formant) / 300) ** 2)) for k in range(1, 20))
    noise = 0.01 * np.random.default_rng(0).normal(size=len(time))
    return rate, (0.1 * buzz * (np.sin(8 * np.pi * time) > -0.5) + noise).astype(np.float32)


def chords(seconds: float) -> tuple[int, np.ndarray]:
    """Three steady notes at a time, a new chord every half second."""
    time = np.arange(round(seconds * RATE)) / RATE
    roots = 220 * 2 ** (np.random.default_rng(0).integers(0, 12, 100)[(2 * time).astype(int)] / 12)
    notes = [np.sin(2 * np.pi * np.cumsum(roots * ratio) / RATE) for ratio in (1, 1.25, 1.5)]
    return RATE, (0.1 * np.sum(notes, axis=0)).astype(np.float32)


OWN = {  # bit/s of units: as many bits as name a unit of each codebook, 50 times a second
    "continuous": math.inf,
    "units-512x3": 1350.0,
    "units-512x2": 900.0,
    "units-512": 450.0,
    "units-256": 400.0,
    "units-128": 350.0,
    "units-64": 300.0,
}


@pytest.mark.parametrize("model", OWN)
def test_conversion_is_as_long_as_source(converter: AnyVoiceConversion, model: str) -> None:
    """Its units have the bit rate of the model."""
    result = converter.at(model)(speech_like(1.23), "TF2")
    assert len(result.converted.waveform) == len(result.source.waveform)
    assert len(result.units.codes) == 62
    assert np.isfinite(result.converted.waveform).all()
    assert result.unit_bits == OWN[model]


def test_bits_count_units_and_kept_intonation(converter: AnyVoiceConversion) -> None:
    units = converter.at("units-512")
    assert units(speech_like(1.0)).bits_per_second == 650
    assert units(speech_like(1.0), intonation="predicted").bits_per_second == 450
    assert math.isinf(converter(speech_like(1.0)).bits_per_second)


def test_units_alone_are_enough_to_decode(
    converter: AnyVoiceConversion,
) -> None:
    """The model has one unit a step."""
    model = converter.at("units-64")
    units = model.encode(speech_like(1.0))[1]
    assert units.vectors is None
    assert len(np.unique(model.content(units), axis=0)) == len(np.unique(units.codes))


@pytest.mark.parametrize("model", ["continuous", "units-512x3", "units-512"])
def test_replaced_units_decode_as_codebook_vector(
    converter: AnyVoiceConversion, model: str
) -> None:
    converter = converter.at(model)
    units = converter.encode(speech_like(1.0))[1]
    before = converter.content(units)
    units = units.put(np.array([7]), int(units.codes[7] + 1) % 512)
    after = converter.content(units)
    only = converter.at("units-512").networks.bottleneck.codebook("units-512")
    np.testing.assert_array_equal(after[7], only[units.codes[7]].numpy())
    np.testing.assert_array_equal(np.delete(after, 7, axis=0), np.delete(before, 7, axis=0))


@pytest.mark.parametrize("model", ["continuous", "units-512x2", "units-64"])
def test_units_from_file_speak_as_before(converter: AnyVoiceConversion, model: str) -> None:
    converter = converter.at(model)
    units = converter.encode(speech_like(1.0))[1]
    again = Units.from_json(units.to_json())
    expected, spoken = (converter.decode(u, "TF2").log_mel for u in (units, again))
    assert np.abs(spoken - expected).mean() < 0.01


def test_muted_units_are_silent(converter: AnyVoiceConversion) -> None:
    """The silence lasts as long as they did."""
    units = converter.encode(speech_like(1.0))[1]
    units.codes[10:20] = MUTED
    waveform = converter.decode(units).waveform
    assert not waveform[11 * 320 : 19 * 320].any()
    assert len(waveform) == 50 * 320


@pytest.mark.parametrize("vocoder", AnyVoiceConversion.VOCODERS)
def test_silence_comes_out_as_silence(converter: AnyVoiceConversion, vocoder: str) -> None:
    result = converter((RATE, np.zeros(RATE, np.float32)), vocoder=vocoder)
    assert not result.converted.waveform.any()
    assert "silent" in result.notices[0]


def test_sound_below_gate_is_called_silent(
    converter: AnyVoiceConversion,
) -> None:
    """It is not called noisy."""
    hum = (8e-4 * np.sin(np.arange(2 * RATE))).astype(np.float32)
    result = converter((RATE, hum))
    assert not result.converted.waveform.any()
    assert ["silent" in notice for notice in result.notices] == [True]


def test_level_does_not_change_the_content(converter: AnyVoiceConversion) -> None:
    rate, waveform = speech_like(2.0)
    loud, quiet = (converter.encode((rate, g * waveform))[1].vectors for g in (1.0, 0.1))
    assert loud is not None and quiet is not None
    np.testing.assert_allclose(loud, quiet, atol=0.05)


@pytest.mark.parametrize("rate", [8_000, 44_100])
def test_number_of_units_ignores_sampling_rate(converter: AnyVoiceConversion, rate: int) -> None:
    assert len(converter(speech_like(1.0, rate)).units.codes) == pytest.approx(50, abs=1)


def test_voice_of_recording_can_be_blended(converter: AnyVoiceConversion) -> None:
    """It is spoken as well."""
    voice = converter.voice(converter.reference(speech_like(12.0)))
    assert np.exp(voice.pitch_mean) == pytest.approx(130, rel=0.1)
    assert voice.vector.shape == converter.voices["TF2"].vector.shape
    blend = voice.blend(converter.voices["TF2"], 0.5)
    assert blend.vector.std() == pytest.approx(1.0, abs=1e-3)
    own, mixed = (converter(speech_like(1.0), v).converted.log_mel for v in (voice, blend))
    assert np.abs(own - mixed).max() > 0.01
    ends = [voice.blend(converter.voices["TF2"], share).pitch_mean for share in (0, 1)]
    assert ends == [voice.pitch_mean, converter.voices["TF2"].pitch_mean]


def test_voice_stays_with_its_holder(converter: AnyVoiceConversion) -> None:
    before = dict(converter.voices)
    converter.voice(converter.reference(speech_like(12.0)), "mine")
    assert dict(converter.voices) == before
    with pytest.raises(TypeError):
        converter.voices["mine"] = before["TF2"]  # type: ignore[index]


@pytest.mark.parametrize(
    ("audio", "message"),
    [
        (None, "no recording"),
        (speech_like(5.0), "10 s or more"),
        (speech_like(31.0), "30"),
        ((RATE, np.zeros(12 * RATE, np.float32)), "0 s of the recording are speech"),
        (b"no sound", "cannot be read"),
        (chords(12.0), "s of the recording are speech"),
    ],
)
def test_unusable_recording_gives_no_voice(
    converter: AnyVoiceConversion, audio: object, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        converter.reference(audio)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=message):
        converter.voice_from(audio)  # type: ignore[arg-type]


def test_voice_of_recording_is_target(converter: AnyVoiceConversion) -> None:
    voice = converter.voice_from(speech_like(12.0))
    assert np.isfinite(converter(speech_like(1.0), voice).converted.waveform).all()
    assert voice.name not in converter.voices


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"target": "HAL"}, "no voice HAL"),
        ({"intonation": "sung"}, "keep, predicted"),
        ({"vocoder": "magic"}, "neural, griffin-lim"),
    ],
)
def test_choices_that_do_not_exist(
    converter: AnyVoiceConversion, choice: dict[str, str], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        converter(speech_like(0.5), **choice)


def test_bottleneck_that_does_not_exist_raises(converter: AnyVoiceConversion) -> None:
    with pytest.raises(InputError, match="no bottleneck units-7"):
        converter.at("units-7")


def test_models_of_one_checkpoint_share_its_networks(
    tiny_checkpoints: Path, tmp_path: Path
) -> None:
    """They are gone when no model is in use."""
    folder = shutil.copytree(tiny_checkpoints, tmp_path / "checkpoints")
    continuous, units = (
        VoiceConversion.from_pretrained(name, "cpu", folder) for name in ("continuous", "units-512")
    )
    assert isinstance(continuous, AnyVoiceConversion) and isinstance(units, AnyVoiceConversion)
    assert (continuous.name, units.name) == ("continuous", "units-512")
    assert continuous.networks is units.networks
    networks = weakref.ref(units.networks)
    del continuous, units
    gc.collect()
    assert networks() is None


def test_continuous_model_refuses_units_without_content(
    converter: AnyVoiceConversion,
) -> None:
    units = converter.encode(speech_like(0.5))[1]
    for vectors in (None, np.zeros((len(units.codes), 3), np.float32)):
        with pytest.raises(InputError, match="no content"):
            converter.decode(replace(units, vectors=vectors))


def test_fit_brings_voice_nearer_to_reference(converter: AnyVoiceConversion) -> None:
    """It changes no network."""
    inverter = deepcopy(converter.networks.inverter)
    for name, weight in inverter.named_parameters():
        if "modulation" in name:  # untrained, no voice makes a difference
            nn.init.normal_(weight, std=0.3)
    converter = AnyVoiceConversion(replace(converter.networks, inverter=inverter), "continuous")
    reference = converter.reference(speech_like(12.0))
    voice, progress = converter.voice(reference), []
    before = [p.clone() for p in converter.networks.inverter.parameters()]
    fitted = converter.fit(voice, reference, progress.append)
    assert progress[-1] == 1.0
    assert fitted.pitch_mean == voice.pitch_mean
    content, contour, mel = _windows(converter.networks, reference, voice)
    was, now = (
        float(_error(converter.networks, content, contour, mel, torch.from_numpy(v), voice))
        for v in (voice.vector, fitted.vector)
    )
    assert now < was
    for parameter, old in zip(converter.networks.inverter.parameters(), before, strict=True):
        assert torch.equal(parameter, old) and parameter.grad is None


def test_weights_that_were_loaded_while_inferring_can_be_fitted(
    tiny_checkpoints: Path, tmp_path: Path
) -> None:
    """As where lips spoke in a voice first."""
    folder = shutil.copytree(tiny_checkpoints, tmp_path / "checkpoints") / "any-voice"
    with torch.inference_mode():
        converter = AnyVoiceConversion.load(folder, device="cpu")
    assert not any(p.is_inference() for p in converter.networks.inverter.parameters())


def test_fit_stops_when_visitor_says_so(converter: AnyVoiceConversion) -> None:
    reference = converter.reference(speech_like(12.0))
    voice, job = converter.voice(reference), Job(60.0)
    with pytest.raises(InputError), running(job):
        converter.fit(voice, reference, lambda share: job.stop())


def test_check_one_voice_refuses_two_voices() -> None:
    """A cough in one of the pieces is no second voice."""
    random = np.random.default_rng(0)
    one, other = random.standard_normal((2, 128))
    pieces = [one + 0.3 * random.standard_normal(128) for _ in range(8)]
    check_one_voice(np.stack(pieces))
    check_one_voice(np.stack([*pieces, other]))  # a cough
    check_one_voice(pieces[0][None])
    for several in (pieces[:1] + [other], [*pieces[:4], *[other] * 4]):
        with pytest.raises(InputError, match="more than one voice") as refused:
            check_one_voice(np.stack(several))
        assert "Record again" not in refused.value.message
        assert "Record again" in refused.value.advice


def test_a_blend_outside_its_range() -> None:
    voice = Voice("a", np.ones(4, np.float32), 5.0, 0.2)
    with pytest.raises(InputError, match="between 0"):
        voice.blend(voice, 1.5)


def test_intonation_survives_its_bits() -> None:
    time = np.arange(400)
    pitch = np.where((time // 50) % 3 > 0, 180 * np.exp(0.3 * np.sin(time / 40)), 0)
    mean, std = pitch_statistics(pitch)
    contour = Intonation.of(pitch).contour(std)
    voiced = pitch > 0
    assert ((contour[:, 0] > 0) == voiced).mean() > 0.98
    error = np.abs(contour[voiced, 1] + mean - np.log(pitch[voiced]))
    assert np.median(error) < 0.02  # a third of a semitone


def test_intonation_of_nothing_voiced_is_flat() -> None:
    contour = Intonation.of(np.zeros(40)).contour(0.2)
    assert contour.shape == (40, 2)
    assert not contour.any()
