"""Vocal tract length perturbation (VTLP, Jaitly & Hinton 2013) of log-mel frames: the frequency
axis is scaled by a factor, as by a longer or shorter vocal tract.

Shapes: B batch, S frames, M mel bands.
"""

from functools import cache
from typing import Final

import numpy as np
import torch
from torch import Tensor

from earshot.media.constants import N_MELS

FLOOR: Final = float(np.log(1e-5))  # of log_mel in earshot.media.audio.features, without librosa
N_FACTORS: Final = 13
MAX_CHANGE: Final = 0.13  # of frequencies, as a share
FACTORS: Final = torch.linspace(1 - MAX_CHANGE, 1 + MAX_CHANGE, N_FACTORS)


def vtlp(mel: Tensor, indices: Tensor) -> Tensor:
    """Scale log-mel frames (B, S, M), each by FACTORS[indices], indices (B,): (B, S, M).

    Further columns, of what has no frequency axis, stay as they are.
    """
    maps = _maps().to(mel.device)
    scaled = torch.bmm(mel[..., :N_MELS] - FLOOR, maps[indices.to(mel.device)]) + FLOOR
    return torch.cat([scaled, mel[..., N_MELS:]], dim=-1)


@cache
@torch.inference_mode(False)  # or no gradient passes through it later
def _maps() -> Tensor:
    """Compute the linear interpolation between mel bands, for each factor: (N_FACTORS, M, M)."""
    bands = np.arange(N_MELS)
    maps = np.zeros((N_FACTORS, N_MELS, N_MELS), np.float32)
    for matrix, factor in zip(maps, FACTORS.tolist(), strict=True):
        source = np.minimum(bands * factor, N_MELS - 1.001)
        low = source.astype(int)
        matrix[low, bands] += 1 - (source - low)
        matrix[low + 1, bands] += source - low
    return torch.from_numpy(maps)
