"""Pretrained models of the Hugging Face hub, by the classes of transformers: never the default."""

from pathlib import Path
from typing import Any

import torch


def load(kind: Any, name: str | Path, **options: Any) -> Any:
    """Load a model, or what prepares its input, from a folder or by its hub id (offline: from the
    hub's cache). kind: a class of transformers, or one of its Auto classes.

    Raises FileNotFoundError, with a sentence, where there is none of that kind.
    """
    try:
        return kind.from_pretrained(name, trust_remote_code=False, **options)
    except (OSError, ValueError, KeyError) as error:
        raise FileNotFoundError(
            f"{name} cannot be loaded: it is no folder with such a model, and no model of the hub "
            "that can be reached. Check its name and the network."
        ) from error


def precision(device: torch.device) -> torch.dtype:
    """Choose half precision on a GPU, single elsewhere."""
    return torch.float16 if device.type == "cuda" else torch.float32
