"""How well speech can be understood beside what was really said."""

import warnings

import numpy as np
from pystoi import stoi

from media.audio.features import SAMPLE_RATE


def intelligibility(said: np.ndarray, real: np.ndarray) -> tuple[float, float]:
    """STOI (Taal et al. 2011) and ESTOI (Jensen and Taal 2016) of two waveforms (T,) at 16 kHz, of
    which the end of the longer is left out: 1 at best, about 0 where nothing is understood.

    Both are 0 where either is silent, or too short to be measured (0.4 s of speech).
    """
    length = min(len(said), len(real))
    if not (np.any(said[:length]) and np.any(real[:length])):
        return 0.0, 0.0
    with warnings.catch_warnings(action="ignore", category=RuntimeWarning):  # too short
        plain, extended = (
            float(stoi(real[:length], said[:length], SAMPLE_RATE, extended=extended))
            for extended in (False, True)
        )
    return plain, extended
