"""The tools that the renderers share: the canvas and its coordinates, soft shapes, light on relief.

Places are in units from the middle between the eyes, to the right and down, as in
earshot.media.video.face: a unit is half the distance between the outer corners of the eyes. Images
are float32 in [0, 1].
Shapes: H rows and W columns of the canvas, which has FINE times the resolution of the video.
"""

from collections.abc import Sequence
from typing import Final

import cv2
import numpy as np
from scipy.interpolate import CubicSpline

Colour = tuple[int, int, int]  # RGB
Point = tuple[float, float]

WIDTH: Final = 480  # pixels of the video
HEIGHT: Final = 384
FINE: Final = 2
UNIT: Final = 46.0 * FINE  # pixels of the canvas
SHAPE: Final = (HEIGHT * FINE, WIDTH * FINE)
LEFT: Final = -SHAPE[1] / 2 / UNIT  # place of the canvas' corner
TOP: Final = -3.6
Y, X = (np.mgrid[: SHAPE[0], : SHAPE[1]].astype(np.float32) + 0.5) / UNIT + np.array(
    [TOP, LEFT], np.float32
)[:, None, None]  # of every pixel, (H, W)
KEY: Final = np.array([-0.48, -0.55, 0.68])  # towards the main light, and towards the other
FILL: Final = np.array([0.75, -0.1, 0.65])


def colour(rgb: Colour) -> np.ndarray:
    """Write a colour as floats (3,)."""
    return np.array(rgb, np.float32) / 255


def ramp(values: np.ndarray, low: float, high: float) -> np.ndarray:
    """Rise smoothly from 0 up to low to 1 from high on; fall where high is less than low."""
    share = np.clip((values - low) / (high - low), 0, 1)
    return share * share * (3 - 2 * share)


def bump(x: float, y: float, wide: float, high: float, tilt: float = 0.0) -> np.ndarray:
    """Raise a Gaussian hill (H, W), 1 at (x, y), turned by so many radians."""
    across, down = X - x, Y - y
    u = across * np.cos(tilt) + down * np.sin(tilt)
    v = down * np.cos(tilt) - across * np.sin(tilt)
    return np.exp(-0.5 * (np.square(u / wide) + np.square(v / high)))


def pair(x: float, y: float, wide: float, high: float, tilt: float = 0.0) -> np.ndarray:
    """Raise the hill and its mirror image."""
    return bump(x, y, wide, high, tilt) + bump(-x, y, wide, high, -tilt)


def blur(image: np.ndarray, width: float) -> np.ndarray:
    """Blur an image by a Gaussian of so many units."""
    return cv2.GaussianBlur(image, (0, 0), width * UNIT, borderType=cv2.BORDER_REPLICATE)


def blob(points: Sequence[Point], soft: float) -> np.ndarray:
    """Fill the smooth closed curve through the points: (H, W), 1 inside and 0 outside."""
    closed = np.array([*points, points[0]])
    curve = CubicSpline(np.arange(len(closed)), closed, bc_type="periodic")
    places = curve(np.linspace(0, len(points), 40 * len(points)))
    pixels = (places - (LEFT, TOP)) * UNIT - 0.5
    mask = np.zeros(SHAPE, np.float32)
    cv2.fillPoly(mask, [np.round(pixels * 16).astype(np.int32)], 1.0, cv2.LINE_AA, shift=4)
    return blur(mask, soft)


def mirrored(points: Sequence[Point]) -> list[Point]:
    """Mirror the points of a right half: from top to bottom, and those of the left half, back
    up.
    """
    return [*points, *((-x, y) for x, y in reversed(points) if x)]


def noise(seed: int, width: float, stretch: float = 1.0) -> np.ndarray:
    """Draw smooth noise (H, W) of mean 0 and std 1, stretched downwards."""
    white = np.random.default_rng(seed).standard_normal(SHAPE).astype(np.float32)
    soft = cv2.GaussianBlur(white, (0, 0), width * UNIT, sigmaY=width * stretch * UNIT)
    return (soft - soft.mean()) / soft.std()


def lit(depth: np.ndarray, towards: np.ndarray, wrap: float = 0.0) -> np.ndarray:
    """Compute how much of a light a relief (H, W) catches; wrap lets it creep around edges, as in
    skin.
    """
    normals = _normals(depth)
    light = normals @ (towards / np.linalg.norm(towards)).astype(np.float32)
    return np.clip((light + wrap) / (1 + wrap), 0, 1)


def shine(depth: np.ndarray, sharpness: float) -> np.ndarray:
    """Compute the main light as it is mirrored to a camera straight ahead, (H, W)."""
    half = KEY / np.linalg.norm(KEY) + np.array([0, 0, 1])
    return lit(depth, half) ** sharpness


def over(image: np.ndarray, paint: np.ndarray, alpha: np.ndarray) -> None:
    """Put paint, (3,) or (…, 3), on an image (…, 3), in place."""
    image += alpha[..., None] * (paint - image)


def _normals(depth: np.ndarray) -> np.ndarray:
    down, across = np.gradient(depth * UNIT)
    normals = np.stack([-across, -down, np.ones_like(depth)], axis=-1).astype(np.float32)
    return normals / np.linalg.norm(normals, axis=-1, keepdims=True)
