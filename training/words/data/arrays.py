"""The prepared words in memory.

Shapes: N recordings, S frames of 10 ms, M mel bands; over a front end frames are of 20 ms, and M is
their width.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from training.words.data.concatenation import Utterance


class Arrays:
    """The frames of the words of several files, numbered in the order in which these were read."""

    def __init__(self) -> None:
        self.files: list[np.ndarray] = []  # all frames of each file
        self._spans: list[tuple[int, int, int]] = []  # file, first and last frame

    def read(self, path: Path) -> Iterator[tuple[Utterance, bool]]:
        """Read the utterances of a file of Columns, and whether each is for validation."""
        arrays = np.load(path)
        self.files.append(arrays["frames"])
        ends = np.cumsum(arrays["lengths"])
        rows = zip(
            ends - arrays["lengths"],
            ends,
            arrays["phonemes"].tolist(),
            arrays["speakers"].tolist(),
            arrays["languages"].tolist(),
            arrays["validation"].tolist(),
            strict=True,
        )
        for first, last, phonemes, speaker, language, validates in rows:
            word = tuple(number for number in phonemes if number)
            utterance = Utterance(len(self._spans), word, speaker, language)
            self._spans.append((len(self.files) - 1, int(first), int(last)))
            yield utterance, validates

    def file_of(self, number: int) -> int:
        """Find the file of a recording, counted from 0."""
        return self._spans[number][0]

    def frames(self, number: int) -> np.ndarray:
        """Read the frames of a recording: (S, M)."""
        file, first, last = self._spans[number]
        return self.files[file][first:last]
