"""Mouths as other cameras, rooms and faces would show them.

Shapes: B batch, F frames, H side of a crop, L points of the lips.
"""

from typing import Final

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

SIDE: Final = 64  # pixels that the network sees
UNIT: Final = 33.0  # pixels of a crop a unit of the points, as media.video.lips
ZOOM: Final = (0.92, 1.08)
ANGLE: Final = 0.08  # radians
SHIFT: Final = 3.0  # pixels
UNSTEADY: Final = 0.5  # pixels from frame to frame
GAMMA: Final = (0.7, 1.5)
SHADE: Final = 0.4  # of full light, from one side of a crop to the other
NOISE: Final = 0.03
SHARES: Final = {"blur": 0.2, "noise": 0.2, "rate": 0.1, "held": 0.05, "hidden": 0.1}
RATES: Final = (12.0, 25.0)  # frames a second of other cameras
# The place in media.video.lips.LIPS of each point's mirror image.
MIRROR: Final = [*range(10, -1, -1), *range(19, 10, -1), *range(30, 19, -1), *range(39, 30, -1)]


def middle(crops: Tensor) -> Tensor:
    """The part of crops (B, F, 80, 80) that the network sees: (B, F, 64, 64)."""
    edge = (crops.shape[-1] - SIDE) // 2
    return crops[..., edge : edge + SIDE, edge : edge + SIDE]


def disturb(crops: Tensor, points: Tensor, rng: np.random.Generator) -> tuple[Tensor, Tensor]:
    """Crops (B, F, 80, 80) from 0 to 1 and points (B, F, L, 2) → crops (B, F, 64, 64), points."""
    mirrored = torch.from_numpy(rng.random(len(crops)) < 0.5)
    crops = torch.where(mirrored[:, None, None, None], crops.flip(-1), crops)
    swapped = points[:, :, MIRROR] * torch.tensor([-1.0, 1.0])
    points = torch.where(mirrored[:, None, None, None], swapped, points)
    crops, points = _moved(crops, points, rng)
    crops = _lit(crops, rng)
    for row in range(len(crops)):
        chosen = {name for name, share in SHARES.items() if rng.random() < share}
        if "blur" in chosen:
            crops[row] = _blurred(crops[row], rng)
        if "noise" in chosen:
            crops[row] += rng.uniform(0, NOISE) * _normal(rng, *crops[row].shape)
        if "hidden" in chosen:
            _hide(crops[row], rng)
        if chosen & {"rate", "held"}:
            places = _places(crops.shape[1], "held" in chosen, rng)
            crops[row], points[row] = _at(crops[row], places), _at(points[row], places)
    return crops.clamp(0, 1), points


def _moved(crops: Tensor, points: Tensor, rng: np.random.Generator) -> tuple[Tensor, Tensor]:
    """Larger or smaller, turned and shifted, a little more or less in each frame."""
    batch, frames, side, _ = crops.shape
    zoom, angle = _draw(rng, *ZOOM, batch), _draw(rng, -ANGLE, ANGLE, batch)
    shift = torch.from_numpy(rng.uniform(-SHIFT, SHIFT, (batch, 1, 2)).astype(np.float32))
    shift = shift + UNSTEADY * _normal(rng, batch, frames, 2)
    turn = torch.stack([angle.cos(), -angle.sin(), angle.sin(), angle.cos()], dim=-1)
    turn = turn.view(batch, 1, 2, 2) / zoom[:, None, None, None]
    # Affine grids go from −1 to 1 over what they cut out, and over what it is cut from.
    matrix = (turn * (SIDE / side)).expand(batch, frames, 2, 2)
    affine = torch.cat([matrix, 2 * shift[..., None] / side], dim=-1).flatten(0, 1)
    grid = F.affine_grid(affine, [batch * frames, 1, SIDE, SIDE], align_corners=False)
    cut = F.grid_sample(
        crops.flatten(0, 1)[:, None], grid, padding_mode="border", align_corners=False
    )
    back = torch.linalg.inv(turn)
    seen = (points - shift[:, :, None] / UNIT) @ back.transpose(-1, -2)
    return cut.view(batch, frames, SIDE, SIDE), seen


def _lit(crops: Tensor, rng: np.random.Generator) -> Tensor:
    """Darker or lighter, and lit from a side."""
    batch = len(crops)
    gamma = _draw(rng, *GAMMA, batch)[:, None, None, None]
    slope = torch.linspace(-0.5, 0.5, crops.shape[-1])
    x, y = (_draw(rng, -SHADE, SHADE, batch)[:, None, None] for _ in range(2))
    light = 1 + x * slope[None, None] + y * slope[None, :, None]
    return crops.clamp(min=1e-4) ** gamma * light[:, None]


def _blurred(crops: Tensor, rng: np.random.Generator) -> Tensor:
    """As a small or strongly compressed picture: (F, H, H)."""
    size = int(rng.integers(SIDE // 3, SIDE))
    small = F.interpolate(crops[:, None], size=size, mode="bilinear", antialias=True)
    return F.interpolate(small, size=crops.shape[-1], mode="bilinear")[:, 0]


def _hide(crops: Tensor, rng: np.random.Generator) -> None:
    """A rectangle of one grey in all frames (F, H, H), in place."""
    height, width = rng.integers(4, SIDE // 3, 2)
    top, left = rng.integers(0, SIDE - height), rng.integers(0, SIDE - width)
    crops[:, top : top + height, left : left + width] = float(rng.random())


def _places(frames: int, held: bool, rng: np.random.Generator) -> np.ndarray:
    """Where in the film each frame comes from: of a slower camera, between its frames; or held
    still where frames were lost."""
    times = np.arange(frames, dtype=float)
    if held:
        lost = rng.random(frames) < 0.15
        lost[0] = False
        return np.maximum.accumulate(np.where(lost, 0, times))
    step = 25 / rng.uniform(*RATES)
    taken = np.arange(rng.uniform(0, step), frames, step)
    return np.interp(times, taken, np.round(taken))


def _at(values: Tensor, places: np.ndarray) -> Tensor:
    """Values (F, …) at places between frames."""
    low = torch.from_numpy(np.floor(places).astype(int)).clamp(max=len(values) - 1)
    high = (low + 1).clamp(max=len(values) - 1)
    share = torch.from_numpy((places % 1).astype(np.float32))
    share = share.view(-1, *[1] * (values.dim() - 1))
    return (1 - share) * values[low] + share * values[high]


def _draw(rng: np.random.Generator, low: float, high: float, batch: int) -> Tensor:
    return torch.from_numpy(rng.uniform(low, high, batch).astype(np.float32))


def _normal(rng: np.random.Generator, *shape: int) -> Tensor:
    return torch.from_numpy(rng.standard_normal(shape, np.float32))
