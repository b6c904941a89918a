"""A live conversion at the sampling rate of a device."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
import soxr

from media.constants import SAMPLE_RATE
from media.errors import InputError
from pipelines.voice_conversion.live.conversion import LiveConversion
from pipelines.voice_conversion.pipeline import VoiceConversion

LOWEST, HIGHEST = 8_000, 192_000  # Hz
# Of the resamplers: soxr's better qualities hold back more of the sound.
QUALITIES: Final = ("HQ", "LQ")


@dataclass(frozen=True, eq=False)
class Spoken:
    """What a push gave: samples (T,) at the rate of the device; the units spoken; behind: how many
    samples the last of them is behind the last that went in."""

    samples: np.ndarray
    units: list[int]
    behind: int


class LiveSession:
    """A LiveConversion between two resamplers."""

    def __init__(self, pipeline: VoiceConversion, rate: int, voice: str) -> None:
        """rate: in Hz. Raises InputError for a rate that no device has, or an unknown voice."""
        if not LOWEST <= rate <= HIGHEST:
            raise InputError(f"A microphone at {rate} Hz cannot be used.")
        self.rate = rate
        self._conversion = LiveConversion(pipeline, voice)
        self._down = _resampler(rate, SAMPLE_RATE, QUALITIES[0])
        self._up = _resampler(SAMPLE_RATE, rate, QUALITIES[1])
        self._heard = self._played = 0  # samples
        self.change(voice)

    def change(self, voice: str) -> None:
        """Goes on in another voice. Raises InputError for an unknown one."""
        if voice not in VoiceConversion.VOICES:
            names = ", ".join(VoiceConversion.VOICES)
            raise InputError(f"There is no voice {voice}. Choose one of {names}.")
        self._conversion.voice = voice

    def push(self, samples: np.ndarray) -> Spoken:
        """The next samples heard (T,) → those to be played."""
        self._heard += len(samples)
        spoken = self._up(self._conversion.push(self._down(samples)))
        self._played += len(spoken)
        late = round(self._conversion.delay * self.rate)
        return Spoken(spoken, self._conversion.units, self._heard - self._played + late)


def _resampler(rate: int, to: int, quality: str) -> Callable[[np.ndarray], np.ndarray]:
    if rate == to:
        return lambda samples: samples
    return soxr.ResampleStream(rate, to, 1, dtype="float32", quality=quality).resample_chunk
