"""The words of captions: how sure they are, and whether they are right.

Shapes: K words.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from earshot.systems.lip_to_speech.caption import SpokenWord

BINS: Final = 10  # of confidence, for the calibration error


class CaptionWords(NamedTuple):
    """The words of the captions: confidence (K,) from 0 to 1 of each; correct (K,): is it right?"""

    confidence: np.ndarray
    correct: np.ndarray

    @classmethod
    def of(
        cls, captions: Sequence[Sequence[SpokenWord]], references: Sequence[Sequence[str]]
    ) -> "CaptionWords":
        """Compare the words of captions with their references."""
        pairs = [
            (word.confidence, word.text == expected)
            for read, reference in zip(captions, references, strict=True)
            for word, expected in zip(read, reference, strict=False)
        ]
        confidence, correct = zip(*pairs, strict=True) if pairs else ((), ())
        return cls(np.array(confidence, float), np.array(correct, bool))

    @property
    def calibration_error(self) -> float:
        """Compute the expected calibration error over BINS equal bins (Guo et al. 2017, Eq.
        (3)).
        """
        bins = np.minimum((self.confidence * BINS).astype(int), BINS - 1)
        gaps = [
            abs(self.confidence[bins == b].sum() - self.correct[bins == b].sum())
            for b in range(BINS)
        ]
        return float(np.sum(gaps) / len(bins))

    @property
    def brier_score(self) -> float:
        """Average the squared difference of confidence and correctness."""
        return float(np.square(self.confidence - self.correct).mean())
