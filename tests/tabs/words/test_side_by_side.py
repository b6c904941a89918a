"""Our words beside another system: the map that it makes, and how it compares."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from earshot.media.audio.load import load
from earshot.systems.plug_in import PlugIn
from earshot.systems.plugged import PluggedEmbedder
from earshot.systems.words import spoken_word
from earshot.systems.words.comparison import nearest_is_same_word
from earshot.systems.words.time_warping import TimeWarping
from earshot.tabs.words.side_by_side import SystemComparison
from tests.support.fake_words import RATE, SPOKEN, VOICES, FakeLibrary


def spectrum(waveform: np.ndarray) -> np.ndarray:
    """Embed as a spectrum, in which every word of the fake library is a line of its own."""
    vector = np.abs(np.fft.rfft(waveform, 4096))
    return vector / np.linalg.norm(vector)


def test_comparison_has_every_recording_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says how often the same word is nearest, and of which words by one of the two only."""
    # No voice activity detector takes the library's tones for speech.
    monkeypatch.setattr(spoken_word, "find_word", lambda path, cut: load(path, RATE))
    library: Any = FakeLibrary(tmp_path)
    library.vectors[:] = 1 / np.sqrt(library.vectors.shape[1])  # every word is alike to ours
    steps: list[int] = []
    system: Any = SimpleNamespace(encode=lambda word, name: spectrum(word), has_vectors=True)
    comparison = SystemComparison.of(system, library, lambda done, total: steps.append(done))
    assert len(comparison.words) == len(SPOKEN) * len(VOICES) == len(steps)
    assert comparison.right.all() and not comparison.our_right.all()
    line = comparison.line("A <b>model</b>")
    assert "<b>100%</b> by A &lt;b&gt;model" in line
    assert "Right by A" in line and "Right by ours only" not in line
    for chart in comparison.charts("a model"):
        assert len({point.id for point in chart.points}) == len(comparison.words)
        assert all(0 <= point.x <= 1 and 0 <= point.y <= 1 for point in chart.points)


def test_system_without_vectors_is_compared_by_its_distances(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spoken_word, "find_word", lambda path, cut: load(path, RATE))
    plug_in = PlugIn("Time warping", TimeWarping, Path(__file__))
    system = PluggedEmbedder("time-warping", plug_in)
    library: Any = FakeLibrary(tmp_path)
    comparison = SystemComparison.of(system, library, lambda done, total: None)
    assert comparison.right.all() and comparison.theirs.shape == 2 * (len(comparison.words),)


def test_nearest_word_counts_other_voices_only() -> None:
    similarities = np.eye(3)[[0, 0, 2, 2]] @ np.eye(3)[[0, 0, 2, 2]].T
    words = ["tree", "tree", "tree", "zoo"]
    right = nearest_is_same_word(similarities, words, ["a", "b", "b", "a"])
    assert right[:3].tolist() == [1, 1, 0] and np.isnan(right[3])
    assert np.isnan(nearest_is_same_word(similarities, words, ["a", "a", "a", "a"])).all()


def test_recordings_without_detected_speech_are_compared_whole(tmp_path: Path) -> None:
    """Some of the shipped library are such: they ended the comparison."""
    library: Any = FakeLibrary(tmp_path)
    system: Any = SimpleNamespace(encode=lambda word, name: spectrum(word), has_vectors=True)
    comparison = SystemComparison.of(system, library, lambda done, total: None)
    assert comparison.right.all() and len(comparison.words) == len(SPOKEN) * len(VOICES)
