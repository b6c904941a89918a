"""WAV files hold the same sound, and loudness is that of the standard."""

import io
import wave

import av
import numpy as np
import pytest

from earshot.media.audio.load import load, loudness, match_loudness, to_int16, wav_bytes
from tests.media.audio.recordings import RATE, tone


def test_wav_bytes_with_comment_hold_it() -> None:
    """The sound is the same as without it."""
    plain, tagged = wav_bytes(tone(), RATE), wav_bytes(tone(), RATE, comment="made by a test")
    with av.open(io.BytesIO(tagged)) as container:
        assert container.metadata["comment"] == "made by a test"
    np.testing.assert_array_equal(load(tagged).waveform, load(plain).waveform)
    assert int.from_bytes(tagged[4:8], "little") == len(tagged) - 8


def test_wav_bytes_load_as_same_sound() -> None:
    waveform = tone(rate=16_000).astype(np.float32)
    data = wav_bytes(waveform, 16_000)
    with wave.open(io.BytesIO(data)) as file:
        assert file.getparams()[:4] == (1, 2, 16_000, len(waveform))
    assert np.abs(load(data).waveform - waveform).max() < 1e-4


def test_to_int16_of_values_outside_clips() -> None:
    assert to_int16(np.array([-2.0, -1.0, 0.0, 1.0, 2.0])).tolist() == [
        -32767,
        -32767,
        0,
        32767,
        32767,
    ]


def test_loudness_agrees_with_standard() -> None:
    """BS.1770: a 997 Hz tone at full scale in one channel has -3.01 LKFS."""
    waveform = np.sin(2 * np.pi * 997 * np.arange(RATE * 5) / RATE)
    assert loudness(waveform, RATE) == pytest.approx(-3.01, abs=0.05)
    assert loudness(waveform[: RATE // 5], RATE) == pytest.approx(-3.01, abs=0.1)
    assert loudness(np.zeros(RATE), RATE) == -np.inf


def test_match_loudness_reaches_target_or_peak() -> None:
    waveform = tone(rate=16_000).astype(np.float32)
    matched = match_loudness(waveform, 16_000, -23)
    assert matched.dtype == np.float32
    assert loudness(matched, 16_000) == pytest.approx(-23, abs=0.05)
    assert np.abs(match_loudness(waveform, 16_000, 20)).max() == pytest.approx(10 ** (-1 / 20))
    assert not np.any(match_loudness(waveform, 16_000, -np.inf))
    assert not np.any(match_loudness(np.zeros(16_000), 16_000, -23))
