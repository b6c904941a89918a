"""Judges of the hub, on tiny networks of the real classes."""

from argparse import Namespace

import numpy as np
import pytest
import torch
from transformers import (
    Wav2Vec2FeatureExtractor,
    WavLMConfig,
    WavLMForXVector,
    WhisperConfig,
    WhisperFeatureExtractor,
    WhisperForConditionalGeneration,
    WhisperProcessor,
    WhisperTokenizer,
)

from earshot.media.constants import SAMPLE_RATE
from training.judges.hub import Judges, Whisper, XVectors

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def whisper(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A Whisper whose words are single letters, saved with its processor."""
    folder = tmp_path_factory.mktemp("whisper")
    letters = [*map(chr, range(33, 127)), "Ġ"]
    special = ["<|endoftext|>", "<|startoftranscript|>", "<|notimestamps|>"]
    vocabulary = {token: number for number, token in enumerate([*letters, *special])}
    tokenizer = WhisperTokenizer(vocabulary, [])
    extractor = WhisperFeatureExtractor(feature_size=8)
    WhisperProcessor(extractor, tokenizer).save_pretrained(folder)
    end = vocabulary["<|endoftext|>"]
    torch.manual_seed(1)
    config = WhisperConfig(
        vocab_size=len(vocabulary),
        num_mel_bins=8,
        d_model=16,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=16,
        decoder_ffn_dim=16,
        max_target_positions=210,
        pad_token_id=end,
        bos_token_id=end,
        eos_token_id=end,
        decoder_start_token_id=end + 1,
        suppress_tokens=None,
        begin_suppress_tokens=None,
    )
    WhisperForConditionalGeneration(config).save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="module")
def wavlm(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("wavlm")
    torch.manual_seed(0)
    config = WavLMConfig(
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        conv_dim=(8, 8),
        conv_kernel=(10, 8),
        conv_stride=(5, 64),
        num_conv_pos_embeddings=4,
        num_conv_pos_embedding_groups=2,
        tdnn_dim=(16, 16),
        tdnn_kernel=(3, 3),
        tdnn_dilation=(1, 1),
        xvector_output_dim=12,
    )
    WavLMForXVector(config).save_pretrained(folder)
    Wav2Vec2FeatureExtractor(do_normalize=True).save_pretrained(folder)
    return str(folder)


def noise(seconds: float) -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.normal(0, 0.1, round(seconds * SAMPLE_RATE)).astype(np.float32)


def test_whisper_hears_spoken_words(whisper: str) -> None:
    """Whisper goes on after 30 s."""
    judge = Whisper.from_pretrained(whisper, "cpu")
    words = judge.words(noise(1.0))
    assert all(word.isalpha() or "'" in word or word.isdigit() for word in words)
    beyond = judge.words(np.concatenate([np.zeros(29 * SAMPLE_RATE, np.float32), noise(2.0)]))
    first = judge.words(np.concatenate([np.zeros(29 * SAMPLE_RATE, np.float32), noise(1.0)]))
    assert beyond[: len(first)] == first
    assert judge.words(np.zeros(0, np.float32)) == []


def test_x_vectors_are_of_length_1(wavlm: str) -> None:
    """The x-vectors do not depend on loudness."""
    judge = XVectors.from_pretrained(wavlm, "cpu")
    vectors = judge.embed([noise(1.0), 0.2 * noise(1.0), noise(0.1)])
    assert vectors.shape == (3, 12)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-5)
    np.testing.assert_allclose(vectors[0], vectors[1], atol=1e-3)


def test_judges_are_ours_unless_named(whisper: str, wavlm: str) -> None:
    """Named judges never publish."""
    named = Namespace(asr=whisper, speaker=wavlm, publish=False)
    judges = Judges.of(named)
    assert judges.asr and judges.speakers
    assert Judges.of(Namespace(asr=None, speaker=None, publish=True)) == Judges()
    with pytest.raises(SystemExit, match="leave out"):
        Judges.of(Namespace(asr=whisper, speaker=None, publish=True))
    with pytest.raises(FileNotFoundError, match="no folder with such a model"):
        Judges.of(Namespace(asr="/no/such", speaker=None, publish=False))
