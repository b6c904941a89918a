"""Track the face through a video with MediaPipe's face mesh.

Shapes: R frames, 468 landmarks of the mesh; positions are complex numbers x + iy, in pixels to the
right and down. A unit is half the distance between the outer corners of the eyes.
"""

import os
import warnings
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from earshot.core.console import without_native_notes
from earshot.media.video import Frame

N_POINTS: Final = 468
# Landmarks that speech hardly moves, with their positions in a frontal face, in units from the
# middle between the eyes. Means over five speakers of GRID, made symmetric.
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
PATCH: Final = 160  # pixels: side of the patch around the mouth
PATCH_SCALE: Final = 48.0  # pixels per unit in a patch
PORTRAIT: Final = 64  # pixels: side of the aligned face, in colour
PORTRAIT_SCALE: Final = 16.0
PORTRAIT_EVERY: Final = 12  # frames
DETECT_EVERY: Final = 12  # frames between searches for a second face
MIN_CONFIDENCE: Final = 0.6  # of a detected face


@dataclass(frozen=True, eq=False)
class FaceTrack:
    """The tracked face of a video, of a size that does not depend on the video's resolution.

    times (R,) in seconds; points (R, 468): landmarks, NaN where no face was found; patches
    (R, 160, 160): uint8 grey around the mouth, upright, PATCH_SCALE pixels per unit; origins and
    zooms (R,): a patch's corner in the frame, and its pixels per pixel of the frame; portraits
    (K, 64, 64, 3): uint8 RGB, aligned faces; faces: the most that were seen in one frame.
    """

    times: np.ndarray
    points: np.ndarray
    patches: np.ndarray
    origins: np.ndarray
    zooms: np.ndarray
    portraits: np.ndarray
    faces: int


def track_face(frames: Iterable[Frame]) -> FaceTrack:
    """Track one face through the frames; where there are two, the one the mesh finds first."""
    times, points, patches, origins, zooms, portraits = [], [], [], [], [], []
    faces = 0
    with _mesh_and_detector() as (mesh, detector):
        for number, (time, image) in enumerate(frames):
            landmarks = _landmarks(mesh.process(image), image.shape)
            times.append(time)
            points.append(landmarks)
            seen = np.isfinite(landmarks[0].real)
            patch, origin, zoom = _patch(image, landmarks) if seen else _no_patch()
            patches.append(patch)
            origins.append(origin)
            zooms.append(zoom)
            faces = max(faces, int(seen))
            if number % DETECT_EVERY == 0:
                faces = max(faces, _count(detector.process(image)))
            if seen and number % PORTRAIT_EVERY == 0:
                portraits.append(_portrait(image, landmarks))
    return FaceTrack(
        times=np.array(times),
        points=np.array(points),
        patches=np.array(patches),
        origins=np.array(origins),
        zooms=np.array(zooms),
        portraits=np.array(portraits, np.uint8).reshape(-1, PORTRAIT, PORTRAIT, 3),
        faces=faces,
    )


def pose(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Measure the middle between the eyes (R,), and scale and in-plane rotation as one complex
    number (R,): pixels per unit times e^(i angle). A least-squares similarity transform of
    STEADY."""
    model = np.array(list(STEADY.values()))
    centred = model - model.mean()
    seen = points[:, list(STEADY)]
    middle = seen.mean(axis=1)
    turn = ((seen - middle[:, None]) * centred.conj()).sum(axis=1) / np.square(abs(centred)).sum()
    return middle - turn * model.mean(), turn


@contextmanager
def _mesh_and_detector() -> Iterator[tuple[Any, Any]]:
    """Open MediaPipe's face mesh and face detector, which keep the console clean."""
    # Imported here: it takes two seconds, and only lip to speech needs it.
    os.environ.setdefault("GLOG_minloglevel", "2")  # read at import: errors only
    # MediaPipe's own calls warn at every video about a protobuf that it pins itself.
    warnings.filterwarnings("ignore", "SymbolDatabase.GetPrototype", UserWarning)
    from mediapipe.python.solutions import face_detection, face_mesh

    with ExitStack() as stack:
        with without_native_notes():
            mesh = stack.enter_context(face_mesh.FaceMesh(max_num_faces=1))
            detector = stack.enter_context(
                face_detection.FaceDetection(MIN_CONFIDENCE, model_selection=1)
            )
            # Their threads load the networks, and log, until the first image is done.
            for solution in (mesh, detector):
                solution.process(np.zeros((64, 64, 3), np.uint8))
        yield mesh, detector


def _count(result: Any) -> int:
    """Count the detected faces."""
    return len(result.detections or ())


def _landmarks(result: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Read the landmarks of the first face, (468,) complex; NaN where there is none."""
    if not result.multi_face_landmarks:
        return np.full(N_POINTS, np.nan + 0j)
    points = result.multi_face_landmarks[0].landmark
    return np.array([complex(p.x * shape[1], p.y * shape[0]) for p in points])


def _patch(image: np.ndarray, landmarks: np.ndarray) -> tuple[np.ndarray, complex, float]:
    """Cut a grey patch around the mouth, upright in the frame; what lies outside the frame is
    black.
    """
    import cv2

    origins, turns = pose(landmarks[None])
    size = float(abs(turns[0]))  # pixels of the frame per unit
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
    # Area averaging where it shrinks, against aliasing.
    method = cv2.INTER_AREA if width > PATCH else cv2.INTER_LINEAR
    return cv2.resize(grey, (PATCH, PATCH), interpolation=method), complex(left, top), PATCH / width


def _no_patch() -> tuple[np.ndarray, complex, float]:
    return np.zeros((PATCH, PATCH), np.uint8), complex(np.nan, np.nan), np.nan


def _portrait(image: np.ndarray, landmarks: np.ndarray) -> np.ndarray:
    """Cut out the aligned face in colour, (64, 64, 3)."""
    import cv2

    origins, turns = pose(landmarks[None])
    turn = turns[0] / PORTRAIT_SCALE
    corner = origins[0] + 0.8j * turns[0] - (1 + 1j) * PORTRAIT / 2 * turn
    back = np.array([[turn.real, -turn.imag, corner.real], [turn.imag, turn.real, corner.imag]])
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    return cv2.warpAffine(image, back, (PORTRAIT, PORTRAIT), flags=flags)
