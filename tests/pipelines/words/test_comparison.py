"""Every pair of words must be compared, in both directions alike."""

import numpy as np
import pytest

from pipelines.words.comparison import compare

SPOKEN, WRITTEN = np.eye(3, dtype=np.float32), np.eye(3, dtype=np.float32)[:2]
FRAMES = [np.tile(row, (length, 1)) for row, length in zip(SPOKEN, (10, 14, 7), strict=True)]


def test_words_are_compared_in_both_directions() -> None:
    result = compare(SPOKEN, WRITTEN, FRAMES)
    assert result.spoken == pytest.approx(np.eye(3))
    assert result.written == pytest.approx(np.eye(3)[:, :2])
    assert result.dtw == pytest.approx(1 - np.eye(3))


def test_there_may_be_no_written_words() -> None:
    assert compare(SPOKEN, np.zeros((0, 3), np.float32), FRAMES).written.shape == (3, 0)
