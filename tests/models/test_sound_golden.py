"""Tiny networks of sound search against golden outputs: a refactoring that changes numbers fails.

Weights and inputs are sines, so that no random number generator matters.
"""

from typing import TypeVar

import pytest
import torch
from torch import nn

from earshot.models.sound_search.sound_embedder import (
    PatchTransformerConfig,
    SoundCNNConfig,
    SoundEmbedder,
    SoundEmbedderConfig,
)

Network = TypeVar("Network", bound=nn.Module)
CNN = SoundCNNConfig(channels=(8, 16), blocks=(1, 1))
PATCHES = PatchTransformerConfig(width=16, layers=1, heads=2, inner=16)
STEM = PatchTransformerConfig(
    width=16, layers=1, heads=2, inner=16, stem_channels=(8, 16, 16), stem_blocks=(1, 1, 1)
)
TRUNKS = {"cnn": CNN, "passt": PATCHES, "passt-stem": STEM}

TRUNK = {
    "cnn": [0.0291, 0.0471, 0.0283, 0.0002, 0.0054, 0.0328],
    "passt": [0.3217, 0.4305, 0.4014, 0.0963, 0.0152, 0.1089],
    "passt-stem": [-1.5245, -1.4028, -1.095, -1.333, -1.1239, -0.7874],
}
WHOLE = {
    "cnn": [0.4922, -0.2276, -0.1349, 0.4394, -0.555, 0.4321],
    "passt": [0.4091, 0.1821, -0.5586, 0.2763, 0.3318, -0.5486],
    "passt-stem": [-0.5721, -0.4392, -0.1943, 0.1001, 0.369, 0.5439],
}
SECOND_PART = {
    "cnn": [0.4959, -0.2378, -0.1225, 0.4301, -0.5529, 0.438],
    "passt": [0.3662, 0.244, -0.5665, 0.2208, 0.3852, -0.537],
    "passt-stem": [-0.5606, -0.4071, -0.1497, 0.1458, 0.4041, 0.5595],
}
TEXT = [-0.5126, -0.2899, 0.0741, 0.4065, 0.5475, 0.4275]


def sound() -> torch.Tensor:
    """A log-mel spectrogram without chance: a rising ridge, (1, 120, 128)."""
    frame, band = torch.arange(120.0)[:, None], torch.arange(128.0)[None]
    return (-7 + 8 * torch.exp(-((band - 20 - frame / 2) ** 2) / 50))[None]


def sentences() -> torch.Tensor:
    """Unit vectors without chance, (2, 384)."""
    vectors = torch.sin(torch.arange(768.0).view(2, 384) * 0.37)
    return vectors / vectors.norm(dim=1, keepdim=True)


def sines(network: Network) -> Network:
    """The network with sines as weights and zeros as biases; normalisation layers stay."""
    for number, (name, weight) in enumerate(network.named_parameters()):
        if weight.ndim > 1:
            phase = (0.7 + 0.01 * number) * torch.arange(float(weight.numel()))
            weight.data = 2 * torch.sin(phase).view_as(weight) / weight[0].numel() ** 0.5
        elif name.endswith("bias"):
            weight.data.zero_()
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
