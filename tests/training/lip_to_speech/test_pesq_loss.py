"""The PESQ loss agrees with PESQ. Its package need not be installed: its raw scores (pesq 0.0.4,
wide-band, before they are mapped to 1 to 4.64) are noted here."""

import numpy as np
import pytest
import torch
from scipy.ndimage import gaussian_filter1d
from scipy.signal import butter, sosfilt

from earshot.core.paths import ASSETS
from earshot.media.audio import features
from earshot.media.audio.load import load
from training.lip_to_speech.losses import pesq_loss

SPOKEN = ASSETS / "examples/man-place-blue.ogg"
BEST = 4.5


@pytest.fixture(scope="module")
def waveform() -> np.ndarray:
    return load(SPOKEN).waveform


def noise(beside: np.ndarray, snr: float) -> np.ndarray:
    """White noise that is so many dB quieter."""
    white = np.random.default_rng(0).standard_normal(len(beside))
    return white * np.sqrt(np.mean(beside**2)) * 10 ** (-snr / 20)


def score(predicted: np.ndarray, real: np.ndarray) -> float:
    pair = (torch.from_numpy(np.asarray(sound, np.float32))[None] for sound in (predicted, real))
    return BEST - pesq_loss(*pair).item()


def test_pesq_loss_of_equals_is_zero(waveform: np.ndarray) -> None:
    assert score(waveform, waveform) == pytest.approx(BEST, abs=1e-3)


@pytest.mark.parametrize(("snr", "pesq"), [(30, 1.87), (20, 0.56), (10, -0.64)])
def test_pesq_loss_of_noise_resembles_pesq(waveform: np.ndarray, snr: float, pesq: float) -> None:
    """The loss of noisy speech agrees with PESQ."""
    assert score(waveform + noise(waveform, snr), waveform) == pytest.approx(pesq, abs=0.45)


@pytest.mark.parametrize(("std", "pesq"), [(1, 2.34), (2, 2.02)])
def test_pesq_loss_of_smoothing_resembles_pesq(
    waveform: np.ndarray, std: float, pesq: float
) -> None:
    """The loss of smoothed speech agrees with PESQ."""
    smooth = gaussian_filter1d(features.log_mel(waveform), std, axis=0)
    resynthesis = features.griffin_lim(features.linear_from_log_mel(smooth))
    assert score(resynthesis, waveform[: len(resynthesis)]) == pytest.approx(pesq, abs=0.45)


def test_pesq_loss_grows_with_smoothing(waveform: np.ndarray) -> None:
    """PESQ says 2.34, 2.02 and 0.51; the loss is too mild with the last."""
    log_mel = features.log_mel(waveform)
    scores = []
    for std in (1, 2, 5):
        smooth = gaussian_filter1d(log_mel, std, axis=0)
        resynthesis = features.griffin_lim(features.linear_from_log_mel(smooth))
        scores.append(score(resynthesis, waveform[: len(resynthesis)]))
    assert scores == sorted(scores, reverse=True)
    assert scores[-1] < scores[0] - 1


def test_pesq_loss_weighs_added_energy_more(waveform: np.ndarray) -> None:
    """The loss of added energy exceeds that of missing energy."""
    band = butter(4, (1500, 3000), "band", fs=features.SAMPLE_RATE, output="sos")
    missing = waveform - 0.9 * np.asarray(sosfilt(band, waveform))
    rest = waveform - missing
    assert score(missing + rest, missing) < score(missing, missing + rest)


def test_hum_does_not_lower_pesq_loss(waveform: np.ndarray) -> None:
    """PESQ takes a steady hum for the level of speech, and less noise beside it for better."""
    times = np.arange(len(waveform)) / features.SAMPLE_RATE
    hum = np.sqrt(2 * np.mean(waveform**2)) * np.sin(2 * np.pi * 400 * times)
    noisy = waveform + noise(waveform, 20)
    assert score(noisy + hum, waveform) < score(noisy, waveform)


def test_pesq_loss_falls_along_its_gradient(waveform: np.ndarray) -> None:
    real = torch.from_numpy(waveform)[None]
    noisy = torch.from_numpy(np.float32(waveform + noise(waveform, 20)))[None].requires_grad_()
    before = pesq_loss(noisy, real).sum()
    (gradient,) = torch.autograd.grad(before, noisy)
    step = 0.01 * gradient / gradient.norm()
    assert pesq_loss(noisy - step, real).sum() < before


def test_pesq_gradient_of_silence_is_finite(waveform: np.ndarray) -> None:
    real = torch.from_numpy(waveform)[None]
    silence = torch.zeros_like(real).requires_grad_()
    for predicted, beside in ((silence, real), (real.clone().requires_grad_(), silence.detach())):
        (gradient,) = torch.autograd.grad(pesq_loss(predicted, beside).sum(), predicted)
        assert gradient.isfinite().all()
