"""Dynamic time warping on small cases whose answer is known."""

from collections.abc import Iterator

import numpy as np
import pytest

from earshot.media.audio.dtw import distance, mfcc_frames, path_mean, subsequence_means

RATE = 16_000


def sweep(seconds: float, low: float, high: float) -> np.ndarray:
    """A tone that rises from low to high (Hz), with overtones."""
    pitch = np.linspace(low, high, round(RATE * seconds))
    phase = 2 * np.pi * np.cumsum(pitch) / RATE
    tones = [np.sin(k * phase) / k for k in range(1, 8)]
    return (0.1 * np.sum(tones, axis=0)).astype(np.float32)


def test_distance_to_itself_is_zero() -> None:
    frames = mfcc_frames(sweep(0.5, 200, 800))
    assert frames.shape == (50, 39)
    assert distance(frames, frames) == pytest.approx(0, abs=1e-5)


def test_distance_depends_on_sounds_not_pace() -> None:
    """Another pace changes it less than other sounds do."""
    word = mfcc_frames(sweep(0.4, 200, 800))
    slow, other = mfcc_frames(sweep(0.7, 200, 800)), mfcc_frames(sweep(0.4, 800, 200))
    assert distance(word, slow) < 0.5 * distance(word, other)
    assert distance(word, other) == pytest.approx(distance(other, word), abs=1e-5)


def test_distance_of_short_words_is_finite() -> None:
    """Silence has a finite distance, too."""
    short, silent = mfcc_frames(sweep(0.03, 200, 800)), mfcc_frames(np.zeros(4000, np.float32))
    assert 0 <= distance(short, silent) <= 2


def test_paths_are_the_best_of_all() -> None:
    distances = np.random.default_rng(0).random((4, 5)).astype(np.float32)
    best = min(paths(4, 5), key=lambda path: sum(distances[step] for step in path))
    assert path_mean(distances) == pytest.approx(np.mean([distances[step] for step in best]))
    means, starts = subsequence_means(distances)
    for end in range(5):
        stretches = [
            [(row, first + column) for row, column in path]
            for first in range(end + 1)
            for path in paths(4, end - first + 1)
        ]
        best = min(stretches, key=lambda path: sum(distances[step] for step in path))
        assert means[end] == pytest.approx(np.mean([distances[step] for step in best]))
        assert starts[end] == best[0][1]


def paths(rows: int, columns: int) -> Iterator[list[tuple[int, int]]]:
    """The slow twin of dynamic programming: all paths from corner to corner."""
    if rows == columns == 1:
        yield [(0, 0)]
    for row, column in ((1, 1), (1, 0), (0, 1)):
        if rows > row and columns > column:
            for path in paths(rows - row, columns - column):
                yield [*path, (rows - 1, columns - 1)]
