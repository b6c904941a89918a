"""Samples as numbers: what may be decoded of them, how they become floats, and one channel."""

from typing import Final

import numpy as np

from earshot.core.errors import InputError

SAMPLE_RATES: Final = (4_000, 400_000)  # Hz, the lowest and the highest that can be meant
MAX_CODEC_PADDING: Final = 0.25  # seconds that codecs may add to the longest recording allowed
MAX_VALUES: Final = 60_000_000  # samples of all channels that are kept: 240 MB as float32
MAX_MONO_VALUES: Final = 180_000_000  # the same for what is mixed to mono: an hour at 48 kHz
FULL_SCALE: Final = 0.99  # of the largest value; samples that stay there are clipped
SILENT_PEAK: Final = 1e-3  # -60 dBFS
# The power that the mean of channels keeps, times their number, is 1 where they are unrelated, and
# 1 + r for two that are equally loud and correlated by r.
MIN_KEPT: Final = 0.5
MIN_USED: Final = 1e-4  # of the loudest channel's power; what is below -40 dB is its crosstalk


def check_rate(rate: int) -> None:
    """Raise InputError for a sampling rate (Hz) that cannot be meant."""
    lowest, highest = SAMPLE_RATES
    if not lowest <= rate <= highest:
        raise InputError(
            f"A sampling rate of {rate} Hz cannot be used. "
            f"Export the recording at {lowest} to {highest} Hz, 16000 for example."
        )


def check_length(seconds: float, max_seconds: float) -> None:
    """Raise InputError for a recording that is longer than max_seconds."""
    if seconds > max_seconds + MAX_CODEC_PADDING:
        raise InputError(
            f"The recording is longer than {max_seconds:g} s. Cut it to {max_seconds:g} s or less."
        )


def check_values(count: int, mono: bool) -> None:
    """Raise InputError where a recording has too many samples, whatever its length."""
    if count > (MAX_MONO_VALUES if mono else MAX_VALUES):
        raise InputError(
            "The recording holds too many samples. "
            "Export it with one or two channels, at 48000 Hz or less."
        )


def to_float(samples: np.ndarray) -> np.ndarray:
    """Convert samples of any type to float32, integers scaled from their range to [-1, 1)."""
    if samples.dtype.kind == "f":
        return samples.astype(np.float32)
    half = 2.0 ** (8 * samples.dtype.itemsize - 1)
    offset = half if samples.dtype.kind == "u" else 0.0
    return ((samples - offset) / half).astype(np.float32)


class Clipping:
    """The share of samples that stay at full scale, block by block.

    Full scale is 1, or the peak of what a codec without loss holds beyond it. Clipped sound passes
    1 after a codec like MP3; what does so otherwise is only loud.
    """

    def __init__(self) -> None:
        self._full_scale, self._clipped, self._count = 1.0, 0, 0

    def add(self, block: np.ndarray, lossless: bool) -> None:
        """Count those of the block (channels, T)."""
        loud = np.abs(block[:, 1:])
        if lossless and (peak := float(loud.max(initial=0))) > self._full_scale:
            if FULL_SCALE * peak > self._full_scale:
                self._clipped = 0  # what was counted is not at this full scale
            self._full_scale = peak
        flat = (loud >= FULL_SCALE * self._full_scale) & (np.diff(block) == 0)
        self._clipped += int(np.sum(flat if lossless else flat | (loud > 1)))
        self._count += block.size

    @property
    def share(self) -> float:
        """Return the share of all samples."""
        return self._clipped / max(self._count, 1)


class Mix:
    """The mean of channels, block by block, or one of them; and what the mean loses.

    Channels that are each other's opposite, as of a cable with two wires exchanged, cancel, and
    those to which nothing was connected make the mean quieter.
    """

    def __init__(self, channel: int | None = None) -> None:
        self._channel = channel
        self._count = 0
        self._sums = self._squares = np.zeros(1)  # of each channel, and of their mean

    def __call__(self, block: np.ndarray) -> np.ndarray:
        """Mix the block (channels, T) to one channel: (1, T)."""
        if self._channel is not None and self._channel < len(block):
            return block[self._channel : self._channel + 1]
        mean = block.mean(axis=0, keepdims=True)
        if len(block) > 1:
            rows = np.concatenate([block, mean]).astype(np.float64)
            self._count += rows.shape[1]
            self._sums = self._sums + rows.sum(axis=1)
            self._squares = self._squares + np.square(rows).sum(axis=1)
        return mean

    @property
    def louder(self) -> int | None:
        """Return the loudest channel where the mean of all loses most of their power, else None."""
        if not self._count:
            return None
        *channels, mean = self._powers()
        cancelled = mean < MIN_KEPT * np.mean(channels) / len(channels)
        return int(np.argmax(channels)) if cancelled else None

    @property
    def gain(self) -> float:
        """Return by what the mean of all channels becomes that of those to which something was
        connected."""
        if not self._count:
            return 1.0
        *channels, _ = self._powers()
        used = np.array(channels) >= MIN_USED * max(channels)
        return len(channels) / int(np.sum(used))

    def _powers(self) -> np.ndarray:
        """Return the power of each channel, and of their mean."""
        return self._squares / self._count - (self._sums / self._count) ** 2
