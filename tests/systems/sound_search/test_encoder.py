"""Vectors of sounds and texts: deterministic, the same alone or in a batch, of every second."""

from pathlib import Path

import numpy as np
import pytest
from transformers import PreTrainedConfig

from earshot.core.paths import CHECKPOINTS
from earshot.media.audio.sound_features import SAMPLE_RATE
from earshot.pretrained.sound_search import SentenceEncoder, plain
from earshot.systems.sound_search import SoundSearch, encoder
from earshot.systems.sound_search.encoder import EarshotEncoder

NOISE = np.random.default_rng(0).normal(size=12 * SAMPLE_RATE).astype(np.float32) / 5
SOUNDS = ("sound-cnn", "sound-passt")


@pytest.fixture(scope="module")
def ensemble(tiny_checkpoints: Path) -> EarshotEncoder:
    return EarshotEncoder.from_pretrained([tiny_checkpoints / name for name in SOUNDS], "cpu")


def test_ensemble_score_is_mean_of_members(
    tiny_checkpoints: Path, ensemble: EarshotEncoder
) -> None:
    members = [EarshotEncoder.from_pretrained(tiny_checkpoints / name, "cpu") for name in SOUNDS]

    def score(encoder: EarshotEncoder) -> float:
        audio = encoder.embed_audio(encoder.segments(NOISE)).vectors[0]
        return float(audio @ encoder.embed_text(["rain"])[0])

    mean = np.mean([score(member) for member in members])
    assert score(ensemble) == pytest.approx(mean, abs=1e-6)  # single precision
    assert ensemble.threshold == pytest.approx(np.mean([member.threshold for member in members]))
    assert len({ensemble.fingerprint, *(member.fingerprint for member in members)}) == 3
    assert ensemble.name == "sound-cnn + sound-passt"


def test_embed_audio_gives_unit_vectors(ensemble: EarshotEncoder) -> None:
    """There is one for each segment and one for each second."""
    embedding = ensemble.embed_audio(ensemble.segments(NOISE))
    assert embedding.vectors.shape == (2, ensemble.dimension)
    assert embedding.per_second.shape == (2, 6, ensemble.dimension)
    np.testing.assert_allclose(np.linalg.norm(embedding.vectors, axis=-1), 1, atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(embedding.per_second, axis=-1), 1, atol=1e-5)


def test_embed_audio_in_batch_equals_single(ensemble: EarshotEncoder) -> None:
    segments = np.random.default_rng(1).normal(size=(11, 2 * SAMPLE_RATE)).astype(np.float32)
    batch = ensemble.embed_audio(segments)
    single = [ensemble.embed_audio(segment[None]).vectors[0] for segment in segments]
    np.testing.assert_allclose(batch.vectors, single, atol=1e-5)
    np.testing.assert_array_equal(ensemble.embed_audio(segments).vectors, batch.vectors)


def test_embed_text_ignores_case_and_punctuation(
    ensemble: EarshotEncoder,
) -> None:
    vectors = ensemble.embed_text(["A dog barks!", "a dog barks", "the sea"])
    np.testing.assert_allclose(vectors[0], vectors[1], atol=1e-6)
    assert np.abs(vectors[0] - vectors[2]).max() > 0.01


def test_plain_text_has_words_only() -> None:
    assert plain("  A dog, barking...\n(LOUD!) 🐕 it's ") == "a dog barking loud it s"


def test_sentence_encoder_places_paraphrases_close() -> None:
    vectors = SentenceEncoder()(["a dog barks", "a puppy is yapping", "rain on a roof"])
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.2


def test_from_pretrained_without_a_checkpoint_raises(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no checkpoint"):
        EarshotEncoder.from_pretrained(tmp_path / "nothing")


@pytest.mark.parametrize("name", ["nonsense", "", "../no/where", "/no/where", "a/b/c/d"])
def test_unknown_name_asks_no_hub(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PreTrainedConfig, "get_config_dict", lambda name: pytest.fail(name))
    with pytest.raises(FileNotFoundError, match="no checkpoint"):
        SoundSearch.from_pretrained(name)


def test_fingerprint_depends_on_share_of_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    """An index holds vectors of one share: one of another must be refused."""
    shipped = CHECKPOINTS / "sound-cnn"
    before = EarshotEncoder.from_pretrained(shipped, "cpu").fingerprint
    monkeypatch.setattr(encoder, "KINDS_SHARE", 0.5)
    assert EarshotEncoder.from_pretrained(shipped, "cpu").fingerprint != before
