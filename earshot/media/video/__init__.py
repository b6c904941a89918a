"""Video in: the frames by their time stamps, decoded in a worker process; faces, mouth crops."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from earshot.core import cancellation
from earshot.core.errors import InputError
from earshot.media.workers import stream

__all__ = ["MAX_FRAME_RATE", "Frame", "MAX_SIDE", "frames"]


MAX_FRAME_RATE: Final = 32.0  # frames a second; of faster videos some frames are left out
MAX_SIDE: Final = 640  # pixels; larger pictures are scaled down as they are decoded


class Frame(NamedTuple):
    """A frame: time in seconds from the beginning of the file, and the image, uint8 RGB (H, W, 3),
    upright."""

    time: float
    image: np.ndarray


def frames(video: str | Path | None, max_seconds: float) -> Iterator[Frame]:
    """Decode the frames of a video, one at a time, so that memory does not grow with its length.

    Raises InputError for what is no video, has no frame that can be decoded, is one picture only,
    is longer than max_seconds or too large (found without decoding the rest); StoppedError if the
    job that it runs in is stopped.
    """
    if video is None:
        raise InputError("There is no video yet.", "Record or upload one first.")
    for header, image in stream(
        "video", video, max_seconds=max_seconds, max_rate=MAX_FRAME_RATE, max_side=MAX_SIDE
    ):
        cancellation.check()
        assert image is not None
        yield Frame(header["time"], image)
