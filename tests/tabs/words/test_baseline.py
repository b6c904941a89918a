"""Our words compared with a speech model of the hub: the map that it makes, and how it compares."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from earshot.media.audio.load import load
from earshot.systems.words import spoken_word
from earshot.systems.words.comparison import AveragedStates, nearest_is_same_word
from earshot.tabs.words.baseline import ModelComparison
from tests.support.fake_words import RATE, SPOKEN, VOICES, FakeLibrary


class Spectra:
    """Gives spectra, in which every word of the fake library is a line of its own."""

    def embed_waveforms(self, waveforms: Sequence[np.ndarray]) -> np.ndarray:
        spectra = np.stack([np.abs(np.fft.rfft(waveform, 4096)) for waveform in waveforms])
        return spectra / np.linalg.norm(spectra, axis=1, keepdims=True)


def test_comparison_has_every_recording_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says how often the same word is nearest."""
    # No voice activity detector takes the library's tones for speech.
    monkeypatch.setattr(spoken_word, "find_word", lambda path, cut: load(path, RATE))
    library: Any = FakeLibrary(tmp_path)
    steps: list[int] = []
    view = cast(AveragedStates, Spectra())
    comparison = ModelComparison.of(view, library, lambda done, total: steps.append(done))
    assert len(comparison.words) == len(SPOKEN) * len(VOICES) == len(steps)
    assert comparison.p_at_1 == 1
    assert 0 <= comparison.ours <= 1
    points = comparison.chart("a model").points
    assert len({point.id for point in points}) == len(comparison.words)
    assert all(0 <= point.x <= 1 and 0 <= point.y <= 1 for point in points)


def test_nearest_word_counts_other_voices_only() -> None:
    vectors = np.eye(3)[[0, 0, 2, 2]]
    words = ["tree", "tree", "tree", "zoo"]
    assert nearest_is_same_word(vectors, words, ["a", "b", "b", "a"]) == pytest.approx(2 / 3)
    assert np.isnan(nearest_is_same_word(vectors, words, ["a", "a", "a", "a"]))
