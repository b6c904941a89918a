"""The mel scale of Slaney's Auditory Toolbox (1998), which librosa has too, with numpy alone.

It is linear up to 1 kHz, where it has 15 mel, and logarithmic above.
"""

import math
from typing import Final

import numpy as np

KNEE: Final = 1000.0  # Hz
SLOPE: Final = 3 / 200  # mel per Hz below the knee
KNEE_MEL: Final = KNEE * SLOPE
STEP: Final = math.log(6.4) / 27  # of the natural logarithm of frequency, per mel above the knee


def hz_to_mel(hz: np.ndarray | float) -> np.ndarray:
    """Convert frequencies in Hz to mel, of any shape."""
    hz = np.asarray(hz)
    return np.where(hz < KNEE, hz * SLOPE, KNEE_MEL + np.log(np.maximum(hz, KNEE) / KNEE) / STEP)


def mel_to_hz(mel: np.ndarray | float) -> np.ndarray:
    """Convert mel to frequencies in Hz, of any shape."""
    mel = np.asarray(mel)
    above = KNEE * np.exp(STEP * np.maximum(mel - KNEE_MEL, 0.0))
    return np.where(mel < KNEE_MEL, mel / SLOPE, above)
