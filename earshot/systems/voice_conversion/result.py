"""The result of a conversion."""

from dataclasses import dataclass

from earshot.media.audio.speech import Speech
from earshot.systems.voice_conversion.settings import PCM_BITS
from earshot.systems.voice_conversion.units import Units


@dataclass(frozen=True, eq=False)
class Conversion:
    """A conversion with everything that a page shows of it.

    source: the input at the level that the networks see; notices: for the visitor, about the
    input; unit_bits, intonation_bits: bit/s of what the conversion was made from, the former
    infinite where it is not limited, the latter 0 where the intonation was predicted;
    compute_seconds: time taken.
    """

    source: Speech
    units: Units
    converted: Speech
    notices: tuple[str, ...]
    unit_bits: float
    intonation_bits: float
    compute_seconds: float

    @property
    def bits_per_second(self) -> float:
        """Add up the rate of units and intonation."""
        return self.unit_bits + self.intonation_bits

    @property
    def compression(self) -> float:
        """Compute how many times less that is than 16-bit PCM; 0 where it is not limited."""
        return PCM_BITS / self.bits_per_second

    @property
    def real_time_factor(self) -> float:
        """Compute the time taken per second of speech."""
        return self.compute_seconds * self.source.sample_rate / len(self.source.waveform)
