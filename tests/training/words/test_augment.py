"""Augmentation of words: noise, masks, pitch, and the channel of a recording."""

import numpy as np
import pytest
import torch

from tests.support.word_arrays import rng
from training.words.frames.augment import FLOOR, _clipped, augment, match_channel

pytestmark = pytest.mark.slow


def test_augment_pads_with_floor() -> None:
    """The words stay audible."""
    word = np.full((40, 80), FLOOR, np.float16)
    word[10:30, 30:40] = 2.0
    noise = np.full((3, 400, 80), -9.0, np.float16)
    mel, lengths = augment([word] * 64, noise, 0.15, rng())
    assert mel.shape == (64, int(lengths.max()), 80)
    assert bool((mel >= FLOOR - 1e-3).all()) and bool(torch.isfinite(mel).all())
    audible = mel.amax(dim=(1, 2)) > 0.0
    assert audible.float().mean() > 0.9  # a mask may hide it
    assert len({round(float(m), 3) for m in mel.mean(dim=(1, 2))}) > 50  # each another way


def test_augment_liftered_removes_harmonics() -> None:
    bands = np.arange(80)
    word = np.tile(2 * np.cos(2 * np.pi * bands / 80) + (bands % 2), (40, 1)).astype(np.float16)
    noise = np.full((3, 400, 80), -30.0, np.float16)
    as_it_is, _ = augment([word] * 32, noise, 0.0, rng())
    smooth, _ = augment([word] * 32, noise, 0.0, rng(), liftered=1.0)
    rough = [mel[mel > -5].diff().abs().median() for mel in (as_it_is, smooth)]
    assert rough[1] < 0.5 * rough[0]


def test_augment_keeps_pitch_of_most_words() -> None:
    """Augmentation makes up no pitch."""
    word = np.full((40, 81), 0.0, np.float16)
    word[10:30, 80] = 7.0
    noise = np.full((3, 400, 80), -9.0, np.float16)
    clean, noisy = (
        augment([word] * 200, noise, 0.0, rng(), noisy=share)[0][..., 80] for share in (0.0, 1.0)
    )
    for octaves in (clean, noisy):
        assert set(octaves.unique().tolist()) == {0.0, 7.0}  # stretched, but not in between
    assert (clean > 0).any(dim=1).float().mean() == pytest.approx(0.9, abs=0.06)
    assert (noisy > 0).any(dim=1).float().mean() == pytest.approx(0.7, abs=0.08)


def test_match_channel_keeps_the_pitch() -> None:
    synthetic, recorded = np.full((30, 81), 0.0), np.full((50, 81), 1.0)
    synthetic[10:20, 80] = 7.5
    assert np.array_equal(match_channel(synthetic, recorded, rng())[:, 80], synthetic[:, 80])


def test_match_channel_adds_noise_of_recording() -> None:
    """The band limit of the recording is added, too."""
    synthetic, recorded = np.full((30, 80), FLOOR), np.full((50, 80), -4.0)
    synthetic[10:20] = 1.0
    recorded[20:30], recorded[:, 40:] = 0.0, FLOOR  # nothing above the telephone's band
    matched = match_channel(synthetic, recorded, rng())
    assert matched.shape == synthetic.shape
    assert matched[:10, :40].mean() == pytest.approx(-4.0, abs=0.3)
    assert matched[10:20, 40:].max() < FLOOR + 2


def test_clipped_keeps_one_end() -> None:
    """The clipped word keeps most frames."""
    word = np.arange(40)[:, None].repeat(80, axis=1)
    parts = [_clipped(word, rng(seed))[:, 0].tolist() for seed in range(40)]
    assert all(32 <= len(part) <= 40 and (part[0] == 0 or part[-1] == 39) for part in parts)
    assert any(part[0] > 0 for part in parts) and any(part[-1] < 39 for part in parts)
