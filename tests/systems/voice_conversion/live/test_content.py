"""Content of a stream: what attention remembers is what it would see, and a stream's content is
that of the whole as far as it is computed anew.
"""

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from earshot.media.constants import FRAMES_PER_SECOND, SAMPLE_RATE
from earshot.models.layers import Memory, TransformerLayer
from earshot.models.recogniser import STEP, EncoderConfig, EncoderLayer
from earshot.pretrained.any_voice import Networks
from earshot.systems.voice_conversion.live.streams import MAX_STATES, RunningNorm, StreamContent
from earshot.systems.voice_conversion.settings import live_checkpoint

LAYERS = [
    EncoderLayer(EncoderConfig(16, 32, 1, 2, rotary_share=0.75)),
    TransformerLayer(16, 2, 32, 0.0, rotary=True),
]


@pytest.fixture(scope="module")
def networks(tiny_checkpoints: Path) -> Networks:
    return Networks.load(live_checkpoint(tiny_checkpoints), torch.device("cpu"))


def speech(seconds: float) -> np.ndarray:
    return (0.1 * np.random.default_rng(0).standard_normal(round(seconds * SAMPLE_RATE))).astype(
        np.float32
    )


@pytest.mark.parametrize("layer", LAYERS)
@torch.inference_mode()
def test_steps_see_those_before_as_in_one_pass(layer: nn.Module) -> None:
    x, memory = torch.randn(1, 9, 16), Memory()
    layer(x[:, :6], memory)
    memory.move(4, 100)  # the last two are computed again
    torch.testing.assert_close(layer(x[:, 4:], memory), layer(x)[:, 4:], atol=1e-5, rtol=0)
    memory.move(2, 100)
    torch.testing.assert_close(layer(x[:, 6:], memory), layer(x)[:, 6:], atol=1e-5, rtol=0)
    memory.move(-3, 100)  # and more of them again
    torch.testing.assert_close(layer(x[:, 3:], memory), layer(x)[:, 3:], atol=1e-5, rtol=0)


@pytest.mark.parametrize("layer", LAYERS)
@torch.inference_mode()
def test_memory_forgets_what_is_too_old(layer: nn.Module) -> None:
    x, memory = torch.randn(1, 9, 16), Memory()
    layer(x[:, :6], memory)
    memory.move(6, 2)
    torch.testing.assert_close(layer(x[:, 6:], memory), layer(x[:, 4:])[:, 2:], atol=1e-5, rtol=0)


@pytest.mark.parametrize("steps", [2, 60])
@torch.inference_mode()
def test_content_of_hops_comes_near_that_of_the_whole(networks: Networks, steps: int) -> None:
    """Where all of it is computed anew: but for the norm's statistics, and silence at the end."""
    samples, stream, hop = speech(1.2), StreamContent(networks), steps * STEP
    starts = range(0, len(samples), hop)
    *_, content = [stream(samples[start : start + hop], 200) for start in starts]
    assert (content - networks.encode(samples)).square().mean() < 0.05  # of a variance of 1


@torch.inference_mode()
def test_long_stream_stays_short(networks: Networks) -> None:
    stream, samples = StreamContent(networks), speech(0.16)
    shapes = {stream(samples, anew).shape[0] for anew in (40, 60, 30) for _ in range(50)}
    assert max(shapes) * STEP <= 0.7 * SAMPLE_RATE
    (keys,) = {memory._keys.shape[2] for memory in stream._of_states}
    assert keys <= MAX_STATES + 60 * FRAMES_PER_SECOND // 100
    assert len(stream._samples) <= 2 * SAMPLE_RATE


def test_norm_by_first_statistics_is_that_of_the_group() -> None:
    norm, x = nn.GroupNorm(1, 4), 3 + torch.randn(1, 4, 50)
    torch.testing.assert_close(RunningNorm(norm)(x), norm(x), atol=1e-5, rtol=1e-4)
