"""The mouth of one frame: lips, teeth and tongue."""

from typing import Final

import numpy as np

from synthetic.heads.canvas import LEFT, TOP, UNIT, X, Y, colour, noise, over, ramp
from synthetic.heads.mouth import Pose
from synthetic.heads.speaker import Speaker

ROWS: Final = slice(round((0.9 - TOP) * UNIT), round((2.7 - TOP) * UNIT))
COLUMNS: Final = slice(round((-1.0 - LEFT) * UNIT), round((1.0 - LEFT) * UNIT))
LINE: Final = 1.58  # height at which closed lips meet
RISE: Final = 0.25  # share of the opening by which the upper lip rises
CAVE: Final = np.array([0.15, 0.04, 0.045], np.float32)
TONGUE: Final = np.array([0.66, 0.3, 0.3], np.float32)
ENAMEL: Final = np.array([0.93, 0.9, 0.84], np.float32)
GAPS: Final = (0.0, 0.11, 0.2, 0.28, 0.35)  # places between teeth, to both sides
WRINKLES: Final = noise(11, 0.016, 4)[ROWS, COLUMNS]


def paint(image: np.ndarray, speaker: Speaker, pose: Pose) -> None:
    """Paint the mouth on the skin of an image (H, W, 3)."""
    part, x, y = image[ROWS, COLUMNS], X[ROWS, COLUMNS], Y[ROWS, COLUMNS]
    half = pose.width * (1 - 0.3 * pose.rounding)
    t = np.clip(x / half, -1, 1)
    dome = 1 - t**2
    hole = np.clip(1 - np.abs(t / (0.92 - 0.14 * pose.rounding)) ** 2.3, 0, 1)
    opening = max(pose.opening, 0.0)
    pressed = 1 + 2.5 * min(pose.opening, 0.0)
    line = LINE + (0.3 * pose.jaw - 0.02) * t**2 - 0.012 * np.exp(-np.square(t / 0.3))
    top, bottom = line - RISE * opening * hole, line + (1 - RISE) * opening * hole
    bow = (
        1 - 0.16 * np.exp(-np.square(t / 0.13)) + 0.08 * np.exp(-np.square((abs(t) - 0.26) / 0.16))
    )
    upper = (
        line - RISE * opening * dome - pressed * (0.16 + 0.05 * pose.rounding) * dome**0.75 * bow
    )
    full = pressed * (0.21 + 0.05 * pose.rounding) * (1 - 0.5 * pose.tuck)
    lower = line + (1 - RISE) * opening * dome + full * dome**0.7
    within = ramp(np.abs(x), half + 0.02, half - 0.02)

    under = np.exp(-np.square((y - lower - 0.06) / 0.06)) * dome
    over(part, 0.62 * part, 0.5 * under)
    for side in (-1, 1):
        corner = np.hypot(x - side * (half + 0.01), (y - line) * 1.3)
        over(part, 0.5 * part, 0.6 * np.exp(-np.square(corner / 0.055)))

    _inside(part, x, y, top, bottom, pose, within * (hole > 0))
    tone = colour(speaker.lips) * (1 - 0.08 * t[..., None])
    v = np.clip((y - upper) / np.maximum(top - upper, 1e-3), 0, 1)
    light = 0.98 - 0.26 * v + 0.14 * np.exp(-np.square((v - 0.15) / 0.2)) + 0.025 * WRINKLES
    alpha = ramp(y - upper, -0.018, 0.03) * ramp(top - y, -0.008, 0.012) * within
    over(part, light[..., None] * tone, alpha * (0.3 + 0.7 * ramp(dome, 0.0, 0.3)))
    v = np.clip((y - bottom) / np.maximum(lower - bottom, 1e-3), 0, 1)
    swell = np.exp(-np.square((v - 0.42) / 0.3))
    light = 0.8 + 0.3 * swell - 0.12 * v + 0.025 * WRINKLES
    gloss = 0.2 * np.exp(-np.square((v - 0.36) / 0.16) - np.square((t + 0.1) / 0.42))
    paint = light[..., None] * tone + (gloss * (1 + 0.25 * WRINKLES))[..., None]
    alpha = ramp(y - bottom, -0.008, 0.012) * ramp(lower - y, -0.025, 0.035) * within
    over(part, paint, alpha * (0.3 + 0.7 * ramp(dome, 0.0, 0.3)))
    seam = np.exp(-np.square((y - top) / 0.014)) * within
    over(part, CAVE, 0.75 * seam)


def _inside(
    part: np.ndarray,
    x: np.ndarray,
    y: np.ndarray,
    top: np.ndarray,
    bottom: np.ndarray,
    pose: Pose,
    within: np.ndarray,
) -> None:
    """Paint the inside of the mouth between the lips: the dark, the tongue, the teeth."""
    mouth = np.broadcast_to(CAVE, part.shape).copy()
    floor = bottom.max() - 0.02 - 0.55 * pose.tongue * max(pose.opening, 0.0)
    back = floor + 0.5 * np.square(x / 0.4)
    glow = (
        0.55
        + 0.35 * np.exp(-np.square((y - back - 0.06) / 0.08))
        - 0.25 * np.exp(-np.square(x / 0.03))
    )
    over(mouth, glow[..., None] * TONGUE, ramp(y - back, -0.03, 0.04))
    edges = np.prod([1 - 0.35 * np.exp(-np.square((abs(x) - gap) / 0.009)) for gap in GAPS], axis=0)
    shade = edges * np.clip(1 - 1.6 * np.square(x / 0.5), 0.15, 1)
    shadow = 1 - 0.55 * np.exp(-np.clip(y - top, 0, None) / 0.045)
    arch = 0.35 * np.square(x) / 0.4
    above = ramp(LINE + 0.035 + 0.05 * pose.teeth - arch - y, -0.012, 0.012)
    below = ramp(y - (LINE + 0.085 + 0.85 * pose.jaw - 0.04 * pose.teeth + arch), -0.012, 0.012)
    over(mouth, (0.8 * shade * shadow)[..., None] * ENAMEL, below * (abs(x) < 0.4))
    over(mouth, (shade * shadow)[..., None] * ENAMEL, above * (abs(x) < 0.45))
    seen = ramp(y - top, -0.008, 0.008) * ramp(bottom - y, -0.008, 0.008)
    over(part, mouth, seen * within)
