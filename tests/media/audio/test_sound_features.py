"""Spectrograms of sounds: right frame, right band, every second covered."""

import librosa
import numpy as np
import pytest

from earshot.media.audio.sound_features import HOP_LENGTH, SAMPLE_RATE, log_mel, split


def tone(hz: float, seconds: float) -> np.ndarray:
    time = np.arange(round(seconds * SAMPLE_RATE)) / SAMPLE_RATE
    return (0.3 * np.sin(2 * np.pi * hz * time)).astype(np.float32)


def test_log_mel_peaks_in_tones_band() -> None:
    mel = log_mel(tone(4000, 1.0))
    centres = librosa.mel_frequencies(130, fmin=0, fmax=SAMPLE_RATE / 2)[1:-1]
    assert mel.shape == (100, 128)
    assert centres[mel[50].argmax()] == pytest.approx(4000, rel=0.03)


def test_log_mel_of_batch_equals_single() -> None:
    sounds = np.stack([tone(300, 2.0), tone(5000, 2.0)])
    batch = log_mel(sounds)
    for sound, mel in zip(sounds, batch, strict=True):
        np.testing.assert_allclose(log_mel(sound), mel, atol=1e-5)


@pytest.mark.parametrize("seconds", [0.05, 1.0, 9.999, 10.0, 10.3, 60.0, 61.7])
def test_split_covers_whole_sound_in_order(seconds: float) -> None:
    sound = np.linspace(-1, 1, round(seconds * SAMPLE_RATE), dtype=np.float32)
    segments = split(sound)
    assert segments.shape[1] <= 10 * SAMPLE_RATE
    assert segments.shape[1] % HOP_LENGTH == 0
    joined = segments.ravel()
    np.testing.assert_allclose(joined[: len(sound)], sound, atol=1e-6)
    assert not joined[len(sound) :].any()
    assert len(joined) - len(sound) < SAMPLE_RATE


def test_split_removes_the_level() -> None:
    sound = tone(500, 12.0)
    np.testing.assert_allclose(split(sound), split(0.1 * sound), atol=1e-6)


def test_split_of_silence_is_silent() -> None:
    assert not split(np.zeros(SAMPLE_RATE, np.float32)).any()
