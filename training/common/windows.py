"""The prepared arrays of a run as windows of equal length: torch and numpy only."""

from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import Tensor

from earshot.media.constants import HOP_LENGTH

SLOW: Final = ("features",)  # arrays with one row for two frames


class Windows:
    """Random windows of the arrays in one prepared file, all of the same length.

    Each array has one row a frame, but ``waveform``, which has HOP_LENGTH samples a frame, and
    those of SLOW, whose rows are repeated.
    """

    def __init__(self, path: Path, balance: str | None = None) -> None:
        """Load the arrays. balance: the array whose values are sampled about equally often."""
        with np.load(path) as file:
            self.arrays = {name: torch.from_numpy(file[name]) for name in file.files}
        if "waveform" in self.arrays:
            self.arrays["waveform"] = self.arrays["waveform"].view(-1, HOP_LENGTH)
        self.frames = len(next(array for name, array in self.arrays.items() if name not in SLOW))
        self.weights = torch.ones(self.frames // 4)  # windows start at whole units
        if balance:
            values = self.arrays[balance][::4][: self.frames // 4].long()
            self.weights = values.bincount().float().rsqrt()[values]

    def batch(
        self, names: tuple[str, ...], size: int, frames: int, generator: torch.Generator
    ) -> list[Tensor]:
        """Draw float windows of the named arrays, aligned: each (size, frames, …)."""
        possible = self.weights[: (self.frames - frames) // 4]
        starts = torch.multinomial(possible, size, replacement=True, generator=generator)
        index = 4 * starts[:, None] + torch.arange(frames)
        return [self._read(name, index) for name in names]

    def windows(self, names: tuple[str, ...], frames: int) -> list[Tensor]:
        """Cut every window in order, without overlap: each (count, frames, …)."""
        count = self.frames // frames
        index = torch.arange(count * frames).view(count, frames)
        return [self._read(name, index) for name in names]

    def _read(self, name: str, index: Tensor) -> Tensor:
        return _convert(name, self.arrays[name][index // 2 if name in SLOW else index])


def _convert(name: str, values: Tensor) -> Tensor:
    if name == "waveform":
        return values.flatten(-2).float() / 32767
    return values.float() if values.is_floating_point() else values.long()
