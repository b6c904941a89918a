"""Resampling of a stream, with little delay."""

import math
from typing import Final

import av
import numpy as np

HALF: Final = 16  # samples of the lower rate: half of libswresample's filter


class Resampler:
    """A resampler of one stream, by FFmpeg's libswresample.

    It is a millisecond behind at 16 kHz; soxr's streams, computed in blocks, are 20 to 60. Of what
    16 kHz can hold it takes 0.4 dB off at 7 kHz, and 3 dB at 7.5 kHz. Silence goes in before the
    stream, so that whatever was pushed has come back in full, and whole hops wait for nothing.

    delay: seconds by which the stream is behind.
    """

    def __init__(self, rate: int, to: int) -> None:
        """Make the resampler; both rates are in Hz."""
        self._rate = rate
        self._resampler = av.AudioResampler("flt", "mono", to) if rate != to else None
        before = math.ceil((HALF + 1) * max(1, rate / to)) if rate != to else 0
        self.delay = before / rate
        self(np.zeros(before, np.float32))

    def __call__(self, samples: np.ndarray) -> np.ndarray:
        """Resample the next samples in float32, (T,) → (T',)."""
        if not self._resampler or not len(samples):
            return samples
        frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(samples[None]), "flt", "mono")
        frame.sample_rate = self._rate
        resampled = [found.to_ndarray()[0] for found in self._resampler.resample(frame)]
        return np.concatenate([np.zeros(0, np.float32), *resampled])
