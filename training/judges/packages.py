"""Judges of packages that are needed for evaluation only, and that nothing here was trained with or
tuned on.

Naturalness by DNSMOS (Reddy et al. 2021), a network that predicts listeners' opinion scores, of the
package speechmos. Similarity of voices by the encoder of the package resemblyzer (Wan et al. 2018),
installed without its dependencies: the voice activity detector that it imports is used only to trim
recordings, which is not done here.
"""

import sys
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import numpy as np

from earshot.media.constants import SAMPLE_RATE


def has_dnsmos() -> bool:
    """Whether speechmos and its runtime are installed."""
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


def has_resemblyzer() -> bool:
    """Whether resemblyzer is installed."""
    return find_spec("resemblyzer") is not None


def embed(waveforms: Sequence[np.ndarray]) -> np.ndarray:
    """Embed waveforms (T,) at 16 kHz as vectors of length 1: (N, 256)."""
    return np.stack([_encoder().embed_utterance(w.astype(np.float32)) for w in waveforms])


def centre(waveforms: Sequence[np.ndarray]) -> np.ndarray:
    """Average the vectors of a speaker's recordings, and scale the mean to length 1: (256,)."""
    mean = embed(waveforms).mean(axis=0)
    return mean / np.linalg.norm(mean)


def nearest_is_target(
    conversions: np.ndarray, target: np.ndarray, others: np.ndarray
) -> np.ndarray:
    """Whether each vector is nearer to the target than to every other speaker.

    conversions: (N, 256); target: (256,); others: (M, 256), the source among them.
    Returns bool (N,).
    """
    return conversions @ target > (conversions @ others.T).max(axis=1)


@cache
def _encoder() -> Any:
    sys.modules.setdefault("webrtcvad", ModuleType("webrtcvad"))
    return import_module("resemblyzer").VoiceEncoder("cpu", verbose=False)
