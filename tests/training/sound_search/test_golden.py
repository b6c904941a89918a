"""Losses of sound search against golden values: a refactoring that changes numbers fails."""

import pytest
import torch
from torch import Tensor

from earshot.models.sound_search.sound_embedder import kind_logits
from training.sound_search.train import distillation_loss, nt_xent, target_weights

CLIP_KINDS = torch.tensor([[1.0, 0, 0], [1, 1, 0], [0, 0, 1]])
CAPTION_KINDS = torch.tensor([[1.0, 0, 0], [1, 1, 0], [0, 0, 1], [0, 1, 0]])


def unit_vectors(count: int, step: float) -> Tensor:
    """Sines, not random numbers: (count, 5)."""
    vectors = torch.sin(torch.arange(5.0 * count).view(count, 5) * step)
    return vectors / vectors.norm(dim=1, keepdim=True)


def test_target_weights_are_golden() -> None:
    weights = target_weights(CLIP_KINDS, CAPTION_KINDS)
    assert weights.tolist() == [[1.5, 0.5, 0, 0], [0.5, 1.5, 0, 0.5], [0, 0, 1.5, 0]]


def test_nt_xent_is_golden() -> None:
    positives = target_weights(CLIP_KINDS, CAPTION_KINDS)
    loss = nt_xent(unit_vectors(3, 0.7), unit_vectors(4, 0.9), torch.tensor(7.0), positives)
    assert float(loss) == pytest.approx(6.04441, abs=1e-4)


def test_distillation_loss_is_golden() -> None:
    loss = distillation_loss(unit_vectors(3, 0.7), unit_vectors(3, 0.9))
    assert float(loss) == pytest.approx(0.864881, abs=1e-5)


def test_kind_logits_are_golden() -> None:
    logits = kind_logits(unit_vectors(2, 0.7), unit_vectors(3, 0.4))
    golden = [[26.3867, 8.9876, -26.9317], [-20.3146, -19.1373, 27.4557]]
    torch.testing.assert_close(logits, torch.tensor(golden), atol=1e-3, rtol=1e-4)
