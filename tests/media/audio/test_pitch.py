"""The pitch tracker on sounds of known pitch."""

import numpy as np
import pytest

from earshot.media.audio import pitch as tracker
from earshot.media.audio.features import log_mel
from earshot.media.audio.pitch import log_mel_and_pitch, track_pitch
from earshot.media.constants import HOP_LENGTH, N_MELS, SAMPLE_RATE


def voiced(hz: np.ndarray) -> np.ndarray:
    """Harmonics that fall with their number, at a pitch a sample: (T,) → (T,)."""
    phase = 2 * np.pi * np.cumsum(hz) / SAMPLE_RATE
    return 0.1 * np.sum([np.sin(k * phase) / k for k in range(1, 12)], axis=0)


@pytest.mark.parametrize("hz", [80.0, 120.0, 220.0, 400.0])
def test_track_pitch_of_tone_is_f0(hz: float) -> None:
    pitch = track_pitch(voiced(np.full(SAMPLE_RATE, hz)))
    assert len(pitch) == SAMPLE_RATE // HOP_LENGTH
    np.testing.assert_allclose(pitch[5:-5], hz, rtol=0.01)


def test_track_pitch_follows_a_glide() -> None:
    hz = np.geomspace(100, 200, 2 * SAMPLE_RATE)
    pitch = track_pitch(voiced(hz))
    np.testing.assert_allclose(pitch[5:-5], hz[::HOP_LENGTH][5:-5], rtol=0.02)


def test_track_pitch_of_noise_is_unvoiced() -> None:
    """Silence has no pitch, either."""
    noise = 0.1 * np.random.default_rng(0).normal(size=SAMPLE_RATE)
    assert (track_pitch(noise) > 0).mean() < 0.05
    assert not track_pitch(np.zeros(SAMPLE_RATE)).any()


@pytest.mark.parametrize("hz", [490.0, 520.0, 700.0, 1300.0])
def test_track_pitch_stays_below_highest_voice(hz: float) -> None:
    """A tone above any voice is unvoiced, or is found an octave below."""
    assert track_pitch(voiced(np.full(SAMPLE_RATE, hz))).max() < 480


def test_track_pitch_of_hum_is_unvoiced() -> None:
    """The voice before it keeps its pitch."""
    low = voiced(np.full(SAMPLE_RATE, 110.0))
    hum = 0.02 * voiced(np.full(SAMPLE_RATE, 495.0))
    pitch = track_pitch(np.concatenate([low, hum]))
    np.testing.assert_allclose(pitch[5:95], 110, rtol=0.01)
    assert not pitch[105:].any()


def test_track_pitch_of_pause_is_unvoiced() -> None:
    waveform = voiced(np.full(SAMPLE_RATE, 150.0))
    waveform[6000:10000] = 1e-5 * np.random.default_rng(0).normal(size=4000)
    pitch = track_pitch(waveform)
    assert not pitch[42:58].any()
    assert (pitch[10:30] > 0).all()


def test_log_mel_and_pitch_joins_both() -> None:
    """The pitch comes after the log mel."""
    silence = np.zeros(SAMPLE_RATE // 4)
    speech = np.concatenate([silence, voiced(np.full(SAMPLE_RATE // 2, 200.0)), silence])
    frames = log_mel_and_pitch(speech)
    assert frames.dtype == np.float32 and frames.shape == (len(log_mel(speech)), N_MELS + 1)
    np.testing.assert_array_equal(frames[:, :N_MELS], log_mel(speech))
    assert frames[35:65, N_MELS] == pytest.approx(np.log2(200), abs=0.03)
    assert not frames[:15, N_MELS].any() and not frames[-15:, N_MELS].any()


def test_silence_has_log_mel_without_pitch() -> None:
    assert not log_mel_and_pitch(np.zeros(3200, np.float32))[:, N_MELS].any()


def test_best_path_equals_that_over_all_steps() -> None:
    rng = np.random.default_rng(0)
    voiced_cost, unvoiced_cost = rng.random((60, 9)), 0.4 * rng.random(60)
    path = tracker._best_path(voiced_cost, unvoiced_cost, 0.1)
    assert path.tolist() == cheapest_path(voiced_cost, unvoiced_cost, 0.1)
    assert 0 < (path == 9).sum() < 60


def cheapest_path(voiced: np.ndarray, unvoiced: np.ndarray, glide: float) -> list[int]:
    """The slow twin of _best_path: every state of a frame from every state of the one before."""
    states = np.arange(voiced.shape[1])
    step = np.full((len(states) + 1, len(states) + 1), tracker.SWITCH)
    step[:-1, :-1] = glide * np.abs(states[:, None] - states)
    step[-1, -1] = 0.0
    costs = np.column_stack([voiced, unvoiced])
    total, sources = costs[0], []
    for cost in costs[1:]:
        ways = total[:, None] + step
        sources.append(ways.argmin(axis=0))
        total = ways.min(axis=0) + cost
    path = [int(total.argmin())]
    for source in sources[::-1]:
        path.append(int(source[path[-1]]))
    return path[::-1]
