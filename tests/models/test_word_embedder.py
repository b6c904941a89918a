"""Multi-view word embedders: padding, subsampling, the phoneme bottleneck, golden outputs."""

from dataclasses import asdict, replace

import pytest
import torch
from torch import Tensor

from earshot.models.words.word_embedder import (
    MultiViewEmbedder,
    PhonemeBottleneckConfig,
    ViewConfig,
    WordEmbedderConfig,
    build_embedder,
    config_from_dict,
)

SMALL: dict[str, WordEmbedderConfig] = {
    "conformer": WordEmbedderConfig(
        ViewConfig("conformer", 2, 2, width=16, inner=16),
        ViewConfig("conformer", 1, 2, width=16, inner=16),
        channels=4,
        width=12,
    ),
    "bottleneck": PhonemeBottleneckConfig(
        ViewConfig("conformer", 1, 2, width=16, inner=16),
        ViewConfig("conformer", 1, 2, width=16, inner=16),
        local_layers=2,
        local_width=8,
        channels=4,
        width=12,
    ),
    "transformer": WordEmbedderConfig(
        ViewConfig("transformer", 2, 2, width=16, inner=16),
        ViewConfig("transformer", 1, 4, width=16, inner=16),
        width=12,
    ),
    "lstm": WordEmbedderConfig(
        ViewConfig("lstm", 2, width=16), ViewConfig("lstm", 1, width=16), width=12
    ),
}
GOLDEN: dict[str, dict[str, list[float]]] = {
    "conformer": {
        "acoustic": [0.08844, 0.16656, 0.31829, -0.37871],
        "ctc_logits": [1.56305, -0.20177, 0.39984, -0.54320],
        "written": [0.61834, 0.09950, 0.18666, 0.03083],
    },
    "bottleneck": {
        "acoustic": [-0.39413, 0.07800, 0.07091, 0.55793],
        "ctc_logits": [-0.80236, -0.12665, 0.27552, 0.01728],
        "written": [0.44268, -0.15262, -0.29095, 0.31666],
    },
    "transformer": {
        "acoustic": [0.08411, 0.26383, -0.55250, -0.01534],
        "ctc_logits": [-0.27362, -0.06112, -0.66376, 0.67662],
        "written": [-0.16569, -0.18714, -0.41768, -0.06003],
    },
    "lstm": {
        "acoustic": [0.46018, -0.18931, -0.32092, -0.04711],
        "ctc_logits": [-0.27402, 0.11837, -0.13653, -0.08476],
        "written": [0.00082, 0.10384, -0.06540, 0.21789],
    },
}


def seeded(name: str) -> MultiViewEmbedder:
    torch.manual_seed(0)
    return build_embedder(SMALL[name]).eval()


@pytest.fixture(params=list(SMALL))
def network(request: pytest.FixtureRequest) -> MultiViewEmbedder:
    return seeded(request.param)


def golden_inputs() -> tuple[Tensor, Tensor]:
    """A deterministic log-mel (1, 40, 80) that needs no random numbers, and two spellings."""
    frames = torch.arange(40.0)[:, None]
    mel = -5 + 2 * torch.sin(0.3 * frames + 0.1 * torch.arange(80.0))
    return mel[None], torch.tensor([[5, 9, 3, 0], [7, 1, 2, 4]])


@pytest.mark.parametrize("name", list(SMALL))
def test_word_embedder_seeded_gives_golden_outputs(name: str) -> None:
    network = seeded(name)
    mel, spellings = golden_inputs()
    with torch.inference_mode():
        vectors, logits, steps = network.encode(mel, torch.tensor([37]))
        written = network.embed_phonemes(spellings, torch.tensor([3, 4]))
    outputs = {
        "acoustic": vectors[0, :4],
        "ctc_logits": logits[0, 3, :4],
        "written": written[:, :2].flatten(),
    }
    assert steps.tolist() == [10]
    for part, values in outputs.items():
        torch.testing.assert_close(
            values, torch.tensor(GOLDEN[name][part]), atol=2e-5, rtol=1e-4, msg=part
        )


@pytest.mark.parametrize("length", [1, 37, 40])
def test_embed_audio_with_padding_equals_without(network: MultiViewEmbedder, length: int) -> None:
    mel = torch.randn(2, 64, 80)
    alone = network.embed_audio(mel[:1, :length], torch.tensor([length]))
    batch = network.embed_audio(mel, torch.tensor([length, 64]))
    torch.testing.assert_close(batch[:1], alone, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(batch.norm(dim=1), torch.ones(2))


def test_embed_phonemes_with_padding_equals_without(network: MultiViewEmbedder) -> None:
    words = torch.tensor([[5, 9, 3, 0, 0], [7, 1, 2, 3, 4]])
    alone = network.embed_phonemes(words[:1, :3], torch.tensor([3]))
    batch = network.embed_phonemes(words, torch.tensor([3, 5]))
    torch.testing.assert_close(batch[:1], alone, atol=1e-5, rtol=1e-4)


def test_embed_phonemes_depends_on_their_order(network: MultiViewEmbedder) -> None:
    words = torch.tensor([[5, 9, 3], [3, 9, 5]])
    one, other = network.embed_phonemes(words, torch.tensor([3, 3]))
    assert float(one @ other) < 1 - 1e-4


def test_encode_subsamples_frames_by_four(network: MultiViewEmbedder) -> None:
    _, logits, steps = network.encode(torch.randn(2, 63, 80), torch.tensor([63, 41]))
    assert logits.shape == (2, 16, network.config.n_phonemes)
    assert steps.tolist() == [16, 11]


def test_predict_phonemes_equals_logits_of_encode(network: MultiViewEmbedder) -> None:
    mel, lengths = torch.randn(2, 63, 80), torch.tensor([63, 41])
    logits, steps = network.predict_phonemes(mel, lengths)
    _, expected, counted = network.encode(mel, lengths)
    torch.testing.assert_close(logits, expected)
    assert torch.equal(steps, counted)


def test_bottleneck_phonemes_use_local_context_only() -> None:
    network = seeded("bottleneck")
    mel, lengths = torch.randn(1, 160, 80), torch.tensor([160])
    before, _ = network.predict_phonemes(mel, lengths)
    mel[:, 100:] = torch.randn(1, 60, 80)
    after, _ = network.predict_phonemes(mel, lengths)
    torch.testing.assert_close(after[:, :20], before[:, :20], atol=1e-5, rtol=1e-4)
    assert (after - before)[:, 28:].abs().max() > 0.01


def test_bottleneck_vector_depends_on_posteriors_only() -> None:
    network = seeded("bottleneck")
    network.ctc_head.weight.data.zero_()  # the same posteriors whatever the sound
    one, other = network.embed_audio(torch.randn(2, 60, 80), torch.tensor([60, 60]))
    torch.testing.assert_close(one, other)


@pytest.mark.parametrize("pooling", ["first", "cls"])
def test_pooling_of_one_state_ignores_padding(pooling: str) -> None:
    config = SMALL["transformer"]
    views = {
        name: replace(getattr(config, name), pooling=pooling) for name in ("acoustic", "written")
    }
    network = build_embedder(replace(config, **views)).eval()
    words = torch.tensor([[5, 9, 3, 0], [7, 1, 2, 4]])
    both = network.embed_phonemes(words, torch.tensor([3, 4]))
    alone = network.embed_phonemes(words[:1, :3], torch.tensor([3]))
    torch.testing.assert_close(both[:1], alone, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("config", SMALL.values(), ids=list(SMALL))
def test_config_from_dict_restores_the_config(config: WordEmbedderConfig) -> None:
    restored = config_from_dict(asdict(config))
    assert restored == config and type(restored) is type(config)
