"""Read a checkpoint folder: config.json and model.safetensors, strictly."""

import json
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


def load_weights(network: nn.Module, folder: Path, device: torch.device) -> None:
    """Load the weights, every one of them, in single precision, ready for inference."""
    weights = load_file(folder / "model.safetensors")
    network.load_state_dict(
        {n: w.float() if w.is_floating_point() else w for n, w in weights.items()}, strict=True
    )
    network.to(device).eval().requires_grad_(False)


def choose_device(name: str) -> torch.device:
    """'auto' is the GPU where there is one."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    return torch.device(name)
