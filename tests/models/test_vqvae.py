"""The VQ-VAE against the paper's equations."""

import pytest
import torch

from earshot.models.layers import Codebook
from earshot.models.vqvae import VQVAE, VQVAEConfig, _jitter

CONFIG = VQVAEConfig(8, (2, 2), width=16, heads=2, inner=16, code_width=4, n_speakers=3)


@pytest.fixture
def network() -> VQVAE:
    torch.manual_seed(0)
    return VQVAE(CONFIG)


@pytest.mark.parametrize(("strides", "stride"), [((2, 2), 4), ((2, 1), 2)])
def test_vqvae_gives_one_unit_per_stride(strides: tuple[int, ...], stride: int) -> None:
    config = VQVAEConfig(8, strides, width=16, heads=2, inner=16, code_width=4)
    network = VQVAE(config)
    features, speaker = torch.randn(2, 40, 39), torch.zeros(2, 40, dtype=torch.long)
    output = network(features, features, speaker)
    assert config.stride == stride
    assert output.codes.shape == (2, 40 // stride)
    assert output.reconstruction.shape == (2, 40, 39)


def test_codebook_nearest_is_by_euclidean_distance() -> None:
    codebook = Codebook(5, 3)
    z = torch.randn(2, 7, 3)
    expected = torch.cdist(z, codebook.vectors.expand(2, -1, -1)).argmin(dim=-1)
    assert (codebook.nearest(z) == expected).all()


def test_codebook_vectors_move_to_input_means() -> None:
    codebook = Codebook(2, 1)
    codebook.vectors.copy_(torch.tensor([[-1.0], [1.0]]))
    codebook.total.copy_(codebook.vectors)
    z = torch.tensor([[-3.0], [-3.0], [2.0], [2.0]])[None]
    for _ in range(2000):
        codebook.update(z, codebook.nearest(z))
    assert codebook.vectors.flatten().tolist() == pytest.approx([-3.0, 2.0], abs=0.01)


def test_codebook_update_restarts_unused_vector() -> None:
    """It begins anew at an output of the encoder."""
    codebook = Codebook(2, 1)
    codebook.vectors.copy_(torch.tensor([[0.0], [99.0]]))
    z = torch.full((1, 8, 1), 5.0)
    for _ in range(300):
        codebook.update(z, codebook.nearest(z))
    assert codebook.vectors.flatten().tolist() == pytest.approx([5.0, 5.0], abs=0.5)


def test_vqvae_loss_follows_equations_of_paper(network: VQVAE) -> None:
    """The equations are 7 and 10."""
    network.eval()
    features, speaker = torch.randn(2, 20, 39), torch.zeros(2, 20, dtype=torch.long)
    output = network(features, features, speaker)
    z = network.encoder(network.normalize(features))
    chosen = network.codebook.vectors[output.codes]
    assert output.commitment_loss.item() == pytest.approx((z - chosen).square().mean().item())
    smoothing = (z[:, 1:] - z[:, :-1]).square().mean().item()
    assert output.smoothing_loss.item() == pytest.approx(smoothing)
    total = output.reconstruction_loss + 0.25 * output.commitment_loss + 1e-3 * smoothing
    assert output.loss.item() == pytest.approx(total.item())


def test_vqvae_gradient_passes_straight_through_codebook(network: VQVAE) -> None:
    features, speaker = torch.randn(2, 20, 39), torch.zeros(2, 20, dtype=torch.long)
    network(features, features, speaker).reconstruction_loss.backward()
    gradient = network.encoder.output.weight.grad
    assert gradient is not None
    assert gradient.abs().sum() > 0


def test_jitter_takes_neighbours_with_given_probability() -> None:
    torch.manual_seed(0)
    x = torch.arange(100_000.0).view(1, -1, 1)
    step = (_jitter(x, 0.05) - x).flatten()
    assert (step == -1).float().mean().item() == pytest.approx(0.05, abs=0.005)
    assert (step == 1).float().mean().item() == pytest.approx(0.05, abs=0.005)
    assert (step == 0).float().mean().item() == pytest.approx(0.90, abs=0.01)


def test_normalize_removes_offset_of_long_recording(network: VQVAE) -> None:
    """The longer the recording, the less a constant offset matters."""
    features = torch.randn(1, 4000, 39)
    shifted = features.clone()
    shifted[..., 1:13] += 3.0
    difference = (network.normalize(features) - network.normalize(shifted)).abs().max()
    assert difference < 0.3
