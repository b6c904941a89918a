"""A stream that is resampled in chunks."""

import numpy as np
import pytest

from earshot.systems.voice_conversion.live.resampler import Resampler

RATES = [(48_000, 16_000), (16_000, 48_000), (44_100, 16_000), (16_000, 44_100), (8_000, 16_000)]


@pytest.mark.parametrize(("rate", "to"), RATES)
def test_chunks_give_samples_of_whole(rate: int, to: int) -> None:
    said = np.random.default_rng(0).standard_normal(rate).astype(np.float32)
    cuts = np.sort(np.random.default_rng(1).integers(0, rate, 40))
    chunked, whole = Resampler(rate, to), Resampler(rate, to)
    pieces = np.concatenate([chunked(piece) for piece in np.split(said, cuts)])
    np.testing.assert_allclose(pieces, whole(said), atol=1e-5)


@pytest.mark.parametrize(("rate", "to"), RATES)
def test_tone_comes_back_after_its_delay(rate: int, to: int) -> None:
    resampler = Resampler(rate, to)
    said = np.sin(2 * np.pi * 440 * np.arange(rate) / rate).astype(np.float32)
    heard = [resampler(piece) for piece in np.split(said, 50)]
    counts = np.cumsum([len(piece) for piece in heard])
    due = np.arange(1, 51) * to // 50
    assert np.all((counts >= due) & (counts < due + 1 + to / rate))
    assert resampler.delay < 0.0025
    times = np.arange(counts[-1]) / to - resampler.delay
    wanted = np.where(times >= 0, np.sin(2 * np.pi * 440 * times), 0)
    inner = slice(to // 10, None)
    np.testing.assert_allclose(np.concatenate(heard)[inner], wanted[inner], atol=0.01)


def test_frequencies_beyond_rate_are_left_out() -> None:
    times = np.arange(48_000) / 48_000
    aliased = Resampler(48_000, 16_000)(np.sin(2 * np.pi * 10_000 * times).astype(np.float32))
    assert np.abs(aliased[1000:]).max() < 0.001


def test_equal_rates_change_nothing() -> None:
    said = np.random.default_rng(0).standard_normal(100).astype(np.float32)
    resampler = Resampler(16_000, 16_000)
    assert resampler.delay == 0
    np.testing.assert_array_equal(resampler(said), said)
