"""Objective intelligibility of speech, given the reference recording."""

import warnings

import numpy as np
from pystoi import stoi

from earshot.media.constants import SAMPLE_RATE


def intelligibility(estimate: np.ndarray, reference: np.ndarray) -> tuple[float, float]:
    """Measure STOI (Taal et al. 2011) and ESTOI (Jensen and Taal 2016) of two waveforms (T,) at 16
    kHz: 1 at best, about 0 where nothing is intelligible. The longer waveform is truncated.

    Both are 0 where either is silent, or too short to be measured (under 0.4 s of speech).
    """
    length = min(len(estimate), len(reference))
    if not (np.any(estimate[:length]) and np.any(reference[:length])):
        return 0.0, 0.0
    with warnings.catch_warnings(action="ignore", category=RuntimeWarning):  # too short
        plain, extended = (
            float(stoi(reference[:length], estimate[:length], SAMPLE_RATE, extended=extended))
            for extended in (False, True)
        )
    return plain, extended
