"""A live conversion at the sampling rate of a device."""

from dataclasses import dataclass

import numpy as np

from earshot.media.constants import SAMPLE_RATE
from earshot.systems.voice_conversion.live.choice import Choice, check_rate
from earshot.systems.voice_conversion.live.conversion import LiveConversion
from earshot.systems.voice_conversion.live.networks import LiveNetworks
from earshot.systems.voice_conversion.live.resampler import Resampler
from earshot.systems.voice_conversion.settings import MUTED


@dataclass(frozen=True, eq=False)
class Spoken:
    """The result of a push: samples (T,) at the rate of the device; the units spoken, by their
    colours, None for silence; behind: how many samples the last of them is behind the last that
    went in.
    """

    samples: np.ndarray
    units: list[str | None]
    behind: int


class LiveSession:
    """A LiveConversion between two resamplers."""

    def __init__(self, networks: LiveNetworks, rate: int, choice: Choice) -> None:
        """Begin a session. rate: in Hz. Raises InputError for a rate that no device has, and as
        change does.
        """
        check_rate(rate)
        networks.check(choice)
        self.rate = rate
        self._networks = networks
        self._conversion = LiveConversion(networks, choice)
        self._down, self._up = Resampler(rate, SAMPLE_RATE), Resampler(SAMPLE_RATE, rate)
        self._delay = self._down.delay + self._conversion.timing.delay + self._up.delay  # seconds
        self._heard = self._played = 0  # samples

    def change(self, choice: Choice) -> None:
        """Go on with another choice. Raises InputError for a choice that the networks do not
        have.
        """
        self._networks.check(choice)
        self._conversion.choice = choice

    def push(self, samples: np.ndarray) -> Spoken:
        """Convert the next samples heard (T,) → those to be played."""
        self._heard += len(samples)
        spoken = self._up(self._conversion.push(self._down(samples)))
        self._played += len(spoken)
        palette = self._networks.colors(self._conversion.choice)
        colors = [None if unit == MUTED else palette[unit] for unit in self._conversion.units]
        behind = self._heard - self._played + round(self._delay * self.rate)
        return Spoken(spoken, colors, behind)
