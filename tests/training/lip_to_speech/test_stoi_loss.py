"""The loss of intelligibility must go with the measure."""

import numpy as np
import pytest
import torch
from scipy.ndimage import gaussian_filter1d
from torch import Tensor

from media.audio import features
from media.audio.intelligibility import intelligibility
from media.audio.load import load
from media.paths import ASSETS
from training.lip_to_speech.train.stoi_loss import frames_apart, sounds_apart

SPOKEN = ASSETS / "examples/man-place-blue.ogg"


@pytest.fixture(scope="module")
def waveform() -> np.ndarray:
    return load(SPOKEN).waveform


@pytest.fixture(scope="module")
def real(waveform: np.ndarray) -> Tensor:
    return torch.from_numpy(features.log_mel(waveform))[None]


def test_the_same_at_any_level_is_no_loss(real: Tensor) -> None:
    assert frames_apart(real - 1.0, real).item() == pytest.approx(0.0, abs=1e-3)


def test_what_says_nothing_is_all_loss(real: Tensor) -> None:
    mean = real.mean(dim=1, keepdim=True).expand_as(real)
    noise = mean + torch.randn(real.shape, generator=torch.Generator().manual_seed(0))
    assert frames_apart(mean, real) > 0.8
    assert frames_apart(noise, real) > 0.8


@pytest.mark.parametrize("deviation", [2.0, 5.0])
def test_goes_with_the_measure(waveform: np.ndarray, real: Tensor, deviation: float) -> None:
    """For speech that is smoothed over time, by a deviation in frames."""
    smooth = gaussian_filter1d(real[0].numpy(), deviation, axis=0)
    said = features.griffin_lim(features.linear_from_log_mel(smooth))
    measured = np.mean(intelligibility(said, waveform))
    sounds = [torch.from_numpy(sound[: len(said)])[None] for sound in (said, waveform)]
    assert 1 - sounds_apart(*sounds).item() == pytest.approx(measured, abs=0.06)
    # The frames do not know yet what a vocoder will lose.
    assert 0 < 1 - frames_apart(torch.from_numpy(smooth)[None], real).item() - measured < 0.25


def test_less_loss_is_where_the_gradient_leads(real: Tensor) -> None:
    made = torch.from_numpy(gaussian_filter1d(real.numpy(), 5.0, axis=1)).requires_grad_()
    before = frames_apart(made, real)
    (gradient,) = torch.autograd.grad(before, made)
    assert gradient.isfinite().all()
    assert frames_apart(made - 20 * gradient, real) < before


def test_silence_has_a_gradient_too(real: Tensor) -> None:
    silence = torch.full_like(real, float(np.log(features.LOG_FLOOR))).requires_grad_()
    (gradient,) = torch.autograd.grad(frames_apart(silence, real), silence)
    assert gradient.isfinite().all()
