"""Tiny networks against committed outputs: a refactoring that changes numbers is seen here.

Weights and inputs are sines, not random numbers, so that no library version matters.
"""

from typing import TypeVar

import pytest
import torch
from torch import Tensor, nn

from models.g2p import G2P, G2PConfig, letter_numbers
from models.inverter import Inverter, InverterConfig
from models.vocoder import Vocoder, VocoderConfig
from models.vqvae import VQVAE, VQVAEConfig

Network = TypeVar("Network", bound=nn.Module)


def wave(*shape: int, step: float = 0.7) -> Tensor:
    count = torch.Size(shape).numel()
    return torch.sin(step * torch.arange(count, dtype=torch.float32)).view(shape)


def filled(network: Network) -> Network:
    for number, parameter in enumerate(network.parameters()):
        parameter.data = 0.2 * wave(*parameter.shape, step=0.3 + 0.01 * number)
    return network.eval().requires_grad_(False)


def test_vqvae() -> None:
    network = filled(VQVAE(VQVAEConfig(8, (2, 2), width=16, heads=2, inner=16, code_width=4)))
    network.codebook.vectors.copy_(wave(8, 4))
    normalized = network.normalize(wave(1, 16, 39))
    assert network.encoder(normalized)[0, 0].tolist() == pytest.approx(VQVAE_OUTPUT, abs=1e-5)
    assert network.encode(normalized)[0].tolist() == VQVAE_CODES


def test_inverter() -> None:
    config = InverterConfig(code_width=4, width=16, layers=1, inner=16, n_outputs=4)
    spectrogram, _ = filled(Inverter(config))(wave(1, 5, 4), torch.tensor([2]))
    assert spectrogram[0, 7].tolist() == pytest.approx(INVERTER_OUTPUT, abs=1e-5)


def test_vocoder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("models.vocoder._noise", torch.zeros_like)  # random numbers are not sines
    network = filled(Vocoder(VocoderConfig(width=16, inner=16, layers=1)))
    waveform = network(wave(1, 5, 80), torch.full((1, 5), 120.0))
    assert waveform[0, 300:304].tolist() == pytest.approx(VOCODER_OUTPUT, abs=1e-5)


def test_g2p() -> None:
    network = filled(G2P(G2PConfig(width=8, layers=2)))
    logits = network(torch.tensor([letter_numbers("cat's")]))
    assert logits[0, 5, :4].tolist() == pytest.approx(G2P_OUTPUT, abs=1e-5)


VQVAE_OUTPUT = [0.266741, 0.287261, 0.107519, -0.142082]
VQVAE_CODES = [5, 5, 5, 5]
INVERTER_OUTPUT = [1.033917, -0.813521, 1.075858, -0.730584]
VOCODER_OUTPUT = [0.060636, -0.05492, 0.075861, -0.035457]
G2P_OUTPUT = [-0.068866, 0.194171, 0.090893, 0.288997]
