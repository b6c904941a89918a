"""Golden outputs of tiny networks: a refactoring that changes numbers fails here.

Weights and inputs are sines, not random numbers, so that no version of a library matters.
"""

from typing import TypeVar

import pytest
import torch
from torch import Tensor, nn

from earshot.models.layers import TransformerLayer
from earshot.models.vocoder import Vocoder, VocoderConfig
from earshot.models.vqvae import VQVAE, CodebookInverter, CodebookInverterConfig, VQVAEConfig
from earshot.models.words.g2p import G2P, G2PConfig, letter_numbers

Network = TypeVar("Network", bound=nn.Module)


def wave(*shape: int, step: float = 0.7) -> Tensor:
    count = torch.Size(shape).numel()
    return torch.sin(step * torch.arange(count, dtype=torch.float32)).view(shape)


def filled(network: Network) -> Network:
    for number, parameter in enumerate(network.parameters()):
        parameter.data = 0.2 * wave(*parameter.shape, step=0.3 + 0.01 * number)
    return network.eval().requires_grad_(False)


def test_vqvae_of_sines_is_golden() -> None:
    """Its encoding, codes and reconstruction are the committed ones."""
    network = filled(VQVAE(VQVAEConfig(8, (2, 2), width=16, heads=2, inner=16, code_width=4)))
    # The frames of a chirp differ, and with this codebook so do their units.
    features = torch.sin(0.003 * torch.arange(32 * 39.0).square()).view(1, 32, 39)
    encoded = network.encoder(network.normalize(features))
    network.codebook.vectors.copy_(encoded[0])
    assert encoded[0, 0].tolist() == pytest.approx(VQVAE_ENCODING, abs=1e-5)
    codes = network.encode(network.normalize(features.roll(4, dims=1)))[0].tolist()
    assert codes == VQVAE_CODES
    assert len(set(codes)) >= 4
    output = network(features, features, torch.zeros(1, 32, dtype=torch.long))
    assert output.reconstruction[0, 9, :4].tolist() == pytest.approx(VQVAE_DECODED, abs=1e-5)


@pytest.mark.parametrize("rotary", [False, True])
def test_transformer_layer_of_sines_is_golden(rotary: bool) -> None:
    layer = filled(TransformerLayer(8, 2, 16, dropout=0.0, rotary=rotary))
    output = layer(wave(1, 6, 8))[0, 3, :4].tolist()
    assert output == pytest.approx(TRANSFORMER_OUTPUT[rotary], abs=1e-5)


def test_inverter_of_sines_is_golden() -> None:
    """Its spectrogram and its contour are the committed ones."""
    config = CodebookInverterConfig(code_width=4, width=16, layers=1, inner=16, n_outputs=4)
    spectrogram, contour = filled(CodebookInverter(config))(wave(1, 5, 4), torch.tensor([2]))
    assert spectrogram[0, 7].tolist() == pytest.approx(INVERTER_OUTPUT, abs=1e-5)
    assert contour is not None
    assert contour[0, 7].tolist() == pytest.approx(INVERTER_CONTOUR, abs=1e-5)


def test_vocoder_of_sines_is_golden(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its noise is left out."""
    monkeypatch.setattr(
        "earshot.models.vocoder._noise", torch.zeros_like
    )  # random numbers are not sines
    network = filled(Vocoder(VocoderConfig(width=16, inner=16, layers=1)))
    waveform = network(wave(1, 5, 80), torch.full((1, 5), 120.0))
    assert waveform[0, 300:304].tolist() == pytest.approx(VOCODER_OUTPUT, abs=1e-5)


def test_g2p_of_sines_gives_golden_logits() -> None:
    network = filled(G2P(G2PConfig(width=8, layers=2)))
    logits = network(torch.tensor([letter_numbers("cat's")]))
    assert logits[0, 5, :4].tolist() == pytest.approx(G2P_OUTPUT, abs=1e-5)


VQVAE_ENCODING = [0.273006, 0.315778, 0.137874, -0.131621]
VQVAE_CODES = [7, 2, 1, 2, 3, 4, 5, 2]
VQVAE_DECODED = [-0.019211, 0.164161, 0.212598, 0.084494]
TRANSFORMER_OUTPUT = {
    False: [-0.619079, -0.757400, 0.000425, 0.447107],
    True: [-0.619031, -0.757440, 0.000448, 0.447102],
}
INVERTER_CONTOUR = [0.792209, 1.966027]
INVERTER_OUTPUT = [1.033917, -0.813521, 1.075858, -0.730584]
VOCODER_OUTPUT = [0.060636, -0.05492, 0.075861, -0.035457]
G2P_OUTPUT = [-0.068866, 0.194171, 0.090893, 0.288997]
