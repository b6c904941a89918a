"""Hair, brows, beard and glasses."""

from typing import Final

import cv2
import numpy as np

from synthetic.heads.canvas import (
    FILL,
    KEY,
    LEFT,
    TOP,
    UNIT,
    Point,
    X,
    Y,
    blob,
    blur,
    colour,
    lit,
    mirrored,
    noise,
    over,
    ramp,
    shine,
)
from synthetic.heads.speaker import Speaker

# The outer edge of the hair, and the window in it through which the face is seen.
OUTER: Final[dict[str, list[Point]]] = {
    "long": mirrored(
        [(0, -2.62), (1.0, -2.42), (1.72, -1.75), (2.0, -0.6), (2.08, 0.8), (2.22, 2.2), (1.9, 3.5)]
    ),
    "short": mirrored(
        [
            (0, -2.66),
            (1.0, -2.48),
            (1.66, -1.85),
            (1.88, -1.0),
            (1.8, -0.3),
            (1.66, 0.2),
            (1.2, 0.45),
            (0, 0.5),
        ]
    ),
    "curly": mirrored(
        [
            (0, -2.62),
            (0.95, -2.5),
            (1.6, -1.95),
            (1.84, -1.2),
            (1.74, -0.5),
            (1.6, 0.0),
            (1.2, 0.3),
            (0, 0.4),
        ]
    ),
}
WINDOW: Final[dict[str, list[Point]]] = {
    "long": [
        *((-0.5, -1.72), (0.4, -1.42), (1.1, -0.95), (1.46, -0.2), (1.5, 0.9), (1.4, 2.0)),
        *((1.2, 3.0), (1.0, 5.0), (-1.0, 5.0), (-1.2, 3.0), (-1.4, 2.0), (-1.5, 0.9)),
        *((-1.46, -0.2), (-1.25, -0.9), (-0.95, -1.4)),
    ],
    "short": [
        *((-1.2, -0.72), (-0.5, -0.98), (0.4, -1.35), (0.95, -1.42), (1.3, -1.0), (1.46, -0.3)),
        *((1.6, 0.3), (1.7, 1.5), (0.0, 4.0), (-1.7, 1.5), (-1.6, 0.3), (-1.46, -0.3)),
    ],
    "curly": mirrored(
        [(0, -1.4), (0.75, -1.36), (1.2, -1.16), (1.4, -0.6), (1.56, 0.2), (1.7, 1.5), (0.0, 4.0)]
    ),
}
BROW: Final = (
    (0.25, -0.36),
    (0.5, -0.46),
    (0.88, -0.49),
    (1.17, -0.31),
    (0.9, -0.39),
    (0.5, -0.35),
)
BEARD: Final = mirrored(
    [
        *((0, 1.24), (0.42, 1.29), (0.72, 1.55), (0.95, 1.62), (1.3, 1.15), (1.46, 0.2)),
        *((1.75, 0.2), (1.75, 1.4), (1.3, 2.3), (0.6, 2.72), (0, 2.8)),
    ]
)


def behind(image: np.ndarray, speaker: Speaker) -> None:
    """Paint long hair behind the neck on an image (H, W, 3)."""
    if speaker.style == "long":
        over(image, 0.45 * colour(speaker.hair), blob(OUTER["long"], 0.03))


def in_front(image: np.ndarray, speaker: Speaker) -> None:
    """Paint the hair that frames the face, and its shadow on the face."""
    curly = speaker.style == "curly"
    mass = blob(OUTER[speaker.style], 0.05) * (1 - blob(WINDOW[speaker.style], 0.05))
    strands = noise(8, 0.035) if curly else _strands()
    mask = ramp(mass + (0.12 if curly else 0.1) * strands * (mass > 0.01), 0.35, 0.65)
    shadow = np.roll(blur(mask, 0.1), (round(0.1 * UNIT), round(0.05 * UNIT)), axis=(0, 1))
    over(image, image * (0.5, 0.4, 0.4), 0.6 * shadow * (1 - mask))
    over(image, _coloured(speaker, mass, strands), mask)


def facial(image: np.ndarray, speaker: Speaker, inside: np.ndarray) -> None:
    """Paint brows and beard."""
    bristles = noise(9, 0.012, 2)
    for side in (-1, 1):
        brow = blob([(side * x, y) for x, y in BROW], 0.022)
        over(
            image,
            0.8 * colour(speaker.hair),
            0.85 * ramp(brow + 0.1 * bristles * (brow > 0.05), 0.2, 0.9),
        )
    beard = blur(blob(BEARD, 0.05), 0.05) * inside
    cover = speaker.beard * ramp(beard + 0.12 * bristles * (beard > 0.05), 0.15, 0.95)
    light = 0.75 + 0.15 * bristles + 0.5 * ramp(X, 1.0, -1.2)
    over(image, light[..., None] * colour(speaker.hair), cover)


def glasses(image: np.ndarray, speaker: Speaker) -> None:
    """Paint glasses, if worn, over eyes and brows."""
    if not speaker.glasses:
        return
    frame = np.zeros_like(X)
    for side in (-1, 1):
        edge = (np.abs((X - 0.7 * side) / 0.53) ** 3.2 + np.abs((Y - 0.06) / 0.42) ** 3.2) ** (
            1 / 3.2
        )
        frame = np.maximum(frame, ramp(np.abs(edge - 1), 0.085, 0.045))
        glare = ramp(edge, 1.0, 0.95) * ramp(np.abs(X - 0.7 * side + 0.7 * Y + 0.3), 0.1, 0.06)
        over(image, np.ones(3, np.float32), 0.06 * glare)
        arm = ramp(np.abs(Y + 0.1 + 0.05 * (np.abs(X) - 1.2)), 0.045, 0.02)
        frame = np.maximum(frame, arm * ramp(side * X, 1.19, 1.22) * ramp(side * X, 1.72, 1.66))
    bridge = ramp(np.abs(Y + 0.1 - 1.2 * np.square(X)), 0.045, 0.02) * ramp(np.abs(X), 0.2, 0.17)
    frame = np.maximum(frame, bridge)
    drop = np.roll(blur(frame, 0.03), round(0.06 * UNIT), axis=0)
    over(image, 0.5 * image, 0.5 * drop * (1 - frame))
    over(image, colour((52, 40, 44)) + 0.1 * ramp(Y, 0.1, -0.35)[..., None], frame)


def _strands() -> np.ndarray:
    """Draw noise (H, W) out along hair that spreads from the crown and then falls."""
    spread = 0.25 + 0.75 * np.clip((Y + 2.7) / 1.8, 0.02, 1) ** 0.7
    across = X / spread + 0.05 * np.sin(1.7 * Y + 2 * X)
    down = 0.05 * (Y - TOP) + 0.4
    return cv2.remap(
        noise(7, 0.016),
        ((across - LEFT) * UNIT).astype(np.float32),
        (down * UNIT).astype(np.float32),
        cv2.INTER_LINEAR,
        borderMode=cv2.BORDER_REFLECT,
    )


def _coloured(speaker: Speaker, mass: np.ndarray, strands: np.ndarray) -> np.ndarray:
    depth = 0.7 * blur(mass, 0.3) + 0.012 * strands
    light = 0.42 + 0.7 * lit(depth, KEY, 0.3) + 0.25 * lit(depth, FILL) + 0.09 * strands
    gloss = 0.22 * shine(depth, 8) * (1 + 0.3 * strands)
    tone = colour(speaker.hair)
    return np.clip(light[..., None] * tone + gloss[..., None] * (0.4 + 0.6 * tone), 0, 1)
