"""Encoded videos keep their frames and time stamps, with the audio in time."""

import io

import av
import numpy as np
import pytest

from earshot.media.audio.load import load
from earshot.media.encode import MADE_BY, add_audio, encode_video
from earshot.media.video import Frame, frames

RATE = 16_000
TIMES = (0.0, 0.05, 0.09, 0.2, 0.24, 0.5, 0.9)  # as uneven as a webcam's


@pytest.fixture(scope="module")
def video() -> bytes:
    images = [np.full((64, 96, 3), 30 * number, np.uint8) for number in range(len(TIMES))]
    return encode_video(map(Frame, TIMES, images))


def test_encoded_frames_keep_their_time_stamps(
    video: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("video") / "video.mp4"
    path.write_bytes(add_audio(video, np.zeros(RATE, np.float32), RATE))
    seen = list(frames(path, 30))
    assert [frame.time for frame in seen] == pytest.approx(TIMES, abs=0.002)
    assert [int(frame.image.mean()) // 30 for frame in seen[1:]] == pytest.approx(
        range(1, len(TIMES)), abs=1
    )


def test_added_audio_keeps_its_timing(video: bytes) -> None:
    waveform = np.zeros(RATE, np.float32)
    waveform[RATE // 2 : RATE // 2 + 800] = 0.5 * np.sin(np.arange(800))
    decoded = load(add_audio(video, waveform, RATE), RATE).waveform
    loud = np.flatnonzero(np.abs(decoded) > 0.2) / RATE
    assert (loud[0], loud[-1]) == pytest.approx((0.5, 0.55), abs=0.01)


def test_video_with_made_speech_says_so(video: bytes) -> None:
    with av.open(io.BytesIO(add_audio(video, np.zeros(RATE, np.float32), RATE))) as file:
        assert file.metadata["comment"] == MADE_BY


def test_encoded_video_has_no_audio(video: bytes) -> None:
    """Its audio is added afterwards."""
    kinds = []
    for content in (video, add_audio(video, np.zeros(RATE, np.float32), RATE)):
        with av.open(io.BytesIO(content)) as container:
            kinds.append([(s.type, s.codec_context.name) for s in container.streams])
    assert kinds == [[("video", "h264")], [("video", "h264"), ("audio", "aac")]]
