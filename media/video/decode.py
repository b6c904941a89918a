"""Pictures out of whatever a browser, phone or camera films, by PyAV, by their time stamps."""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

import av
import numpy as np
from av.container import InputContainer
from av.error import FFmpegError

from media.audio.decode import open_container
from media.errors import InputError

FORMATS = "asf,avi,flv,matroska,mov,mpeg,mpegts,ogg"
FASTEST = 32.0  # frames a second; of faster films some frames are left out
LONGEST_SIDE = 640  # pixels; larger pictures are scaled down as they are decoded
LARGEST = 4096 * 4096  # pixels of a picture, the most that is decoded
PADDING = 0.25  # seconds that a film may be longer than allowed
FEWEST = 2  # pictures; fewer make no film

UNREADABLE = (
    "This file cannot be read as video: it is damaged, cut off, or not video at all. "
    "Use MP4, WebM, MOV or AVI."
)


class Frame(NamedTuple):
    """time in seconds from the first frame, and the picture, uint8 RGB (H, W, 3), upright."""

    time: float
    image: np.ndarray


def frames(video: str | Path | None, max_seconds: float) -> Iterator[Frame]:
    """The pictures of a film, one at a time, so that memory does not grow with its length.

    Raises InputError for what is no film, has no picture that can be decoded, is one picture only,
    or is longer than max_seconds (found without decoding the rest).
    """
    if video is None:
        raise InputError("There is no video yet. Record or upload one first.")
    try:
        # An opened file, so that FFmpeg cannot take the name for an address.
        with open(video, "rb") as file:
            yield from _decode(file, max_seconds)
    except (FileNotFoundError, IsADirectoryError):
        raise InputError("The video is no longer there. Record or upload it again.") from None


def _decode(file: BinaryIO, max_seconds: float) -> Iterator[Frame]:
    if file.seek(0, io.SEEK_END) == 0:
        raise InputError("The video is empty. Record or upload it again.")
    file.seek(0)
    with open_container(file, FORMATS, UNREADABLE) as container:
        if not container.streams.video:
            raise InputError("This file holds sound but no picture. Use a video of your face.")
        _check_size(container.streams.video[0])
        count = 0
        for frame in _spaced(container, max_seconds):
            count += 1
            yield frame
    if count == 0:
        raise InputError(UNREADABLE)
    if count < FEWEST:
        raise InputError("This is a single picture. Use a video in which you speak.")


def _spaced(container: InputContainer, max_seconds: float) -> Iterator[Frame]:
    """Decoded frames whose times grow by at least 1 / FASTEST, from 0."""
    stream = container.streams.video[0]
    stream.thread_type = "AUTO"
    first, last = None, -1.0
    packets = container.demux(stream)
    while True:
        try:
            decoded = next(packets).decode()
        except StopIteration:
            return
        except (FFmpegError, IndexError, ValueError):
            continue  # a damaged part; those after it may be whole
        for picture in decoded:
            if picture.time is None:
                continue
            first = picture.time if first is None else first
            time = picture.time - first
            if time > max_seconds + PADDING:
                raise InputError(
                    f"The video is longer than {max_seconds:g} s. "
                    f"Cut it to {max_seconds:g} s or less."
                )
            if last < 0 or time - last >= 1 / FASTEST:
                last = time
                yield Frame(time, _upright(picture))


def _upright(picture: av.VideoFrame) -> np.ndarray:
    scale = min(1.0, LONGEST_SIDE / max(picture.width, picture.height))
    # Even sizes, and swscale's averaging: a 4K picture is small before it is an array.
    width, height = (
        2 * max(1, round(scale * side / 2)) for side in (picture.width, picture.height)
    )
    small = picture.reformat(width, height, "rgb24", interpolation="AREA")
    return np.ascontiguousarray(np.rot90(small.to_ndarray(), round(picture.rotation / 90)))


def _check_size(stream: av.VideoStream) -> None:
    if stream.width * stream.height > LARGEST:
        raise InputError("The pictures of this video are too large. Use 4K or less.")
