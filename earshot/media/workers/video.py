"""Frames out of whatever a browser, phone or camera records, by PyAV. Runs in a worker."""

import io
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO, Final

import av
import numpy as np
from av.container import InputContainer
from av.video.reformatter import VideoReformatter

from earshot.core.errors import InputError
from earshot.media.workers.container import DAMAGES, Budget, Timeline, moving, open_container
from earshot.media.workers.structure import parts

FORMATS: Final = "asf,avi,flv,matroska,mov,mpeg,mpegts,ogg"
MAX_PIXELS: Final = 4096 * 4096  # of a picture that is decoded
MAX_PADDING: Final = 0.25  # seconds that a video may be longer than allowed
MIN_FRAMES: Final = 2  # fewer make no video
MAX_FRAMES_PER_SECOND: Final = 130  # frames that are decoded: phones record up to 120 a second
MAX_STRETCH: Final = (
    0.03  # share by which a picture of another size may be stretched to the first's
)
MAX_ASPECT: Final = 3.0  # of a pixel's sides; 32:11 is the widest of broadcasts
THREADS: Final = 2  # more hold more pictures in memory
Picture = tuple[av.VideoFrame, float]  # and how many times as wide as high its pixels are shown

UNREADABLE: Final = (
    "This file cannot be read as video: it is damaged, cut off, or not video at all. "
    "Use MP4, WebM, MOV or AVI."
)
TOO_LARGE: Final = "The pictures of this video are too large. Use 4K or less."
TOO_MANY: Final = "This video has too many pictures a second. Export it with 60 or fewer."


def decode_video(
    file: BinaryIO, max_seconds: float, max_rate: float, max_side: int
) -> Iterator[tuple[dict[str, Any], np.ndarray]]:
    """Decode the frames of a video, one at a time: a header with its time in seconds from the
    beginning of the file, whose sound may begin before or after, and the picture, uint8 RGB (H, W,
    3), upright and of one size. Of more than ``max_rate`` frames a second some are left out;
    pictures are scaled down to ``max_side`` pixels.

    Raises InputError for what is no video, has no frame that can be decoded, is one picture only,
    or is longer than max_seconds or too large (found without decoding the rest).
    """
    if file.seek(0, io.SEEK_END) == 0:
        raise InputError("The video is empty.", "Record or upload it again.")
    count, first, rotation = 0, (0, 0), 0.0
    matrix: Sequence[int] = ()
    scaler = VideoReformatter()  # one for all, for each has threads
    for time, (picture, aspect) in _spaced(_joined(file, max_seconds), max_seconds, max_rate):
        count += 1
        # Not of each: a picture whose side data was read is kept until Python looks for cycles.
        if count == 1 or picture.rotation != rotation:
            rotation, matrix = picture.rotation, display_matrix(picture)
        size = _scaled(picture, aspect, max_side)
        first = size if count == 1 else first
        # Calls over a network change the size as it becomes faster or slower, but no proportions.
        if abs(size[0] * first[1] / size[1] / first[0] - 1) < MAX_STRETCH:
            size = first
        # By swscale's averaging: a 4K picture is small before it is an array.
        yield (
            {"time": time},
            _upright(scaler.reformat(picture, *size, "rgb24", interpolation="AREA"), matrix),
        )
    if count == 0:
        raise InputError(UNREADABLE)
    if count < MIN_FRAMES:
        raise InputError("This is a single picture. Use a video in which you speak.")


def _spaced(
    pictures: Iterator[tuple[float, Picture]], max_seconds: float, max_rate: float
) -> Iterator[tuple[float, Picture]]:
    """Keep those of the decoded frames whose times grow by at least 1 / max_rate."""
    first, last = None, -1.0
    for count, (time, picture) in enumerate(pictures):
        first = time if first is None else first
        if time > max_seconds + MAX_PADDING:
            raise InputError(
                f"The video is longer than {max_seconds:g} s. Cut it to {max_seconds:g} s or less."
            )
        if count > MAX_FRAMES_PER_SECOND * (max(time - first, 0.0) + 1):
            raise InputError(TOO_MANY)
        if last < 0 or time - last >= 1 / max_rate:
            last = time
            yield time, picture


def _joined(file: BinaryIO, max_seconds: float) -> Iterator[tuple[float, Picture]]:
    """Decode all recordings that were joined in a file, in its time."""
    begin, budget = 0.0, Budget()
    for number, part in enumerate(parts(file)):
        with open_container(part, FORMATS, UNREADABLE) as container:
            if not container.streams.video:
                if number:
                    return
                raise InputError("This file holds sound but no picture. Use a video of your face.")
            timeline = Timeline(container)
            for picture, aspect in _pictures(container, timeline, max_seconds, budget):
                if picture.time is not None:
                    yield begin + max(picture.time, 0.0), (picture, aspect)
            begin += timeline.end


def _pictures(
    container: InputContainer, timeline: Timeline, max_seconds: float, budget: Budget
) -> Iterator[Picture]:
    """Decode all frames that can be, in order, while there are not too many packets for the
    longest video."""
    streams = container.streams.video
    stream = moving(streams) or streams[0]
    if stream.codec_context is None:  # a codec that FFmpeg does not know
        raise InputError(UNREADABLE)
    _check_size(stream.codec_context.width, stream.codec_context.height)
    stream.codec_context.thread_type = "AUTO"
    stream.codec_context.thread_count = THREADS
    aspect = float(stream.sample_aspect_ratio or 1)
    aspect = aspect if 1 / MAX_ASPECT <= aspect <= MAX_ASPECT else 1.0
    packets, count = container.demux(), 0
    while True:
        budget.check()
        try:
            packet = next(packets)
            timeline.place(packet)
            if packet.stream is not stream:
                continue
            count += 1
            if count > MAX_FRAMES_PER_SECOND * (max_seconds + 1):
                raise InputError(TOO_MANY)
            decoded = packet.decode()
        except StopIteration:
            return
        except (MemoryError, InputError):
            raise
        except DAMAGES:
            continue
        for picture in decoded:
            assert isinstance(picture, av.VideoFrame)
            # The size of every frame, for it may change after the first.
            _check_size(picture.width, picture.height)
            yield picture, aspect


def _check_size(width: int, height: int) -> None:
    if width * height > MAX_PIXELS:
        raise InputError(TOO_LARGE)


def _scaled(picture: av.VideoFrame, aspect: float, max_side: int) -> tuple[int, int]:
    """Compute the width and height as they are shown, both even, of at most max_side."""
    sides = picture.width * aspect, picture.height
    scale = min(1.0, max_side / max(sides))
    width, height = (2 * max(1, round(scale * side / 2)) for side in sides)
    return width, height


def display_matrix(picture: av.VideoFrame) -> Sequence[int]:
    """Read a, b, 0, c and d of a picture's display matrix: (x, y) is shown at (ax + cy, bx + dy),
    where a front camera may have a = -1. Empty where it has none."""
    side: Any = picture.side_data.get("DISPLAYMATRIX")
    return np.frombuffer(bytes(side), np.int32)[:5].tolist() if side else ()


def is_mirrored(matrix: Sequence[int]) -> bool:
    """Whether a display matrix mirrors a picture, however it turns it as well."""
    return len(matrix) == 5 and matrix[0] * matrix[4] < matrix[1] * matrix[3]


def _upright(picture: av.VideoFrame, matrix: Sequence[int]) -> np.ndarray:
    """Turn and mirror a picture as its display matrix says."""
    image = picture.to_ndarray()
    if len(matrix) == 5:
        a, b, _, c, d = matrix
        if abs(b) > abs(a):  # turned by 90 degrees
            image, a, d = image.swapaxes(0, 1), c, b
        image = image[:: -1 if d < 0 else 1, :: -1 if a < 0 else 1]
    return np.ascontiguousarray(image)
