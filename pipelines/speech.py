"""What the pipelines say: sound, and what is told of it."""

from dataclasses import dataclass

import numpy as np

from pipelines.voice_conversion.units import Units


@dataclass(frozen=True, eq=False)
class Speech:
    """Sound with its picture: waveform (T,), log_mel (S, 80) in nepers, 10 ms a row; ``seconds``
    is the time it took to make."""

    waveform: np.ndarray
    sample_rate: int
    log_mel: np.ndarray
    seconds: float


@dataclass(frozen=True, eq=False)
class Conversion:
    """Everything that the page shows. real_time_factor: seconds taken a second of speech."""

    source: Speech
    units: Units
    converted: Speech
    notices: tuple[str, ...]
    bits_per_second: float
    compression: float
    seconds: float
    real_time_factor: float
