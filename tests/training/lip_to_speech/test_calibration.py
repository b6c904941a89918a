"""Calibration errors by hand, and simulated speakers."""

import numpy as np
import pytest
import torch

from training.lip_to_speech.calibration import CaptionWords, simulated_speakers


def test_right_confidence_has_no_calibration_error() -> None:
    """The error of confidence equal to accuracy is zero."""
    words = CaptionWords(np.full(4, 0.75), np.array([True, True, True, False]))
    assert words.calibration_error == pytest.approx(0)
    assert words.brier_score == pytest.approx(0.1875)


def test_certain_mistakes_have_calibration_error_one() -> None:
    """The error of certain wrong words is one."""
    assert CaptionWords(np.ones(3), np.zeros(3, bool)).calibration_error == pytest.approx(1)


def test_calibration_error_weighs_bins_by_words() -> None:
    words = CaptionWords(np.array([0.95, 0.95, 0.95, 0.25]), np.array([True, True, True, True]))
    assert words.calibration_error == pytest.approx((3 * 0.05 + 0.75) / 4)


def test_limited_confidence_does_not_exceed_limit() -> None:
    limited = CaptionWords(np.array([0.5, 1.0]), np.array([False, True])).limited(0.9)
    assert limited.confidence.tolist() == [0.5, 0.9]


def test_simulated_speakers_differ_between_videos() -> None:
    """Simulated speakers are seeded."""
    crops = torch.rand(1, 5, 80, 80, generator=torch.Generator().manual_seed(0)).expand(
        2, -1, -1, -1
    )
    first = simulated_speakers(crops, np.random.default_rng(0))
    assert first.shape == (2, 5, 64, 64)
    assert first.min() >= 0 and first.max() <= 1
    assert not torch.allclose(first[0], first[1])
    assert torch.equal(first, simulated_speakers(crops, np.random.default_rng(0)))
