"""Mouth crops for lip reading: aligned, of one scale, at 25 frames per second.

Shapes: R frames of the video, N frames of 40 ms, H side of a crop, L landmarks of the lips.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.ndimage import gaussian_filter1d

from earshot.core.errors import InputError
from earshot.media.constants import VIDEO_RATE
from earshot.media.video.face import INNER_LIPS, OUTER_LIPS, FaceTrack, pose

SIDE: Final = 80  # pixels of a crop
SCALE: Final = 33.0  # pixels per unit (see earshot.media.video.face) of a crop
SMOOTHING: Final = 0.08  # s: std of the Gaussian over scale, rotation and position
LIPS: Final = (*OUTER_LIPS, *INNER_LIPS)
MAX_GAP: Final = 0.4  # s without a face that are interpolated
MAX_LOST: Final = 0.25  # of the frames
MIN_SEEN: Final = 0.4  # s from the first face to the last
MAX_GAPS: Final = 0.1  # of the steps between frames; more, and it has too few frames to read
BRIGHT: Final = 95  # percentile of the grey levels
MIN_SIZE: Final = 40.0  # pixels between the outer corners of the eyes
MIN_LIGHT: Final = 0.2  # of white
MAX_TURN: Final = 0.35  # of a full profile


@dataclass(frozen=True, eq=False)
class Quality:
    """Capture quality per frame, (N,) each: seen, whether a face is; size in pixels of the
    video between the outer corners of the eyes; turn, from −1 (one profile) over 0 (frontal) to 1
    (the other); light, from 0 to 1, of the bright parts around the mouth."""

    seen: np.ndarray
    size: np.ndarray
    turn: np.ndarray
    light: np.ndarray

    def hints(self) -> tuple[str, ...]:
        """List what to do better next time; nothing where all is well."""
        hints = {
            "Your face is small in the picture: come closer.": np.median(self.size) < MIN_SIZE,
            "It is dark: turn towards a light.": np.median(self.light) < MIN_LIGHT,
            "You look to the side: face the camera.": np.median(abs(self.turn)) > MAX_TURN,
            "The face was lost now and then: keep hands and hair away from it.": np.any(~self.seen),
        }
        return tuple(hint for hint, applies in hints.items() if applies)


@dataclass(frozen=True, eq=False)
class MouthClip:
    """A mouth from the beginning of the file to its last picture.

    crops (N, 80, 80) uint8; portraits (K, 64, 64, 3) uint8; outline (N, 468, 2): the whole mesh
    in pixels of the video; gaps: seconds without pictures, in which the mouth rests.
    """

    crops: np.ndarray
    portraits: np.ndarray
    outline: np.ndarray
    quality: Quality
    gaps: float = 0.0

    @property
    def seconds(self) -> float:
        return len(self.crops) / VIDEO_RATE


def crop_mouth(track: FaceTrack) -> MouthClip:
    """Crop the mouth in every frame, with scale, rotation and position smoothed over time.

    Where the pictures stop and go on later, as after a pause, the mouth stays as it was. Raises
    InputError for no face, two faces, a face that is lost for too long, or too few frames.
    """
    seen = np.isfinite(track.points[:, 0])
    times = track.times
    steps = np.diff(times)
    jumps = np.flatnonzero(steps > MAX_GAP)
    _check(track, seen, np.concatenate([[0.0], np.cumsum(np.where(steps > MAX_GAP, 0, steps))]))
    frames_seen = np.flatnonzero(seen)
    points = _filled(times, times[frames_seen], track.points[frames_seen])
    origins, turns = pose(points)
    mouth = ((points[:, list(LIPS)].mean(axis=1) - origins) / turns)[frames_seen]
    # One position of the mouth in the face for the whole video, so that jaw movement stays.
    middle = complex(np.median(mouth.real), np.median(mouth.imag))
    rate = len(times) / (times[-1] - times[0] - steps[jumps].sum() + 1 / VIDEO_RATE)
    origins, turns = (_smooth(values, SMOOTHING * rate) for values in (origins, turns))
    centres = origins + middle * turns
    crops = [
        _crop(
            track.patches[i],
            (centres[i] - track.origins[i]) * track.zooms[i],
            turns[i] * track.zooms[i],
        )
        for i in frames_seen
    ]
    # From the beginning of the file: before its first picture the mouth rests as it is there.
    grid = np.arange(round((times[-1] + 1 / VIDEO_RATE) * VIDEO_RATE)) / VIDEO_RATE
    for jump in jumps:
        grid[(grid > times[jump]) & (grid < times[jump + 1])] = times[jump]
    outline = _filled(grid, times, points)
    frames = _filled(grid, times[frames_seen], np.array(crops, np.float32))
    # The bright parts only: dark skin in good light is no dark video.
    light = np.percentile(track.patches[frames_seen], BRIGHT, axis=(1, 2)) / 255
    quality = Quality(
        seen=_filled(grid, times, seen.astype(float)) > 0.5,
        size=2 * abs(_filled(grid, times, turns)),
        turn=_turn(outline),
        light=_filled(grid, times[frames_seen], light),
    )
    return MouthClip(
        crops=np.round(frames).astype(np.uint8),
        portraits=track.portraits,
        outline=_pairs(outline).astype(np.float32),
        quality=quality,
        gaps=float(steps[jumps].sum()),
    )


def _check(track: FaceTrack, seen: np.ndarray, before: np.ndarray) -> None:
    """Check that one face is seen throughout. before: how long pictures lasted before each frame,
    in seconds (R,).
    """
    if track.faces > 1:
        raise InputError("There are two faces in the picture. Let only one person be seen.")
    if not seen.any():
        raise InputError(
            "No face can be found.",
            "Face the camera, with light on your face, not behind you.",
        )
    if np.mean(np.diff(track.times) > MAX_GAP) > MAX_GAPS:
        raise InputError("This video has too few pictures to read lips: use 10 a second or more.")
    moments = before[seen]  # before the first face, and after the last, the mouth rests
    lost = 1 - seen[np.argmax(seen) : len(seen) - np.argmax(seen[::-1])].mean()
    glimpse = not seen.all() and np.ptp(moments) < MIN_SEEN
    if glimpse or lost > MAX_LOST or np.diff(moments).max(initial=0) > MAX_GAP:
        raise InputError(
            "The face is lost for too long.",
            "Stay in the picture, facing the camera, and keep hands away from the mouth.",
        )


def _crop(patch: np.ndarray, centre: complex, turn: complex) -> np.ndarray:
    """Crop the mouth around ``centre`` of a patch, rotated upright, at SCALE: (80, 80)."""
    import cv2

    step = turn / SCALE
    corner = centre - (1 + 1j) * (SIDE - 1) / 2 * step
    back = np.array([[step.real, -step.imag, corner.real], [step.imag, step.real, corner.imag]])
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    return cv2.warpAffine(patch, back, (SIDE, SIDE), flags=flags, borderMode=cv2.BORDER_REPLICATE)


def _smooth(values: np.ndarray, width: float) -> np.ndarray:
    """Smooth complex values (R,) by a Gaussian of so many frames."""
    parts = gaussian_filter1d(_pairs(values), width, axis=0, mode="nearest")
    return parts[:, 0] + 1j * parts[:, 1]


def _filled(times: np.ndarray, at: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Interpolate values (R, …), at the times ``at``, linearly at ``times``."""
    after = np.clip(np.searchsorted(at, times), 1, max(len(at) - 1, 1))
    before = after - 1
    after = np.minimum(after, len(at) - 1)
    gap = np.maximum(at[after] - at[before], 1e-9)
    share = np.clip((times - at[before]) / gap, 0, 1).reshape(-1, *[1] * (values.ndim - 1))
    return (1 - share) * values[before] + share * values[after]


def _turn(points: np.ndarray) -> np.ndarray:
    """Estimate the head's yaw from −1 to 1, by the position of the nose's tip between the
    cheeks.
    """
    nose, right, left = points[:, 1], points[:, 234], points[:, 454]
    across = (left - right) / abs(left - right) ** 2
    return 2 * ((nose - right) * across.conj()).real - 1


def _pairs(places: np.ndarray) -> np.ndarray:
    """Split complex positions into x and y in a last dimension."""
    return np.stack([np.real(places), np.imag(places)], axis=-1)
