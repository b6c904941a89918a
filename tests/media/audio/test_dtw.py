"""Dynamic time warping on small cases whose answer is known."""

import numpy as np
import pytest

from earshot.media.audio.dtw import distance, mfcc_frames

RATE = 16_000


def sweep(seconds: float, low: float, high: float) -> np.ndarray:
    """A tone that rises from low to high (Hz), with overtones."""
    pitch = np.linspace(low, high, round(RATE * seconds))
    phase = 2 * np.pi * np.cumsum(pitch) / RATE
    tones = [np.sin(k * phase) / k for k in range(1, 8)]
    return (0.1 * np.sum(tones, axis=0)).astype(np.float32)


def test_distance_to_itself_is_zero() -> None:
    frames = mfcc_frames(sweep(0.5, 200, 800))
    assert frames.shape == (50, 39)
    assert distance(frames, frames) == pytest.approx(0, abs=1e-5)


def test_distance_depends_on_sounds_not_pace() -> None:
    """Another pace changes it less than other sounds do."""
    word = mfcc_frames(sweep(0.4, 200, 800))
    slow, other = mfcc_frames(sweep(0.7, 200, 800)), mfcc_frames(sweep(0.4, 800, 200))
    assert distance(word, slow) < 0.5 * distance(word, other)
    assert distance(word, other) == pytest.approx(distance(other, word), abs=1e-5)


def test_distance_of_short_words_is_finite() -> None:
    """Silence has a finite distance, too."""
    short, silent = mfcc_frames(sweep(0.03, 200, 800)), mfcc_frames(np.zeros(4000, np.float32))
    assert 0 <= distance(short, silent) <= 2
