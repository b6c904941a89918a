"""What a conversion returns."""

from dataclasses import dataclass

from pipelines.speech import Speech
from pipelines.voice_conversion.units import Units


@dataclass(frozen=True, eq=False)
class Conversion:
    """A conversion with everything that a page shows of it.

    source: the input at the level that the networks see; notices: for the visitor, about the
    input; bits_per_second: rate of the units; compression: how many times less that is than 16-bit
    PCM; compute_seconds: time taken; real_time_factor: time taken per second of speech.
    """

    source: Speech
    units: Units
    converted: Speech
    notices: tuple[str, ...]
    bits_per_second: float
    compression: float
    compute_seconds: float
    real_time_factor: float
