"""Comparison of spoken words with each other and with written words."""

import numpy as np
import pytest

from earshot.systems.words.comparison import compare

SPOKEN, WRITTEN = np.eye(3, dtype=np.float32), np.eye(3, dtype=np.float32)[:2]
FRAMES = [np.tile(row, (length, 1)) for row, length in zip(SPOKEN, (10, 14, 7), strict=True)]


def test_compare_gives_symmetric_matrices() -> None:
    result = compare(SPOKEN, WRITTEN, FRAMES)
    assert result.spoken == pytest.approx(np.eye(3))
    assert result.written == pytest.approx(np.eye(3)[:, :2])
    assert result.dtw == pytest.approx(1 - np.eye(3))


def test_compare_without_written_has_no_columns() -> None:
    assert compare(SPOKEN, np.zeros((0, 3), np.float32), FRAMES).written.shape == (3, 0)
