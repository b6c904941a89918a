"""A live conversion at the sampling rate of a device."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
import soxr

from media.constants import SAMPLE_RATE
from media.errors import InputError
from pipelines.voice_conversion.live.choice import Choice
from pipelines.voice_conversion.live.conversion import LiveConversion
from pipelines.voice_conversion.live.networks import LiveNetworks
from pipelines.voice_conversion.settings import MUTED

LOWEST, HIGHEST = 8_000, 192_000  # Hz
# Of the resamplers: soxr's better qualities hold back more of the sound.
QUALITIES: Final = ("HQ", "LQ")


@dataclass(frozen=True, eq=False)
class Spoken:
    """What a push gave: samples (T,) at the rate of the device; the units spoken, by their colours,
    None for silence; behind: how many samples the last of them is behind the last that went in."""

    samples: np.ndarray
    units: list[str | None]
    behind: int


class LiveSession:
    """A LiveConversion between two resamplers."""

    def __init__(self, networks: LiveNetworks, rate: int, choice: Choice) -> None:
        """rate: in Hz. Raises InputError for a rate that no device has, and as change does."""
        if not LOWEST <= rate <= HIGHEST:
            raise InputError(f"A microphone at {rate} Hz cannot be used.")
        networks.check(choice)
        self.rate = rate
        self._networks = networks
        self._conversion = LiveConversion(networks, choice)
        self._down = _resampler(rate, SAMPLE_RATE, QUALITIES[0])
        self._up = _resampler(SAMPLE_RATE, rate, QUALITIES[1])
        self._heard = self._played = 0  # samples

    def change(self, choice: Choice) -> None:
        """Goes on so. Raises InputError for a choice that the networks do not have."""
        self._networks.check(choice)
        self._conversion.choice = choice

    def push(self, samples: np.ndarray) -> Spoken:
        """The next samples heard (T,) → those to be played."""
        self._heard += len(samples)
        spoken = self._up(self._conversion.push(self._down(samples)))
        self._played += len(spoken)
        late = round(self._conversion.timing.delay * self.rate)
        palette = self._networks.colors(self._conversion.choice)
        colors = [None if unit == MUTED else palette[unit] for unit in self._conversion.units]
        return Spoken(spoken, colors, self._heard - self._played + late)


def _resampler(rate: int, to: int, quality: str) -> Callable[[np.ndarray], np.ndarray]:
    if rate == to:
        return lambda samples: samples
    return soxr.ResampleStream(rate, to, 1, dtype="float32", quality=quality).resample_chunk
