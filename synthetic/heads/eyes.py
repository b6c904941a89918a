"""The eyes, which blink and move."""

from typing import Final

import numpy as np

from synthetic.heads.canvas import LEFT, TOP, UNIT, X, Y, colour, over, ramp
from synthetic.heads.speaker import Speaker

ROWS: Final = slice(round((-0.5 - TOP) * UNIT), round((0.5 - TOP) * UNIT))
COLUMNS: Final = slice(round((-1.3 - LEFT) * UNIT), round((1.3 - LEFT) * UNIT))
INNER: Final = 0.38  # corners, to both sides
OUTER: Final = 1.01
IRIS: Final = 0.17  # its radius
WHITE: Final = np.array([0.93, 0.91, 0.89], np.float32)
DARK: Final = np.array([0.1, 0.06, 0.05], np.float32)


def paint(image: np.ndarray, speaker: Speaker, closed: float, gaze: complex) -> None:
    """Paint both eyes on an image (H, W, 3); closed and gaze are as in face.Bearing."""
    part, y = image[ROWS, COLUMNS], Y[ROWS, COLUMNS]
    for side in (-1, 1):
        x = side * X[ROWS, COLUMNS]
        share = np.clip((x - INNER) / (OUTER - INNER), 0, 1)
        between = ((x > INNER - 0.03) & (x < OUTER + 0.03)).astype(np.float32)
        corners = 0.05 - 0.06 * share
        lower = corners + 0.1 * np.sin(3.14 * share**1.2) ** 0.9
        arch = np.sin(3.14 * share**0.85) ** 0.75
        upper = corners - 0.22 * arch
        lid = upper + closed * (lower - 0.01 - upper)
        # The lid: what of the ball it covers, and the fold above it.
        cover = ramp(y - upper, -0.04, 0.03) * ramp(lower - y, -0.01, 0.02)
        over(part, 0.93 * part, 0.5 * cover * between)
        fold = np.exp(-np.square((y - upper + 0.075 + 0.02 * share) / 0.022)) * arch
        over(part, 0.55 * part, 0.6 * fold * between * (1 - 0.5 * closed))
        seen = ramp(y - lid, -0.006, 0.016) * ramp(lower - y, -0.006, 0.016) * between
        ball = _ball(x - 0.69 - side * gaze.real, y + 0.025 - gaze.imag, side, speaker)
        shade = 1 - 0.5 * np.exp(-np.clip(y - lid, 0, None) / 0.05) - 0.25 * (2 * share - 1) ** 4
        over(part, ball * shade[..., None], seen)
        lashes = np.exp(-np.square((y - lid + 0.008) / (0.016 + 0.02 * share))) * arch**0.3
        over(part, DARK, 0.9 * lashes * between)
        rim = np.exp(-np.square((y - lower - 0.005) / 0.014)) * arch
        over(part, 0.5 * part, 0.5 * rim * between)


def _ball(x: np.ndarray, y: np.ndarray, side: int, speaker: Speaker) -> np.ndarray:
    radius = np.hypot(x, y)
    ball = WHITE * np.ones((*x.shape, 1), np.float32)
    iris = colour(speaker.eyes)
    rays = 0.1 * np.sin(23 * np.arctan2(y, x)) * np.sin(11 * np.arctan2(y, x) + 1)
    glow = 0.75 + 0.9 * ramp(y, -0.1, 0.15) + rays
    over(ball, glow[..., None] * iris, ramp(radius, IRIS + 0.012, IRIS - 0.012))
    over(ball, 0.3 * iris, 0.8 * np.exp(-np.square((radius - IRIS + 0.01) / 0.02)))
    over(ball, DARK / 2, ramp(radius, 0.08, 0.06))
    over(ball, np.ones(3), ramp(np.hypot(x + side * 0.055, y + 0.06), 0.042, 0.022))
    over(ball, np.ones(3), 0.4 * ramp(np.hypot(x - side * 0.06, y - 0.07), 0.03, 0.01))
    return ball
