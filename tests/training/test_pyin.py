"""F0 contours by pYIN."""

import numpy as np
import pytest

from earshot.media.constants import HOP_LENGTH, SAMPLE_RATE
from training.common.pyin import pyin


def test_pitch_of_harmonic_tone_is_f0() -> None:
    times = np.arange(SAMPLE_RATE) / SAMPLE_RATE
    waveform = sum(np.sin(2 * np.pi * 120 * k * times) / k for k in range(1, 8))
    pitch = pyin(0.1 * np.asarray(waveform, dtype=np.float32))
    assert len(pitch) == SAMPLE_RATE // HOP_LENGTH
    assert np.median(pitch[10:-10]) == pytest.approx(120, rel=0.02)
