"""CLAP behind our protocol, on a tiny model with random weights that this file saves itself."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import (
    ClapConfig,
    ClapFeatureExtractor,
    ClapModel,
    ClapProcessor,
    RobertaTokenizer,
)

from benchmarks.support.fake_sound_encoder import FakeEncoder, write_tone
from earshot.cli.sounds import main
from earshot.core.errors import InputError
from earshot.core.paths import ROOT
from earshot.sound_index.index import SoundIndex
from earshot.systems.sound_search import SoundSearch
from earshot.systems.sound_search.encoder import ClapEncoder, load_encoder

pytestmark = pytest.mark.slow

RATE = 48_000


def save_tiny_clap(folder: Path, fused: bool = False) -> Path:
    """A ClapModel with its processor, as from_pretrained wants them."""
    torch.manual_seed(0)
    config = ClapConfig(
        text_config={
            "vocab_size": 300,
            "hidden_size": 16,
            "num_hidden_layers": 1,
            "num_attention_heads": 2,
            "intermediate_size": 16,
        },
        audio_config={
            "patch_embeds_hidden_size": 16,
            "hidden_size": 128,
            "depths": [1, 1, 1, 1],
            "num_attention_heads": [1, 1, 2, 2],
            "num_hidden_layers": 4,
            "enable_fusion": fused,
        },
        projection_dim=16,
    )
    ClapModel(config).save_pretrained(folder)
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    letters = [*map(chr, range(33, 127)), "Ġ"]
    vocabulary = {token: number for number, token in enumerate([*special, *letters])}
    tokenizer = RobertaTokenizer(vocabulary, [])
    extractor = ClapFeatureExtractor(truncation="fusion" if fused else "rand_trunc")
    ClapProcessor(extractor, tokenizer).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_clap(tmp_path_factory.mktemp("models") / "tiny-clap")


@pytest.fixture(scope="module")
def encoder(folder: Path) -> ClapEncoder:
    return ClapEncoder.from_pretrained(folder, "cpu")


def noise(seconds: float) -> np.ndarray:
    return np.random.default_rng(0).normal(0, 0.1, round(seconds * RATE)).astype(np.float32)


def test_clap_encoder_knows_its_model(encoder: ClapEncoder) -> None:
    """Its name, rate and dimension are those of the model."""
    assert (encoder.name, encoder.sample_rate, encoder.dimension) == ("tiny-clap", RATE, 16)
    assert encoder.threshold == -1


@pytest.mark.parametrize(("seconds", "shape"), [(0.3, (1, 1)), (7, (1, 7)), (25, (3, 25 / 3))])
def test_clap_segments_cover_the_whole_sound(
    encoder: ClapEncoder, seconds: float, shape: tuple
) -> None:
    waveform = noise(seconds)
    segments = encoder.segments(waveform)
    assert segments.shape == (shape[0], pytest.approx(shape[1] * RATE, abs=1))
    np.testing.assert_array_equal(segments.reshape(-1)[: len(waveform)], waveform)
    embedding = encoder.embed_audio(segments)
    assert embedding.vectors.shape == (shape[0], 16)
    assert embedding.per_second.shape == (shape[0], int(np.ceil(shape[1])), 16)
    for vectors in (embedding.vectors, embedding.per_second):
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=-1), 1, atol=1e-5)


def test_clap_vectors_equal_those_of_transformers(encoder: ClapEncoder, folder: Path) -> None:
    model = ClapModel.from_pretrained(folder).eval()
    processor = ClapProcessor.from_pretrained(folder)
    audio = processor.feature_extractor(noise(10), sampling_rate=RATE, return_tensors="pt")
    words = processor.tokenizer(["A dog barks"], return_tensors="pt")
    with torch.inference_mode():
        outputs = model(**audio, **words)
    vectors = encoder.embed_audio(encoder.segments(noise(10))).vectors
    np.testing.assert_allclose(vectors, outputs.audio_embeds.numpy(), atol=1e-5)
    np.testing.assert_allclose(
        encoder.embed_text(["A dog barks"]), outputs.text_embeds.numpy(), atol=1e-5
    )


def test_clap_vectors_in_batch_equal_single(encoder: ClapEncoder) -> None:
    segments = encoder.segments(noise(95))
    many = encoder.embed_audio(segments)
    for number in (0, 8, 9):
        one = encoder.embed_audio(segments[number : number + 1])
        np.testing.assert_allclose(one.vectors[0], many.vectors[number], atol=1e-5)
        np.testing.assert_allclose(one.per_second[0], many.per_second[number], atol=1e-5)
    texts = ["dog", "a very long text about rain " * 40]
    single = np.concatenate([encoder.embed_text([text]) for text in texts])
    np.testing.assert_allclose(encoder.embed_text(texts), single, atol=1e-5)


def test_clap_vectors_change_where_sound_does(encoder: ClapEncoder) -> None:
    """What is changed in one second moves the vectors near it more than those far from it."""
    waveform = noise(10)
    before = encoder.embed_audio(encoder.segments(waveform)).per_second[0]
    waveform[7 * RATE : 8 * RATE] *= 20
    after = encoder.embed_audio(encoder.segments(waveform)).per_second[0]
    assert np.argmax(np.linalg.norm(after - before, axis=1)) in (6, 7, 8)


def test_fused_clap_encoder_is_deterministic(tmp_path: Path) -> None:
    """Their extractor draws lots, which must not be felt."""
    encoder = ClapEncoder.from_pretrained(save_tiny_clap(tmp_path, fused=True), "cpu")
    segments = encoder.segments(noise(45))
    first = encoder.embed_audio(segments)
    for _ in range(4):
        np.testing.assert_array_equal(encoder.embed_audio(segments).vectors, first.vectors)


def test_clap_fingerprint_depends_on_the_weights(encoder: ClapEncoder, folder: Path) -> None:
    assert ClapEncoder.from_pretrained(folder, "cpu").fingerprint == encoder.fingerprint
    model = ClapModel.from_pretrained(folder)
    with torch.no_grad():
        model.text_projection.linear1.bias.add_(1e-3)
    other = ClapEncoder("other", model, ClapProcessor.from_pretrained(folder))
    assert other.fingerprint != encoder.fingerprint


def test_load_encoder_of_unknown_model_raises(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="no-model"):
        load_encoder(tmp_path / "no-model")


def test_index_command_indexes_folder_with_clap(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """From a folder of files to a search in it; once more, and nothing is left to do."""
    write_tone(tmp_path / "sounds" / "low.wav", "low")
    write_tone(tmp_path / "sounds" / "high.wav", "high", seconds=11)
    (tmp_path / "sounds" / "broken.wav").write_text("no sound")
    arguments = ["index", str(tmp_path / "sounds"), "--sound-model", str(folder)]
    main(arguments)
    printed = capsys.readouterr()
    assert "2 added, 0 unchanged, 0 removed, 1 skipped" in printed.out
    assert "broken.wav: This file cannot be read as audio" in printed.out
    assert "] 3/3" in printed.err
    search = SoundSearch.from_pretrained(folder, "cpu")
    index = SoundIndex.open(tmp_path / "sounds.index", search.encoder)
    assert len(search(index, "a dog barks").hits) == 2
    assert search(index, "a dog barks").matched
    main(arguments)
    assert "0 added, 2 unchanged, 0 removed, 1 skipped" in capsys.readouterr().out
    with pytest.raises(InputError, match="tiny-clap"):
        SoundIndex.open(tmp_path / "sounds.index", FakeEncoder())
    with pytest.raises(SystemExit, match="no folder"):
        main(["index", str(tmp_path / "nowhere"), "--sound-model", str(folder)])


def test_index_command_prints_its_help() -> None:
    command = [sys.executable, "-m", "earshot", "sounds", "index", "--help"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "FOLDER.index" in done.stdout and done.stderr == ""
