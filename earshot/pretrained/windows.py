"""Run a network over a long sequence in short, cross-faded windows: time linear in length, and
little memory more for a long one.
"""

from collections.abc import Callable
from typing import Final

import torch
from torch import Tensor

from earshot.core import cancellation

AT_ONCE: Final = 8  # windows: more take more memory, and are no quicker on a processor


def in_windows(
    network: Callable[[Tensor], Tensor], x: Tensor, size: int, overlap: int, ratio: float = 1.0
) -> Tensor:
    """Run network over windows of ``size`` steps of x, cross-faded where they overlap.

    x: (S, D); network: (B, size, D) → (B, size * ratio, E). Returns (S * ratio, E). The last
    window ends at the end of x, so that every window is full. size, overlap and S, times ratio,
    must be integers. Can be stopped (earshot.core.cancellation) after every few windows.
    """
    cancellation.check()
    steps = len(x)
    if steps <= size:
        return network(x[None])[0]
    starts = [*range(0, steps - size, size - overlap), steps - size]
    parts = []
    for first in range(0, len(starts), AT_ONCE):
        cancellation.check()
        batch = torch.stack([x[s : s + size] for s in starts[first : first + AT_ONCE]])
        parts.append(network(batch).float())
    outputs = torch.cat(parts)
    # A trapezoid that is never zero, so that the first and the last step have a weight.
    ramp = torch.arange(1, outputs.shape[1] + 1, device=x.device) / (overlap * ratio + 1)
    weight = torch.minimum(ramp, ramp.flip(0)).clamp(max=1.0)[:, None]
    total = outputs.new_zeros(round(steps * ratio), outputs.shape[2])
    weights = outputs.new_zeros(len(total), 1)
    for start, output in zip(starts, outputs, strict=True):
        here = slice(round(start * ratio), round(start * ratio) + len(output))
        total[here] += weight * output
        weights[here] += weight
    return total / weights
