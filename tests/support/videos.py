"""Videos for tests, written as cameras write them."""

from collections.abc import Iterable
from itertools import chain
from pathlib import Path

import av
import numpy as np

PARTS = {".y4m": "wrapped_avframe", ".webm": "libvpx", ".mp4": "libx264"}


def write_pictures(path: Path, pictures: Iterable[np.ndarray], rate: int = 25) -> Path:
    """Write pictures (H, W, 3) uint8 as a video without sound; as .y4m, for a browser's fake
    camera."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream(PARTS[path.suffix], rate=rate)
        assert isinstance(stream, av.VideoStream)
        stream.bit_rate = 2_000_000
        first = next(pictures := iter(pictures))
        stream.height, stream.width = first.shape[:2]
        stream.pix_fmt = "yuv420p"
        for picture in chain([first], pictures):
            frame = av.VideoFrame.from_ndarray(picture, "rgb24").reformat(format="yuv420p")
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return path
