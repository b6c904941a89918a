"""Nearness to a target among other speakers."""

import numpy as np
import pytest

from training.judges import packages


def test_nearest_target_is_nearest_of_all() -> None:
    """The target is nearer than every other."""
    target, others = np.array([1.0, 0.0]), np.array([[0.0, 1.0], [0.8, 0.6]])
    conversions = np.array([[0.99, 0.1], [0.85, 0.5], [0.1, 0.99]])
    assert packages.nearest_is_target(conversions, target, others).tolist() == [
        True,
        False,
        False,
    ]


def test_dnsmos_of_no_audio_raises() -> None:
    if not packages.has_dnsmos():
        pytest.skip("speechmos is not installed")
    with pytest.raises(ValueError, match="no audio to measure"):
        packages.dnsmos([])
