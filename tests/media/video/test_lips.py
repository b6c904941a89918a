"""Mouth crops of a made-up face track: no face mesh is needed."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from earshot.core.errors import InputError
from earshot.media.constants import VIDEO_RATE
from earshot.media.video.face import (
    MOUTH_BELOW_EYES,
    N_POINTS,
    PATCH,
    PATCH_SCALE,
    STEADY,
    FaceTrack,
    pose,
)
from earshot.media.video.lips import LIPS, SIDE, crop_mouth

EYES = 60.0  # pixels between the outer corners
MIDDLE = 180 + 120j  # of the eyes


def face_track(
    times: np.ndarray, turn: complex = 1.0, opening: float = 0.0, faces: int = 1
) -> FaceTrack:
    """A mouth, black on grey, that opens and closes twice a second by so many units."""
    unit = turn * EYES / 2
    points = np.full((len(times), N_POINTS), MIDDLE, complex)
    points[:, list(STEADY)] += np.array(list(STEADY.values())) * unit
    gap = opening * (1 - np.cos(4 * np.pi * times)) / 2
    angles = 2 * np.pi * np.arange(len(LIPS)) / len(LIPS)
    around = 0.6 * np.cos(angles) + 1j * np.sin(angles) * (0.1 + gap[:, None] / 2)
    points[:, list(LIPS)] = MIDDLE + (MOUTH_BELOW_EYES * 1j + around) * unit
    points[:, 234], points[:, 454] = MIDDLE - 1.1 * unit, MIDDLE + 1.1 * unit
    points[:, 1] = MIDDLE + 0.6j * unit
    side = PATCH / PATCH_SCALE * EYES / 2
    origin = MIDDLE + 1j * MOUTH_BELOW_EYES * unit - (1 + 1j) * side / 2
    zoom = PATCH / side
    patches = []
    for row in points:
        outline = (row[list(LIPS)] - origin) * zoom
        patch = np.full((PATCH, PATCH), 150, np.uint8)
        shape = np.stack([outline.real, outline.imag], axis=-1).round().astype(np.int32)
        patches.append(cv2.fillPoly(patch, [shape], (20,)))
    return FaceTrack(
        times=times,
        points=points,
        patches=np.array(patches),
        origins=np.full(len(times), origin),
        zooms=np.full(len(times), zoom),
        portraits=np.zeros((1, 64, 64, 3), np.uint8),
        faces=faces,
    )


def lost(seen: FaceTrack, rows: slice) -> FaceTrack:
    """The same without a face in these pictures."""
    for values in (seen.points, seen.origins, seen.zooms):
        values[rows] = np.nan
    return seen


def test_pose_finds_eyes_scale_and_rotation() -> None:
    origins, turns = pose(face_track(np.arange(3) / 25, turn=np.exp(0.3j)).points)
    assert origins == pytest.approx(np.full(3, MIDDLE))
    assert turns == pytest.approx(np.full(3, 30 * np.exp(0.3j)))


@pytest.mark.parametrize("turn", [1.0, np.exp(0.4j)])
def test_crop_of_rotated_face_is_upright(turn: complex) -> None:
    """The mouth is in its middle."""
    mouth = crop_mouth(face_track(np.arange(25) / 25, turn))
    assert mouth.crops.shape == (25, SIDE, SIDE)
    rows, columns = np.nonzero(mouth.crops[12] < 80)
    assert (rows.mean(), columns.mean()) == pytest.approx((39.5, 39.5), abs=0.8)
    assert np.ptp(columns) == pytest.approx(40, abs=3)  # 1.2 units of 33 pixels
    assert np.ptp(rows) < 9
    assert mouth.quality.size == pytest.approx(np.full(25, EYES))
    assert abs(mouth.quality.turn).max() < 0.05


@pytest.mark.parametrize("rate", [15, 24, 30])
def test_crops_at_other_rates_move_alike(rate: int) -> None:
    usual = crop_mouth(face_track(np.arange(50) / VIDEO_RATE, opening=0.4))
    other = crop_mouth(face_track(np.arange(2 * rate) / rate, opening=0.4))
    assert abs(len(other.crops) - 50) <= 1
    opening = [np.ptp(mouth.outline[:48, list(LIPS), 1], axis=1) for mouth in (usual, other)]
    assert np.corrcoef(*opening)[0, 1] > 0.98
    darkness = [(mouth.crops[:48] < 80).mean(axis=(1, 2)) for mouth in (usual, other)]
    assert np.corrcoef(*darkness)[0, 1] > 0.95


def test_short_gap_of_tracker_is_interpolated() -> None:
    seen = lost(face_track(np.arange(50) / 25, opening=0.4), slice(20, 25))
    mouth = crop_mouth(seen)
    assert len(mouth.crops) == 50
    assert not mouth.quality.seen[21:24].any()
    assert mouth.quality.seen[:19].all()
    assert np.isfinite(mouth.outline).all()


@pytest.mark.parametrize(
    ("seen", "message"),
    [
        (face_track(np.arange(25) / 25, faces=2), "two faces"),
        (lost(face_track(np.arange(25) / 25), slice(None)), "No face"),
        (lost(face_track(np.arange(75) / 25), slice(30, 60)), "lost for too long"),
        (lost(face_track(np.arange(75) / 25), slice(8, None)), "lost for too long"),
        (face_track(np.arange(10.0)), "too few pictures"),
    ],
)
def test_video_without_tracked_face_is_refused(seen: FaceTrack, message: str) -> None:
    """It is refused with two faces, too."""
    with pytest.raises(InputError, match=message):
        crop_mouth(seen)


def test_recording_pause_keeps_mouth_still() -> None:
    """SYSTRAN/faster-whisper#128: time stamps jump by 10 s, after a pause or with the network."""
    times = np.arange(50) / 25
    whole = crop_mouth(face_track(times, opening=0.4))
    late = np.where(times < 1, times, times + 10)
    seen = face_track(times, opening=0.4)
    mouth = crop_mouth(replace(seen, times=late))
    assert mouth.seconds == pytest.approx(12) and mouth.gaps == pytest.approx(10.04)
    np.testing.assert_array_equal(mouth.crops[:25], whole.crops[:25])
    np.testing.assert_array_equal(mouth.crops[-25:], whole.crops[25:])
    assert not np.ptp(mouth.crops[24:275], axis=0).any()


@pytest.mark.parametrize("rows", [slice(0, 38), slice(50, None)])
def test_black_around_sentence_is_resting_mouth(rows: slice) -> None:
    """Rudrabha/Wav2Lip#532: a video with frames without a face was refused as a whole."""
    mouth = crop_mouth(lost(face_track(np.arange(75) / 25, opening=0.4), rows))
    assert len(mouth.crops) == 75 and mouth.quality.seen.mean() == pytest.approx(0.5, abs=0.2)
    assert not np.ptp(mouth.crops[rows], axis=0).any()
