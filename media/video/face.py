"""Where the face is in every picture of a film, by MediaPipe's face mesh.

Shapes: N pictures, 468 points of the mesh; places are complex numbers x + iy, in pixels to the
right and down. A unit is half the distance between the outer corners of the eyes.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from media.video.decode import Frame

N_POINTS: Final = 468
# Points that speaking hardly moves, and where they are in a face that looks straight ahead: in
# units from the middle between the eyes. Means of five talkers of GRID, made symmetric.
STEADY: Final = {
    33: -1.0 + 0.0j,
    133: -0.39 + 0.04j,
    362: 0.39 + 0.04j,
    263: 1.0 + 0.0j,
    168: 0.0 - 0.09j,
    6: 0.0 + 0.1j,
    197: 0.0 + 0.28j,
    195: 0.0 + 0.44j,
    98: -0.39 + 1.09j,
    327: 0.39 + 1.09j,
}
OUTER_LIPS: Final = (61, 146, 91, 181, 84, 17, 314, 405, 321, 375, 291) + (
    *(409, 270, 269, 267, 0, 37, 39, 40, 185),
)
INNER_LIPS: Final = (78, 95, 88, 178, 87, 14, 317, 402, 318, 324, 308) + (
    *(415, 310, 311, 312, 13, 82, 81, 80, 191),
)
MOUTH_BELOW_EYES: Final = 1.5  # units, about
PATCH: Final = 160  # pixels: side of what is kept of a picture, around the mouth
PATCH_SCALE: Final = 48.0  # pixels a unit in it
PORTRAIT: Final = 64  # pixels: side of the face in colour
PORTRAIT_SCALE: Final = 16.0
PORTRAIT_EVERY: Final = 12  # pictures
SEARCHED: Final = 12  # of so many pictures one is searched for a second face
SURE: Final = 0.6  # confidence from which it is one


@dataclass(frozen=True, eq=False)
class Sightings:
    """What is kept of a film, so little that its size does not matter.

    times (N,) in seconds; points (N, 468), NaN where no face was found; patches (N, 160, 160): the
    surroundings of the mouth in grey, uint8, upright and PATCH_SCALE pixels a unit; origins and
    zooms (N,): the place in the picture of a patch's corner, and how many of its pixels one of the
    picture takes; portraits (K, 64, 64, 3) uint8 RGB; faces: the most that were seen at once.
    """

    times: np.ndarray
    points: np.ndarray
    patches: np.ndarray
    origins: np.ndarray
    zooms: np.ndarray
    portraits: np.ndarray
    faces: int


def look(frames: Iterable[Frame]) -> Sightings:
    """Follow the face of a film; where there are two, the one that the mesh finds first."""
    # Imported here: it takes two seconds, and only those who film themselves need it.
    os.environ.setdefault("GLOG_minloglevel", "2")  # read at import: errors only
    from mediapipe.python.solutions import face_detection, face_mesh

    times, points, patches, origins, zooms, portraits = [], [], [], [], [], []
    faces = 0
    with (
        face_mesh.FaceMesh(max_num_faces=1) as mesh,
        face_detection.FaceDetection(model_selection=1, min_detection_confidence=SURE) as detector,
    ):
        for number, (time, image) in enumerate(frames):
            places = _places(mesh.process(image), image.shape)
            times.append(time)
            points.append(places)
            seen = np.isfinite(places[0].real)
            patch, origin, zoom = _patch(image, places) if seen else _nothing()
            patches.append(patch)
            origins.append(origin)
            zooms.append(zoom)
            faces = max(faces, int(seen))
            if number % SEARCHED == 0:
                faces = max(faces, _count(detector.process(image)))
            if seen and number % PORTRAIT_EVERY == 0:
                portraits.append(_portrait(image, places))
    return Sightings(
        times=np.array(times),
        points=np.array(points),
        patches=np.array(patches),
        origins=np.array(origins),
        zooms=np.array(zooms),
        portraits=np.array(portraits, np.uint8).reshape(-1, PORTRAIT, PORTRAIT, 3),
        faces=faces,
    )


def pose(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where the middle between the eyes is, and how large and turned the face: two complex numbers
    (N,), the second pixels a unit times e^(i angle). By least squares over the steady points."""
    model = np.array(list(STEADY.values()))
    centred = model - model.mean()
    seen = points[:, list(STEADY)]
    middle = seen.mean(axis=1)
    turn = ((seen - middle[:, None]) * centred.conj()).sum(axis=1) / np.square(abs(centred)).sum()
    return middle - turn * model.mean(), turn


def _count(result: Any) -> int:
    """Faces that were detected."""
    return len(result.detections or ())


def _places(result: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Points of the first face, (468,) complex; NaN where there is none."""
    if not result.multi_face_landmarks:
        return np.full(N_POINTS, np.nan + 0j)
    landmarks = result.multi_face_landmarks[0].landmark
    return np.array([complex(p.x * shape[1], p.y * shape[0]) for p in landmarks])


def _patch(image: np.ndarray, places: np.ndarray) -> tuple[np.ndarray, complex, float]:
    """Grey surroundings of the mouth, upright in the picture; what is outside of it is black."""
    import cv2

    origins, turns = pose(places[None])
    size = float(abs(turns[0]))  # pixels of the picture a unit
    middle = origins[0] + 1j * MOUTH_BELOW_EYES * turns[0]
    side = max(PATCH / PATCH_SCALE * size, 2.0)
    corner = middle - (1 + 1j) * side / 2
    left, top, width = round(corner.real), round(corner.imag), max(round(side), 2)
    x, y = max(left, 0), max(top, 0)
    inside = image[y : max(top + width, y), x : max(left + width, x)]
    grey = np.zeros((width, width), np.uint8)
    if inside.size:
        part = cv2.cvtColor(inside, cv2.COLOR_RGB2GRAY)
        grey[y - top : y - top + part.shape[0], x - left : x - left + part.shape[1]] = part
    # Averages where it shrinks, so that fine texture does not turn into noise.
    method = cv2.INTER_AREA if width > PATCH else cv2.INTER_LINEAR
    return cv2.resize(grey, (PATCH, PATCH), interpolation=method), complex(left, top), PATCH / width


def _nothing() -> tuple[np.ndarray, complex, float]:
    return np.zeros((PATCH, PATCH), np.uint8), complex(np.nan, np.nan), np.nan


def _portrait(image: np.ndarray, places: np.ndarray) -> np.ndarray:
    """The face in colour, straight, (64, 64, 3)."""
    import cv2

    origins, turns = pose(places[None])
    turn = turns[0] / PORTRAIT_SCALE
    corner = origins[0] + 0.8j * turns[0] - (1 + 1j) * PORTRAIT / 2 * turn
    back = np.array([[turn.real, -turn.imag, corner.real], [turn.imag, turn.real, corner.imag]])
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    return cv2.warpAffine(image, back, (PORTRAIT, PORTRAIT), flags=flags)
