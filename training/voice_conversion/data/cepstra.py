"""MFCC with their derivatives in torch, so that they can be computed of augmented bands."""

from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from earshot.media.constants import DELTA_WIDTH


class Cepstra:
    """MFCC with Δ and ΔΔ of log bands, as earshot.media.audio.features makes them, on any
    device.
    """

    def __init__(self, constants: Path) -> None:
        with np.load(constants) as file:
            self.dct = torch.from_numpy(file["dct"])
        # Savitzky-Golay derivatives of a parabola fitted to DELTA_WIDTH frames.
        offsets = np.arange(DELTA_WIDTH) - DELTA_WIDTH // 2
        line = np.linalg.pinv(np.stack([offsets**0, offsets], axis=1))[1]
        parabola = np.linalg.pinv(np.stack([offsets**0, offsets, offsets**2], axis=1))[2]
        self.kernels = torch.tensor(np.stack([line, 2 * parabola]), dtype=torch.float32)[:, None]

    def __call__(self, bands: Tensor) -> Tensor:
        """Map log bands (B, S, 40) to MFCC with derivatives (B, S, 39)."""
        cepstra = bands @ self.dct.T.to(bands)
        batch, frames, n = cepstra.shape
        flat = cepstra.transpose(1, 2).reshape(batch * n, 1, frames)
        padded = F.pad(flat, (DELTA_WIDTH // 2,) * 2, mode="replicate")
        deltas = F.conv1d(padded, self.kernels.to(bands))  # (batch * n, 2, frames)
        deltas = deltas.view(batch, n, 2, frames).permute(0, 3, 2, 1)
        return torch.cat([cepstra, deltas.flatten(2)], dim=2)
