"""Write checkpoint folders (config.json, model.safetensors, metrics.json, README.md), and start a
network from the weights of another."""

import hashlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

MAX_FILE_BYTES = 10 * 2**20  # bytes that a plain git push to a Space takes
MAX_HEADER = 2**16  # bytes of a file that are not weights, at most


def write_weights(
    folder: Path, config: dict[str, Any], weights: dict[str, Tensor], limited: bool = True
) -> None:
    """Write the config and the weights, in half precision, and note the hash in metrics.json.

    What one file of a size that can be pushed does not hold goes into model-2.safetensors. Raises
    ValueError when that would be too large, too, unless it is not to be pushed.
    """
    from safetensors.torch import save_file  # not where only torch and numpy are installed

    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    halves = {name: _half(weight) for name, weight in weights.items()}
    first = dict(_fitting(halves)) if limited else halves
    paths = [folder / "model.safetensors"]
    save_file(first, paths[0])
    (folder / "model-2.safetensors").unlink(missing_ok=True)
    if rest := {name: weight for name, weight in halves.items() if name not in first}:
        paths.insert(0, folder / "model-2.safetensors")  # in the order of their names
        save_file(rest, paths[0])
    for path in paths:
        if limited and path.stat().st_size > MAX_FILE_BYTES:
            raise ValueError(
                f"{path} has {path.stat().st_size} bytes; {MAX_FILE_BYTES} is the most."
            )
    together = b"".join(path.read_bytes() for path in paths)
    update_metrics(folder, {"sha256": hashlib.sha256(together).hexdigest()})


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


def _fitting(weights: dict[str, Tensor]) -> Iterator[tuple[str, Tensor]]:
    """Yield the weights, in their order, that one file holds."""
    size = MAX_HEADER
    for name, weight in weights.items():
        size += weight.numel() * weight.element_size()
        if size > MAX_FILE_BYTES:
            return
        yield name, weight


def _half(weight: Tensor) -> Tensor:
    return (weight.half() if weight.dtype == torch.float32 else weight).contiguous()
