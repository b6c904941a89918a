"""Parts of a stream: in hops and chunks they give what they give of the whole."""

import numpy as np
import pytest
import torch

from earshot.media.audio.load import loudness
from earshot.media.audio.pitch import track_pitch
from earshot.media.constants import HOP_LENGTH, N_BINS, SAMPLE_RATE
from earshot.models.vocoder import Vocoder, VocoderConfig
from earshot.systems.voice_conversion.live.streams import (
    CONTEXT,
    FRAMES_BEHIND,
    Resampler,
    RunningIntonation,
    RunningLevel,
    StreamingVocoder,
)
from earshot.systems.voice_conversion.units import Intonation

RATES = [(48_000, 16_000), (16_000, 48_000), (44_100, 16_000), (16_000, 44_100), (8_000, 16_000)]


@pytest.mark.parametrize(("rate", "to"), RATES)
def test_chunks_give_samples_of_whole(rate: int, to: int) -> None:
    samples = np.random.default_rng(0).standard_normal(rate).astype(np.float32)
    cuts = np.sort(np.random.default_rng(1).integers(0, rate, 40))
    chunked, whole = Resampler(rate, to), Resampler(rate, to)
    pieces = np.concatenate([chunked(piece) for piece in np.split(samples, cuts)])
    np.testing.assert_allclose(pieces, whole(samples), atol=1e-5)


@pytest.mark.parametrize(("rate", "to"), RATES)
def test_tone_comes_back_after_its_delay(rate: int, to: int) -> None:
    resampler = Resampler(rate, to)
    samples = np.sin(2 * np.pi * 440 * np.arange(rate) / rate).astype(np.float32)
    pieces = [resampler(piece) for piece in np.split(samples, 50)]
    counts = np.cumsum([len(piece) for piece in pieces])
    due = np.arange(1, 51) * to // 50
    assert np.all((counts >= due) & (counts < due + 1 + to / rate))
    assert resampler.delay < 0.0025
    times = np.arange(counts[-1]) / to - resampler.delay
    expected = np.where(times >= 0, np.sin(2 * np.pi * 440 * times), 0)
    inner = slice(to // 10, None)
    np.testing.assert_allclose(np.concatenate(pieces)[inner], expected[inner], atol=0.01)


def test_frequencies_beyond_rate_are_left_out() -> None:
    times = np.arange(48_000) / 48_000
    aliased = Resampler(48_000, 16_000)(np.sin(2 * np.pi * 10_000 * times).astype(np.float32))
    assert np.abs(aliased[1000:]).max() < 0.001


def test_equal_rates_change_nothing() -> None:
    samples = np.random.default_rng(0).standard_normal(100).astype(np.float32)
    resampler = Resampler(16_000, 16_000)
    assert resampler.delay == 0
    np.testing.assert_array_equal(resampler(samples), samples)


def test_running_intonation_follows_that_of_recording() -> None:
    """The voice is steady, and rises."""
    seconds = 4.0
    hz = 120 * 2 ** (np.arange(round(seconds * SAMPLE_RATE)) / SAMPLE_RATE / seconds)
    phase = 2 * np.pi * np.cumsum(hz) / SAMPLE_RATE
    harmonics = np.array([np.sin(k * phase) / k for k in range(1, 10)])
    samples = 0.1 * harmonics.sum(axis=0).astype(np.float32)
    whole = Intonation.of(track_pitch(samples))
    running, new, ahead = RunningIntonation(steps=10), 4, 7
    hop, window = 2 * new * HOP_LENGTH, 40 * HOP_LENGTH
    ends = range(window, len(samples) + 1, hop)
    parts = [running(samples[end - window : end], new, ahead) for end in ends]
    last = (ends[-1] // HOP_LENGTH) // 2 - ahead
    assert parts[-1].voiced.all()
    # The stream normalises by what came until now, which at the end is nearly all.
    np.testing.assert_allclose(
        parts[-1].log_f0[: 10 - new], whole.log_f0[last - 10 : last - new], atol=0.25
    )
    before = parts[-2].log_f0[new:10]
    np.testing.assert_array_equal(parts[-1].log_f0[: len(before)], before)


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
    spoken = torch.cat(hops)[(FRAMES_BEHIND + 1) * HOP_LENGTH :]
    inner = slice(12 * HOP_LENGTH, len(spoken))  # where neither sees the beginning
    torch.testing.assert_close(spoken[inner], whole[inner], atol=1e-3, rtol=1e-3)


def noise(seconds: float, gain: float) -> np.ndarray:
    """Noise that comes and goes three times a second: (T,)."""
    time = np.arange(round(seconds * SAMPLE_RATE)) / SAMPLE_RATE
    white = np.random.default_rng(0).standard_normal(len(time))
    return (gain * white * np.sin(np.pi * 3 * time) ** 2).astype(np.float32)


@pytest.mark.parametrize("gain", [0.1, 1.0])
def test_running_level_evens_out_loudness(gain: float) -> None:
    """Quiet and loud speech come out equally loud."""
    level, samples = RunningLevel(-23.0), noise(4.0, gain * 0.3)
    out = np.concatenate([level(samples[i : i + 1280]) for i in range(0, len(samples), 1280)])
    assert loudness(out[2 * SAMPLE_RATE :], SAMPLE_RATE) == pytest.approx(-23, abs=1)
