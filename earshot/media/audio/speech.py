"""Speech, as pipelines give it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from earshot.media.constants import SAMPLE_RATE

MADE_BY: Final = "Converted by Earshot"  # the comment of every file of synthetic speech
LABEL: Final = "AI-modified voice"  # beside every player of it
SHIPPED, NOBODY, OWN = "shipped", "nobody", "own"
REFERENCE, FACE = "reference", "face"


@dataclass(frozen=True)
class Origin:
    """What made speech. model: its name; weights: the SHA-256 of its checkpoint; voice: SHIPPED,
    NOBODY's, the visitor's OWN, that of a REFERENCE or one that a FACE suggests; preserved: what is
    as it was in the source, such as words; ingredient: the signed metadata of the source, if any.
    """

    model: str
    weights: str = ""
    voice: str = SHIPPED
    preserved: Sequence[str] = ("words",)
    ingredient: bytes = b""


@dataclass(frozen=True, eq=False)
class Speech:
    """A waveform with its spectrogram.

    waveform: float32 (T,); sample_rate in Hz; log_mel: (S, 80), natural logarithm of mel
    magnitude, 10 ms a frame; compute_seconds: the time that making it took; origin: of synthetic
    speech, None for a recording.
    """

    waveform: np.ndarray
    sample_rate: int
    log_mel: np.ndarray
    compute_seconds: float
    origin: Origin | None = None


def muted(waveform: np.ndarray, silent: np.ndarray) -> np.ndarray:
    """Silence the silent units (U,) of a waveform (T,), fading over 5 ms at their edges."""
    gain = np.repeat(1.0 - silent, len(waveform) // len(silent))
    fade = np.hanning(round(0.01 * SAMPLE_RATE))
    gain = np.minimum(gain, np.convolve(gain, fade / fade.sum(), mode="same"))
    return (waveform * gain).astype(np.float32)
