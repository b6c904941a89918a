"""Batches of clips: lengths, concatenated words, and augmented views."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from earshot.models.lip_to_speech import VisualFrontend
from tests.training.lip_to_speech.clips import write_clips
from training.lip_to_speech import batches
from training.lip_to_speech.augment import convolved, other_faces
from training.lip_to_speech.batches import Clips, EncodedClips

pytestmark = pytest.mark.slow


def test_batch_crops_and_mels_last_equally(run: Path) -> None:
    clips = Clips([run / "clips.npz", run / "rendered.npz"], "train")
    assert len(clips) == 3
    batch = clips.batch(5, torch.Generator().manual_seed(0))
    count = batch.crops.shape[1]
    assert batch.crops.shape == (5, count, 64, 64)
    assert batch.log_mel.shape == (5, 4 * count, 80)
    assert batch.crops.min() >= 0 and batch.crops.max() <= 1
    assert set(batch.pitch.unique().tolist()) == {0.0, 120.0}
    assert batch.words.min() >= 1  # 0 is the blank
    same = clips.batch(5, torch.Generator().manual_seed(0))
    assert torch.equal(batch.crops, same.crops)


def test_batch_concatenates_at_word_boundaries(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Clips of one speaker are concatenated."""
    monkeypatch.setattr(batches, "VTLP_SHARE", 0.0)
    monkeypatch.setattr(batches, "PACE", (1.0, 1.0))
    monkeypatch.setattr(batches, "BALANCE", 1.0)
    write_clips(run / "more.npz", ["s1", "s1", "s1", "s4"], ["train"] * 4)
    clips = Clips([run / "more.npz"], "train")
    clips.arrays["log_mel"][:] = np.arange(4)[:, None, None]  # tells which clip it is
    clips.arrays["words"][:] = 8 * np.arange(4)[:, None] + np.arange(6)
    batch = clips.batch(16, torch.Generator().manual_seed(0))
    videos, places = (batch.words - 1).div(8, rounding_mode="floor"), (batch.words - 1) % 8
    assert places.tolist() == [list(range(6))] * 16
    assert {frozenset(row) >= {3} for row in map(set, videos.tolist())} == {True, False}
    assert all(set(row) == {3} for row in videos.tolist() if 3 in row)  # s4 has one video only
    assert max(len(set(row)) for row in videos.tolist()) > 1
    for row, video in enumerate(videos.tolist()):
        for place in range(6):
            matches = batch.spoken[row].repeat_interleave(4) == batch.words[row, place]
            assert batch.log_mel[row, matches].unique().tolist() == [video[place]]


def test_batch_augments_half_of_clips(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "CONCATENATION_SHARE", 0.0)
    monkeypatch.setattr(batches, "PACE", (1.0, 1.0))
    clips = Clips([run / "clips.npz"], "train")
    videos = clips.rows(0, len(clips)).crops
    seen = clips.batch(64, torch.Generator().manual_seed(0)).crops
    clear = sum(any(torch.equal(crops, video) for video in videos) for crops in seen)
    assert 20 <= clear <= 44


def test_encoded_clips_have_augmented_views(run: Path) -> None:
    """Each clip has a clean view and augmented ones."""
    clips, frontend = Clips([run / "clips.npz"], "train"), VisualFrontend((4, 8)).eval()
    videos = frontend(clips.rows(0, len(clips)).crops).detach()
    seen = EncodedClips(clips, frontend, views=3)
    assert len(seen) == 3 * len(clips)
    again = seen.rows(0, len(seen)).crops
    torch.testing.assert_close(again[: len(clips)], videos, atol=1e-2, rtol=1e-2)
    assert not torch.allclose(again[len(clips) : -len(clips)], videos, atol=1e-2)
    batch = seen.batch(64, torch.Generator().manual_seed(0))
    assert batch.crops.shape == (64, batch.spoken.shape[1], 8)
    # A moment of up to eight frames is hidden.
    still = (batch.crops.diff(dim=1).abs().amax(dim=-1) < 1e-3).sum(dim=1)
    assert still.max() >= 6


def test_encoded_clips_sample_clean_view(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clean view is sampled half of the time."""
    monkeypatch.setattr(batches, "VTLP_SHARE", 0.0)
    monkeypatch.setattr(batches, "CONCATENATION_SHARE", 0.0)
    seen = EncodedClips(Clips([run / "clips.npz"], "train"), VisualFrontend((4, 8)).eval(), views=5)
    seen.arrays["log_mel"][:] = np.arange(len(seen))[:, None, None]  # tells which look it is
    batch = seen.batch(200, torch.Generator().manual_seed(0))
    assert 80 <= (batch.log_mel[:, 0, 0] < 2).sum() <= 120  # of two videos


def test_spoken_gives_word_at_each_frame(run: Path) -> None:
    batch = Clips([run / "clips.npz"], "val").rows(0, 1)
    (spoken,) = batch.spoken.tolist()
    order = [word for word, before in zip(spoken, [0, *spoken], strict=False) if word != before]
    assert [word for word in order if word] == batch.words[0].tolist()
    assert spoken[7:9] == [0, batch.words[0, 0]]  # from 0.31 s; the eighth is seen at 0.30 s


def test_log_f0_contour_is_around_mean(run: Path) -> None:
    """The contour is relative to the mean."""
    batch = Clips([run / "clips.npz"], "val").rows(0, 2)
    doubled = replace(batch, pitch=2 * batch.pitch)
    torch.testing.assert_close(batch.log_f0, doubled.log_f0)
    assert not batch.log_f0[batch.pitch == 0].any()


def test_other_faces_are_seeded_and_differ() -> None:
    """One clip shown twice becomes two, far from what it was."""
    crops = torch.rand(1, 6, 80, 80, generator=torch.Generator().manual_seed(0)).expand(
        2, -1, -1, -1
    )
    first = other_faces(crops, np.random.default_rng(0))
    assert first.shape == (2, 6, 64, 64) and first.isfinite().all()
    assert not torch.allclose(first[0], first[1], atol=0.05)
    assert torch.equal(first, other_faces(crops, np.random.default_rng(0)))


def test_random_convolution_keeps_contrast_and_shape() -> None:
    """The mean becomes grey; where nothing was, nothing comes."""
    clip = torch.full((5, 64, 64), 0.2)
    clip[:, 20:40, 20:40] = 0.7
    for seed in range(8):
        changed = convolved(clip, np.random.default_rng(seed))
        assert changed.shape == clip.shape
        assert changed.std() < 1.2 * clip.std()
        assert changed[:, :8, :8].std() < 0.02, "far from the edges of the square"
    grey = convolved(torch.full((3, 16, 16), 0.4), np.random.default_rng(0))
    assert torch.allclose(grey, torch.full_like(grey, 0.5))
