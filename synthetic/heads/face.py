"""One frame of a rendered head: its skin and hair, eyes that blink and move, lips, teeth and
tongue.
"""

from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np

from synthetic.heads import hair, skin
from synthetic.heads.canvas import (
    HEIGHT,
    LEFT,
    TOP,
    UNIT,
    WIDTH,
    X,
    Y,
    blur,
    colour,
    noise,
    over,
    ramp,
)
from synthetic.heads.mouth import Pose
from synthetic.heads.speaker import Speaker

# How far each point of the face follows the jaw, and the corners of the mouth in lip rounding.
JAW: Final = ramp(Y, 1.4, 1.85) * ramp(Y, 3.7, 2.6) * np.exp(-((X / 1.7) ** 4))
PUCKER: Final = X * np.exp(-np.square(X / 0.6) - np.square((Y - 1.6) / 0.45))
FREE: Final = ramp(Y, 4.2, 2.4)  # the head moves, the shoulders stay
EYE_ROWS: Final = slice(round((-0.5 - TOP) * UNIT), round((0.5 - TOP) * UNIT))
EYE_COLUMNS: Final = slice(round((-1.3 - LEFT) * UNIT), round((1.3 - LEFT) * UNIT))
INNER: Final = 0.38  # corners, to both sides
OUTER: Final = 1.01
IRIS: Final = 0.17  # its radius
WHITE: Final = np.array([0.93, 0.91, 0.89], np.float32)
DARK: Final = np.array([0.1, 0.06, 0.05], np.float32)
MOUTH_ROWS: Final = slice(round((0.9 - TOP) * UNIT), round((2.7 - TOP) * UNIT))
MOUTH_COLUMNS: Final = slice(round((-1.0 - LEFT) * UNIT), round((1.0 - LEFT) * UNIT))
LINE: Final = 1.58  # height at which closed lips meet
RISE: Final = 0.25  # share of the opening by which the upper lip rises
CAVE: Final = np.array([0.15, 0.04, 0.045], np.float32)
TONGUE: Final = np.array([0.66, 0.3, 0.3], np.float32)
ENAMEL: Final = np.array([0.93, 0.9, 0.84], np.float32)
GAPS: Final = (0.0, 0.11, 0.2, 0.28, 0.35)  # places between teeth, to both sides
WRINKLES: Final = noise(11, 0.016, 4)[MOUTH_ROWS, MOUTH_COLUMNS]


@dataclass(frozen=True)
class Bearing:
    """The pose of the head: closed, the lids, from 0 to 1; gaze, x + iy in units; turn and nod in
    radians, to the right and down; roll in radians; shift, x + iy in units."""

    closed: float = 0.0
    gaze: complex = 0j
    turn: float = 0.0
    nod: float = 0.0
    roll: float = 0.0
    shift: complex = 0j


class Head:
    """A speaker's head, rendered once; each frame then warps it and adds eyes and mouth."""

    def __init__(self, speaker: Speaker) -> None:
        self._speaker = speaker
        depth, inside = skin.relief(speaker)
        self._depth = blur(depth, 0.06)
        self._still = skin.backdrop(speaker)
        hair.behind(self._still, speaker)
        skin.body(self._still, speaker)
        skin.face(self._still, speaker, depth, inside)
        hair.facial(self._still, speaker, inside)
        hair.in_front(self._still, speaker)

    def render(self, pose: Pose, bearing: Bearing) -> np.ndarray:
        """Render a frame (HEIGHT, WIDTH, 3), uint8 RGB."""
        pull = 0.5 * pose.rounding - 0.5 * (pose.width - 0.56)
        image = _moved(self._still, X + pull * PUCKER, Y - pose.jaw * JAW)
        paint_mouth(image, self._speaker, pose)
        paint_eyes(image, self._speaker, bearing.closed, bearing.gaze)
        hair.glasses(image, self._speaker)
        fine = np.round(255 * np.clip(image, 0, 1)).astype(np.uint8)
        return cv2.resize(self._held(fine, bearing), (WIDTH, HEIGHT), interpolation=cv2.INTER_AREA)

    def _held(self, image: np.ndarray, bearing: Bearing) -> np.ndarray:
        """Move the head into its pose, by parallax: what stands out moves more."""
        x = X - FREE * bearing.shift.real - bearing.turn * self._depth
        y = Y - FREE * bearing.shift.imag - bearing.nod * (self._depth - 0.7)
        around = FREE * bearing.roll
        return _moved(image, x + around * (Y - 2.6), y - around * X)


def _moved(image: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Resample the image: each pixel is taken from (x, y)."""
    columns, rows = (places.astype(np.float32) * UNIT - 0.5 for places in (x - LEFT, y - TOP))
    return cv2.remap(image, columns, rows, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)


def paint_eyes(image: np.ndarray, speaker: Speaker, closed: float, gaze: complex) -> None:
    """Paint both eyes on an image (H, W, 3); closed and gaze are as in Bearing."""
    part, y = image[EYE_ROWS, EYE_COLUMNS], Y[EYE_ROWS, EYE_COLUMNS]
    for side in (-1, 1):
        x = side * X[EYE_ROWS, EYE_COLUMNS]
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


def paint_mouth(image: np.ndarray, speaker: Speaker, pose: Pose) -> None:
    """Paint the mouth on the skin of an image (H, W, 3)."""
    part, x, y = (each[MOUTH_ROWS, MOUTH_COLUMNS] for each in (image, X, Y))
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
