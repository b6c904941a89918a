"""STOI and ESTOI are high for equal speech, and low for noise."""

import numpy as np
import pytest

from earshot.media.audio.intelligibility import intelligibility

RATE = 16_000


@pytest.fixture(scope="module")
def speech() -> np.ndarray:
    """Two seconds of noise in syllables."""
    time = np.arange(2 * RATE) / RATE
    noise = np.random.default_rng(0).standard_normal(len(time))
    return (0.1 * noise * (0.55 + 0.45 * np.sin(2 * np.pi * 3 * time))).astype(np.float32)


def test_intelligibility_at_another_level_is_one(speech: np.ndarray) -> None:
    """The estimate is the reference at a fifth of its level."""
    assert intelligibility(0.2 * speech, speech) == pytest.approx((1.0, 1.0), abs=0.01)


def test_intelligibility_of_noise_is_low(speech: np.ndarray) -> None:
    noise = np.random.default_rng(1).standard_normal(len(speech)).astype(np.float32)
    plain, extended = intelligibility(noise, speech)
    assert plain < 0.6 and extended < 0.3


def test_intelligibility_of_longer_speech_ignores_end(speech: np.ndarray) -> None:
    longer = np.concatenate([speech, np.ones(RATE, np.float32)])
    assert intelligibility(longer, speech) == pytest.approx((1.0, 1.0), abs=0.01)


def test_intelligibility_of_silence_is_zero(speech: np.ndarray) -> None:
    """Very short speech has none, either."""
    assert intelligibility(np.zeros_like(speech), speech) == (0.0, 0.0)
    assert intelligibility(speech[:4000], speech[:4000]) == pytest.approx((0.0, 0.0), abs=1e-4)
