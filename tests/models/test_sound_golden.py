"""Tiny networks of sound search against golden outputs: a refactoring that changes numbers fails.

Weights and inputs are sines, so that no random number generator matters.
"""

from typing import TypeVar

import pytest
import torch
from torch import nn

from models.patch_transformer import PatchTransformerConfig
from models.sound_cnn import SoundCNNConfig
from models.sound_embedder import SoundEmbedder, SoundEmbedderConfig

Network = TypeVar("Network", bound=nn.Module)
CNN = SoundCNNConfig(channels=(8, 16), blocks=(1, 1))
PATCHES = PatchTransformerConfig(width=16, layers=1, heads=2, inner=16)
STEM = PatchTransformerConfig(
    width=16, layers=1, heads=2, inner=16, stem_channels=(8, 16, 16), stem_blocks=(1, 1, 1)
)
TRUNKS = {"cnn": CNN, "passt": PATCHES, "passt-stem": STEM}

TRUNK = {
    "cnn": [0.0291, 0.0471, 0.0283, 0.0002, 0.0054, 0.0328],
    "passt": [0.3782, 0.2364, 0.2368, 0.0425, -0.1117, 0.082],
    "passt-stem": [-1.8585, -0.9216, -0.4026, -1.8978, -0.954, -0.4189],
}
WHOLE = {
    "cnn": [0.0157, 0.3528, -0.5609, 0.4245, 0.158, 0.5962],
    "passt": [0.0692, 0.5148, -0.5277, 0.1661, 0.4618, -0.4591],
    "passt-stem": [-0.4026, -0.1378, 0.1454, 0.4099, 0.5628, 0.5594],
}
SECOND_PART = {
    "cnn": [-0.1084, 0.4315, -0.5598, 0.3371, 0.3118, 0.5271],
    "passt": [0.0502, 0.5316, -0.5205, 0.1309, 0.48, -0.4432],
    "passt-stem": [-0.3989, -0.1331, 0.1502, 0.4133, 0.564, 0.5583],
}
TEXT = [-0.447, 0.0136, 0.3715, 0.4765, 0.6317, 0.1896]


def sound() -> torch.Tensor:
    """A log-mel spectrogram without chance: a rising ridge, (1, 120, 128)."""
    frame, band = torch.arange(120.0)[:, None], torch.arange(128.0)[None]
    return (-7 + 8 * torch.exp(-((band - 20 - frame / 2) ** 2) / 50))[None]


def sentences() -> torch.Tensor:
    """Unit vectors without chance, (2, 384)."""
    vectors = torch.sin(torch.arange(768.0).view(2, 384) * 0.37)
    return vectors / vectors.norm(dim=1, keepdim=True)


def sines(network: Network) -> Network:
    """The network with sines as weights; normalisation layers stay as they are."""
    for number, weight in enumerate(network.parameters()):
        if weight.ndim > 1:
            steps = torch.arange(float(weight.numel()))
            fan_in = weight[0].numel()
            weight.data = torch.sin((0.7 + 0.01 * number) * steps).view_as(weight) / fan_in**0.5 * 2
    return network.eval()


def embedder(name: str) -> SoundEmbedder:
    return sines(SoundEmbedder(SoundEmbedderConfig(TRUNKS[name], n_kinds=3, width=6)))


def close(values: torch.Tensor, golden: list[float]) -> None:
    torch.testing.assert_close(values.flatten(), torch.tensor(golden), atol=2e-4, rtol=1e-3)


@pytest.mark.parametrize("name", TRUNKS)
def test_trunk_output_is_golden(name: str) -> None:
    trunk = embedder(name).trunk
    with torch.inference_mode():
        close(trunk((sound() + 7) / 5)[0, :2, :3], TRUNK[name])


@pytest.mark.parametrize("name", TRUNKS)
def test_embed_parts_is_golden(name: str) -> None:
    with torch.inference_mode():
        whole, parts = embedder(name).embed_parts(sound(), 60)
    close(whole, WHOLE[name])
    close(parts[0, 1], SECOND_PART[name])


def test_embed_sentences_is_golden() -> None:
    with torch.inference_mode():
        close(embedder("cnn").embed_sentences(sentences())[0], TEXT)
