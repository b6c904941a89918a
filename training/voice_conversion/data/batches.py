"""The prepared arrays as batches of windows: torch and numpy only."""

from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from earshot.media.constants import DELTA_WIDTH, HOP_LENGTH

SLOW = ("features",)  # arrays with one row for two frames


class Windows:
    """Random windows of the arrays in one prepared file, all of the same length.

    Each array has one row a frame, but ``waveform``, which has HOP_LENGTH samples a frame, and
    those of SLOW, whose rows are repeated.
    """

    def __init__(self, path: Path, balance: str | None = None) -> None:
        """balance: the array whose values are sampled about equally often."""
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
        """Float windows of the named arrays, aligned: each (size, frames, …)."""
        possible = self.weights[: (self.frames - frames) // 4]
        starts = torch.multinomial(possible, size, replacement=True, generator=generator)
        index = 4 * starts[:, None] + torch.arange(frames)
        return [self._read(name, index) for name in names]

    def windows(self, names: tuple[str, ...], frames: int) -> list[Tensor]:
        """Every window in order, without overlap: each (count, frames, …)."""
        count = self.frames // frames
        index = torch.arange(count * frames).view(count, frames)
        return [self._read(name, index) for name in names]

    def _read(self, name: str, index: Tensor) -> Tensor:
        return _convert(name, self.arrays[name][index // 2 if name in SLOW else index])


class Cepstra:
    """MFCC with Δ and ΔΔ of log bands, as media.audio.features makes them, on any device."""

    def __init__(self, constants: Path) -> None:
        with np.load(constants) as file:
            self.dct = torch.from_numpy(file["dct"])
        # Savitzky-Golay derivatives of a parabola fitted to DELTA_WIDTH frames.
        offsets = np.arange(DELTA_WIDTH) - DELTA_WIDTH // 2
        line = np.linalg.pinv(np.stack([offsets**0, offsets], axis=1))[1]
        parabola = np.linalg.pinv(np.stack([offsets**0, offsets, offsets**2], axis=1))[2]
        self.kernels = torch.tensor(np.stack([line, 2 * parabola]), dtype=torch.float32)[:, None]

    def __call__(self, bands: Tensor) -> Tensor:
        """(B, S, 40) → (B, S, 39)."""
        cepstra = bands @ self.dct.T.to(bands)
        batch, frames, n = cepstra.shape
        flat = cepstra.transpose(1, 2).reshape(batch * n, 1, frames)
        padded = F.pad(flat, (DELTA_WIDTH // 2,) * 2, mode="replicate")
        deltas = F.conv1d(padded, self.kernels.to(bands))  # (batch * n, 2, frames)
        deltas = deltas.view(batch, n, 2, frames).permute(0, 3, 2, 1)
        return torch.cat([cepstra, deltas.flatten(2)], dim=2)


def _convert(name: str, values: Tensor) -> Tensor:
    if name == "waveform":
        return values.flatten(-2).float() / 32767
    return values.float() if values.is_floating_point() else values.long()
