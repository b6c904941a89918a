"""Positions of frames: added to them as sines and cosines, or rotated into queries and keys.

Shapes: S frames, D model width, H heads.
"""

import torch
from torch import Tensor


def sinusoidal_positions(
    frames: int, width: int, device: torch.device, base: float = 10_000.0
) -> Tensor:
    """Compute sine and cosine position vectors (Vaswani et al. 2017): (frames, width)."""
    angles = _angles(frames, width, device, base)
    return torch.cat([angles.sin(), angles.cos()], dim=-1)


def rotate(x: Tensor) -> Tensor:
    """Rotate queries or keys by their positions: (…, S, D / H) → the same (Su et al.
    2021)."""
    angles = _angles(x.shape[-2], x.shape[-1], x.device)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)


def _angles(frames: int, width: int, device: torch.device, base: float = 10_000.0) -> Tensor:
    """Compute the angle of every frame at every frequency, in radians: (frames, width / 2)."""
    rates = base ** (-torch.arange(0, width, 2, device=device) / width)
    return torch.arange(frames, device=device)[:, None] * rates
