"""Read a checkpoint: config.json, model.safetensors and metrics.json, strictly and whole.

A checkpoint is a folder, the name of one that is shipped, ``USER/REPO`` of the Hugging Face hub, or
``USER/REPO/NAME``, a folder of a hub repository that holds several. Some need others (a vocoder, a
second network): these lie next to it or inside it.
"""

import hashlib
import json
import logging
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Final

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import nn

from earshot.core.errors import InputError
from earshot.core.paths import CHECKPOINTS
from earshot.pretrained.accelerator import choose_device as choose_device

COMPANION_KEYS: Final = (
    "vocoder",
    "mel_inverter",
    "any_voice",
    "ensemble_with",
    "g2p",
)  # of a config: names of what else it needs

log = logging.getLogger(__name__)


class CheckpointError(InputError):
    """A checkpoint that is there and cannot be used. Shown to visitors, and logged for the person
    who runs the app.
    """


def locate(name: str | Path) -> Path:
    """Locate the folder of a checkpoint: a local one as it is, one that is shipped, else one of the
    hub, downloaded with what it needs (offline: from the hub's cache).

    Raises FileNotFoundError when it is none of them.
    """
    if folder := local(name):
        return folder
    if not is_hub_id(name):
        names = ", ".join(sorted(path.parent.name for path in CHECKPOINTS.glob("*/config.json")))
        raise FileNotFoundError(
            f"There is no checkpoint in {name}. Name a folder, a hub id (USER/REPO), or one that "
            f"comes with Earshot: {names}."
        )
    parts = Path(name).parts
    try:
        return _download("/".join(parts[:2]), "/".join(parts[2:]))
    except Exception as error:
        message = f"{name} is neither a checkpoint folder nor a hub id that can be reached."
        raise FileNotFoundError(message) from error


def local(name: str | Path) -> Path | None:
    """Find the folder of a checkpoint on this machine, a local one or one that is shipped; None
    where there is none.
    """
    for folder in (Path(name), CHECKPOINTS / name):
        if (folder / "config.json").exists():
            return folder.absolute()  # what lies next to it is no name of the hub
    return None


def is_hub_id(name: str | Path) -> bool:
    """Whether a name that is no folder can be one of the hub: ``USER/REPO``, and for ours
    ``USER/REPO/NAME``.
    """
    folder = Path(name)
    relative = not (folder.is_absolute() or str(name).startswith(".") or folder.exists())
    return relative and len(folder.parts) in (2, 3) and ".." not in folder.parts


def companion(folder: Path, name: str) -> Path:
    """Locate another checkpoint that the one in ``folder`` needs: inside it, or next to it.

    Raises FileNotFoundError when there is none.
    """
    return locate(folder / name if (folder / name).exists() else folder.parent / name)


def read_config(folder: Path) -> dict[str, Any]:
    """Read the config that travels with the weights. Raises CheckpointError when it cannot be
    read."""
    try:
        return json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise unusable(folder, "its config.json cannot be read") from error


def kind_of(folder: Path, config: Mapping[str, Any], task: str, kinds: Collection[str]) -> str:
    """Find which of the kinds of a task, keys of a config, the checkpoint in ``folder`` is of.

    config: that of the checkpoint, or the part of it that has the key. Raises CheckpointError,
    which names the kinds, where it has none: the checkpoint is of another task.
    """
    for kind in kinds:
        if kind in config:
            return kind
    raise CheckpointError(
        f"The checkpoint {folder.name} is of no known kind of {task}: its config names no "
        f"{' or '.join(kinds)}."
    )


def load_weights(
    network: nn.Module,
    folder: Path,
    device: torch.device,
    renamed: Mapping[str, str] | None = None,
) -> None:
    """Load the weights, every one of them, in single precision, ready for inference.

    renamed: the beginning of a weight's name in the file → what it is called in the network, for
    weights that were trained before modules were renamed.
    Raises CheckpointError when the file is missing, damaged, of another network, or not the one
    whose SHA-256 stands in metrics.json.
    """
    try:
        files = weight_files(folder)
        _check_hash(folder)
        weights = {
            _current_name(name, renamed or {}): w.float() if w.is_floating_point() else w
            for path in files
            for name, w in load_file(path).items()
        }
        network.load_state_dict(weights, strict=True)
    except FileNotFoundError as error:
        raise unusable(folder, "its weights are missing") from error
    except (OSError, SafetensorError, RuntimeError) as error:
        raise unusable(folder, "its weights are damaged, or of another network") from error
    network.to(device).eval().requires_grad_(False)


def weight_files(folder: Path) -> list[Path]:
    """List the files of the weights: model.safetensors, and model-2.safetensors where one would be
    too large. Raises FileNotFoundError where there is none.
    """
    files = sorted(folder.glob("model*.safetensors"))
    if not files:
        raise FileNotFoundError(folder / "model.safetensors")
    return files


def weight_bytes(folder: Path) -> bytes:
    """Read the files of the weights, one after the other. Raises as weight_files does."""
    return b"".join(path.read_bytes() for path in weight_files(folder))


def weights_hash(folder: Path) -> str:
    """Return the SHA-256 of the weights. Raises as weight_files does."""
    return hashlib.sha256(weight_bytes(folder)).hexdigest()


def _current_name(name: str, renamed: Mapping[str, str]) -> str:
    for old, new in renamed.items():
        if name.startswith(old):
            return new + name.removeprefix(old)
    return name


def _download(repository: str, name: str) -> Path:
    """Download a repository that is one checkpoint (``name`` is empty), or the named folder of one,
    with the folders that it needs.
    """
    from huggingface_hub import snapshot_download  # only where a hub is needed

    if not name:
        return Path(snapshot_download(repository))
    names, root = [name], Path()
    for each in names:  # grows by what each one needs
        root = Path(snapshot_download(repository, allow_patterns=f"{each}/*"))
        names += [other for other in _companions(read_config(root / each)) if other not in names]
    return root / name


def _companions(config: dict[str, Any]) -> list[str]:
    values = [config[key] for key in COMPANION_KEYS if key in config]
    return [name for value in values for name in ([value] if isinstance(value, str) else value)]


def _check_hash(folder: Path) -> None:
    metrics = folder / "metrics.json"
    if not metrics.exists():
        return
    expected = json.loads(metrics.read_text(encoding="utf-8")).get("sha256")
    if expected and weights_hash(folder) != expected:
        raise OSError(f"The weights in {folder} do not have the hash of metrics.json")


def unusable(folder: Path, reason: str) -> CheckpointError:
    log.error("The checkpoint %s cannot be used: %s.", folder, reason)
    return CheckpointError(
        f"The model {folder.name} cannot be used: {reason}. The other tabs still work; whoever "
        "runs this demo can put the files back."
    )
