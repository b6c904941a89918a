"""Spoken and written words in one space: lengths, padding, the choices of the papers."""

from dataclasses import asdict, replace

import pytest
import torch

from models.word_embedder import ViewConfig, WordEmbedder, WordEmbedderConfig

SMALL = {
    "conformer": WordEmbedderConfig(
        ViewConfig("conformer", 2, 2, width=16, inner=16),
        ViewConfig("conformer", 1, 2, width=16, inner=16),
        channels=4,
        width=12,
    ),
    "near": WordEmbedderConfig(
        ViewConfig("conformer", 1, 2, width=16, inner=16),
        ViewConfig("conformer", 1, 2, width=16, inner=16),
        near=2,
        near_width=8,
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


@pytest.fixture(params=SMALL.values(), ids=list(SMALL))
def network(request: pytest.FixtureRequest) -> WordEmbedder:
    torch.manual_seed(0)
    return WordEmbedder(request.param).eval()


@pytest.mark.parametrize("length", [1, 37, 40])
def test_padding_does_not_change_a_word(network: WordEmbedder, length: int) -> None:
    mel = torch.randn(2, 64, 80)
    alone = network.embed_audio(mel[:1, :length], torch.tensor([length]))
    beside = network.embed_audio(mel, torch.tensor([length, 64]))
    torch.testing.assert_close(beside[:1], alone, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(beside.norm(dim=1), torch.ones(2))


def test_padding_does_not_change_a_spelling(network: WordEmbedder) -> None:
    words = torch.tensor([[5, 9, 3, 0, 0], [7, 1, 2, 3, 4]])
    alone = network.embed_phonemes(words[:1, :3], torch.tensor([3]))
    beside = network.embed_phonemes(words, torch.tensor([3, 5]))
    torch.testing.assert_close(beside[:1], alone, atol=1e-5, rtol=1e-4)


def test_the_order_of_phonemes_matters(network: WordEmbedder) -> None:
    words = torch.tensor([[5, 9, 3], [3, 9, 5]])
    one, other = network.embed_phonemes(words, torch.tensor([3, 3]))
    assert float(one @ other) < 1 - 1e-4


def test_every_fourth_frame_is_read(network: WordEmbedder) -> None:
    _, reading, steps = network.hear(torch.randn(2, 63, 80), torch.tensor([63, 41]))
    assert reading.shape == (2, 16, network.config.n_phonemes)
    assert steps.tolist() == [16, 11]


def test_the_near_layers_read_without_hearing_the_rest() -> None:
    network = WordEmbedder(SMALL["near"]).eval()
    mel, lengths = torch.randn(1, 160, 80), torch.tensor([160])
    read, _ = network.read(mel, lengths)
    mel[:, 100:] = torch.randn(1, 60, 80)
    otherwise, _ = network.read(mel, lengths)
    torch.testing.assert_close(otherwise[:, :20], read[:, :20], atol=1e-5, rtol=1e-4)
    assert (otherwise - read)[:, 28:].abs().max() > 0.01


@pytest.mark.parametrize("pooling", ["first", "cls"])
def test_the_papers_other_poolings(pooling: str) -> None:
    views = {
        name: replace(getattr(SMALL["transformer"], name), pooling=pooling)
        for name in ("acoustic", "written")
    }
    network = WordEmbedder(replace(SMALL["transformer"], **views)).eval()
    words = torch.tensor([[5, 9, 3, 0], [7, 1, 2, 4]])
    both = network.embed_phonemes(words, torch.tensor([3, 4]))
    alone = network.embed_phonemes(words[:1, :3], torch.tensor([3]))
    torch.testing.assert_close(both[:1], alone, atol=1e-5, rtol=1e-4)


def test_config_comes_back_from_its_values() -> None:
    for config in SMALL.values():
        assert WordEmbedderConfig.from_dict(asdict(config)) == config
