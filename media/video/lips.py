"""The mouth as a reader of lips sees it: straight, of one size, at 25 pictures a second.

Shapes: N pictures of the film, F frames of 40 ms, H side of a crop, L points of the lips.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.ndimage import gaussian_filter1d

from media.errors import InputError
from media.video.face import INNER_LIPS, OUTER_LIPS, Sightings, pose

RATE: Final = 25  # frames a second
SIDE: Final = 80  # pixels of a crop
SCALE: Final = 33.0  # pixels a unit (see media.video.face) in it
SMOOTHING: Final = 0.08  # s: standard deviation of the Gaussian over size, angle and place
LIPS: Final = (*OUTER_LIPS, *INNER_LIPS)
LONGEST_GAP: Final = 0.4  # s without a face that are bridged
MOST_LOST: Final = 0.25  # of the pictures
BRIGHT: Final = 95  # percentile of the grey
SMALL: Final = 40.0  # pixels between the corners of the eyes
DARK: Final = 0.2  # of full light
TURNED: Final = 0.35  # of all the way to the side


@dataclass(frozen=True, eq=False)
class Quality:
    """How well each frame shows the mouth, (F,) each: found, whether there was a face at all; size
    in pixels of the film between the outer corners of the eyes; turn, from −1 (all the way to one
    side) over 0 (straight ahead) to 1; light, from 0 to 1, of what is bright around the mouth."""

    found: np.ndarray
    size: np.ndarray
    turn: np.ndarray
    light: np.ndarray

    def hints(self) -> tuple[str, ...]:
        """What to do better the next time; none where all is well."""
        hints = {
            "Your face is small in the picture: come closer.": np.median(self.size) < SMALL,
            "It is dark: turn towards a light.": np.median(self.light) < DARK,
            "You look to the side: face the camera.": np.median(abs(self.turn)) > TURNED,
            "The face was lost now and then: keep hands and hair away from it.": np.any(
                ~self.found
            ),
        }
        return tuple(hint for hint, applies in hints.items() if applies)


@dataclass(frozen=True, eq=False)
class Mouth:
    """crops (F, 80, 80) uint8; points (F, 40, 2): the lips in units from the crop's middle;
    portraits (K, 64, 64, 3) uint8; outline (F, 468, 2): the whole mesh in pixels of the film."""

    crops: np.ndarray
    points: np.ndarray
    portraits: np.ndarray
    outline: np.ndarray
    quality: Quality

    @property
    def seconds(self) -> float:
        return len(self.crops) / RATE


def follow(seen: Sightings) -> Mouth:
    """Cut the mouth out of every picture, with size, angle and place smoothed over time.

    Raises InputError where no face is to be followed: none, two, or lost for too long.
    """
    found = np.isfinite(seen.points[:, 0])
    _check(seen, found)
    known = np.flatnonzero(found)
    times = seen.times
    points = _filled(times, times[known], seen.points[known])
    origins, turns = pose(points)
    mouth = ((points[:, list(LIPS)].mean(axis=1) - origins) / turns)[known]
    # Where a talker's mouth is in the face stays as it is: the jaw shall be seen to move.
    middle = complex(np.median(mouth.real), np.median(mouth.imag))
    rate = len(times) / (times[-1] - times[0] + 1 / RATE)
    origins, turns = (_smooth(values, SMOOTHING * rate) for values in (origins, turns))
    centres = origins + middle * turns
    crops = [
        _crop(
            seen.patches[i],
            (centres[i] - seen.origins[i]) * seen.zooms[i],
            turns[i] * seen.zooms[i],
        )
        for i in known
    ]
    grid = np.arange(round((times[-1] + 1 / RATE - times[0]) * RATE)) / RATE + times[0]
    lips = (points[:, list(LIPS)] - centres[:, None]) / turns[:, None]
    lips, outline = _filled(grid, times, lips), _filled(grid, times, points)
    frames = _filled(grid, times[known], np.array(crops, np.float32))
    # The brightest part: dark skin in good light is no dark picture.
    light = np.percentile(seen.patches[known], BRIGHT, axis=(1, 2)) / 255
    quality = Quality(
        found=_filled(grid, times, found.astype(float)) > 0.5,
        size=2 * abs(_filled(grid, times, turns)),
        turn=_turn(outline),
        light=_filled(grid, times[known], light),
    )
    return Mouth(
        crops=np.round(frames).astype(np.uint8),
        points=_pairs(lips).astype(np.float32),
        portraits=seen.portraits,
        outline=_pairs(outline).astype(np.float32),
        quality=quality,
    )


def _check(seen: Sightings, found: np.ndarray) -> None:
    if seen.faces > 1:
        raise InputError("There are two faces in the picture. Let only one person be seen.")
    if not found.any():
        raise InputError(
            "No face can be found. Face the camera, with light on your face, not behind you."
        )
    known = np.concatenate([[seen.times[0]], seen.times[found], [seen.times[-1]]])
    if found.mean() < 1 - MOST_LOST or np.diff(known).max() > LONGEST_GAP:
        raise InputError(
            "The face is lost for too long. Stay in the picture, facing the camera, and "
            "keep hands away from the mouth."
        )


def _crop(patch: np.ndarray, centre: complex, turn: complex) -> np.ndarray:
    """The mouth around ``centre`` of a patch, turned back and brought to SCALE: (80, 80)."""
    import cv2

    step = turn / SCALE
    corner = centre - (1 + 1j) * (SIDE - 1) / 2 * step
    back = np.array([[step.real, -step.imag, corner.real], [step.imag, step.real, corner.imag]])
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    return cv2.warpAffine(patch, back, (SIDE, SIDE), flags=flags, borderMode=cv2.BORDER_REPLICATE)


def _smooth(values: np.ndarray, width: float) -> np.ndarray:
    """Complex values (N,), by a Gaussian of so many pictures."""
    parts = gaussian_filter1d(_pairs(values), width, axis=0, mode="nearest")
    return parts[:, 0] + 1j * parts[:, 1]


def _filled(times: np.ndarray, known: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Values (N, …) at the times ``known``, linear between them, at ``times``."""
    after = np.clip(np.searchsorted(known, times), 1, max(len(known) - 1, 1))
    before = after - 1
    after = np.minimum(after, len(known) - 1)
    gap = np.maximum(known[after] - known[before], 1e-9)
    share = np.clip((times - known[before]) / gap, 0, 1).reshape(-1, *[1] * (values.ndim - 1))
    return (1 - share) * values[before] + share * values[after]


def _turn(points: np.ndarray) -> np.ndarray:
    """How far the face looks to a side, by where the tip of the nose is between the cheeks."""
    nose, right, left = points[:, 1], points[:, 234], points[:, 454]
    across = (left - right) / abs(left - right) ** 2
    return 2 * ((nose - right) * across.conj()).real - 1


def _pairs(places: np.ndarray) -> np.ndarray:
    """Complex places as x and y in a last dimension."""
    return np.stack([np.real(places), np.imag(places)], axis=-1)
