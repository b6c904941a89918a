"""A sound of a test as it is in its file: every channel, at its own rate."""

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from earshot.core.errors import InputError
from earshot.media.audio.decode import decode
from earshot.media.audio.load import FULL_SCALE, SILENT_PEAK, loudness

MAX_SECONDS = 600.0  # seconds
MAX_SAMPLES = 30_000_000  # of all channels: five minutes of stereo at 48 kHz, about 1 GB of work
BLOCK = 2**20  # samples of a channel that are looked at together
TOO_MUCH = (
    "It holds too many samples: five minutes of stereo at 48 kHz are the most. Cut it, or use a "
    "lower rate."
)


@dataclass(frozen=True, eq=False)
class Stimulus:
    """A sound of a test. samples: float32 (T, channels), over 1 in a file of floats that is louder
    than full scale; sample_rate in Hz.
    """

    samples: np.ndarray
    sample_rate: int

    @property
    def seconds(self) -> float:
        return len(self.samples) / self.sample_rate

    @property
    def channels(self) -> int:
        return self.samples.shape[1]

    @property
    def peak(self) -> float:
        """Measure the largest sample, in dBFS."""
        return 20 * math.log10(_peak(self.samples))

    @property
    def level(self) -> float:
        """Measure the integrated loudness in LUFS (ITU-R BS.1770-4), of all channels together."""
        return loudness(self.samples, self.sample_rate)


def read(path: Path) -> Stimulus:
    """Read the file's sound. Raises InputError, which says why, for one that raters should not
    hear: missing, not audio, cut off, silent, clipped, not finite, longer than ten minutes, or of
    more than MAX_SAMPLES.
    """
    if not path.is_file():
        raise InputError("The file is missing.")
    blocks, rate, damaged, lossless = decode(path, MAX_SECONDS)
    if damaged or len({len(block) for block in blocks}) > 1:
        raise InputError("The file is damaged or cut off.")
    if sum(block.size for block in blocks) > MAX_SAMPLES:
        raise InputError(TOO_MUCH)
    samples = np.concatenate(blocks, axis=1).T
    del blocks
    if not np.isfinite(samples).all():
        raise InputError("It holds values that are not numbers (NaN or infinity).")
    if not samples.size or _peak(samples) < SILENT_PEAK:
        raise InputError("It is silent.")
    if _clipped(samples, lossless):
        raise InputError("It is clipped: make it again, less loud.")
    return Stimulus(samples, rate)


def _peak(samples: np.ndarray) -> float:
    """Find the largest magnitude, without a copy of all samples."""
    return max(float(samples.max()), -float(samples.min()))


def _clipped(samples: np.ndarray, lossless: bool) -> bool:
    """Say whether three samples on end stay at full scale, or, where the codec is not lossless,
    some pass it as clipped sound does after MP3; two may be a peak.
    """
    over = 0
    for start in range(0, len(samples), BLOCK):
        block = samples[start : start + BLOCK + 2]  # two more, for three on end may span blocks
        stays = (np.abs(block[1:]) >= FULL_SCALE) & (np.diff(block, axis=0) == 0)
        if np.any(stays[1:] & stays[:-1]):
            return True
        over += int(np.sum(np.abs(block[:BLOCK]) > 1))
    return over > 2 and not lossless
