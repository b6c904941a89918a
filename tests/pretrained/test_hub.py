"""Models of the hub that visitors choose: what is refused before anything large is fetched."""

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import HfApi, constants
from transformers import ClapConfig, HubertConfig, SpeechT5Config, SpeechT5HifiGanConfig

from earshot.core.cancellation import Job, running
from earshot.core.errors import InputError, StoppedError
from earshot.pretrained import hub
from earshot.pretrained.hub import HubPermission, fetch
from tests.support.hub_server import serve

NAME = "someone/tiny"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A hub with one model, whose files can be changed; the cache is empty."""
    root = tmp_path / "repository"
    root.mkdir()
    (root / "config.json").write_text(json.dumps({"model_type": "clap"}))
    (root / "model.safetensors").write_bytes(b"x" * 1000)
    (root / "pytorch_model.bin").write_bytes(b"x" * 1000)
    (root / "modeling_evil.py").write_text("raise SystemExit")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(hub, "MIN_FREE_BYTES", 0)
    with serve(NAME, root) as address:
        monkeypatch.setattr("huggingface_hub.HfApi", partial(HfApi, endpoint=address))
        yield root


def fetched(tmp_path: Path) -> set[str]:
    return {path.name for path in (tmp_path / "cache").rglob("snapshots/*/*")}


def test_fetch_brings_weights_but_no_code(repository: Path, tmp_path: Path) -> None:
    """It brings safetensors and settings, and reports how far it is."""
    seen: list[tuple[int, int]] = []
    folder = fetch(NAME, ["clap"], lambda done, total: seen.append((done, total)))
    assert {path.name for path in folder.iterdir()} == {"config.json", "model.safetensors"}
    assert seen[-1][0] == seen[-1][1] > 1000


def test_fetch_offline_takes_model_fetched_before(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = fetch(NAME, ["clap"])
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert fetch(NAME, ["clap"]) == folder
    with pytest.raises(InputError, match="someone/other was not downloaded before"):
        fetch("someone/other", ["clap"])


@pytest.mark.parametrize("name", ["", "tiny", "../../etc/passwd", "a/b/c", "a b/c", "x" * 999])
def test_fetch_says_how_id_looks(repository: Path, name: str) -> None:
    with pytest.raises(InputError, match="look like user/model-name"):
        fetch(name, ["clap"])


def test_fetch_of_unknown_id_says_so(repository: Path) -> None:
    with pytest.raises(InputError, match="no open model someone/else"):
        fetch("someone/else", ["clap"])


def test_another_kind_fetches_no_weights(repository: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="of the kind clap; here it takes hubert"):
        fetch(NAME, ["hubert"])
    assert fetched(tmp_path) == {"config.json"}


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [("MAX_MODEL_BYTES", 999, "to download. Choose one"), ("MIN_FREE_BYTES", 10**18, "no room")],
)
def test_too_large_model_fetches_no_weights(
    repository: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    value: int,
    message: str,
) -> None:
    monkeypatch.setattr(hub, name, value)
    with pytest.raises(InputError, match=message):
        fetch(NAME, ["clap"])
    assert fetched(tmp_path) == {"config.json"}


def test_fetch_without_weights_says_so(repository: Path) -> None:
    for path in (repository / "model.safetensors", repository / "pytorch_model.bin"):
        path.unlink()
    with pytest.raises(InputError, match="no weights"):
        fetch(NAME, ["clap"])


def test_fetch_ends_when_visitor_stops_it(repository: Path) -> None:
    job = Job(60)
    job.stop()
    with running(job), pytest.raises(StoppedError):
        fetch(NAME, ["clap"])


def test_space_without_gpu_offers_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(hub, "GPU", tmp_path / "no-gpu")
    space = {"SPACE_ID": "lab/earshot"}
    assert HubPermission.of(False, {}) == HubPermission()
    assert "switched off" in HubPermission.of(True, {}).refusal
    assert "GPU, and this Space has none" in HubPermission.of(False, space).refusal
    monkeypatch.setattr(hub, "GPU", tmp_path)
    assert HubPermission.of(False, space) == HubPermission()


@pytest.mark.parametrize(
    "sizes",
    [
        {"num_hidden_layers": 100_000},
        {"conv_dim": [512, 1_000_000]},
        {"text_config": {"hidden_size": 1e9}},
        {"num_attention_heads": 10**400},
        {"projection_dim": float("nan")},
    ],
)
def test_enormous_layers_are_refused_before_weights(
    repository: Path, tmp_path: Path, sizes: dict
) -> None:
    (repository / "config.json").write_text(json.dumps({"model_type": "clap", **sizes}))
    with pytest.raises(InputError, match="more layers, or wider ones"):
        fetch(NAME, ["clap"])
    assert fetched(tmp_path) == {"config.json"}


@pytest.mark.parametrize("config", ['{"model_type": [1]}', "[" * 2000, "[]", '{"model_type": {}}'])
def test_fetch_refuses_config_of_rubbish(repository: Path, config: str) -> None:
    (repository / "config.json").write_text(config)
    with pytest.raises(InputError, match="here it takes clap"):
        fetch(NAME, ["clap"])


@pytest.mark.parametrize("kind", [ClapConfig, HubertConfig, SpeechT5Config, SpeechT5HifiGanConfig])
def test_offered_models_are_not_too_large(repository: Path, kind: Any) -> None:
    (repository / "config.json").write_text(json.dumps(kind().to_dict()))
    assert fetch(NAME, [kind.model_type])
