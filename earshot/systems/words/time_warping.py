"""Words without a network: dynamic time warping of MFCC, which gives distances and no vectors.

Shapes: T samples, S frames, Q queries, N words, F frames of all words.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from earshot.core import cancellation
from earshot.media.audio.dtw import mfcc_frames, path_means
from earshot.media.audio.load import load
from earshot.media.constants import SAMPLE_RATE
from earshot.systems.words.spoken_word import MAX_SECONDS


class TimeWarping:
    """A system for words that compares recordings: 13 MFCC with Δ and ΔΔ, normalised over the word
    (``earshot.media.audio.dtw.mfcc_frames``), along the best path (Sakoe & Chiba 1978).

    It has no vectors, so it has ``encode`` and ``distances`` in place of ``embed_audio``; and no
    written view.
    """

    name: Final = "MFCC + DTW"

    def encode(self, waveform: np.ndarray, sample_rate: int) -> np.ndarray:
        """Compute the frames, float32 (S, 39), of a waveform (T,) of one word, cut to it.

        Raises InputError for audio that cannot be used or lasts more than 3 s.
        """
        return frames(load((sample_rate, waveform), SAMPLE_RATE, MAX_SECONDS).waveform)

    def distances(self, queries: Sequence[np.ndarray], words: Sequence[np.ndarray]) -> np.ndarray:
        """Measure how far queries are from words, what ``encode`` returned for each: float32
        (Q, N), from 0 (the same) to 2, the mean of 1 − cosine along the best path."""
        if not words:
            return np.zeros((len(queries), 0), np.float32)
        every = np.concatenate(words)
        ends = np.cumsum([0, *map(len, words)])
        rows = np.zeros((len(queries), len(words)), np.float32)
        for row, query in zip(rows, queries, strict=True):
            cancellation.check()
            row[:] = path_means(1 - every @ query.T, ends)
        return rows


def frames(waveform: np.ndarray) -> np.ndarray:
    """Compute the frames, float32 (S, 39), of a word (T,) at 16 kHz."""
    return mfcc_frames(waveform).astype(np.float32)
