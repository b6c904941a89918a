"""Change mouth crops as other faces, cameras and light would: further than augment does, for
readers of words that shall read people whom they never saw.

Shapes: B batch, N frames, H side of a crop.
"""

from typing import Final

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from training.lip_to_speech.data.augment import augment

STRETCH: Final = 0.22  # of the logarithm of width and height each, at most
ANGLE: Final = 0.15  # radians, at most
SHIFT: Final = 6.0  # pixels, at most
BEND: Final = 0.05  # of half a crop, std of the points of a grid of BEND_POINTS each way
BEND_POINTS: Final = 4
CONVOLVED: Final = 0.5  # share of the clips
KERNELS: Final = (1, 3, 5, 7)  # pixels


def other_faces(crops: Tensor, rng: np.random.Generator) -> Tensor:
    """Change crops (B, N, 80, 80) from 0 to 1, each clip in its own way → (B, N, 64, 64), of which
    some lie a little outside of 0 to 1."""
    crops = augment(warped(crops, rng), rng)
    chosen = rng.random(len(crops)) < CONVOLVED
    return torch.stack(
        [convolved(clip, rng) if c else clip for clip, c in zip(crops, chosen, strict=True)]
    )


def warped(crops: Tensor, rng: np.random.Generator) -> Tensor:
    """Stretch, rotate, shift and bend the mouth of each clip: (B, N, H, H) → the same."""
    batch, _, side, _ = crops.shape
    width, height = np.exp(rng.uniform(-STRETCH, STRETCH, (2, batch)))
    angle = rng.uniform(-ANGLE, ANGLE, batch)
    shift = rng.uniform(-SHIFT, SHIFT, (2, batch)) * 2 / side
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
