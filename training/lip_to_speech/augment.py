"""Augment mouth crops: geometry, light, blur, noise, occlusion and frame rate; and, for readers of
words that shall read people whom they never saw, further: as other faces, cameras and light would.

Shapes: B batch, N frames, H side of a crop.
"""

from typing import Final

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

SIDE: Final = 64  # pixels: side of the network's input
ZOOM: Final = (0.92, 1.08)
ANGLE: Final = 0.08  # radians
SHIFT: Final = 3.0  # pixels
JITTER: Final = 0.5  # pixels: std from frame to frame
GAMMA: Final = (0.7, 1.5)
SHADE: Final = 0.4  # of white, from one side of a crop to the other
NOISE: Final = 0.03
SHARES: Final = {"blur": 0.2, "noise": 0.2, "rate": 0.1, "dropped": 0.05, "occluded": 0.1}
RATES: Final = (12.0, 25.0)  # frames per second of simulated cameras
MAX_STRETCH: Final = 0.22  # of the logarithm of width and height each, at most
MAX_ANGLE: Final = 0.15  # radians, at most
MAX_SHIFT: Final = 6.0  # pixels, at most
BEND: Final = 0.05  # of half a crop, std of the points of a grid of BEND_POINTS each way
BEND_POINTS: Final = 4
CONVOLUTION_SHARE: Final = 0.5  # share of the clips
KERNELS: Final = (1, 3, 5, 7)  # pixels


def centre_crop(crops: Tensor) -> Tensor:
    """Cut out the central part of crops (B, N, 80, 80), the network's input: (B, N, 64, 64)."""
    edge = (crops.shape[-1] - SIDE) // 2
    return crops[..., edge : edge + SIDE, edge : edge + SIDE]


def augment(crops: Tensor, rng: np.random.Generator) -> Tensor:
    """Augment crops (B, N, 80, 80) from 0 to 1 → (B, N, 64, 64)."""
    mirrored = torch.from_numpy(rng.random(len(crops)) < 0.5)
    crops = torch.where(mirrored[:, None, None, None], crops.flip(-1), crops)
    crops = _lit(_transformed(crops, rng), rng)
    for row in range(len(crops)):
        chosen = {name for name, share in SHARES.items() if rng.random() < share}
        if "blur" in chosen:
            crops[row] = _blurred(crops[row], rng)
        if "noise" in chosen:
            crops[row] += rng.uniform(0, NOISE) * _normal(rng, *crops[row].shape)
        if "occluded" in chosen:
            _occlude(crops[row], rng)
        if chosen & {"rate", "dropped"}:
            times = _source_times(crops.shape[1], "dropped" in chosen, rng)
            crops[row] = _interpolated(crops[row], times)
    return crops.clamp(0, 1)


def _transformed(crops: Tensor, rng: np.random.Generator) -> Tensor:
    """Scale, rotate and shift each clip at random, with jitter per frame."""
    batch, frames, side, _ = crops.shape
    zoom, angle = _uniform(rng, *ZOOM, batch), _uniform(rng, -ANGLE, ANGLE, batch)
    shift = torch.from_numpy(rng.uniform(-SHIFT, SHIFT, (batch, 1, 2)).astype(np.float32))
    shift = shift + JITTER * _normal(rng, batch, frames, 2)
    turn = torch.stack([angle.cos(), -angle.sin(), angle.sin(), angle.cos()], dim=-1)
    turn = turn.view(batch, 1, 2, 2) / zoom[:, None, None, None]
    # Coordinates of affine grids go from −1 to 1 over the output and over the input.
    matrix = (turn * (SIDE / side)).expand(batch, frames, 2, 2)
    affine = torch.cat([matrix, 2 * shift[..., None] / side], dim=-1).flatten(0, 1)
    grid = F.affine_grid(affine, [batch * frames, 1, SIDE, SIDE], align_corners=False)
    cut = F.grid_sample(
        crops.flatten(0, 1)[:, None], grid, padding_mode="border", align_corners=False
    )
    return cut.view(batch, frames, SIDE, SIDE)


def _lit(crops: Tensor, rng: np.random.Generator) -> Tensor:
    """Change the gamma at random, and lay a gradient of light across the crop."""
    batch = len(crops)
    gamma = _uniform(rng, *GAMMA, batch)[:, None, None, None]
    slope = torch.linspace(-0.5, 0.5, crops.shape[-1])
    x, y = (_uniform(rng, -SHADE, SHADE, batch)[:, None, None] for _ in range(2))
    light = 1 + x * slope[None, None] + y * slope[None, :, None]
    return crops.clamp(min=1e-4) ** gamma * light[:, None]


def _blurred(crops: Tensor, rng: np.random.Generator) -> Tensor:
    """Lower the resolution of crops (N, H, H), as in small or strongly compressed videos."""
    size = int(rng.integers(SIDE // 3, SIDE))
    small = F.interpolate(crops[:, None], size=size, mode="bilinear", antialias=True)
    return F.interpolate(small, size=crops.shape[-1], mode="bilinear")[:, 0]


def _occlude(crops: Tensor, rng: np.random.Generator) -> None:
    """Put one grey rectangle over all frames (N, H, H), in place."""
    height, width = rng.integers(4, SIDE // 3, 2)
    top, left = rng.integers(0, SIDE - height), rng.integers(0, SIDE - width)
    crops[:, top : top + height, left : left + width] = float(rng.random())


def _source_times(frames: int, dropped: bool, rng: np.random.Generator) -> np.ndarray:
    """Draw the source time of each frame, in frames: of a slower camera; or, where frames were
    dropped, that of the frame before.
    """
    times = np.arange(frames, dtype=float)
    if dropped:
        lost = rng.random(frames) < 0.15
        lost[0] = False
        return np.maximum.accumulate(np.where(lost, 0, times))
    step = 25 / rng.uniform(*RATES)
    taken = np.arange(rng.uniform(0, step), frames, step)
    return np.interp(times, taken, np.round(taken))


def _interpolated(values: Tensor, times: np.ndarray) -> Tensor:
    """Interpolate values (N, …) at times between frames."""
    low = torch.from_numpy(np.floor(times).astype(int)).clamp(max=len(values) - 1)
    high = (low + 1).clamp(max=len(values) - 1)
    share = torch.from_numpy((times % 1).astype(np.float32))
    share = share.view(-1, *[1] * (values.dim() - 1))
    return (1 - share) * values[low] + share * values[high]


def _uniform(rng: np.random.Generator, low: float, high: float, batch: int) -> Tensor:
    return torch.from_numpy(rng.uniform(low, high, batch).astype(np.float32))


def _normal(rng: np.random.Generator, *shape: int) -> Tensor:
    return torch.from_numpy(rng.standard_normal(shape, np.float32))


def other_faces(crops: Tensor, rng: np.random.Generator) -> Tensor:
    """Change crops (B, N, 80, 80) from 0 to 1, each clip in its own way → (B, N, 64, 64), of which
    some lie a little outside of 0 to 1."""
    crops = augment(warped(crops, rng), rng)
    chosen = rng.random(len(crops)) < CONVOLUTION_SHARE
    return torch.stack(
        [convolved(clip, rng) if c else clip for clip, c in zip(crops, chosen, strict=True)]
    )


def warped(crops: Tensor, rng: np.random.Generator) -> Tensor:
    """Stretch, rotate, shift and bend the mouth of each clip: (B, N, H, H) → the same."""
    batch, _, side, _ = crops.shape
    width, height = np.exp(rng.uniform(-MAX_STRETCH, MAX_STRETCH, (2, batch)))
    angle = rng.uniform(-MAX_ANGLE, MAX_ANGLE, batch)
    shift = rng.uniform(-MAX_SHIFT, MAX_SHIFT, (2, batch)) * 2 / side
    rows = np.array(
        [
            [np.cos(angle) * width, -np.sin(angle) * height, shift[0]],
            [np.sin(angle) * width, np.cos(angle) * height, shift[1]],
        ]
    ).transpose(2, 0, 1)
    grid = F.affine_grid(
        torch.from_numpy(rows).float(), [batch, 1, side, side], align_corners=False
    )
    points = rng.normal(0, BEND, (batch, 2, BEND_POINTS, BEND_POINTS)).astype(np.float32)
    bend = F.interpolate(torch.from_numpy(points), size=side, mode="bicubic", align_corners=True)
    place = grid + bend.permute(0, 2, 3, 1)
    return F.grid_sample(crops, place, padding_mode="border", align_corners=False)


def convolved(clip: Tensor, rng: np.random.Generator) -> Tensor:
    """Mix a clip (N, H, H) with its convolution by a random kernel, which changes skin, light and
    sharpness and leaves the shapes (Xu et al. 2021, Robust and generalizable visual representation
    learning via random convolutions)."""
    size = int(rng.choice(KERNELS))
    kernel = torch.from_numpy(rng.normal(0, 1 / size, (1, 1, size, size)).astype(np.float32))
    centred = clip - clip.mean()
    padded = F.pad(centred[:, None], (size // 2,) * 4, mode="replicate")
    other = F.conv2d(padded, kernel)[:, 0]
    other = other / other.std().clamp(min=1e-3) * centred.std()
    share = float(rng.uniform(0, 1))
    return share * centred + (1 - share) * other + 0.5
