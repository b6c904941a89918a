"""Sounds and sentences in one space: shapes, lengths, parts, patchout."""

from dataclasses import asdict

import pytest
import torch

from earshot.models.sound_search.sound_embedder import (
    PatchTransformer,
    PatchTransformerConfig,
    SoundCNN,
    SoundCNNConfig,
    SoundEmbedder,
    SoundEmbedderConfig,
)

SMALL_CNN = SoundCNNConfig(channels=(8, 16), blocks=(1, 1))
SMALL_PASST = PatchTransformerConfig(width=16, layers=1, heads=2, inner=16)


@pytest.fixture(params=[SMALL_CNN, SMALL_PASST], ids=["cnn", "passt"])
def network(request: pytest.FixtureRequest) -> SoundEmbedder:
    torch.manual_seed(0)
    return SoundEmbedder(SoundEmbedderConfig(request.param, width=12)).eval()


def test_sound_embedder_gives_unit_vectors(network: SoundEmbedder) -> None:
    audio = network.embed_audio(torch.randn(3, 250, 128))
    text = network.embed_sentences(torch.randn(5, 384))
    assert audio.shape == (3, 12)
    assert text.shape == (5, 12)
    torch.testing.assert_close(torch.cat([audio, text]).norm(dim=1), torch.ones(8))


def test_embed_parts_differ_where_sound_changes(network: SoundEmbedder) -> None:
    mel = torch.full((1, 1000, 128), -13.0)
    mel[:, 400:600, 60:70] = 3.0
    whole, parts = network.embed_parts(mel, 100)
    torch.testing.assert_close(whole, network.embed_audio(mel))
    assert parts.shape == (1, 10, 12)
    torch.testing.assert_close(parts.norm(dim=2), torch.ones(1, 10))
    changed = (parts[0] - parts[0, 2]).norm(dim=1)
    assert changed[4:6].min() > 3 * changed[[1, 7, 8]].max()


def test_embed_parts_keeps_short_last_part(network: SoundEmbedder) -> None:
    _, parts = network.embed_parts(torch.randn(1, 230, 128), 100)
    assert parts.shape[1] == 3


def test_sentence_is_near_sounds_of_kind() -> None:
    torch.manual_seed(0)
    network = SoundEmbedder(SoundEmbedderConfig(SMALL_CNN, n_kinds=3, width=12)).eval()
    keys = torch.nn.functional.normalize(torch.randn(3, 384), dim=1)
    values = torch.nn.functional.normalize(torch.randn(3, 12), dim=1)
    network.kind_keys.data, network.kind_values.data = keys, values
    one = network.embed_sentences(keys)
    both = network.embed_sentences(torch.nn.functional.normalize(keys[:1] + keys[1:2], dim=1))
    assert (one @ values.t()).argmax(dim=1).tolist() == [0, 1, 2]
    assert (one * values).sum(dim=1).min() > 0.9
    assert (both @ values.t())[0, :2].min() > 0.3


def with_kinds(kinds: int, posterior_scale: float = 16.0) -> SoundEmbedder:
    """A network with kinds of sound that lie close together, as those of real clips do."""
    torch.manual_seed(0)
    config = SoundEmbedderConfig(SMALL_CNN, kinds, posterior_scale, width=16)
    network = SoundEmbedder(config).eval()
    normalize = torch.nn.functional.normalize
    network.kind_keys.data = normalize(torch.randn(kinds, 384), dim=1)
    network.kind_values.data = normalize(2 * torch.ones(16) + torch.randn(kinds, 16), dim=1)
    return network


def test_vectors_with_kinds_have_unit_length() -> None:
    """A large index can code their dimension."""
    network = with_kinds(kinds=5)
    mel = torch.randn(3, 250, 128)
    audio, text = network.embed_audio(mel), network.embed_sentences(network.kind_keys)
    _, parts = network.embed_parts(mel, 100)
    assert network.config.dimension == 16 + 8
    for vectors in (audio, text, parts):
        assert vectors.shape[-1] == network.config.dimension
        torch.testing.assert_close(vectors.norm(dim=-1), torch.ones(vectors.shape[:-1]))


def test_without_kinds_only_shared_space_remains() -> None:
    """Without a scale of the posteriors it is the same."""
    for network in (with_kinds(kinds=0), with_kinds(kinds=5, posterior_scale=0.0)):
        assert network.config.dimension == 16
        assert network.embed_audio(torch.randn(1, 250, 128)).shape == (1, 16)


def test_kinds_tell_sounds_of_indirect_sentence() -> None:
    """A sentence attends to two of five kinds: their mean is near all kinds in the shared space."""
    network = with_kinds(kinds=5)
    network.audio_projection = torch.nn.Linear(16, 16, bias=False)
    network.audio_projection.weight.data = torch.eye(16)
    sounds = torch.cat([network._project(value[None, None] / 2) for value in network.kind_values])
    keys = network.kind_keys
    sentence = torch.nn.functional.normalize(keys[:1] + keys[1:2], dim=1)
    query = network.embed_sentences(sentence)[0]
    margins = []
    for part in (slice(0, 16), slice(16, None)):
        vectors = torch.nn.functional.normalize(sounds[:, part], dim=1)
        scores = vectors @ torch.nn.functional.normalize(query[part], dim=0)
        margins.append(float((scores[:2].min() - scores[2:].max()).detach()))
    assert margins[1] > 3 * margins[0] > 0


def test_config_from_dict_restores_the_config() -> None:
    for trunk in (SMALL_CNN, SMALL_PASST):
        config = SoundEmbedderConfig(trunk, width=12)
        assert SoundEmbedderConfig.from_dict(asdict(config)) == config


@pytest.mark.parametrize(("stride", "grid"), [(16, (8, 62)), (10, (12, 99))])
def test_patch_transformer_has_grid_of_passt(stride: int, grid: tuple[int, int]) -> None:
    """The grid is that of ten seconds."""
    network = PatchTransformer(PatchTransformerConfig(width=16, layers=1, heads=2, stride=stride))
    assert network.embed(torch.zeros(1, 1, 128, 1000)).shape[2:] == grid


def test_patchout_drops_whole_rows_and_columns() -> None:
    network = PatchTransformer(SMALL_PASST).train()
    places = torch.arange(8 * 31, dtype=torch.float32).view(1, 8, 31, 1)
    rest = network._patchout(places)[0, :, :, 0]
    assert rest.shape == (6, 24)
    assert (rest % 31 == rest[0] % 31).all()  # every row keeps the same columns
    assert (rest // 31 == rest[:, :1] // 31).all()


def test_patch_transformer_refuses_too_long_sound() -> None:
    with pytest.raises(ValueError, match="1001 is the most"):
        PatchTransformer(SMALL_PASST)(torch.zeros(1, 1100, 128))


def test_sound_cnn_has_limited_receptive_field() -> None:
    """Features come every few frames, and silence far from a sound is not changed by it."""
    network = SoundCNN(SMALL_CNN).eval()
    quiet = torch.zeros(1, 800, 128)
    loud = quiet.clone()
    loud[:, :100] = 2.0
    change = (network(loud) - network(quiet)).abs().amax(dim=(0, 2))
    assert change[:12].min() > 0
    assert change[-12:].max() == 0
