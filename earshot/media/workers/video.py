"""Frames out of whatever a browser, phone or camera records, by PyAV. Runs in a worker."""

import io
from collections.abc import Iterator
from typing import Any, BinaryIO, Final

import av
import numpy as np
from av.container import InputContainer
from av.error import FFmpegError

from earshot.core.errors import InputError
from earshot.media.workers.container import Budget, open_container

FORMATS: Final = "asf,avi,flv,matroska,mov,mpeg,mpegts,ogg"
LARGEST: Final = 4096 * 4096  # pixels of a picture, the most that is decoded
PADDING: Final = 0.25  # seconds that a video may be longer than allowed
FEWEST: Final = 2  # frames; fewer make no video
MAX_FRAMES_PER_SECOND: Final = 130  # frames that are decoded: phones record up to 120 a second
THREADS: Final = 2  # more hold more pictures in memory

UNREADABLE: Final = (
    "This file cannot be read as video: it is damaged, cut off, or not video at all. "
    "Use MP4, WebM, MOV or AVI."
)
TOO_LARGE: Final = "The pictures of this video are too large. Use 4K or less."
TOO_MANY: Final = "This video has too many pictures a second. Export it with 60 or fewer."


def decode_video(
    file: BinaryIO, max_seconds: float, fastest: float, longest_side: int
) -> Iterator[tuple[dict[str, Any], np.ndarray]]:
    """The frames of a video, one at a time: a header with its time in seconds from the first frame,
    and the picture, uint8 RGB (H, W, 3), upright. Of more than ``fastest`` frames a second some are
    left out; pictures are scaled down to ``longest_side`` pixels.

    Raises InputError for what is no video, has no frame that can be decoded, is one picture only,
    or is longer than max_seconds or too large (found without decoding the rest).
    """
    if file.seek(0, io.SEEK_END) == 0:
        raise InputError("The video is empty. Record or upload it again.")
    file.seek(0)
    with open_container(file, FORMATS, UNREADABLE) as container:
        if not container.streams.video:
            raise InputError("This file holds sound but no picture. Use a video of your face.")
        count = 0
        for time, picture in _spaced(container, max_seconds, fastest):
            count += 1
            yield {"time": time}, _upright(picture, longest_side)
    if count == 0:
        raise InputError(UNREADABLE)
    if count < FEWEST:
        raise InputError("This is a single picture. Use a video in which you speak.")


def _spaced(
    container: InputContainer, max_seconds: float, fastest: float
) -> Iterator[tuple[float, av.VideoFrame]]:
    """Decoded frames whose times grow by at least 1 / fastest, from 0."""
    first, last = None, -1.0
    for count, picture in enumerate(_pictures(container, max_seconds)):
        if picture.time is None:
            continue
        first = picture.time if first is None else first
        time = picture.time - first
        if time > max_seconds + PADDING:
            raise InputError(
                f"The video is longer than {max_seconds:g} s. Cut it to {max_seconds:g} s or less."
            )
        if count > MAX_FRAMES_PER_SECOND * (max(time, 0.0) + 1):
            raise InputError(TOO_MANY)
        if last < 0 or time - last >= 1 / fastest:
            last = time
            yield time, picture


def _pictures(container: InputContainer, max_seconds: float) -> Iterator[av.VideoFrame]:
    """All frames that can be decoded, in order, while there are not too many packets for the
    longest video."""
    stream = container.streams.video[0]
    if stream.codec_context is None:  # a codec that FFmpeg does not know
        raise InputError(UNREADABLE)
    _check_size(stream.codec_context.width, stream.codec_context.height)
    stream.codec_context.thread_type = "AUTO"
    stream.codec_context.thread_count = THREADS
    packets, budget, count = container.demux(stream), Budget(), 0
    while True:
        budget.check()
        count += 1
        if count > MAX_FRAMES_PER_SECOND * (max_seconds + 1):
            raise InputError(TOO_MANY)
        try:
            decoded = next(packets).decode()
        except StopIteration:
            return
        except MemoryError:
            raise
        except (FFmpegError, IndexError, ValueError, EOFError, OSError):
            continue  # a damaged part; those after it may be whole
        for picture in decoded:
            assert isinstance(picture, av.VideoFrame)
            # The size of every frame, for it may change after the first.
            _check_size(picture.width, picture.height)
            yield picture


def _check_size(width: int, height: int) -> None:
    if width * height > LARGEST:
        raise InputError(TOO_LARGE)


def _upright(picture: av.VideoFrame, longest_side: int) -> np.ndarray:
    scale = min(1.0, longest_side / max(picture.width, picture.height))
    # Even sizes, and swscale's averaging: a 4K picture is small before it is an array.
    width, height = (
        2 * max(1, round(scale * side / 2)) for side in (picture.width, picture.height)
    )
    small = picture.reformat(width, height, "rgb24", interpolation="AREA")
    return np.ascontiguousarray(np.rot90(small.to_ndarray(), round(picture.rotation / 90)))
