"""Similarity of voices by an encoder that nothing here was trained with or tuned on.

It comes with the package resemblyzer (Wan et al. 2018), installed without its dependencies: the
voice activity detector that it imports is used only to trim recordings, which is not done here.
"""

import sys
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import numpy as np


def available() -> bool:
    """Say whether resemblyzer is installed."""
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
    """Say whether each vector is nearer to the target than to every other speaker.

    conversions: (N, 256); target: (256,); others: (M, 256), the source among them.
    Returns bool (N,).
    """
    return conversions @ target > (conversions @ others.T).max(axis=1)


@cache
def _encoder() -> Any:
    sys.modules.setdefault("webrtcvad", ModuleType("webrtcvad"))
    return import_module("resemblyzer").VoiceEncoder("cpu", verbose=False)
