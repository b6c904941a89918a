"""Live conversion: any chunks, the same sound; its delay; no seams; voices that change."""

from pathlib import Path

import numpy as np
import pytest
import torch

from media.audio.load import loudness
from media.constants import HOP_LENGTH, N_BINS, SAMPLE_RATE
from models.vocoder import Vocoder, VocoderConfig
from pipelines.voice_conversion import MUTED, VoiceConversion
from pipelines.voice_conversion.live import LiveConversion
from pipelines.voice_conversion.live.conversion import HOP_SAMPLES
from pipelines.voice_conversion.live.running import RunningLevel
from pipelines.voice_conversion.live.vocoder import BEHIND, CONTEXT, StreamingVocoder


@pytest.fixture(scope="module")
def pipeline(tiny_checkpoints: Path) -> VoiceConversion:
    return VoiceConversion.from_pretrained(tiny_checkpoints / "vqvae-512", "cpu")


def speech(seconds: float, gain: float = 0.1) -> np.ndarray:
    """Noise that comes and goes three times a second: (T,)."""
    time = np.arange(round(seconds * SAMPLE_RATE)) / SAMPLE_RATE
    noise = np.random.default_rng(0).standard_normal(len(time))
    return (gain * noise * np.sin(np.pi * 3 * time) ** 2).astype(np.float32)


@pytest.mark.parametrize("size", [7, 160, 5000])
def test_push_in_chunks_of_any_size_gives_the_same_samples(
    pipeline: VoiceConversion, size: int
) -> None:
    said = speech(0.4)
    whole = LiveConversion(pipeline).push(said)
    live = LiveConversion(pipeline)
    chunks = [live.push(said[i : i + size]) for i in range(0, len(said), size)]
    np.testing.assert_array_equal(np.concatenate(chunks), whole)


def test_push_gives_as_many_samples_as_went_in_whole_hops(pipeline: VoiceConversion) -> None:
    live = LiveConversion(pipeline)
    assert len(live.push(np.zeros(HOP_SAMPLES - 1, np.float32))) == 0
    assert len(live.push(np.zeros(1, np.float32))) == HOP_SAMPLES
    assert len(live.push(np.zeros(0, np.float32))) == 0


def test_push_of_a_sound_after_silence_speaks_after_the_stated_delay(
    pipeline: VoiceConversion,
) -> None:
    live = LiveConversion(pipeline)
    before = 2.0
    sound = np.concatenate([np.zeros(round(before * SAMPLE_RATE), np.float32), speech(1.0)])
    heard = np.flatnonzero(live.push(sound))
    # A unit before the first loud one is not muted, and the gate fades in.
    assert heard[0] / SAMPLE_RATE == pytest.approx(before + live.delay, abs=0.05)
    assert live.latency - live.delay == pytest.approx(HOP_SAMPLES / SAMPLE_RATE)


def test_push_of_silence_gives_silence_and_muted_units(pipeline: VoiceConversion) -> None:
    live = LiveConversion(pipeline)
    assert not live.push(np.zeros(SAMPLE_RATE, np.float32)).any()
    assert set(live.units) == {MUTED}


def test_push_of_whatever_the_microphone_gives_stays_finite(pipeline: VoiceConversion) -> None:
    live = LiveConversion(pipeline)
    for sound in (speech(0.5, 1e-6), speech(0.5, 1.0), np.ones(8000), -np.ones(8000)):
        assert np.isfinite(live.push(np.clip(sound, -1, 1).astype(np.float32))).all()


def test_two_sessions_of_one_pipeline_do_not_disturb_each_other(pipeline: VoiceConversion) -> None:
    said, other = speech(0.5), speech(0.5, 0.01)
    alone = LiveConversion(pipeline).push(said)
    one, two = LiveConversion(pipeline), LiveConversion(pipeline, "SM1")
    together = []
    for i in range(0, len(said), 1000):
        together.append(one.push(said[i : i + 1000]))
        two.push(other[i : i + 1000])
    np.testing.assert_array_equal(np.concatenate(together), alone)


def test_a_new_voice_is_heard_from_the_next_hop_on(pipeline: VoiceConversion) -> None:
    said = speech(1.0)
    half = 5 * HOP_SAMPLES
    same, changed = LiveConversion(pipeline, "TF2"), LiveConversion(pipeline, "TF2")
    np.testing.assert_array_equal(changed.push(said[:half]), same.push(said[:half]))
    changed.voice = "SM1"
    assert np.abs(changed.push(said[half:]) - same.push(said[half:])).max() > 1e-4


def test_streaming_vocoder_hop_by_hop_gives_the_sound_of_all_hops_at_once() -> None:
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
def test_running_level_brings_quiet_and_loud_speech_to_the_same_loudness(gain: float) -> None:
    level, said = RunningLevel(-23.0), speech(4.0, gain * 0.3)
    out = np.concatenate([level(said[i : i + 1280]) for i in range(0, len(said), 1280)])
    assert loudness(out[2 * SAMPLE_RATE :], SAMPLE_RATE) == pytest.approx(-23, abs=1)
