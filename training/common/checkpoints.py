"""Write checkpoint folders: config.json, model.safetensors, metrics.json, README.md."""

import hashlib
import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor

LARGEST = 10 * 2**20  # bytes that a plain git push to a Space takes


def write_weights(
    folder: Path, config: dict[str, Any], weights: dict[str, Tensor], limited: bool = True
) -> None:
    """Write the config and the weights, in half precision, and note the hash in metrics.json.

    Raises ValueError when the file would be too large to be pushed, unless it is not to be.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    path = folder / "model.safetensors"
    save_file({name: _half(weight) for name, weight in weights.items()}, path)
    if limited and path.stat().st_size > LARGEST:
        raise ValueError(f"{path} has {path.stat().st_size} bytes; {LARGEST} is the most.")
    update_metrics(folder, {"sha256": hashlib.sha256(path.read_bytes()).hexdigest()})


def update_metrics(folder: Path, changes: dict[str, Any]) -> None:
    """Set entries of metrics.json and leave the others."""
    path = folder / "metrics.json"
    metrics = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps({**metrics, **changes}, indent=2) + "\n")


def _half(weight: Tensor) -> Tensor:
    return (weight.half() if weight.dtype == torch.float32 else weight).contiguous()
