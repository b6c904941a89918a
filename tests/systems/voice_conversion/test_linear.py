"""Conversion by a matrix a voice, on a tiny recogniser with random weights."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from earshot.core.errors import InputError
from earshot.models.recogniser import Encoder, EncoderConfig, RecogniserStates
from earshot.models.vocoder import Vocoder, VocoderConfig
from earshot.systems.voice_conversion import linear
from earshot.systems.voice_conversion.linear import (
    LinearVC,
    Matrices,
    least_squares,
    shift_pitch,
)

RATE = 16_000


@pytest.fixture(scope="module")
def system() -> LinearVC:
    torch.manual_seed(0)
    encoder = Encoder(EncoderConfig(16, inner=16, layers=2, heads=2, rotary_share=0.5))
    matrices = Matrices(32, 2)
    matrices.matrix.normal_(std=0.02)
    matrices.pitch_mean.fill_(float(np.log(200)))
    matrices.pitch_std.fill_(0.2)
    vocoder = Vocoder(VocoderConfig(width=16, inner=16, layers=1)).eval()
    return LinearVC(RecogniserStates(encoder, (1, 2)), matrices, vocoder, ("A", "B"))


def speech_like(seconds: float, rate: int = RATE, pitch: float = 130.0) -> np.ndarray:
    """A gliding buzz with formants that move, in syllables, and noise between them."""
    time = np.arange(round(seconds * rate)) / rate
    hz = pitch + 30 * np.sin(2 * np.pi * 0.7 * time)
    phase, formant = 2 * np.pi * np.cumsum(hz) / rate, 700 + 400 * np.sin(14.5 * time)
    tones = [np.sin(k * phase) * np.exp(-(((k * hz - formant) / 300) ** 2)) for k in range(1, 20)]
    noise = 0.01 * np.random.default_rng(0).normal(size=len(time))
    buzz = np.sum(tones, axis=0) * (np.sin(8 * np.pi * time) > -0.5)
    return (0.1 * buzz + noise).astype(np.float32)


@pytest.mark.parametrize("rate", [8_000, 44_100])
def test_conversion_is_as_long_as_source(system: LinearVC, rate: int) -> None:
    waveform, sample_rate = system(speech_like(1.23, rate), rate, "A")
    assert sample_rate == RATE and waveform.dtype == np.float32
    assert len(waveform) == 19_680 and np.isfinite(waveform).all() and waveform.any()


def test_mel_of_seeded_matrices_is_as_before(system: LinearVC) -> None:
    """Golden: states, harmonics and matrix, in the first and the second frame of two steps."""
    source, voice = system.analyse(speech_like(1.0)), system._voices["A"]
    mel = system.inputs(source.states, shift_pitch(source.pitch, voice)) @ voice.matrix
    np.testing.assert_allclose(mel[0, 25, :3], [0.0777, -0.0974, -0.0362], atol=2e-3)
    np.testing.assert_allclose(mel[1, 40, -3:], [0.2550, 0.0009, -0.0374], atol=2e-3)


def test_voices_differ_and_unknown_one_is_refused(system: LinearVC) -> None:
    one, other = (system(speech_like(1.0), RATE, voice)[0] for voice in system.voices)
    assert np.abs(one - other).max() > 1e-3
    with pytest.raises(InputError, match="There is no voice C"):
        system(speech_like(1.0), RATE, "C")


def test_silence_stays_silent(system: LinearVC) -> None:
    assert not system(np.zeros(RATE, np.float32), RATE, "A")[0].any()


def test_long_recording_is_encoded_in_windows(
    system: LinearVC, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the windows make of it is as long as what one pass makes."""
    waveform = speech_like(3.0)
    whole = system.analyse(waveform).states
    monkeypatch.setattr(linear, "ENCODER_WINDOW", 100)
    monkeypatch.setattr(linear, "ENCODER_OVERLAP", 20)
    assert system.analyse(waveform).states.shape == whole.shape == (150, 32)


def test_least_squares_finds_the_matrix_of_a_linear_map() -> None:
    """W = (XᵀX)⁻¹XᵀY, with an offset that the ridge leaves alone."""
    torch.manual_seed(0)
    inputs = torch.randn(2, 4000, 5)
    inputs[..., -1] = 1
    truth = torch.randn(2, 5, 3)
    truth[:, -1] = 100
    matrix = least_squares(inputs, inputs @ truth, 0.01)
    torch.testing.assert_close(matrix[:, -1], truth[:, -1], atol=0.1, rtol=0)
    torch.testing.assert_close(matrix[:, :-1], truth[:, :-1], atol=0.05, rtol=0.02)


def test_least_squares_stays_with_the_prior_where_nothing_is_heard() -> None:
    """An input that is always 0 keeps its row of the prior."""
    inputs = torch.randn(2, 100, 4, generator=torch.Generator().manual_seed(0))
    inputs[..., 1], inputs[..., -1] = 0, 1
    prior = torch.ones(2, 4, 3)
    matrix = least_squares(inputs, torch.zeros(2, 100, 3), 0.3, prior)
    torch.testing.assert_close(matrix[:, 1], prior[:, 1])
    assert matrix[:, 0].abs().max() < 0.5


def test_pitch_moves_to_the_height_and_range_of_the_voice() -> None:
    """Unvoiced steps stay so; the range grows by half at most."""
    pitch = torch.exp(np.log(100) + 0.1 * torch.randn(500, 2, generator=torch.manual_seed(0)))
    pitch[::3] = 0
    voice = linear.LinearVoice("A", torch.zeros(1), float(np.log(200)), 1.0)
    there = shift_pitch(pitch, voice)
    assert ((there > 0) == (pitch > 0)).all()
    logs = there[there > 0].log()
    assert logs.mean() == pytest.approx(np.log(200), abs=0.01)
    assert logs.std() == pytest.approx(0.15, abs=0.01)


def test_voice_of_a_recording_speaks_nearer_to_it(system: LinearVC) -> None:
    """Its mean spectrum is that of the recording rather than that of the source."""
    reference = speech_like(12.0, pitch=180.0)
    voice = system.voice_from(reference, RATE)
    assert voice.pitch_mean == pytest.approx(np.log(180), abs=0.05)
    source = system.analyse(speech_like(2.0))
    mel = system.inputs(source.states, shift_pitch(source.pitch, voice)) @ voice.matrix
    target = system.analyse(reference).mel.mean(dim=(0, 1))
    converted, own = mel.mean(dim=(0, 1)), source.mel.mean(dim=(0, 1))
    assert (converted - target).abs().mean() < (own - target).abs().mean()
    with pytest.raises(InputError):
        system.voice_from(reference[: 5 * RATE], RATE)


def test_checkpoint_gives_the_same_conversion(
    system: LinearVC, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from safetensors.torch import save_file

    monkeypatch.setattr(linear, "load_states", lambda *_: system._recogniser)
    config = {"layers": [1, 2], "voices": ["A", "B"], "vocoder": "vocoder"}
    sizes = {"width": 16, "inner": 16, "layers": 1}
    parts = (("linear-vc", config, system._matrices), ("vocoder", sizes, system._vocoder))
    for name, values, network in parts:
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text(json.dumps(values))
        weights = {key: value.contiguous() for key, value in network.state_dict().items()}
        save_file(weights, tmp_path / name / "model.safetensors")
    loaded = LinearVC.load(tmp_path / "linear-vc", "cpu")
    expected, again = (each(speech_like(1.0), RATE, "B")[0] for each in (system, loaded))
    np.testing.assert_allclose(again, expected, atol=1e-5)
