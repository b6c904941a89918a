"""Pitch as an input of the acoustic view."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from earshot.models.words.word_embedder import (
    PITCH_SCALE,
    PhonemeBottleneckConfig,
    PitchInput,
    ViewConfig,
    WordEmbedderConfig,
    build_embedder,
    relative_pitch,
)

VIEW = ViewConfig("conformer", 1, 2, width=16, inner=16)
CONFIGS = {
    "conformer": WordEmbedderConfig(VIEW, VIEW, channels=4, width=12),
    "stacked frames": WordEmbedderConfig(VIEW, VIEW, width=12),
    "bottleneck": PhonemeBottleneckConfig(
        VIEW, VIEW, local_layers=1, local_width=8, channels=4, width=12
    ),
}


def contour(start: float, end: float, frames: int = 41) -> Tensor:
    """log2 of F0, voiced from frame 4: (1, S)."""
    octaves = torch.linspace(start, end, frames)[None].clone()
    octaves[:, :4] = 0.0
    return octaves


def test_relative_pitch_ignores_height_of_voice() -> None:
    low, high = relative_pitch(contour(6.5, 7.0)), relative_pitch(contour(7.5, 8.0))
    torch.testing.assert_close(low, high, atol=1e-4, rtol=0)
    assert low[0, 0].tolist() == [0.0] * 4 + [1.0] * 37
    assert low[0, 1, -1] - low[0, 1, 4] == pytest.approx(PITCH_SCALE * 0.45, abs=0.01)
    assert float(low[0, 1, 4:].mean()) == pytest.approx(0.0, abs=0.02)
    assert not relative_pitch(torch.zeros(2, 30)).any()


@pytest.mark.parametrize("frames", [1, 3, 4, 41, 44])
def test_pitch_input_steps_every_four_frames(frames: int) -> None:
    assert PitchInput(8)(torch.full((2, frames), 7.0)).shape == (2, -(-frames // 4), 8)


@pytest.mark.parametrize("name", CONFIGS)
def test_network_with_pitch_begins_as_without(name: str) -> None:
    torch.manual_seed(0)
    without = build_embedder(CONFIGS[name]).eval()
    with_pitch = build_embedder(replace(CONFIGS[name], pitch=True)).eval()
    with_pitch.load_state_dict(with_pitch.state_dict() | without.state_dict())
    frames = torch.cat([torch.randn(2, 40, 80), torch.full((2, 40, 1), 7.0)], dim=2)
    lengths = torch.tensor([40, 30])
    vectors = without.embed_audio(frames, lengths)
    torch.testing.assert_close(with_pitch.embed_audio(frames, lengths), vectors)
    torch.testing.assert_close(without.embed_audio(frames[..., :80], lengths), vectors)


@pytest.mark.parametrize("name", CONFIGS)
def test_trained_network_hears_contour_not_padding(name: str) -> None:
    torch.manual_seed(0)
    network = build_embedder(replace(CONFIGS[name], pitch=True)).eval()
    assert network.pitch is not None
    torch.nn.init.normal_(network.pitch.out.weight)
    mel, lengths = torch.randn(1, 40, 80), torch.tensor([36])

    def embed(octaves: Tensor) -> Tensor:
        return network.embed_audio(torch.cat([mel, octaves.reshape(1, 40, 1)], dim=2), lengths)

    rising, falling = contour(6.8, 7.3, 40), contour(7.3, 6.8, 40)
    padded = rising.clone()
    padded[:, 36:] = 8.0
    assert not torch.allclose(embed(rising), embed(falling), atol=1e-3)
    torch.testing.assert_close(embed(padded), embed(rising))
