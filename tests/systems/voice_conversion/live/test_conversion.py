"""Live conversion: any chunks, the same sound; its delay; no seams; voices that change."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from earshot.core.errors import InputError
from earshot.media.audio.load import loudness
from earshot.media.audio.pitch import track_pitch
from earshot.media.constants import HOP_LENGTH, N_BINS, SAMPLE_RATE
from earshot.models.vocoder import Vocoder, VocoderConfig
from earshot.systems.voice_conversion import (
    MUTED,
    AnyVoiceConversion,
    Voice,
    settings,
)
from earshot.systems.voice_conversion.intonation import Intonation
from earshot.systems.voice_conversion.live import (
    Choice,
    LiveConversion,
    LiveNetworks,
    load_networks,
)
from earshot.systems.voice_conversion.live.conversion import TIMING
from earshot.systems.voice_conversion.live.networks import AnyVoiceNetworks
from earshot.systems.voice_conversion.live.running import RunningIntonation, RunningLevel
from earshot.systems.voice_conversion.live.vocoder import BEHIND, CONTEXT, StreamingVocoder
from earshot.systems.voice_conversion.settings import live_checkpoint

HOP_SAMPLES = TIMING.hop * HOP_LENGTH


@pytest.fixture(scope="module", params=["any-voice", "vqvae-512"])
def networks(tiny_checkpoints: Path, request: pytest.FixtureRequest) -> LiveNetworks:
    if request.param == "any-voice":
        return request.getfixturevalue("any_voice")
    return load_networks(tiny_checkpoints / request.param)


@pytest.fixture(scope="module")
def any_voice(tiny_checkpoints: Path) -> LiveNetworks:
    """Not quite untrained, for then all voices are the same."""
    folder = live_checkpoint(tiny_checkpoints)
    networks = AnyVoiceConversion.load(folder, "cpu").networks
    torch.manual_seed(0)
    with torch.no_grad():
        for parameter in networks.inverter.parameters():
            parameter += 0.1 * torch.randn_like(parameter)
    random = np.random.default_rng(0)
    voices = {
        name: Voice(name, random.standard_normal(8).astype(np.float32), mean, 0.25)
        for name, mean in (("TF2", 5.3), ("SF1", 4.8))
    }
    changed = replace(networks, voices=voices)
    return AnyVoiceNetworks(AnyVoiceConversion(changed, settings.CONTINUOUS))


def speech(seconds: float, gain: float = 0.1) -> np.ndarray:
    """Noise that comes and goes three times a second: (T,)."""
    time = np.arange(round(seconds * SAMPLE_RATE)) / SAMPLE_RATE
    noise = np.random.default_rng(0).standard_normal(len(time))
    return (gain * noise * np.sin(np.pi * 3 * time) ** 2).astype(np.float32)


@pytest.mark.parametrize("size", [7, 160, 5000])
def test_push_ignores_size_of_chunks(networks: LiveNetworks, size: int) -> None:
    said = speech(0.4)
    whole = LiveConversion(networks).push(said)
    live = LiveConversion(networks)
    chunks = [live.push(said[i : i + size]) for i in range(0, len(said), size)]
    np.testing.assert_array_equal(np.concatenate(chunks), whole)


def test_live_timing_is_within_120_ms() -> None:
    assert TIMING.latency == pytest.approx(0.12)


def test_push_gives_samples_of_whole_hops(networks: LiveNetworks) -> None:
    live = LiveConversion(networks)
    assert len(live.push(np.zeros(HOP_SAMPLES - 1, np.float32))) == 0
    assert len(live.push(np.zeros(1, np.float32))) == HOP_SAMPLES
    assert len(live.push(np.zeros(0, np.float32))) == 0


def test_push_speaks_after_stated_delay(
    networks: LiveNetworks,
) -> None:
    """Silence comes before the sound."""
    live = LiveConversion(networks)
    before = 2.0
    sound = np.concatenate([np.zeros(round(before * SAMPLE_RATE), np.float32), speech(1.0)])
    heard = np.flatnonzero(live.push(sound))
    # A unit before the first loud one is not muted, and the gate fades in.
    assert heard[0] / SAMPLE_RATE == pytest.approx(before + live.timing.delay, abs=0.05)


def test_silence_gives_silence_and_muted_units(networks: LiveNetworks) -> None:
    live = LiveConversion(networks)
    assert not live.push(np.zeros(SAMPLE_RATE, np.float32)).any()
    assert set(live.units) == {MUTED}


def test_push_of_any_input_stays_finite(networks: LiveNetworks) -> None:
    live = LiveConversion(networks)
    for sound in (speech(0.5, 1e-6), speech(0.5, 1.0), np.ones(8000), -np.ones(8000)):
        assert np.isfinite(live.push(np.clip(sound, -1, 1).astype(np.float32))).all()


def test_sessions_do_not_disturb_each_other(networks: LiveNetworks) -> None:
    said, other = speech(0.5), speech(0.5, 0.01)
    alone = LiveConversion(networks).push(said)
    one, two = LiveConversion(networks), LiveConversion(networks, Choice("SF1"))
    together = []
    for i in range(0, len(said), 1000):
        together.append(one.push(said[i : i + 1000]))
        two.push(other[i : i + 1000])
    np.testing.assert_array_equal(np.concatenate(together), alone)


def test_new_voice_begins_with_next_hop(networks: LiveNetworks) -> None:
    said = speech(1.0)
    half = 5 * HOP_SAMPLES
    same, changed = LiveConversion(networks), LiveConversion(networks)
    np.testing.assert_array_equal(changed.push(said[:half]), same.push(said[:half]))
    changed.choice = Choice("SF1")
    assert np.abs(changed.push(said[half:]) - same.push(said[half:])).max() > 1e-4


@pytest.mark.parametrize(
    "choice",
    [Choice(other="SF1", share=0.5), Choice(model="units-64"), Choice(intonation="predicted")],
    ids=["blend", "bits", "intonation"],
)
def test_push_depends_on_blend_and_intonation(any_voice: LiveNetworks, choice: Choice) -> None:
    """The rate of the units changes the sound as well."""
    said = speech(1.0)
    same, changed = LiveConversion(any_voice), LiveConversion(any_voice, choice)
    assert np.abs(changed.push(said) - same.push(said)).max() > 1e-4


@pytest.mark.parametrize(
    "choice",
    [
        Choice("X"),
        Choice(model="X"),
        Choice(other="X", share=0.5),
        Choice(other="SF1", share=float("nan")),
    ],
)
def test_check_refuses_unknown_choice(networks: LiveNetworks, choice: Choice) -> None:
    with pytest.raises(InputError):
        networks.check(choice)


def test_running_intonation_follows_that_of_recording() -> None:
    """The voice is steady, and rises."""
    seconds = 4.0
    hz = 120 * 2 ** (np.arange(round(seconds * SAMPLE_RATE)) / SAMPLE_RATE / seconds)
    phase = 2 * np.pi * np.cumsum(hz) / SAMPLE_RATE
    harmonics = np.array([np.sin(k * phase) / k for k in range(1, 10)])
    said = 0.1 * harmonics.sum(axis=0).astype(np.float32)
    whole = Intonation.of(track_pitch(said))
    running, new, ahead = RunningIntonation(spoken=10), 4, 7
    hop, window = 2 * new * HOP_LENGTH, 40 * HOP_LENGTH
    ends = range(window, len(said) + 1, hop)
    heard = [running(said[end - window : end], new, ahead) for end in ends]
    last = (ends[-1] // HOP_LENGTH) // 2 - ahead
    assert heard[-1].voiced.all()
    # The stream normalises by what it has heard until now, which at the end is nearly all.
    np.testing.assert_allclose(
        heard[-1].log_f0[: 10 - new], whole.log_f0[last - 10 : last - new], atol=0.25
    )
    kept = heard[-2].log_f0[new:10]
    np.testing.assert_array_equal(heard[-1].log_f0[: len(kept)], kept)


def test_streaming_vocoder_equals_all_at_once() -> None:
    torch.manual_seed(0)
    vocoder = Vocoder(VocoderConfig(width=16, inner=16, layers=1)).eval()
    with torch.no_grad():
        vocoder.envelope.bias[N_BINS:] = -30.0  # no noise: that of the stream is another
    frames, hop = 60, 8
    mel = torch.randn(frames, 80).cumsum(0) / 10
    pitch = 120 + 20 * torch.sin(torch.arange(frames) / 10)
    mel[0], pitch[0] = mel[1], pitch[1]  # the stream's pulses begin a frame later
    with torch.inference_mode():
        whole = vocoder(mel[None, 1:], pitch[None, 1:])[0]
        stream = StreamingVocoder(vocoder)
        hops = [stream.speak(mel, pitch, at, hop) for at in range(0, frames - CONTEXT - hop, hop)]
    spoken = torch.cat(hops)[(BEHIND + 1) * HOP_LENGTH :]
    inner = slice(12 * HOP_LENGTH, len(spoken))  # where neither sees the beginning
    torch.testing.assert_close(spoken[inner], whole[inner], atol=1e-3, rtol=1e-3)


@pytest.mark.parametrize("gain", [0.1, 1.0])
def test_running_level_evens_out_loudness(gain: float) -> None:
    """Quiet and loud speech come out equally loud."""
    level, said = RunningLevel(-23.0), speech(4.0, gain * 0.3)
    out = np.concatenate([level(said[i : i + 1280]) for i in range(0, len(said), 1280)])
    assert loudness(out[2 * SAMPLE_RATE :], SAMPLE_RATE) == pytest.approx(-23, abs=1)
