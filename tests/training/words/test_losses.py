"""The losses of word embeddings: their limits, golden values, and their device."""

import numpy as np
import pytest
import torch
from rapidfuzz.distance import Levenshtein
from torch import Tensor
from torch.nn import functional as F

from earshot.media.text.phonemes import from_ipa, numbers
from earshot.models.words.word_embedder import ViewConfig, WordEmbedderConfig, build_embedder
from training.words.frames.batches import Batch
from training.words.losses import (
    LOSSES,
    MARGIN,
    _corrupted,
    contrastive_loss,
    ctc_loss,
    triplet_loss,
)

GOLDEN_TRIPLET = 1.62602
GOLDEN_CONTRASTIVE = 57.5472
GOLDEN_LOSSES = {"contrastive": 85.8305, "triplet": 1.5864, "ctc": 13.0791}
LABELS = torch.tensor([0, 0, 1, 1, 2, 2, 3, 3])


def unit_vectors(seed: int, n: int) -> Tensor:
    """(n, 12), deterministic without random numbers."""
    return F.normalize(torch.sin(torch.arange(n * 12.0).view(n, 12) * (1.7 + 0.3 * seed)), dim=1)


def made_up_batch() -> Batch:
    """Four words, two utterances each, in two chunks."""
    frames = torch.arange(8 * 40 * 80.0).view(8, 40, 80)
    mel = -5 + 2 * torch.sin(0.013 * frames)
    chunks = [(mel[:4], torch.tensor([40, 36, 30, 24])), (mel[4:], torch.tensor([40, 40, 33, 28]))]
    phonemes = torch.tensor([[5, 9, 3], [7, 1, 0], [2, 4, 6], [8, 3, 0]])
    return Batch(chunks, LABELS, phonemes, torch.tensor([3, 2, 3, 2]))


def test_triplet_loss_of_separate_words_vanishes() -> None:
    """The loss of words at one point is the margin."""
    written = torch.eye(12)[:8]
    labels = torch.arange(8).repeat(2)
    assert float(triplet_loss(written[labels], written, labels)) == pytest.approx(0.0)
    same = F.normalize(torch.ones(8, 12), dim=1)
    assert float(triplet_loss(same[labels], same, labels)) == pytest.approx(3 * MARGIN, abs=1e-4)


def test_close_corrupted_spellings_raise_loss() -> None:
    """Corrupted spellings as close as words raise the contrastive loss."""
    written, labels = torch.eye(12)[:4], torch.arange(4).repeat(2)
    scale, bias = torch.tensor(20.0), torch.tensor(8.0)
    apart = contrastive_loss(written[labels], written, torch.eye(12)[4:8], labels, scale, bias)
    alike = contrastive_loss(written[labels], written, written, labels, scale, bias)
    assert float(apart) < 0.8  # the entropy of two utterances is 0.69
    assert float(alike) > float(apart) + 0.5


def test_losses_of_vectors_give_golden_values() -> None:
    audio, written, corrupted = unit_vectors(0, 8), unit_vectors(1, 4), unit_vectors(2, 3)
    assert float(triplet_loss(audio, written, LABELS)) == pytest.approx(GOLDEN_TRIPLET, rel=1e-4)
    scale, bias = torch.tensor(20.0), torch.tensor(8.0)
    loss = contrastive_loss(audio, written, corrupted, LABELS, scale, bias)
    assert float(loss) == pytest.approx(GOLDEN_CONTRASTIVE, rel=1e-4)


def test_uniform_posteriors_score_all_alignments() -> None:
    """One phoneme in S steps: S (S + 1) / 2 alignments, each of probability (1 / P) ** S."""
    steps, classes = 6, 10
    batch = Batch([], torch.tensor([0, 0]), torch.tensor([[3]]), torch.tensor([1]))
    logits, lengths = [torch.zeros(2, steps, classes)], [torch.tensor([steps, steps])]
    expected = steps * np.log(classes) - np.log(steps * (steps + 1) / 2)
    assert float(ctc_loss(batch, logits, lengths)) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("objective", list(LOSSES))
def test_loss_of_seeded_network_is_golden(objective: str) -> None:
    torch.manual_seed(0)
    view = ViewConfig("conformer", 1, 2, width=16, inner=16, dropout=0.0)
    network = build_embedder(WordEmbedderConfig(view, view, channels=4, width=12))
    generator = torch.Generator().manual_seed(0)
    loss = LOSSES[objective](network, 0.5, made_up_batch(), generator)
    assert float(loss) == pytest.approx(GOLDEN_LOSSES[objective], rel=1e-3)
    loss.backward()
    assert all(p.grad is None or bool(p.grad.isfinite().all()) for p in network.parameters())


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_losses_on_gpu_equal_cpu() -> None:
    vectors = unit_vectors(0, 8), unit_vectors(1, 4), unit_vectors(2, 3), LABELS
    numbers_of_loss = (torch.tensor(20.0), torch.tensor(8.0))
    on_cpu = contrastive_loss(*vectors, *numbers_of_loss)
    on_gpu = contrastive_loss(*(t.cuda() for t in (*vectors, *numbers_of_loss)))
    torch.testing.assert_close(on_gpu.cpu(), on_cpu, rtol=1e-4, atol=1e-4)
    audio, written, _, labels = vectors
    triplet = triplet_loss(audio.cuda(), written.cuda(), labels.cuda())
    torch.testing.assert_close(triplet.cpu(), triplet_loss(audio, written, labels))


def test_losses_use_no_default_device() -> None:
    """The meta device stands in for a GPU: an operation with a CPU tensor raises."""
    audio, written, corrupted = (torch.empty(n, 12, device="meta") for n in (8, 4, 3))
    labels = torch.zeros(8, dtype=torch.long, device="meta")
    scale = torch.empty((), device="meta")
    with torch.device("cpu"):
        loss = contrastive_loss(audio, written, corrupted, labels, scale, scale)
        assert loss.device.type == "meta"
        assert triplet_loss(audio, written, labels).device.type == "meta"


def test_corrupted_spelling_is_another_word() -> None:
    """The corrupted word is at a small edit distance."""
    word = tuple(numbers(from_ipa("kitaːb")))
    inventory = np.arange(1, 60)
    corrupted = [
        _corrupted(word, inventory, numbers(("˥", "˥˩")), np.random.default_rng(seed))
        for seed in range(50)
    ]
    assert all(1 <= Levenshtein.distance(word, other) <= 4 for other in corrupted if other != word)
    assert len(set(corrupted)) > 40
