"""The mel scale with numpy alone."""

import librosa
import numpy as np
import pytest

from earshot.media.audio.mel import filterbank, hz_to_mel, mel_to_hz


def test_scale_equals_that_of_librosa() -> None:
    hz = np.linspace(0.0, 8000.0, 81)
    np.testing.assert_allclose(hz_to_mel(hz), librosa.hz_to_mel(hz), rtol=1e-12, atol=1e-12)


def test_conversion_to_hz_is_the_inverse() -> None:
    hz = np.linspace(0.0, 16000.0, 33)
    np.testing.assert_allclose(mel_to_hz(hz_to_mel(hz)), hz, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("sizes", [(16_000, 1024, 80), (16_000, 512, 40), (32_000, 1024, 128)])
def test_filterbank_equals_that_of_librosa(sizes: tuple[int, int, int]) -> None:
    rate, n_fft, n_mels = sizes
    expected = librosa.filters.mel(sr=rate, n_fft=n_fft, n_mels=n_mels)
    np.testing.assert_allclose(filterbank(*sizes), expected, rtol=1e-5, atol=1e-8)
