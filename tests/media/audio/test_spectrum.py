"""The short-time Fourier transform and the mel scale, against those of librosa."""

import librosa
import numpy as np
import pytest

from earshot.media.audio import spectrum
from earshot.media.audio.spectrum import filterbank, hz_to_mel, mel_to_hz, stft


@pytest.mark.parametrize("win_length", [None, 400, 511])
def test_spectra_equal_those_of_librosa(
    win_length: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also across blocks, and for several waveforms at once."""
    monkeypatch.setattr(spectrum, "MAX_FRAMES", 7)
    waveforms = np.random.default_rng(0).normal(size=(2, 5000)).astype(np.float32)
    expected = librosa.stft(waveforms, n_fft=512, hop_length=160, win_length=win_length)
    spectra = stft(waveforms, 512, 160, win_length)
    assert spectra.dtype == np.complex64
    np.testing.assert_allclose(spectra, expected.swapaxes(-1, -2), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(stft(waveforms[1], 512, 160, win_length), spectra[1])


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
