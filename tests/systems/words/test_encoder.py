"""Words embedded by networks with pitch in their front end."""

from math import ceil

import numpy as np
import pytest
import torch

from earshot.models.recogniser import STATE
from earshot.models.words.word_embedder import (
    PhonemeBottleneckConfig,
    ViewConfig,
    WordEmbedderConfig,
    build_embedder,
)
from earshot.pretrained.recogniser import load_states
from earshot.systems.words import Words
from earshot.systems.words.front_end import LogMel, States, at_level
from earshot.systems.words.system import Member

RATE = 16_000


@pytest.fixture
def encoder() -> Words:
    return encoder_of(WordEmbedderConfig)


def encoder_of(kind: type[WordEmbedderConfig]) -> Words:
    return Words([member_of(kind, seed=0)], {}, torch.device("cpu"))


def member_of(kind: type[WordEmbedderConfig], seed: int) -> Member:
    torch.manual_seed(seed)
    view = ViewConfig("conformer", 1, 2, width=16, inner=16)
    network = build_embedder(kind(view, view, channels=4, width=12, pitch=True)).eval()
    assert network.pitch is not None
    torch.nn.init.normal_(network.pitch.out.weight)
    return Member(network, LogMel(pitch=True))


def buzz(first: float, last: float, seconds: float = 0.6) -> np.ndarray:
    """A voice that glides from one F0 in Hz to another: (T,)."""
    phase = 2 * np.pi * np.cumsum(np.linspace(first, last, round(seconds * RATE))) / RATE
    harmonics = np.arange(1, 12)[:, None]
    return (0.1 * (np.sin(harmonics * phase) / harmonics).sum(axis=0)).astype(np.float32)


def test_vectors_depend_on_direction_of_pitch(encoder: Words) -> None:
    rising, falling = buzz(120, 180), buzz(180, 120)
    vectors = encoder.embed_waveforms([rising, falling, rising[::-1].copy()])
    cosines = vectors @ vectors.T
    assert 1 - cosines[1, 2] < 0.5 * (1 - cosines[0, 1])


def test_log_posteriors_depend_on_pitch_in_chunks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Those of a long recording are like those of all of it at once."""
    encoder = encoder_of(PhonemeBottleneckConfig)
    glide = buzz(120, 180, seconds=8)
    (whole,), (level,) = map(encoder.log_posteriors, (glide, buzz(120, 120, seconds=8)))
    monkeypatch.setattr(Words, "CHUNK", 200)
    (chunked,) = encoder.log_posteriors(glide)
    np.testing.assert_allclose(np.exp(chunked).sum(axis=1), 1, atol=1e-4)
    assert whole.shape == chunked.shape == (200, PhonemeBottleneckConfig.n_phonemes)
    assert abs(whole - chunked).mean() < 0.1 * abs(whole - level).mean()


@pytest.mark.parametrize("seconds", [0.5, 12.0])
def test_log_posteriors_over_states_span_speech(seconds: float) -> None:
    """A step every 24 ms, the first at its beginning; states before and after it are left out."""
    states = States(load_states((3, 6), device="cpu"))
    view = ViewConfig("conformer", 1, 2, width=16, inner=16)
    width = states(buzz(120, 180)).shape[1]
    network = build_embedder(PhonemeBottleneckConfig(view, view, n_mels=width, stack=1, channels=0))
    words = Words([Member(network.eval(), states)], {}, torch.device("cpu"))
    waveform = buzz(120, 180, seconds)
    (posteriors,) = words.log_posteriors(waveform)
    assert len(posteriors) == ceil(len(waveform) / STATE)
    whole = words._log_posteriors(words._members[0], at_level(waveform))
    np.testing.assert_array_equal(posteriors, whole[1:-1])


def test_last_bottleneck_decodes_words() -> None:
    """Each bottleneck model of an ensemble gives posteriors of long recordings."""
    members = [member_of(WordEmbedderConfig, seed=0)]
    members += [member_of(PhonemeBottleneckConfig, seed) for seed in (1, 2)]
    both, first, last = (
        Words(chosen, {}, torch.device("cpu")) for chosen in (members, members[1:2], members[2:])
    )
    glide = buzz(120, 180)
    expected = [*first.log_posteriors(glide), *last.log_posteriors(glide)]
    np.testing.assert_array_equal(both.log_posteriors(glide), expected)
    assert both.decode_phonemes(glide) == last.decode_phonemes(glide)
    assert last.decode_phonemes(glide) != first.decode_phonemes(glide)
