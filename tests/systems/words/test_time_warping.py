"""Words compared by dynamic time warping: distances between recordings, without vectors."""

import numpy as np
import pytest

from earshot.core.errors import InputError
from earshot.media.audio.dtw import distance, mfcc_frames
from earshot.systems.words.time_warping import TimeWarping

RATE = 16_000


def sweep(seconds: float, low: float, high: float, rate: int = RATE) -> np.ndarray:
    """A tone that rises or falls from low to high (Hz), with overtones."""
    phase = 2 * np.pi * np.cumsum(np.linspace(low, high, round(rate * seconds))) / rate
    tones = [np.sin(k * phase) / k for k in range(1, 8)]
    return (0.1 * np.sum(tones, axis=0)).astype(np.float32)


def test_nearest_word_is_the_one_at_another_pace_and_rate() -> None:
    """One query at 8 kHz, slower than its word."""
    system = TimeWarping()
    words = [system.encode(sweep(0.4, *hz), RATE) for hz in ((200, 800), (800, 200), (500, 500))]
    queries = [system.encode(sweep(0.6, 200, 800, 8_000), 8_000), words[1]]
    distances = system.distances(queries, words)
    assert distances.shape == (2, 3) and distances.argmin(axis=1).tolist() == [0, 1]
    assert distances[1, 1] == pytest.approx(0, abs=1e-5)


def test_distances_are_those_of_single_pairs() -> None:
    waveforms = [sweep(0.2 + 0.1 * n, 200, 300 + 200 * n) for n in range(4)]
    frames = [mfcc_frames(waveform) for waveform in waveforms]
    system = TimeWarping()
    encoded = [system.encode(waveform, RATE) for waveform in waveforms]
    expected = [[distance(one, other) for other in frames] for one in frames[:2]]
    # Paths that cost the same may be of different lengths, by which side comes first.
    np.testing.assert_allclose(system.distances(encoded[:2], encoded), expected, atol=0.01)
    assert system.distances(encoded, []).shape == (4, 0)


def test_recording_longer_than_a_word_is_refused() -> None:
    with pytest.raises(InputError):
        TimeWarping().encode(sweep(4.0, 200, 800), RATE)
