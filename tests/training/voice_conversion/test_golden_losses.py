"""Golden values of the losses of voice conversion: a refactoring that changes them fails here.

Inputs are sines, not random numbers, so that no version of a library matters.
"""

import pytest
import torch
from torch import Tensor

from earshot.media.audio.features import mel_filters
from earshot.media.constants import N_FFT, N_MELS
from earshot.models.vqvae import VQVAE, CodebookInverterConfig, VQVAEConfig
from training.common.spectral_loss import SpectralLoss
from training.voice_conversion.baselines.inverter import contour_loss, spectrogram_loss
from training.voice_conversion.baselines.units import contrastive_loss
from training.voice_conversion.speech import relative_contour


def wave(*shape: int, step: float = 0.7) -> Tensor:
    count = torch.Size(shape).numel()
    return torch.sin(step * torch.arange(count, dtype=torch.float32)).view(shape)


def test_vqvae_losses_of_sines_are_golden() -> None:
    network = VQVAE(VQVAEConfig(8, (2, 2), width=16, heads=2, inner=16, code_width=4)).eval()
    for number, parameter in enumerate(network.parameters()):
        parameter.data = 0.2 * wave(*parameter.shape, step=0.3 + 0.01 * number)
    network.codebook.vectors.copy_(wave(8, 4))
    features = wave(2, 16, 39)
    output = network(features, features.roll(1), torch.zeros(2, 16, dtype=torch.long))
    terms = [output.reconstruction_loss, output.commitment_loss, output.smoothing_loss, output.loss]
    assert [term.item() for term in terms] == pytest.approx(VQVAE_LOSSES, rel=1e-3)


def test_contrastive_loss_of_sines_is_golden() -> None:
    loss = contrastive_loss(wave(2, 40, 8), wave(2, 40, 8, step=0.71))
    assert loss.item() == pytest.approx(CONTRASTIVE_LOSS, rel=1e-4)


@pytest.mark.parametrize("pitch", [False, True])
def test_spectrogram_loss_of_sines_is_golden(pitch: bool) -> None:
    predicted, target = wave(2, 12, 6), wave(2, 12, 6, step=0.5)
    loss = spectrogram_loss(
        predicted, target, torch.tensor(2.0), CodebookInverterConfig(pitch=pitch)
    )
    assert loss.item() == pytest.approx(SPECTROGRAM_LOSSES[pitch], rel=1e-4)


def test_contour_loss_of_sines_is_golden() -> None:
    hertz = (120 + 40 * wave(2, 12)) * (wave(2, 12, step=0.4) > 0)
    contour = relative_contour(hertz, torch.tensor([4.7, 4.8]))
    assert contour_loss(wave(2, 12, 2), contour).item() == pytest.approx(CONTOUR_LOSS, rel=1e-4)


def test_spectral_loss_of_sines_is_golden() -> None:
    loss = SpectralLoss(torch.from_numpy(mel_filters(N_FFT, N_MELS)))
    value = loss(0.3 * wave(2, 3200, step=0.05), 0.2 * wave(2, 3200, step=0.06))
    assert value.item() == pytest.approx(SPECTRAL_LOSS, rel=1e-4)


VQVAE_LOSSES = [0.523726, 0.222077, 0.000404, 0.579246]
CONTRASTIVE_LOSS = 11.395655
SPECTROGRAM_LOSSES = {False: 0.254451, True: 0.407798}
CONTOUR_LOSS = 1.508362
SPECTRAL_LOSS = 5.076986
