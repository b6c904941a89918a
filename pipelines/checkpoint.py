"""Read a checkpoint folder: config.json and model.safetensors, strictly."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import nn


def locate(name: str | Path) -> Path:
    """The folder of a checkpoint: a local one as it is, else a hub id's, downloaded.

    Raises FileNotFoundError when it is neither.
    """
    folder = Path(name)
    if (folder / "config.json").exists():
        return folder
    if folder.is_absolute() or folder.exists() or len(folder.parts) != 2:
        raise FileNotFoundError(f"There is no checkpoint in {folder}.")
    from huggingface_hub import snapshot_download  # only where a hub is asked

    try:
        return Path(snapshot_download(str(name)))
    except Exception as error:
        message = f"{name} is neither a checkpoint folder nor a hub id that can be reached."
        raise FileNotFoundError(message) from error


def read_config(folder: Path) -> dict[str, Any]:
    """The config that travels with the weights."""
    return json.loads((folder / "config.json").read_text())


def load_weights(
    network: nn.Module,
    folder: Path,
    device: torch.device,
    renamed: Mapping[str, str] | None = None,
) -> None:
    """Load the weights, every one of them, in single precision, ready for inference.

    renamed: the beginning of a weight's name in the file → what it is called in the network, for
    weights that were trained before modules were renamed.
    """
    weights = {
        _current_name(name, renamed or {}): weight.float() if weight.is_floating_point() else weight
        for name, weight in load_file(folder / "model.safetensors").items()
    }
    network.load_state_dict(weights, strict=True)
    network.to(device).eval().requires_grad_(False)


def choose_device(name: str) -> torch.device:
    """'auto' is the GPU where there is one."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    return torch.device(name)


def _current_name(name: str, renamed: Mapping[str, str]) -> str:
    for old, new in renamed.items():
        if name.startswith(old):
            return new + name.removeprefix(old)
    return name
