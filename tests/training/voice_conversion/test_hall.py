"""Teaching the content encoder to hear in noise, on a few made-up windows."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from earshot.core.paths import CHECKPOINTS
from earshot.pretrained.any_voice import LOW_RANK, Networks
from earshot.pretrained.checkpoint import read_config
from training.common.checkpoints import write_weights
from training.common.loop import Budget
from training.voice_conversion import hall
from training.voice_conversion.hall import Student, export_taught, teach

pytestmark = pytest.mark.slow

CPU = torch.device("cpu")
FRAMES = 660
WAVEFORM = torch.from_numpy(np.random.default_rng(3).normal(0, 0.1, (1, 16_000))).float()


@pytest.fixture(scope="module")
def untaught(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shipped checkpoints, without the products that were taught."""
    out = tmp_path_factory.mktemp("checkpoints")
    for name in ("any-voice", "any-voice-inverter", "any-voice-vocoder"):
        shutil.copytree(CHECKPOINTS / name, out / name)
    folder = out / "any-voice"
    config = {name: value for name, value in read_config(folder).items() if name != LOW_RANK}
    weights = load_file(folder / "model.safetensors").items()
    write_weights(folder, config, {n: w for n, w in weights if not n.startswith(LOW_RANK)})
    return out


@pytest.fixture(scope="module")
def networks(untaught: Path) -> Networks:
    return Networks.load(untaught / "any-voice", CPU)


@pytest.fixture
def run(tmp_path: Path, untaught: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Arrays of a buzz that changes its pitch, small batches, and weights to begin with."""
    monkeypatch.setattr(hall, "SHIPPED", untaught / "any-voice")
    random, time = np.random.default_rng(0), np.arange(FRAMES * 160) / 16_000
    buzz = sum(np.sin(2 * np.pi * k * (120 * time + 9 * np.sin(5 * time))) / k for k in range(1, 9))
    for split in ("train", "val"):
        (tmp_path / split).mkdir()
        waveform = (4_000 * buzz + random.normal(0, 50, len(time))).astype(np.int16)
        for name, array in {
            "waveform": waveform.reshape(-1, 160),
            "pitch": np.full(FRAMES, 120, np.float16),
            "speaker": np.zeros(FRAMES, np.int16),
            "corpus": np.zeros(FRAMES, np.int8),
        }.items():
            np.save(tmp_path / split / f"{name}.npy", array)
        for name, only in {"speakers": "SM1", "corpora": "npvcc2016"}.items():
            (tmp_path / split / f"{name}.txt").write_text(f"{only}\n")
    np.save(tmp_path / "noise.npy", random.normal(0, 900, 48_000).astype(np.int16))
    for name, size in {"PLAIN": 1, "EQUALISED": 1, "NOISY": 2, "VALIDATED": 2}.items():
        monkeypatch.setattr(hall, name, size)
    return tmp_path


def test_student_begins_as_its_teacher(networks: Networks) -> None:
    content = Student(networks)(WAVEFORM, networks.recogniser)
    expected = networks.adapter(networks.recogniser(WAVEFORM))
    torch.testing.assert_close(content, expected, atol=1e-5, rtol=0)


def test_taught_encoder_errs_less_in_noise(
    run: Path, networks: Networks, untaught: Path, tmp_path: Path
) -> None:
    """It is nearer to what is heard without noise; what is exported, with its products folded in,
    hears as the student does, and other systems' recogniser stays as it was."""
    before = {name: weight.clone() for name, weight in networks.recogniser.state_dict().items()}
    teach(run, Budget(steps=5))
    teach(run, Budget(steps=10))  # it resumes
    rows = [json.loads(line) for line in (run / "hall.jsonl").read_text().splitlines()]
    assert rows[-1]["step"] == 10
    assert rows[-1]["5 dB"] < rows[0]["5 dB"]

    out = tmp_path / "checkpoints"
    shutil.copytree(untaught, out)
    export_taught(run, out)
    taught = Networks.load(out / "any-voice", CPU)
    student = Student(networks)
    state = torch.load(run / "hall.state", weights_only=True)
    student.load_state_dict(state["schedule"]["average"])
    content = taught.adapter(taught.recogniser(WAVEFORM))
    torch.testing.assert_close(content, student(WAVEFORM, networks.recogniser), atol=0.02, rtol=0)
    assert (content - networks.adapter(networks.recogniser(WAVEFORM))).abs().max() > 0.05
    for name, weight in networks.recogniser.state_dict().items():
        assert torch.equal(weight, before[name])


def test_shipped_encoder_is_taught_and_not_again(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="taught already"):
        teach(tmp_path, Budget(steps=1))
