"""The STOI losses agree with STOI and ESTOI."""

import numpy as np
import pytest
import torch
from scipy.ndimage import gaussian_filter1d
from torch import Tensor

from earshot.core.paths import ASSETS
from earshot.media.audio import features
from earshot.media.audio.intelligibility import intelligibility
from earshot.media.audio.load import load
from training.lip_to_speech import losses
from training.lip_to_speech.losses import stoi_loss_mel, stoi_loss_wave

SPOKEN = ASSETS / "examples/man-place-blue.ogg"


@pytest.fixture(scope="module")
def waveform() -> np.ndarray:
    return load(SPOKEN).waveform


@pytest.fixture(scope="module")
def real(waveform: np.ndarray) -> Tensor:
    return torch.from_numpy(features.log_mel(waveform))[None]


def test_stoi_loss_ignores_level(real: Tensor) -> None:
    """The loss of equal speech at another level is zero."""
    assert stoi_loss_mel(real - 1.0, real).item() == pytest.approx(0.0, abs=1e-3)


def test_unintelligible_frames_have_high_stoi_loss(real: Tensor) -> None:
    mean = real.mean(dim=1, keepdim=True).expand_as(real)
    noise = mean + torch.randn(real.shape, generator=torch.Generator().manual_seed(0))
    assert stoi_loss_mel(mean, real) > 0.8
    assert stoi_loss_mel(noise, real) > 0.8


@pytest.mark.parametrize("std", [2.0, 5.0])
def test_stoi_loss_agrees_with_pystoi(waveform: np.ndarray, real: Tensor, std: float) -> None:
    """For speech that is smoothed over time, by a std in frames."""
    smooth = gaussian_filter1d(real[0].numpy(), std, axis=0)
    resynthesis = features.griffin_lim(features.linear_from_log_mel(smooth))
    measured = np.mean(intelligibility(resynthesis, waveform))
    sounds = [
        torch.from_numpy(sound[: len(resynthesis)])[None] for sound in (resynthesis, waveform)
    ]
    assert 1 - stoi_loss_wave(*sounds).item() == pytest.approx(measured, abs=0.06)
    # The frames do not know yet what a vocoder will lose.
    assert 0 < 1 - stoi_loss_mel(torch.from_numpy(smooth)[None], real).item() - measured < 0.25


def test_stoi_loss_falls_along_its_gradient(real: Tensor) -> None:
    smoothed = torch.from_numpy(gaussian_filter1d(real.numpy(), 5.0, axis=1)).requires_grad_()
    before = stoi_loss_mel(smoothed, real)
    (gradient,) = torch.autograd.grad(before, smoothed)
    assert gradient.isfinite().all()
    assert stoi_loss_mel(smoothed - 20 * gradient, real) < before


def test_stoi_gradient_of_silence_is_finite(real: Tensor) -> None:
    silence = torch.full_like(real, float(np.log(features.LOG_FLOOR))).requires_grad_()
    (gradient,) = torch.autograd.grad(stoi_loss_mel(silence, real), silence)
    assert gradient.isfinite().all()


def test_stoi_loss_has_gradient_after_validation(real: Tensor) -> None:
    """A loss first used in validation has a gradient in training."""
    for cache in (losses._mel_thirds, losses._mel_widths, losses._bin_thirds):
        cache.cache_clear()
    with torch.inference_mode():
        stoi_loss_mel(real, real)
    quieter = (real - 0.5 * torch.rand_like(real)).requires_grad_()
    stoi_loss_mel(quieter, real).backward()
    assert quieter.grad is not None and quieter.grad.isfinite().all()
