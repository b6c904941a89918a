"""The head without what moves in it: relief of the face, its light, neck, ears and clothes.

Places of eyes, nose, mouth and outline are those of the canonical face of MediaPipe's mesh.
"""

from typing import Final

import numpy as np
from scipy.interpolate import PchipInterpolator

from synthetic.heads.canvas import (
    FILL,
    KEY,
    X,
    Y,
    blob,
    blur,
    bump,
    colour,
    lit,
    mirrored,
    noise,
    over,
    pair,
    ramp,
    shine,
)
from synthetic.heads.speaker import Speaker

# Half the width of the head, and how far the middle of the face stands out, at heights.
OUTLINE: Final = (
    *((-2.25, 0.0), (-2.15, 0.62), (-1.8, 1.15), (-1.3, 1.52), (-0.7, 1.69), (0.0, 1.7)),
    *((0.6, 1.66), (1.2, 1.56), (1.7, 1.38), (2.1, 1.1), (2.4, 0.77), (2.58, 0.43), (2.66, 0.0)),
)
PROFILE: Final = (
    *((-2.25, 0.0), (-1.9, 0.75), (-1.3, 1.25), (-0.7, 1.42), (0.0, 1.42), (1.0, 1.42)),
    *((1.6, 1.4), (2.1, 1.3), (2.4, 1.08), (2.58, 0.7), (2.66, 0.0)),
)
WARM: Final = np.array([1.0, 0.55, 0.42], np.float32)  # tint of light that has passed through skin


def outline(speaker: Speaker) -> list[tuple[float, float]]:
    """Draw the right half of the head, from top to bottom."""
    return [(x * (1 + (speaker.jaw - 1) * float(np.clip(y, 0, 1))), y) for y, x in OUTLINE]


def relief(speaker: Speaker) -> tuple[np.ndarray, np.ndarray]:
    """Compute how far the face stands out in units, 0 around it, and where it is, (H, W) each."""
    x, y = np.array(outline(speaker)).T
    half = np.interp(Y, *_smooth(y, x))
    middle = np.interp(Y, *_smooth(*np.array(PROFILE).T))
    across = np.clip(np.abs(X) / np.maximum(half, 1e-3), 0, 1)
    head = middle * np.sqrt(1 - across**2.4)
    inside = blob(mirrored(outline(speaker)), 0.012)
    nose = np.interp(Y, (-0.25, 0.3, 0.85, 0.95, 1.21), (0, 0.14, 0.34, 0.36, 0), 0, 0)
    width = np.interp(Y, (-0.25, 0.3, 0.9), (0.15, 0.14, 0.19))
    features = (
        blur(nose * np.exp(-0.5 * np.square(X / width)), 0.03)
        + 0.12 * bump(0, 0.9, 0.19, 0.16)
        + 0.13 * pair(0.27, 0.99, 0.11, 0.1)
        + 0.06 * pair(0.66, -0.36, 0.36, 0.15, 0.12)
        - 0.17 * pair(0.62, 0.0, 0.34, 0.22)
        + 0.12 * pair(0.69, 0.0, 0.26, 0.17)
        + 0.13 * pair(1.02, 0.62, 0.36, 0.3, -0.4)
        - 0.022 * pair(0.62, 1.28, 0.07, 0.24, -0.5)
        - 0.03 * bump(0, 1.26, 0.06, 0.09)
        + 0.03 * pair(0.12, 1.26, 0.06, 0.1)
        + 0.13 * bump(0, 1.6, 0.5, 0.32)
        - 0.04 * bump(0, 2.0, 0.34, 0.1)
        + 0.1 * bump(0, 2.28, 0.3, 0.18)
        - 0.06 * pair(1.5, -0.5, 0.25, 0.4)
        - 0.02 * pair(0.72, 1.6, 0.1, 0.14)
    )
    return (blur((head * inside).astype(np.float32), 0.03) + features * inside), inside


def face(image: np.ndarray, speaker: Speaker, depth: np.ndarray, inside: np.ndarray) -> None:
    """Paint the ears and the face, without eyes and mouth, on an image (H, W, 3)."""
    skin = colour(speaker.skin)
    for side in (-1, 1):
        ear = blob([(side * x, y) for x, y in EAR], 0.02)
        shape = 0.5 * blur(ear, 0.08) - 0.2 * bump(side * 1.78, 0.3, 0.06, 0.2) + 0.5
        over(image, 0.92 * _shaded(shape, skin), ear)
    over(image, _shaded(depth, _complexion(speaker)), inside)
    over(image, 0.3 * skin * WARM, 0.85 * inside * pair(0.16, 1.12, 0.07, 0.028, 0.25))


def body(image: np.ndarray, speaker: Speaker) -> None:
    """Paint neck and clothes."""
    shadow = ramp(Y, 3.4, 2.5) * np.exp(-np.square((X - 0.12) / 1.2))
    neck = _shaded(_neck(), colour(speaker.skin)) * (1 - 0.55 * shadow[..., None])
    over(image, neck, blob(NECK, 0.02))
    clothes = blob(CLOTHES, 0.015)
    cloth = 0.9 * blur(clothes, 0.5) + 0.04 * noise(5, 0.25, 3)
    light = 0.3 + 0.75 * lit(cloth, KEY, 0.3) + 0.15 * lit(cloth, FILL)
    fabric = light * (1 + 0.02 * noise(6, 0.008))
    over(image, np.clip(fabric[..., None] * colour(speaker.clothes), 0, 1), clothes)
    hem = clothes * ramp(blur(clothes, 0.05), 1.0, 0.75) * ramp(np.abs(X), 1.3, 1.1)
    over(image, 0.7 * colour(speaker.clothes), 0.5 * hem)


def backdrop(speaker: Speaker) -> np.ndarray:
    """Paint a wall with a glow of light, (H, W, 3)."""
    glow = 0.72 + 0.38 * np.exp(-np.square((X + 1.2) / 4) - np.square((Y + 0.8) / 4))
    return np.clip(glow[..., None] * colour(speaker.backdrop), 0, 1).astype(np.float32)


NECK: Final = mirrored([(0.0, 1.5), (1.02, 1.6), (0.98, 2.6), (1.1, 3.3), (1.3, 4.0), (1.0, 5.5)])
CLOTHES: Final = mirrored(
    [(0.0, 4.02), (0.6, 3.85), (1.08, 3.38), (1.5, 3.5), (2.6, 3.85), (3.6, 4.5), (4.2, 6.0)]
)
EAR: Final = ((1.6, 0.0), (1.78, -0.12), (1.92, 0.1), (1.88, 0.5), (1.72, 0.82), (1.58, 0.75))


def _smooth(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    dense = np.linspace(x[0], x[-1], 400)
    return dense, PchipInterpolator(x, y)(dense)


def _neck() -> np.ndarray:
    round_neck = np.sqrt(np.clip(1.2 - np.square(X / 1.05), 0.02, None))
    cords = 0.05 * pair(0.45, 3.2, 0.1, 0.6, 0.35) - 0.05 * bump(0, 3.6, 0.14, 0.12)
    return (round_neck + cords).astype(np.float32)


def _complexion(speaker: Speaker) -> np.ndarray:
    """Colour the skin, place by place: blush, paler around the eyes, a beard's shadow."""
    skin = np.broadcast_to(colour(speaker.skin), (*X.shape, 3)).copy()
    blush = (
        pair(1.0, 0.75, 0.38, 0.26) + 0.8 * bump(0, 0.92, 0.2, 0.16) + 0.3 * bump(0, 2.3, 0.3, 0.2)
    )
    over(skin, skin * (1.0, 0.8, 0.78), 0.45 * np.clip(blush, 0, 1))
    over(skin, skin * (0.86, 0.76, 0.76), 0.5 * np.clip(pair(0.66, 0.2, 0.32, 0.09), 0, 1))
    skin *= (1 + 0.012 * noise(1, 0.012) + 0.012 * noise(2, 0.2))[..., None]
    return skin


def _shaded(depth: np.ndarray, albedo: np.ndarray) -> np.ndarray:
    """Shade skin with this relief under both lights: soft edges of shadow, which glow a little
    red.
    """
    key, fill = lit(depth, KEY, 0.35), lit(depth, FILL, 0.2)
    hollow = np.clip(6 * (blur(depth, 0.09) - depth), 0, 0.4) * ramp(depth, 0.3, 0.8)
    light = (0.2 + 0.86 * key + 0.2 * fill) * (1 - hollow)
    edge = np.clip(1 - np.abs(key - 0.45) / 0.35, 0, 1) * 0.16
    tint = np.stack([light + edge * c for c in WARM - 0.5], axis=-1)
    gloss = 0.1 * shine(depth, 18) + 0.09 * shine(depth, 70)
    return np.clip(albedo * tint + gloss[..., None], 0, 1).astype(np.float32)
