"""Naturalness by DNSMOS (Reddy et al. 2021), a network that predicts listeners' opinion scores.

It comes with the package speechmos, which is needed for evaluation only.
"""

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec

import numpy as np

from earshot.media.constants import SAMPLE_RATE


def available() -> bool:
    """Say whether speechmos and its runtime are installed."""
    return find_spec("speechmos") is not None and find_spec("onnxruntime") is not None


def dnsmos(waveforms: Sequence[np.ndarray]) -> dict[str, float]:
    """Measure mean opinion scores from 1 to 5 over waveforms (T,): overall, of the signal, and
    P.808.

    Raises ImportError where speechmos is not installed, ValueError where there is no waveform.
    """
    judge = import_module("speechmos.dnsmos")

    if not waveforms:
        raise ValueError("There is no audio to measure.")
    scores = [judge.run(np.clip(w, -1, 1), SAMPLE_RATE, return_df=False) for w in waveforms]
    names = {"dnsmos": "ovrl_mos", "dnsmos_signal": "sig_mos", "dnsmos_p808": "p808_mos"}
    return {name: float(np.mean([row[key] for row in scores])) for name, key in names.items()}
