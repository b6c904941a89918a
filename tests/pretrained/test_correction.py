import numpy as np
import torch

from earshot.pretrained.correction import MAX_ROWS, measure, missing
from earshot.pretrained.voice import Correction, Voice

BANDS, SOUNDS = 80, 40  # of a spectrogram; that the reference and the source are made of


def _content(steps: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Make content (U, C) of SOUNDS sounds that are far apart, and the number of each step's."""
    random = np.random.default_rng(0)
    sounds = torch.from_numpy(10 * random.standard_normal((SOUNDS, 32))).float()
    numbers = torch.from_numpy(random.integers(0, SOUNDS, steps // 8)).repeat_interleave(8)
    return sounds[numbers] + 0.01 * torch.randn(steps, 32), numbers


def test_a_correction_gives_back_what_each_sound_lacks() -> None:
    torch.manual_seed(0)
    content, numbers = _content(800)
    lacking = torch.randn(SOUNDS, BANDS)
    mel = torch.randn(1600, BANDS)
    correction = measure(content, mel, mel - lacking[numbers].repeat_interleave(2, dim=0))
    added = missing(correction, content, mel + 8)  # so loud that all of it is added
    middle = torch.arange(1600) % 16 == 8  # of each sound, where its neighbours do not count
    error = added[middle] - lacking[numbers].repeat_interleave(2, dim=0)[middle]
    assert error.abs().mean() < 0.05


def test_a_correction_is_left_out_in_pauses() -> None:
    torch.manual_seed(0)
    content, _ = _content(800)
    mel = torch.zeros(1600, BANDS)
    correction = measure(content, mel, mel - 1)
    loud, quiet = (missing(correction, content, mel + level) for level in (0.0, -9.0))
    assert loud.mean() > 0.9
    assert quiet.abs().max() < 1e-3


def test_a_correction_holds_means_and_no_order_of_words() -> None:
    content = torch.randn(1500, 32)
    mel = torch.zeros(3000, BANDS)
    correction = measure(content, mel, mel)
    assert correction.content.shape[0] <= MAX_ROWS and correction.error.shape[1] == BANDS
    distance = torch.cdist(content, torch.from_numpy(correction.content)).amin(dim=1)
    assert (distance > 0.1).float().mean() > 0.9  # nearly no step of the reference is in it


def test_blend_has_a_share_of_each_correction() -> None:
    one, other = (
        Voice(n, np.arange(4.0, dtype=np.float32), 5.0, 0.2, corrections=((1.0, part),))
        for n, part in (("a", _correction()), ("b", _correction()))
    )
    blend = one.blend(other, 0.25)
    assert [share for share, _ in blend.corrections] == [0.75, 0.25]
    twice = blend.blend(one, 0.5)
    assert sum(share for share, _ in twice.corrections) == 1


def _correction() -> Correction:
    return Correction(np.zeros((3, 32), np.float32), np.zeros((3, BANDS), np.float32), 0.0)
