"""Training over the frames of a frozen speech model, a tiny one of the real classes: from prepare
to a pipeline that speaks, and to one that embeds words."""

import csv
from pathlib import Path

import numpy as np
import pytest
import soundfile
import torch

from earshot.core.errors import InputError
from earshot.models.vocoder import Vocoder, VocoderConfig
from earshot.models.vqvae import CodebookInverterConfig, KMeansConfig, VQVAEConfig
from earshot.models.words.word_embedder import ViewConfig, WordEmbedderConfig
from earshot.pretrained.speech_encoder import SpeechEncoder
from earshot.systems.voice_conversion import VQVAEConversion
from earshot.systems.voice_conversion.live.networks import VQVAENetworks
from earshot.systems.words import Words
from tests.support.word_arrays import write_arrays
from tests.systems.words.test_averaged_states import save as save_speech_model
from training.common import loop
from training.common.checkpoints import write_weights
from training.common.commands import front_end_of, prepared_with
from training.common.kmeans import kmeans
from training.common.windows import Windows
from training.voice_conversion.baselines import inverter, units
from training.voice_conversion.baselines.prepare import prepare
from training.voice_conversion.export import export_baselines
from training.words.frames.stage import Stage, train_stage

pytestmark = pytest.mark.slow

SPEAKERS = {"SF1": 210.0, "TF2": 190.0}  # Hz
VIEW = ViewConfig("conformer", 1, 2, width=16, inner=16, dropout=0.0)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """ID:LAYER of a tiny HuBERT."""
    return f"{save_speech_model(tmp_path_factory.mktemp('hub') / 'tiny')}:2"


@pytest.fixture(scope="module")
def run(model: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Arrays of buzzing speakers, prepared with the model."""
    root = tmp_path_factory.mktemp("front_end")
    folder = root / "data" / "speech" / "npvcc2016"
    folder.mkdir(parents=True)
    time = np.arange(2 * 16_000) / 16_000
    rows = []
    for speaker, hz in SPEAKERS.items():
        for number in range(7):  # of each speaker's sentences the last six validate
            buzz = sum(np.sin(2 * np.pi * k * hz * time * (1 + number / 20)) for k in range(1, 9))
            name = f"{speaker}-{number}.wav"
            soundfile.write(folder / name, 0.05 * buzz * (np.sin(9 * time) > -0.3), 16_000)
            rows.append((name, speaker, "en", "", 2, "train", f"{number}"))
    with (folder / "manifest.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow("path speaker lang text seconds split sentence_id".split())
        writer.writerows(rows)
    prepare(root / "data", root / "run", prepared_with(model, root / "run"))
    return root / "run"


def test_states_on_grid_have_nearest_centres(model: str) -> None:
    """The tiny model's frames are 320 samples apart, and see 45: the first is early by 137."""
    front_end = SpeechEncoder.from_pretrained(model, "cpu")
    waveform = np.random.default_rng(0).normal(0, 0.1, 16_000).astype(np.float32)
    frames, aligned = front_end.states(waveform), front_end.on_grid(waveform)
    assert aligned.shape == (50, front_end.width) == (50, 16)
    np.testing.assert_array_equal(aligned, frames[:50])
    assert np.abs(front_end.at("3").on_grid(waveform) - aligned).max() > 0.01


def test_windows_repeat_frames_of_20_ms(tmp_path: Path) -> None:
    frames = np.arange(400)
    np.savez(
        tmp_path / "a.npz",
        features=frames[:200].astype(np.float16)[:, None],
        log_bands=frames.astype(np.float16)[:, None],
    )
    windows = Windows(tmp_path / "a.npz")
    names = ("log_bands", "features")
    for bands, features in (
        windows.batch(names, 64, 40, torch.Generator().manual_seed(0)),
        windows.windows(names, 40),
    ):
        torch.testing.assert_close(features, (bands / 2).floor())


def test_centroids_end_where_the_frames_are() -> None:
    generator = torch.Generator().manual_seed(0)
    centres = 10 * torch.randn(4, 3, generator=generator)
    frames = centres.repeat(50, 1) + 0.1 * torch.randn(200, 3, generator=generator)
    centroids, error = kmeans(frames, 8, generator)
    assert error < 0.02
    assert torch.cdist(centres, centroids).min(dim=1).values.max() < 0.2


def test_units_over_a_front_end_speak(
    run: Path, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inverter, "BATCH", 2)
    monkeypatch.setattr(units, "BATCH", 2)
    units.train_kmeans(run, "kmeans", KMeansConfig(codebook_size=8))
    sizes = VQVAEConfig(8, (2, 1), width=16, heads=2, inner=16, code_width=8)
    units.train_vq(run, "vq", sizes, steps=2)
    for name in ("kmeans", "vq"):
        tiny = CodebookInverterConfig(width=16, layers=1, inner=16, n_voices=2)
        inverter.train_inverter(run, f"inverter-{name}", name, tiny, steps=2)
    vocoder = VocoderConfig(width=16, inner=16, layers=1)
    loop.save(run, "vocoder", vocoder, Vocoder(vocoder), {"hours": 0.0, "score": 0.0})
    export_baselines(run, run / "checkpoints")
    noise = np.random.default_rng(0).normal(0, 0.1, 24_000).astype(np.float32)
    for name in ("kmeans-front-end", "vqvae-front-end"):
        convert = VQVAEConversion.load(run / "checkpoints" / name, "cpu")
        conversion = convert((16_000, noise), "TF2", "neural")
        assert len(conversion.units.codes) == 75  # of 20 ms
        assert conversion.units.codes.max() < 8
        assert len(conversion.converted.waveform) == len(conversion.source.waveform) == 24_000
        assert np.abs(conversion.converted.waveform).max() > 0
        with pytest.raises(InputError, match="not of MFCC"):
            VQVAENetworks(convert)


def test_words_over_front_end_are_embedded(model: str, tmp_path: Path) -> None:
    front_end = prepared_with(model, tmp_path)
    write_arrays(tmp_path, front_end.on_grid)
    (tmp_path / "noise.npz").unlink()
    config = WordEmbedderConfig(VIEW, VIEW, width=12, stack=2)
    train_stage(tmp_path, "front-end", config, Stage(2, 1e-3, 1, n_words=8))
    saved = torch.load(tmp_path / "front-end.pt", weights_only=True)
    assert saved["config"]["n_mels"] == front_end.width
    settings = {"name": "words", "network": saved["config"], "front_end": front_end_of(tmp_path)}
    write_weights(tmp_path / "words", settings, saved["network"])
    words = Words.from_pretrained(tmp_path / "words", "cpu")
    rng = np.random.default_rng(0)
    noises = [rng.normal(0, 0.1, size).astype(np.float32) for size in (8000, 12_345)]
    together, alone = words.embed_waveforms(noises), words.embed_waveforms(noises[:1])
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(together[0], alone[0], atol=1e-3)
    (posteriors,) = words.log_posteriors(noises[0])
    assert posteriors.shape == (13, 76)  # a step for 40 ms


def test_prepare_refuses_folder_of_other_arrays(model: str, tmp_path: Path) -> None:
    np.savez(tmp_path / "recorded.npz", frames=np.zeros(1))
    with pytest.raises(SystemExit, match="arrays of another front end"):
        prepared_with(model, tmp_path)
    with pytest.raises(SystemExit, match="cannot be loaded"):
        prepared_with(str(tmp_path / "nothing"), tmp_path / "new")
