"""BS.1534-3's demands on the filter of the anchors, at all usual rates."""

import numpy as np
import pytest

from earshot.study.sounds.stimuli import low_pass


@pytest.mark.parametrize("sample_rate", [16_000, 22_050, 44_100, 48_000, 96_000])
@pytest.mark.parametrize("cutoff", [3500.0, 7000.0])
def test_low_pass_response_meets_bs1534(sample_rate: int, cutoff: float) -> None:
    impulse = np.zeros(sample_rate)
    impulse[sample_rate // 2] = 1.0
    response = 20 * np.log10(np.abs(np.fft.rfft(low_pass(impulse, sample_rate, cutoff))) + 1e-9)
    frequency = np.arange(len(response))
    assert np.abs(response[frequency <= cutoff]).max() < 0.11
    assert response[frequency >= cutoff * 4 / 3.5].max(initial=-99) < -25
    assert response[frequency >= cutoff * 4.5 / 3.5].max(initial=-99) < -50


def test_low_pass_filters_channels_alike() -> None:
    samples = np.random.default_rng(0).standard_normal((4000, 2)).astype(np.float32)
    both = low_pass(samples, 16_000, 3500.0)
    assert both.shape == samples.shape and both.dtype == np.float32
    assert np.allclose(both[:, 1], low_pass(samples[:, 1], 16_000, 3500.0), atol=1e-5)
