"""The short-time Fourier transform against that of librosa."""

import librosa
import numpy as np
import pytest

from earshot.media.audio import stft as module
from earshot.media.audio.stft import stft


@pytest.mark.parametrize("win_length", [None, 400, 511])
def test_spectra_equal_those_of_librosa(
    win_length: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also across blocks, and for several waveforms at once."""
    monkeypatch.setattr(module, "BLOCK", 7)
    waveforms = np.random.default_rng(0).normal(size=(2, 5000)).astype(np.float32)
    expected = librosa.stft(waveforms, n_fft=512, hop_length=160, win_length=win_length)
    found = stft(waveforms, 512, 160, win_length)
    assert found.dtype == np.complex64
    np.testing.assert_allclose(found, expected.swapaxes(-1, -2), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(stft(waveforms[1], 512, 160, win_length), found[1])
