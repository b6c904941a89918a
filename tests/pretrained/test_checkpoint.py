"""Checkpoints: whole or not at all, from a folder or from a hub."""

import hashlib
import json
import logging
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from earshot import LipToSpeech, SoundSearch, VoiceConversion, Words
from earshot.core.paths import CHECKPOINTS, ROOT
from earshot.models.words.g2p import G2P, G2PConfig
from earshot.pretrained.checkpoint import (
    CheckpointError,
    companion,
    is_hub_id,
    load_weights,
    locate,
    read_config,
    weight_files,
)
from tests.support.hub_server import serve
from training.common import checkpoints

pytestmark = pytest.mark.slow

# What each system asks of a checkpoint, in a process whose hub is elsewhere.
LOAD = """
import sys
from earshot.systems.lip_to_speech import LipToSpeech
from earshot.systems.sound_search import SoundSearch
from earshot.systems.voice_conversion import VoiceConversion
from earshot.systems.words import Words
prefix = sys.argv[1]
VoiceConversion.from_pretrained(prefix + "vqvae-64", "cpu")
Words.from_pretrained(prefix + "words", "cpu").embed_text("lighthouse")
LipToSpeech.from_pretrained(prefix + "lip-to-speech", "cpu")
SoundSearch.from_pretrained([prefix + "sound-cnn"], "cpu")
"""


@pytest.fixture
def folder(tiny_checkpoints: Path, tmp_path: Path) -> Path:
    """A checkpoint with the hash of its weights in metrics.json."""
    copy = shutil.copytree(tiny_checkpoints / "g2p", tmp_path / "g2p")
    digest = hashlib.sha256((copy / "model.safetensors").read_bytes()).hexdigest()
    (copy / "metrics.json").write_text(json.dumps({"sha256": digest}))
    return copy


def load(folder: Path) -> None:
    network = G2P(G2PConfig(**read_config(folder)["network"]))
    load_weights(network, folder, torch.device("cpu"))


def test_load_weights_of_intact_checkpoint_succeeds(folder: Path) -> None:
    load(folder)


def test_truncated_weights_say_which_model(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])
    with caplog.at_level(logging.ERROR), pytest.raises(CheckpointError, match="g2p.*damaged"):
        load(folder)
    assert str(folder) in caplog.text


def test_weights_with_another_hash_are_refused(folder: Path) -> None:
    (folder / "metrics.json").write_text(json.dumps({"sha256": "0" * 64}))
    with pytest.raises(CheckpointError, match="damaged"):
        load(folder)


def test_weights_of_another_network_are_refused(folder: Path, tiny_checkpoints: Path) -> None:
    shutil.copy(tiny_checkpoints / "vocoder" / "model.safetensors", folder)
    (folder / "metrics.json").unlink()
    with pytest.raises(CheckpointError, match="another network"):
        load(folder)


def test_missing_weights_are_reported(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    with pytest.raises(CheckpointError, match="missing"):
        load(folder)


def test_config_of_broken_json_is_refused(folder: Path) -> None:
    (folder / "config.json").write_text("{")
    with pytest.raises(CheckpointError, match=r"config\.json"):
        load(folder)


def test_locate_names_what_it_misses(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        locate(tmp_path / "nowhere")


def test_shipped_name_needs_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A shipped checkpoint is located from any working folder."""
    monkeypatch.chdir(tmp_path)
    assert locate("vqvae-512") == CHECKPOINTS / "vqvae-512"


def test_missing_companion_asks_no_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative folder is no user of the hub."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine" / "model").mkdir(parents=True)
    (tmp_path / "mine" / "model" / "config.json").write_text("{}")
    with pytest.raises(FileNotFoundError, match="no checkpoint .* words"):
        companion(locate("mine/model"), "vocoder")


@pytest.mark.parametrize("name", ["../x", "./x/y", "x/../y", "x", "a/b/c/d", ""])
def test_path_is_no_hub_id(name: str) -> None:
    assert not is_hub_id(name)


def test_own_folder_replaces_no_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders of the working folder may have the names of those that are shipped."""
    monkeypatch.chdir(tmp_path)
    for name in ("words", "any-voice", "lip-to-speech", "sound-cnn"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text("{}")
    for task in (VoiceConversion, Words, SoundSearch, LipToSpeech):
        assert task.from_pretrained(device="cpu")


def test_companion_inside_precedes_neighbour(tmp_path: Path) -> None:
    """The one next to the folder is taken where none is inside."""
    for place in ("model", "model/vocoder", "vocoder"):
        (tmp_path / place).mkdir()
        (tmp_path / place / "config.json").write_text("{}")
    assert companion(tmp_path / "model", "vocoder") == tmp_path / "model" / "vocoder"
    shutil.rmtree(tmp_path / "model" / "vocoder")
    assert companion(tmp_path / "model", "vocoder") == tmp_path / "vocoder"


def test_hub_id_works_offline_afterwards(tiny_checkpoints: Path, tmp_path: Path) -> None:
    """Every system loads its checkpoint from the hub, and then without it."""
    shutil.copytree(tiny_checkpoints, tmp_path / "repository")
    config = tmp_path / "repository" / "words" / "config.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "g2p": "g2p"}))
    command = [sys.executable, "-c", LOAD, "someone/earshot/"]
    environment = {"HF_HOME": str(tmp_path / "cache"), "PATH": "", "PYTHONPATH": str(ROOT)}
    environment["OMP_NUM_THREADS"] = "1"  # others would wait for each other by spinning
    with serve("someone/earshot", tmp_path / "repository") as address:
        online = environment | {"HF_ENDPOINT": address}
        subprocess.run(command, cwd=ROOT, env=online, check=True)
    subprocess.run(command, cwd=ROOT, env=environment | {"HF_HUB_OFFLINE": "1"}, check=True)


def test_hub_companion_is_in_same_repository(tiny_checkpoints: Path, tmp_path: Path) -> None:
    repository = shutil.copytree(tiny_checkpoints / "vqvae-64", tmp_path / "repository")
    shutil.copytree(tiny_checkpoints / "vocoder", repository / "vocoder")
    script = (
        "from earshot import VoiceConversion;"
        "VoiceConversion.from_pretrained('someone/vqvae-64', 'cpu')"
    )
    environment = {"HF_HOME": str(tmp_path / "cache"), "PATH": "", "PYTHONPATH": str(ROOT)}
    environment["OMP_NUM_THREADS"] = "1"  # others would wait for each other by spinning
    with serve("someone/vqvae-64", repository) as address:
        online = environment | {"HF_ENDPOINT": address}
        subprocess.run([sys.executable, "-c", script], cwd=ROOT, env=online, check=True)


def test_large_weights_span_two_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "MAX_FILE_BYTES", 3000)
    monkeypatch.setattr(checkpoints, "MAX_HEADER", 500)
    network = torch.nn.Sequential(*(torch.nn.Linear(20, 20) for _ in range(5)))
    checkpoints.write_weights(tmp_path, {}, network.state_dict())
    assert [path.name for path in weight_files(tmp_path)] == [
        "model-2.safetensors",
        "model.safetensors",
    ]
    again = torch.nn.Sequential(*(torch.nn.Linear(20, 20) for _ in range(5)))
    load_weights(again, tmp_path, torch.device("cpu"))
    for old, new in zip(network.parameters(), again.parameters(), strict=True):
        torch.testing.assert_close(new, old, atol=1e-3, rtol=0)
    (tmp_path / "model-2.safetensors").unlink()
    with pytest.raises(CheckpointError, match="damaged"):
        load_weights(again, tmp_path, torch.device("cpu"))
    checkpoints.write_weights(tmp_path, {}, {"weight": torch.zeros(2)})
    assert len(weight_files(tmp_path)) == 1
