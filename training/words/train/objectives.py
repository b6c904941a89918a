"""The losses that bring the acoustic and the written view together.

Shapes: B recordings, W words, V corrupted spellings, D dimensions of the shared space. All vectors
have unit length.
"""

from typing import Final

import torch
from torch import Tensor
from torch.nn import functional as F

MARGIN: Final = 0.4
NEGATIVES: Final = 10  # k, the number of hardest negatives
MASKED: Final = -1e4  # a logit of zero probability


def triplet_loss(audio: Tensor, written: Tensor, labels: Tensor) -> Tensor:
    """Add up the mean terms of Rhodes & Bains, Eq. (4): obj⁰, obj¹ and obj² of He et al.

    audio (B, D), written (W, D), labels (B,): the word of each recording. The distance is
    1 − cosine, and each term averages the NEGATIVES hardest negatives. Returns a scalar.
    """
    audio_to_written = 1 - audio @ written.t()  # (B, W)
    written_to_written = 1 - written @ written.t()  # (W, W)
    positive = audio_to_written.gather(1, labels[:, None])[:, 0]
    is_word = F.one_hot(labels, len(written)).bool()  # (B, W)
    itself = torch.eye(len(written), dtype=torch.bool, device=written.device)
    negatives = (
        _hardest(audio_to_written, is_word),
        _hardest(written_to_written, itself)[labels],
        _hardest(audio_to_written.t(), is_word.t())[labels],
    )
    terms = [(MARGIN + positive - negative).clamp(min=0).mean() for negative in negatives]
    return torch.stack(terms).sum()


def _hardest(distances: Tensor, is_positive: Tensor) -> Tensor:
    """Average the smallest distances in each row, without those of positives."""
    k = min(NEGATIVES, distances.shape[1] // 2)
    negatives = distances.masked_fill(is_positive, torch.inf)
    return negatives.topk(k, dim=1, largest=False).values.mean(dim=1)


def contrastive_loss(
    audio: Tensor, written: Tensor, corrupted: Tensor, labels: Tensor, scale: Tensor, bias: Tensor
) -> Tensor:
    """Compute the supervised contrastive loss between and within the views, plus a sigmoid loss of
    each pair.

    audio (B, D), written (W, D), labels (B,): the word of each recording; corrupted (V, D):
    spellings one or two phonemes away from a word, which are negatives only. scale and bias of the
    cosines are learned. Returns a scalar.

    The cross-entropies (Khosla et al. 2020) rank the negatives of both views together, as obj¹ of
    He et al. does: without negatives of its own view each view would keep to its own region. The
    sigmoid loss (Zhai et al. 2023) learns one threshold for all pairs, which average precision
    needs.
    """
    spellings = torch.cat([written, corrupted])
    to_spellings, to_audio = audio @ spellings.t(), audio @ audio.t()  # (B, W + V), (B, B)
    same_word = labels[:, None] == labels[None]  # (B, B)
    is_word = F.one_hot(labels, len(spellings)).bool()  # (B, W + V)
    audio_to_written = F.cross_entropy(
        scale * torch.cat([to_spellings, to_audio.masked_fill(same_word, MASKED)], dim=1), labels
    )
    ranking = audio_to_written + _written_to_audio(to_spellings, written, spellings, labels, scale)
    ranking = ranking + 0.5 * _audio_to_audio(to_audio, same_word, scale)
    pairs = _sigmoid_loss(to_spellings, is_word, scale, bias)
    return ranking + pairs + 0.5 * _sigmoid_loss(to_audio, same_word, scale, bias)


def _written_to_audio(
    to_spellings: Tensor, written: Tensor, spellings: Tensor, labels: Tensor, scale: Tensor
) -> Tensor:
    """Compute the cross-entropy of each word with its recordings, which share the target equally,
    against the other recordings and spellings.
    """
    n_words = len(written)
    itself = torch.eye(n_words, len(spellings), dtype=torch.bool, device=written.device)
    to_written = (written @ spellings.t()).masked_fill(itself, MASKED)  # (W, W + V)
    recordings = F.one_hot(labels, n_words).t().float()  # (W, B)
    targets = recordings / recordings.sum(dim=1, keepdim=True).clamp(min=1)
    logits = scale * torch.cat([to_spellings[:, :n_words].t(), to_written], dim=1)
    return F.cross_entropy(logits, F.pad(targets, (0, len(spellings))))


def _audio_to_audio(to_audio: Tensor, same_word: Tensor, scale: Tensor) -> Tensor:
    """Compute the cross-entropy of each recording with the others of its word, against all other
    recordings.
    """
    itself = torch.eye(len(to_audio), dtype=torch.bool, device=to_audio.device)
    log_probability = (scale * to_audio).masked_fill(itself, MASKED).log_softmax(dim=1)
    positives = (same_word & ~itself).float()
    return -(log_probability * positives).sum(dim=1).div(positives.sum(dim=1).clamp(min=1)).mean()


def _sigmoid_loss(cosines: Tensor, is_positive: Tensor, scale: Tensor, bias: Tensor) -> Tensor:
    """Compute the sigmoid loss of each pair; a recording paired with itself has a cosine of 1 and
    adds almost nothing.
    """
    signs = 2.0 * is_positive - 1
    return -F.logsigmoid(signs * (scale * cosines - bias)).sum(dim=1).mean()
