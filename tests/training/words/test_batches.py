"""Batches of words: which are drawn, by whom they are said, and padding."""

from pathlib import Path

import numpy as np
import pytest
import torch

from earshot.media.audio.pitch import log_mel_and_pitch
from earshot.media.text.phonemes import from_arpabet, from_pinyin, numbers
from tests.support.word_arrays import rng, write_arrays
from training.words.frames.arrays import Columns, padded
from training.words.frames.batches import Mixture, TrainingWords

pytestmark = pytest.mark.slow


def test_batches_pair_words_with_utterances(
    tmp_path: Path,
) -> None:
    """Batches leave out words of validation."""
    write_arrays(tmp_path)
    held_out = {tuple(numbers(from_arpabet("K AE T")))}
    words = TrainingWords(tmp_path, 1, held_out)
    assert len(words.recorded) == 5 and len(words.synthetic) == 6 and len(words.validation) == 6
    batch = next(words.batches(8, torch.Generator().manual_seed(0)))
    assert sum(len(mel) for mel, _ in batch.chunks) == len(batch.labels) == 16
    assert torch.bincount(batch.labels).tolist() == [2] * 8
    spelled = {tuple(n for n in row if n) for row in batch.phonemes.tolist()}
    assert len(spelled) == 8 and not spelled & held_out
    assert len(spelled & set(words.recorded)) == 2
    assert len(spelled - set(words.recorded) - set(words.synthetic)) == 3  # concatenated


def test_batches_hold_words_of_other_tones(tmp_path: Path) -> None:
    """Batches hold their share of such words."""
    write_arrays(tmp_path)
    columns = Columns(log_mel_and_pitch)
    for tone in "1234":
        columns.add(np.zeros(4800, np.float32), from_pinyin(f"bei{tone} jing2"), "", "zh")
    columns.write(tmp_path / "tone-changed.npz")
    words = TrainingWords(tmp_path, 1, mixture=Mixture(tone_changed=0.25))
    batch = next(words.batches(8, torch.Generator().manual_seed(3)))
    spelled = {tuple(n for n in row if n) for row in batch.phonemes.tolist()}
    tone_changed = {tuple(numbers(from_pinyin(f"bei{tone} jing2"))) for tone in "1234"}
    assert 1 <= len(spelled & tone_changed) <= 2  # two are drawn, perhaps the same one twice
    assert not tone_changed & (set(words.recorded) | set(words.synthetic))


def test_unrecorded_words_have_only_validation_speakers(
    tmp_path: Path,
) -> None:
    write_arrays(tmp_path)
    words = TrainingWords(tmp_path, 1)
    new = words.unrecorded(20)
    assert not {word for word, _ in new} & set(words.recorded)
    rows = {utterance.number for utterance in words.validation}
    draw = words._validation_concatenations.draw
    drawn = [draw(1, rng(seed))[1][0] for seed in range(20)]
    assert all({parts.first, parts.second} <= rows for parts in drawn)
    assert [word for word, _ in words.unrecorded(20)] == [word for word, _ in new]


def test_batches_sample_by_speaker(tmp_path: Path) -> None:
    """Utterances are sampled by speaker, not by recording."""
    columns = Columns(log_mel_and_pitch)
    for utterance in range(
        9
    ):  # eight utterances of one speaker, by their length, and one of another
        columns.add(
            np.zeros(4800 + 160 * utterance, np.float32), ("k", "a"), "ab"[utterance == 8], "en"
        )
    columns.write(tmp_path / "recorded.npz")
    np.save(tmp_path / "starts.npy", np.zeros((9, 2), np.uint16))
    np.savez(tmp_path / "noise.npz", frames=np.zeros((1, 500, 80), np.float16))
    words = TrainingWords(tmp_path, 0)
    for seed in range(5):
        utterances = words._utterances(next(iter(words.recorded)), rng(seed))
        assert sorted(len(utterance) == len(words.mel(8)) for utterance in utterances) == [
            False,
            True,
        ]


def test_swapped_channel_limits_band(tmp_path: Path) -> None:
    """An utterance has the band limit of another recording."""
    hiss = (rng(0).standard_normal(8000) * np.hanning(8000)).astype(np.float32)
    bins = np.fft.rfft(hiss)
    bins[len(bins) // 2 :] = 0  # as on the telephone: nothing above 4 kHz
    columns = Columns(log_mel_and_pitch)
    columns.add(hiss, ("k",), "a", "en")
    columns.add(np.fft.irfft(bins).astype(np.float32), ("t",), "b", "en")
    columns.write(tmp_path / "recorded.npz")
    np.save(tmp_path / "starts.npy", np.zeros((2, 1), np.uint16))
    np.savez(tmp_path / "noise.npz", frames=np.zeros((1, 500, 80), np.float16))
    words = TrainingWords(tmp_path, 0, mixture=Mixture(channel_swapped=0.8))
    own, other = words.mel(0), words.mel(1)
    highest = other.max(axis=0)[75:80]
    utterances = [words._utterance(0, rng(seed)) for seed in range(20)]
    dull = [
        utterance for utterance in utterances if (utterance.max(axis=0)[75:80] < highest + 1).all()
    ]
    assert 3 <= len(dull) <= 15  # where the other was recorded
    assert any(np.array_equal(utterance, own) for utterance in utterances)
    for utterance in dull:  # it is as loud as ever, when it was
        assert np.corrcoef(utterance[:, :40].mean(axis=1), own[:, :40].mean(axis=1))[0, 1] > 0.9


def test_padded_fills_with_zero() -> None:
    phonemes, lengths = padded([(3, 4), (5,)])
    assert phonemes.tolist() == [[3, 4], [5, 0]] and lengths.tolist() == [2, 1]
