"""Other vocal tracts: log-mel frames whose frequencies are stretched.

Shapes: B batch, S frames, M mel bands.
"""

from functools import cache
from typing import Final

import numpy as np
import torch
from torch import Tensor

N_MELS: Final = 80  # as in media.audio.features, which is not imported: training has no librosa
FLOOR: Final = float(np.log(1e-5))
WARPS: Final = 13
MOST: Final = 0.13  # of frequencies
FACTORS: Final = torch.linspace(1 - MOST, 1 + MOST, WARPS)


def warp(mel: Tensor, numbers: Tensor) -> Tensor:
    """Log-mel frames (B, S, M) by the factors FACTORS[numbers], numbers (B,): (B, S, M)."""
    return torch.bmm(mel - FLOOR, _warps()[numbers]) + FLOOR


@cache
def _warps() -> Tensor:
    """Maps from mel bands to warped ones: (WARPS, M, M)."""
    bands = np.arange(N_MELS)
    maps = np.zeros((WARPS, N_MELS, N_MELS), np.float32)
    for matrix, factor in zip(maps, FACTORS.tolist(), strict=True):
        source = np.minimum(bands * factor, N_MELS - 1.001)
        low = source.astype(int)
        matrix[low, bands] += 1 - (source - low)
        matrix[low + 1, bands] += source - low
    return torch.from_numpy(maps)
