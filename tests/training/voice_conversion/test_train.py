"""Training of voice conversion: features as at inference, augmentation, losses, resumption."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from earshot.media.audio import features
from earshot.models.vocoder import Vocoder, VocoderConfig
from earshot.models.vqvae import VQVAE, CodebookInverter, CodebookInverterConfig, VQVAEConfig
from earshot.systems.voice_conversion import VQVAEConversion
from training.common.corpora import speech_items
from training.common.loop import fit, save
from training.common.windows import Windows
from training.voice_conversion import export as exporting
from training.voice_conversion.baselines.augment import Cepstra, augment, vtlp
from training.voice_conversion.baselines.units import contrastive_loss
from training.words.recordings import is_trained_on


@pytest.fixture
def constants(tmp_path: Path) -> Path:
    path = tmp_path / "constants.npz"
    np.savez(path, dct=features.dct_matrix())
    return path


def test_cepstra_equal_those_at_inference(constants: Path) -> None:
    noise = 0.1 * np.random.default_rng(0).normal(size=16_000).astype(np.float32)
    bands = torch.from_numpy(features.log_bands(noise))[None]
    cepstra = Cepstra(constants)(bands)[0].numpy()
    # At the ends inference extrapolates, training replicates.
    np.testing.assert_allclose(cepstra[5:-5], features.mfcc(noise)[5:-5], atol=1e-4)


def test_vtlp_by_one_changes_nothing() -> None:
    """Other factors move peaks."""
    bands = torch.zeros(3, 1, 40)
    bands[..., 12] = 1.0
    warped = vtlp(bands, torch.tensor([1.0, 1.15, 0.87]))
    peaks = [(row * torch.arange(40)).sum() / row.sum() for row in warped[:, 0]]
    torch.testing.assert_close(warped[0], bands[0], atol=1e-4, rtol=0)
    assert peaks[1] < 11.5  # read from further up: what was there lands lower
    assert peaks[2] > 12.5


def test_augment_keeps_the_time_course() -> None:
    time = torch.sin(torch.arange(200) / 8.0)[None, :, None]
    bands = (5 * time).expand(8, -1, 40)
    augmented = augment(bands, torch.Generator().manual_seed(0))
    level = augmented.mean(dim=2)
    for row in level:
        assert torch.corrcoef(torch.stack([row, time[0, :, 0]]))[0, 1] > 0.8
    assert (augmented[0] - augmented[1]).abs().mean() > 0.3


def test_contrastive_loss_is_low_for_equals() -> None:
    """The loss is high for unrelated views."""
    generator = torch.Generator().manual_seed(0)
    one, other = torch.randn(2, 4, 80, 16, generator=generator)
    assert contrastive_loss(one, one) < 0.1
    assert contrastive_loss(one, other) > 2.0


def test_windows_of_all_arrays_are_aligned(tmp_path: Path) -> None:
    frames = np.arange(400)
    np.savez(
        tmp_path / "a.npz",
        row=frames.astype(np.float16)[:, None],
        waveform=np.repeat(frames, 160).astype(np.int16),
        voice=(frames >= 360).astype(np.int8),
    )
    windows = Windows(tmp_path / "a.npz", balance="voice")
    generator = torch.Generator().manual_seed(0)
    rows, waveform = windows.batch(("row", "waveform"), 64, 40, generator)
    samples = waveform.view(64, 40, 160)[..., 0] * 32767
    torch.testing.assert_close(rows[..., 0], samples, atol=0.6, rtol=0)
    assert (rows[:, 0, 0] % 4 == 0).all()


def test_finished_fit_takes_no_further_steps(tmp_path: Path) -> None:
    """A fit that is resumed after its last step has nothing left to do."""

    def train(steps: int, state: Path) -> nn.Linear:
        torch.manual_seed(0)
        network = nn.Linear(4, 1)
        fit(
            network,
            lambda g: network(torch.randn(8, 4, generator=g)).float().square().mean(),
            lambda: 0.0,
            state,
            steps,
            1e-2,
        )
        return network

    first = train(30, tmp_path / "a.state")
    again = train(30, tmp_path / "a.state")  # finished: nothing left to do
    torch.testing.assert_close(first.weight, again.weight)
    assert torch.load(tmp_path / "a.state", weights_only=True)["step"] == 30
    assert first.weight.abs().max() < 0.4


def test_pipeline_loads_exported_checkpoints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vqvae = VQVAEConfig(64, width=16, heads=2, inner=16, code_width=8, n_speakers=7)
    inverter = CodebookInverterConfig(code_width=8, width=16, layers=1, inner=16)
    vocoder = VocoderConfig(width=16, inner=16, layers=1)
    result = {"hours": 0.1, "score": 1.0}
    units, inverters = exporting.BASELINES["vqvae-64"]
    for part in units:
        save(tmp_path, part, vqvae, VQVAE(vqvae), result)
    for part in inverters:
        save(tmp_path, part, inverter, CodebookInverter(inverter), result)
    save(tmp_path, "vocoder", vocoder, Vocoder(vocoder), result)
    exporting.export_baselines(tmp_path, tmp_path / "checkpoints")
    pipeline = VQVAEConversion.load(tmp_path / "checkpoints" / "vqvae-64", "cpu")
    assert isinstance(pipeline.vqvae, VQVAE)
    assert pipeline.vqvae.config.n_speakers == 1  # embeddings of training speakers are not exported
    metrics = json.loads((tmp_path / "checkpoints" / "vqvae-64" / "metrics.json").read_text())
    assert metrics["training"]["inverter-64"] == result
    assert len(metrics["sha256"]) == 64


def test_unseen_speakers_are_in_one_split(tmp_path: Path) -> None:
    """The folder holds one corpus, laid out like the data."""
    folder = tmp_path / "speech" / "free_spoken_digits"
    folder.mkdir(parents=True)
    columns = "path speaker sex lang word pron seconds start end snr_db source_file official_split"
    names = ("george", "jackson", "lucas", "nicolas", "yweweler")
    with (folder / "manifest.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns.split())
        for name in names:
            for start, split in enumerate(["test", "train", "train"]):
                speaker = f"fsdd_{name}"
                writer.writerow(
                    [f"audio/{speaker}.ogg", speaker, "M", "en", "one", "W AH N", 0.5, start]
                    + [start + 0.5, "", "", split]
                )
    items = speech_items(tmp_path)
    splits = {s: {i.speaker for i in items if i.split == s} for s in ("train", "val", "test")}
    assert len(items) == 15
    assert not splits["train"] & splits["val"]
    assert splits["val"] == {"fsdd_yweweler"}
    assert "fsdd_yweweler" not in splits["test"]
    # The words are trained on him too, but not on what the corpus calls test.
    used = [item.start for item in items if item.speaker == "fsdd_yweweler" and is_trained_on(item)]
    assert used == [1.0, 2.0]
    assert "fsdd_nicolas" in splits["test"] - splits["train"]
