"""The pictures of a test whose stimuli are videos: read, limited, and prepared as raters see them.

The sound of a video goes the way of every sound. Its picture becomes a file of its own, in which
the encoded frames are as they were, at their times, without tags; videos with the same picture and
other sound share that file, and the page shows it with each of the sounds.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from earshot.core.errors import InputError
from earshot.media.workers import stream
from earshot.study.design.folder import VIDEOS

MAX_VIDEO_SECONDS: Final = 60.0
MAX_VIDEO_BYTES: Final = 30_000_000  # with its sound: 4 Mbit/s for a minute
MAX_SIDE: Final = 1920  # pixels
MAX_FRAME_RATE: Final = 60.0  # frames a second
MAX_TRIAL_BYTES: Final = (
    60_000_000  # of its pictures: a phone holds this trial's and the next one's
)
MAX_PIXEL_RATE: Final = 1920 * 1080 * 60  # pixels a second of all that are decoded at once


class Picture(NamedTuple):
    """A picture that raters see. name: of its file, the same for the same frames; type: as browsers
    ask for it; size in bytes; pixel_rate: pixels a second."""

    name: str
    type: str
    size: int
    pixel_rate: float


def read_picture(path: Path) -> tuple[Picture, np.ndarray] | None:
    """Read the picture of a file, and the bytes of a file of its own, uint8 (N,); None for a sound.

    Raises InputError, with what to do, for a video that is damaged, too large or too long, or that
    not every browser plays.
    """
    if path.suffix.lower() not in VIDEOS:
        return None
    if not path.is_file():
        raise InputError("The file is missing.")
    ((header, content),) = stream(
        "picture",
        path,
        max_seconds=MAX_VIDEO_SECONDS,
        max_bytes=MAX_VIDEO_BYTES,
        max_side=MAX_SIDE,
        max_rate=MAX_FRAME_RATE,
    )
    if header["form"] is None or content is None:
        return None
    name = f"{header['digest'][:16]}.{header['form']}"
    return Picture(name, header["type"], content.size, header["pixel_rate"]), content


def trial_pictures(pictures: Sequence[Picture | None]) -> list[Picture]:
    """List the pictures to show with the sounds of a trial: one where all have the same, else one
    for each; none for sounds alone."""
    present = [picture for picture in pictures if picture]
    return present[:1] if len({picture.name for picture in present}) == 1 else present


def trial_problems(pictures: Sequence[Picture], together: bool) -> list[str]:
    """List what makes the pictures of a trial too much for a phone. together: whether all are
    decoded at once."""
    problems = []
    if (size := sum(picture.size for picture in pictures)) > MAX_TRIAL_BYTES:
        problems.append(
            f"its pictures have {size / 1e6:.0f} MB, which a phone does not hold: "
            f"{MAX_TRIAL_BYTES / 1e6:.0f} MB are the most. Export them with fewer bits per second."
        )
    rate = sum(picture.pixel_rate for picture in pictures)
    if together and rate > MAX_PIXEL_RATE:
        problems.append(
            f"its {len(pictures)} pictures run at once, which a phone does not manage at this "
            f"size ({rate / MAX_PIXEL_RATE:.1f} times as much as 1920 × 1080 at 60 a second). "
            "Scale them down, or write strict: false: then one runs at a time."
        )
    return problems
