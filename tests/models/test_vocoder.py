"""The vocoder's frame count, determinism and receptive field, and its excitation and filters."""

import math

import pytest
import torch

from earshot.media.constants import HOP_LENGTH, SAMPLE_RATE
from earshot.models.vocoder import (
    Vocoder,
    VocoderConfig,
    harmonic_sum,
    minimum_phase,
    pulse_train,
)

CONFIG = VocoderConfig(width=16, inner=16, layers=2)


def make() -> Vocoder:
    torch.manual_seed(0)
    return Vocoder(CONFIG).eval()


def test_vocoder_gives_hop_samples_per_frame() -> None:
    assert make()(torch.randn(2, 25, 80), torch.full((2, 25), 120.0)).shape == (2, 25 * HOP_LENGTH)


def test_vocoder_is_deterministic() -> None:
    vocoder, mel, pitch = make(), torch.randn(1, 25, 80), torch.zeros(1, 25)
    torch.testing.assert_close(vocoder(mel, pitch), vocoder(mel, pitch))


def test_vocoder_output_depends_on_neighbours_only() -> None:
    """Two layers of kernel 7 and the first one see 9 frames each way, the windows 4 more."""
    vocoder, mel = make(), torch.randn(1, 60, 80)
    other, pitch = mel.clone(), torch.full((1, 60), 120.0)
    other[:, 40:] += torch.linspace(-1, 1, 80)
    difference = (vocoder(mel, pitch) - vocoder(other, pitch)).abs()[0]
    assert difference[: (40 - 14) * HOP_LENGTH].max() < 1e-5
    assert difference[45 * HOP_LENGTH :].max() > 1e-4


def test_vocoder_with_extreme_input_stays_finite() -> None:
    assert make()(torch.full((1, 10, 80), 80.0), torch.full((1, 10), 90.0)).isfinite().all()


@pytest.mark.parametrize("hz", [70.0, 123.0, 440.0])
def test_pulse_train_holds_harmonics_of_f0(hz: float) -> None:
    pulses = pulse_train(torch.full((1, 100), hz), HOP_LENGTH, SAMPLE_RATE)[0]
    spectrum = torch.fft.rfft(pulses).abs()  # bins of 1 Hz
    assert pulses.square().mean().item() == pytest.approx(1.0, rel=0.02)
    harmonics = torch.arange(1, int(8000 / hz) - 1) * hz
    at = spectrum[harmonics.round().long()]
    between = spectrum[(harmonics + hz / 2).round().long()]
    assert at.min() > 10 * between.max()


def test_harmonic_sum_equals_cosines_one_by_one() -> None:
    half = torch.arange(1, 400, dtype=torch.double)[None] / 400 * math.pi
    hz = torch.linspace(70, 440, 399, dtype=torch.double)[None]
    harmonics = (SAMPLE_RATE / 2 / hz).floor()
    numbers = torch.arange(1, int(harmonics.max()) + 1)[:, None]
    cosines = (2 * numbers * half).cos() * (numbers <= harmonics)
    expected = cosines.sum(dim=0, keepdim=True) * (2 / harmonics).sqrt()
    torch.testing.assert_close(harmonic_sum(half, hz, SAMPLE_RATE), expected)


def test_pulse_train_is_silent_where_unvoiced() -> None:
    pitch = torch.full((1, 20), 100.0)
    pitch[:, 5:15] = 0.0
    pulses = pulse_train(pitch, HOP_LENGTH, SAMPLE_RATE)[0]
    assert pulses[5 * HOP_LENGTH : 15 * HOP_LENGTH].abs().max() == 0
    assert pulses[: 5 * HOP_LENGTH].abs().max() > 1


def test_minimum_phase_keeps_gain() -> None:
    """It concentrates the energy at the start."""
    bins = torch.arange(321) / 320
    gain = (2 * torch.cos(math.pi * bins) + torch.cos(3 * math.pi * bins))[None, :, None]
    response = minimum_phase(gain)
    torch.testing.assert_close(response.abs(), gain.exp(), atol=1e-3, rtol=1e-3)
    impulse = torch.fft.irfft(response[0, :, 0])
    assert impulse[:40].square().sum() > 0.99 * impulse.square().sum()
