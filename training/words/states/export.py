"""Export the networks over states as checkpoints, which hear the recogniser's own states: what
prepare and train did to these becomes part of the first layer."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor

from training.common.checkpoints import update_metrics, write_weights
from training.words.states.prepare import BASIS, LAYERS

NAMES: Final = {"bottleneck": "words-states-bottleneck", "whole": "words-states"}


def export(run: Path, out: Path) -> None:
    """Write the checkpoints of run/bottleneck.pt and run/whole.pt to folders of ``out``."""
    with np.load(run / BASIS) as arrays:
        basis = {name: torch.from_numpy(arrays[name]).double() for name in arrays.files}
    for network, name in NAMES.items():
        saved: dict[str, Any] = torch.load(run / f"{network}.pt", weights_only=True)
        weights = on_states(saved["network"], saved["scale"], basis)
        sizes = saved["config"] | {"n_mels": weights["frames.weight"].shape[1]}
        config = {"name": name, "network": sizes, "recogniser_layers": list(LAYERS)}
        write_weights(out / name, config, weights)
        update_metrics(out / name, {"training_hours": {network: saved["seconds"] / 3600}})


def on_states(
    weights: Mapping[str, Tensor], scale: float, basis: Mapping[str, Tensor]
) -> dict[str, Tensor]:
    """Change the first layer, of principal components and pitch, into one of states and pitch.

    basis: mean (D,) and std (D,) of the states, and their components (D, K); scale: what the
    components were divided by.
    """
    count = basis["basis"].shape[1]
    first = weights["frames.weight"].double()
    projection = basis["basis"].T / basis["std"] / scale  # (K, D)
    of_states = first[:, :count] @ projection
    bias = weights["frames.bias"].double() - of_states @ basis["mean"]
    together = torch.cat([of_states, first[:, count:]], dim=1)
    changed = {"frames.weight": together.float(), "frames.bias": bias.float()}
    return {name: weight.cpu() for name, weight in ({**weights, **changed}).items()}
