"""One frame of a rendered head."""

from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np

from synthetic.heads import eyes, hair, lips, skin
from synthetic.heads.canvas import HEIGHT, LEFT, TOP, UNIT, WIDTH, X, Y, blur, ramp
from synthetic.heads.mouth import Pose
from synthetic.heads.speaker import Speaker

# How far each point of the face follows the jaw, and the corners of the mouth in lip rounding.
JAW: Final = ramp(Y, 1.4, 1.85) * ramp(Y, 3.7, 2.6) * np.exp(-((X / 1.7) ** 4))
PUCKER: Final = X * np.exp(-np.square(X / 0.6) - np.square((Y - 1.6) / 0.45))
FREE: Final = ramp(Y, 4.2, 2.4)  # the head moves, the shoulders stay


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
        lips.paint(image, self._speaker, pose)
        eyes.paint(image, self._speaker, bearing.closed, bearing.gaze)
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
