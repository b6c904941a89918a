"""Samples as numbers: what may be decoded of them, and how they become floats."""

from typing import Final

import numpy as np

from earshot.core.errors import InputError

SAMPLE_RATES: Final = (4_000, 400_000)  # Hz, the lowest and the highest that can be meant
CODEC_PADDING: Final = 0.25  # seconds that codecs may add to the longest recording allowed
MAX_VALUES: Final = 60_000_000  # samples of all channels that are kept: 240 MB as float32
MAX_MONO_VALUES: Final = 180_000_000  # the same for what is mixed to mono: an hour at 48 kHz
FULL_SCALE: Final = 0.99  # of the largest value; samples that stay there are clipped


def check_rate(rate: int) -> None:
    """Raises InputError for a sampling rate (Hz) that cannot be meant."""
    lowest, highest = SAMPLE_RATES
    if not lowest <= rate <= highest:
        raise InputError(
            f"A sampling rate of {rate} Hz cannot be used. "
            f"Export the recording at {lowest} to {highest} Hz, 16000 for example."
        )


def check_length(seconds: float, max_seconds: float) -> None:
    """Raises InputError for a recording that is longer than max_seconds."""
    if seconds > max_seconds + CODEC_PADDING:
        raise InputError(
            f"The recording is longer than {max_seconds:g} s. Cut it to {max_seconds:g} s or less."
        )


def check_values(count: int, mono: bool) -> None:
    """Raises InputError where a recording has too many samples, whatever its length."""
    if count > (MAX_MONO_VALUES if mono else MAX_VALUES):
        raise InputError(
            "The recording holds too many samples. "
            "Export it with one or two channels, at 48000 Hz or less."
        )


def to_float(samples: np.ndarray) -> np.ndarray:
    """Samples of any type as float32, integers scaled from their range to [-1, 1)."""
    if samples.dtype.kind == "f":
        return samples.astype(np.float32)
    half = 2.0 ** (8 * samples.dtype.itemsize - 1)
    offset = half if samples.dtype.kind == "u" else 0.0
    return ((samples - offset) / half).astype(np.float32)


def clipped_count(block: np.ndarray) -> int:
    """How many samples of the block (channels, T) stay at full scale, or pass it as clipped sound
    does after MP3."""
    loud = np.abs(block[:, 1:])
    return int(np.sum((loud >= FULL_SCALE) & (np.diff(block) == 0) | (loud > 1)))
