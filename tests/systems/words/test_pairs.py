"""Pairs of words on either side of a threshold, and the operating curve."""

import pytest

from earshot.systems.words.pairs import OperatingCurve, WordPairs
from tests.support.fake_words import SPOKEN, VOICES, FakeLibrary


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
