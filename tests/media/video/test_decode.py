"""Videos as browsers, phones and cameras write them, and what is no video."""

import gc
import os
import struct
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest

from earshot.core.errors import InputError
from earshot.core.paths import ASSETS
from earshot.media.video import MAX_FRAME_RATE, MAX_SIDE, frames
from earshot.media.workers.video import decode_video

SEGMENT, CLUSTER = b"\x18S\x80g", b"\x1fC\xb6u"  # of Matroska


def write_video(
    path: Path,
    times: Sequence[float] | np.ndarray,
    size: tuple[int, int] = (96, 64),
    codec: str = "libx264",
) -> Path:
    """A video whose upper left quarter is white and whose grey grows with time."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=30, options={"g": "5"})
        assert isinstance(stream, av.VideoStream)
        stream.width, stream.height, stream.pix_fmt = *size, "yuv420p"
        stream.codec_context.time_base = stream.time_base = Fraction(1, 1000)
        for time in times:
            image = np.full((size[1], size[0], 3), round(40 + 100 * time) % 200, np.uint8)
            image[: size[1] // 2, : size[0] // 2] = 255
            frame = av.VideoFrame.from_ndarray(image, format="rgb24")
            frame.pts, frame.time_base = round(1000 * time), Fraction(1, 1000)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return path


@pytest.mark.parametrize(("name", "codec"), [("a.mp4", "libx264"), ("a.webm", "libvpx")])
def test_frames_of_uneven_times_keep_them(tmp_path: Path, name: str, codec: str) -> None:
    times = [0.0, 0.05, 0.09, 0.2, 0.24, 0.31]  # as uneven as a webcam's
    video = write_video(tmp_path / name, times, codec=codec)
    seen = list(frames(video, 30))
    assert [frame.time for frame in seen] == pytest.approx(times, abs=0.002)
    assert seen[0].image.shape == (64, 96, 3)
    assert seen[0].image[8, 8].min() > 240
    assert 14 < int(seen[3].image[50, 80, 0]) - int(seen[0].image[50, 80, 0]) < 26


def test_frames_of_fast_video_are_thinned(tmp_path: Path) -> None:
    video = write_video(tmp_path / "fast.mp4", np.arange(60) / 60)
    times = [frame.time for frame in frames(video, 30)]
    assert len(times) == 30
    assert np.diff(times).min() >= 1 / MAX_FRAME_RATE


def test_frames_of_4k_are_scaled_down(tmp_path: Path) -> None:
    video = write_video(tmp_path / "4k.mp4", [0, 0.04, 0.08], size=(3840, 2160))
    assert next(frames(video, 30)).image.shape == (360, MAX_SIDE, 3)


def test_frames_of_turned_phone_are_upright(tmp_path: Path) -> None:
    video = write_video(tmp_path / "turned.mp4", [0, 0.04])
    file = bytearray(video.read_bytes())
    matrix = file.index(b"tkhd") + 44  # nine numbers of 16.16 bits, the last three of 2.30
    turned = (0, 1, 0, -1, 0, 0, 0, 0, 1 << 14)
    file[matrix : matrix + 36] = struct.pack(">9i", *(n << 16 for n in turned))
    video.write_bytes(file)
    image = next(frames(video, 30)).image
    assert image.shape == (96, 64, 3)
    # A quarter to the right: what was above on the left is above on the right.
    assert image[12, 52, 0] > 240 > image[12, 12, 0]


def test_frames_of_long_video_are_refused(tmp_path: Path) -> None:
    """The first ones come, until the limit is reached."""
    video = write_video(tmp_path / "long.mp4", np.arange(50) / 25)
    seen = frames(video, 1.0)
    assert next(seen).time == 0
    with pytest.raises(InputError, match="longer than 1 s"):
        list(seen)


def test_frames_of_no_video_are_refused(tmp_path: Path) -> None:
    """The message says what to do."""
    text = tmp_path / "video.mp4"
    text.write_text("This is no video.")
    empty = tmp_path / "empty.mp4"
    empty.touch()
    still = write_video(tmp_path / "still.mp4", [0.0])
    sound = tmp_path / "sound.mp4"
    with av.open(str(sound), "w") as container:
        stream = container.add_stream("aac", rate=16_000, layout="mono")
        samples = av.AudioFrame.from_ndarray(np.zeros((1, 4096), np.float32), "fltp", "mono")
        samples.sample_rate = 16_000
        container.mux(stream.encode(samples))
        container.mux(stream.encode())
    for video, message in (
        (None, "Record or upload"),
        (text, "cannot be read as video"),
        (empty, "is empty"),
        (still, "single picture"),
        (sound, "no picture"),
        (tmp_path / "gone.mp4", "no longer there"),
    ):
        with pytest.raises(InputError, match=message):
            list(frames(video, 30))


def test_frames_of_truncated_video_are_kept(tmp_path: Path) -> None:
    """Its beginning is read, up to where it was cut."""
    video = write_video(tmp_path / "whole.webm", np.arange(100) / 25, codec="libvpx")
    cut = tmp_path / "cut.webm"
    cut.write_bytes(video.read_bytes()[: video.stat().st_size // 2])
    seen = list(frames(cut, 30))
    assert 10 < len(seen) < 100


def test_too_dense_frames_are_refused(tmp_path: Path) -> None:
    """A thousand pictures in a hundredth of a second are too many."""
    path = tmp_path / "dense.mp4"
    with av.open(str(path), "w", options={"video_track_timescale": "90000"}) as container:
        stream = container.add_stream("libx264", rate=30)
        assert isinstance(stream, av.VideoStream)
        stream.width, stream.height, stream.pix_fmt = 16, 16, "yuv420p"
        stream.codec_context.time_base = stream.time_base = Fraction(1, 90_000)
        for number in range(1000):  # all of them in a hundredth of a second
            frame = av.VideoFrame.from_ndarray(np.zeros((16, 16, 3), np.uint8), format="rgb24")
            frame.pts, frame.time_base = number, Fraction(1, 90_000)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    with pytest.raises(InputError, match="too many pictures a second"):
        list(frames(path, 30))


def test_frames_growing_beyond_limit_are_refused(tmp_path: Path) -> None:
    """The size in the head of the file is that of the first picture."""
    packets = []
    for side, start in ((64, 0), (4352, 5)):
        encoder = av.CodecContext.create("libvpx", "w")
        assert isinstance(encoder, av.VideoCodecContext)
        encoder.width = encoder.height = side
        encoder.pix_fmt, encoder.time_base = "yuv420p", Fraction(1, 25)
        encoder.options = {"deadline": "realtime", "cpu-used": "8"}
        for number in range(start, start + 5 if side == 64 else start + 1):
            frame = av.VideoFrame(side, side, "yuv420p")
            frame.pts, frame.time_base = number, Fraction(1, 25)
            packets += encoder.encode(frame)
        packets += encoder.encode(None)
    path = tmp_path / "grows.webm"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libvpx", rate=25)
        assert isinstance(stream, av.VideoStream)
        stream.width = stream.height = 64
        for packet in packets:
            packet.stream = stream
            container.mux(packet)
    with pytest.raises(InputError, match="too large"):
        list(frames(path, 30))


def test_time_stamps_beyond_reckoning_are_damage(tmp_path: Path) -> None:
    """Matroska's clusters go from 0 to 2⁶² ms and back, which no time stamp can count on."""
    write_video(tmp_path / "a.mkv", [0.0, 0.04])
    whole = (tmp_path / "a.mkv").read_bytes()
    head = bytearray(whole[: whole.index(CLUSTER)])
    place = head.index(SEGMENT) + len(SEGMENT)
    head[place : place + 8] = b"\x01" + b"\xff" * 7  # its length is not known
    for time in (0, 2**62, 0, 2**62, 0):
        block = b"\xa3\xa2" + b"\x81\0\0\x80" + bytes(30)
        cluster = b"\xe7\x88" + struct.pack(">Q", time) + block
        head += CLUSTER + struct.pack(">Q", 1 << 56 | len(cluster)) + cluster
    (tmp_path / "b.mkv").write_bytes(head)
    with pytest.raises(InputError, match="cannot be read as video"):
        list(frames(tmp_path / "b.mkv", 30))


def test_worker_keeps_no_picture_that_it_gave() -> None:
    """Each has threads of its own: of a second video none could be started."""
    gc.collect()
    gc.disable()
    try:
        before = len(os.listdir("/proc/self/task"))
        with (ASSETS / "heads" / "ada.mp4").open("rb") as file:
            assert len([*decode_video(file, 30.0, 60.0, 64)]) > 50
        assert len(os.listdir("/proc/self/task")) < before + 20
    finally:
        gc.enable()
