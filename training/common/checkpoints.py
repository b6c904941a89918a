"""Write checkpoint folders (config.json, model.safetensors, metrics.json, README.md), and start a
network from the weights of another."""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

MAX_BYTES = 10 * 2**20  # bytes that a plain git push to a Space takes


def write_weights(
    folder: Path, config: dict[str, Any], weights: dict[str, Tensor], limited: bool = True
) -> None:
    """Write the config and the weights, in half precision, and note the hash in metrics.json.

    Raises ValueError when the file would be too large to be pushed, unless it is not to be.
    """
    from safetensors.torch import save_file  # not where only torch and numpy are installed

    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    path = folder / "model.safetensors"
    save_file({name: _half(weight) for name, weight in weights.items()}, path)
    if limited and path.stat().st_size > MAX_BYTES:
        raise ValueError(f"{path} has {path.stat().st_size} bytes; {MAX_BYTES} is the most.")
    update_metrics(folder, {"sha256": hashlib.sha256(path.read_bytes()).hexdigest()})


def update_metrics(folder: Path, changes: dict[str, Any]) -> None:
    """Set entries of metrics.json and leave the others."""
    path = folder / "metrics.json"
    metrics = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps({**metrics, **changes}, indent=2) + "\n")


def load_matching_weights(network: nn.Module, path: Path, skip: Iterable[str] = ()) -> None:
    """Copy the weights of a trained network (run/NAME.pt) that fit by name and shape.

    All others keep their values, and so do those whose names contain a part that is in ``skip``.
    Raises ValueError where nothing fits: then the file belongs to another kind of network.
    """
    own, parts = network.state_dict(), tuple(skip)
    saved: dict[str, Tensor] = torch.load(path, weights_only=True, map_location="cpu")["network"]
    fitting = {
        name: weight
        for name, weight in saved.items()
        if name in own
        and own[name].shape == weight.shape
        and not any(part in name for part in parts)
    }
    if not fitting:
        raise ValueError(f"No weight of {path} fits a {type(network).__name__}.")
    network.load_state_dict(own | fitting)


def _half(weight: Tensor) -> Tensor:
    return (weight.half() if weight.dtype == torch.float32 else weight).contiguous()
