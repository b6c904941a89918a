"""Spoken words compared with each other and with written words, and pairs at a threshold."""

import numpy as np
import pytest

from earshot.systems.words.comparison import OperatingCurve, WordPairs, compare
from tests.support.fake_words import SPOKEN, VOICES, FakeLibrary

VECTORS = np.eye(3, dtype=np.float32)
FRAMES = [np.tile(row, (length, 1)) for row, length in zip(VECTORS, (10, 14, 7), strict=True)]


def test_compare_gives_symmetric_matrices() -> None:
    result = compare(VECTORS, VECTORS[:2], FRAMES)
    assert result.spoken == pytest.approx(np.eye(3))
    assert result.written == pytest.approx(np.eye(3)[:, :2])
    assert result.dtw == pytest.approx(1 - np.eye(3))


def test_compare_without_written_has_no_columns() -> None:
    assert compare(VECTORS, np.zeros((0, 3), np.float32), FRAMES).written.shape == (3, 0)


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> WordPairs:
    return WordPairs(FakeLibrary(tmp_path_factory.mktemp("library")))  # type: ignore[arg-type]


@pytest.mark.parametrize("threshold", [-1.1, 0.0, 0.5, 0.9, 1.1])
def test_near_threshold_counts_every_pair_once(pairs: WordPairs, threshold: float) -> None:
    words, couples = len(SPOKEN), len(VOICES) * (len(VOICES) - 1) // 2
    total = {True: words * couples, False: words * (words - 1) * couples}
    for same in (True, False):
        sides = [pairs.near_threshold(threshold, same, above) for above in (True, False)]
        assert sum(side.count for side in sides) == total[same]
        assert all(pair.cosine >= threshold for pair in sides[0].pairs)
        assert all(pair.cosine < threshold for pair in sides[1].pairs)


def test_near_threshold_lists_closest_pairs_first(pairs: WordPairs) -> None:
    for above in (True, False):
        away = [abs(pair.cosine - 0.4) for pair in pairs.near_threshold(0.4, False, above, 5).pairs]
        assert len(away) == 5 and away == sorted(away)


def test_same_word_means_same_phonemes(pairs: WordPairs) -> None:
    for pair in pairs.near_threshold(0.0, True, above=True, limit=100).pairs:
        assert pair.one.phonemes == pair.other.phonemes and pair.one.voice != pair.other.voice
    for pair in pairs.near_threshold(0.0, False, above=True, limit=100).pairs:
        assert pair.one.phonemes != pair.other.phonemes and pair.one.voice != pair.other.voice


def test_operating_curve_interpolates_between_thresholds() -> None:
    lists = {"threshold": [0.2, 0.8], "precision": [0.5, 1.0], "recall": [1.0, 0.4]}
    curve = OperatingCurve.read(lists)
    assert curve.at(0.5) == (pytest.approx(0.75), pytest.approx(0.7))
    assert curve.at(2.0) == (1.0, 0.4)
