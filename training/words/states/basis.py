"""The basis of the packed states, and the first layer of a network on either side of it.

Shapes: D numbers of a state, K principal components.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import Tensor

FILE: Final = "basis.npz"

Weights = dict[str, Tensor]


def read_basis(run: Path) -> Weights:
    """Read mean (D,) and std (D,) of the states, and their principal components, basis (D, K)."""
    with np.load(run / FILE) as arrays:
        return {name: torch.from_numpy(arrays[name]).double() for name in arrays.files}


def on_states(weights: Mapping[str, Tensor], scale: float, basis: Mapping[str, Tensor]) -> Weights:
    """Change the first layer, of principal components and pitch, into one of states and pitch.

    scale: what the components were divided by.
    """
    count = basis["basis"].shape[1]
    first = weights["frames.weight"].double()
    projection = basis["basis"].T / basis["std"] / scale  # (K, D)
    of_states = first[:, :count] @ projection
    bias = weights["frames.bias"].double() - of_states @ basis["mean"]
    return _with_first(weights, torch.cat([of_states, first[:, count:]], dim=1), bias)


def on_components(
    weights: Mapping[str, Tensor], scale: float, basis: Mapping[str, Tensor]
) -> Weights:
    """Change the first layer, of states and pitch, into one of principal components and pitch: what
    on_states made is as it was, where the basis is the same."""
    size = len(basis["mean"])
    first = weights["frames.weight"].double()
    of_states = first[:, :size]
    components = of_states @ (basis["std"][:, None] * basis["basis"]) * scale
    bias = weights["frames.bias"].double() + of_states @ basis["mean"]
    return _with_first(weights, torch.cat([components, first[:, size:]], dim=1), bias)


def _with_first(weights: Mapping[str, Tensor], weight: Tensor, bias: Tensor) -> Weights:
    return {**weights, "frames.weight": weight.float(), "frames.bias": bias.float()}
