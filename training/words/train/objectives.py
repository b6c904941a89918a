"""What brings the two views together.

Shapes: B recordings, W words, each of another spelling; D the space. Vectors have length 1.
"""

from typing import Final

import torch
from torch import Tensor
from torch.nn import functional as F

MARGIN: Final = 0.4
OFFENDERS: Final = 10  # the k most offending examples


def triplets(audio: Tensor, written: Tensor, types: Tensor) -> Tensor:
    """The three terms of equation 4 of Rhodes & Bains (obj⁰, obj¹, obj² of He et al.), averaged.

    audio (B, D), written (W, D), types (B,): the word of each recording. Distance is 1 − cosine;
    of the words, or recordings, that offend most the mean of OFFENDERS is taken.
    """
    across = 1 - audio @ written.t()  # (B, W)
    within = 1 - written @ written.t()  # (W, W)
    own = across.gather(1, types[:, None])[:, 0]
    same = F.one_hot(types, len(written)).bool()  # (B, W)
    words = _offending(across, same)
    spellings = _offending(within, torch.eye(len(written), dtype=torch.bool))[types]
    recordings = _offending(across.t(), same.t())[types]
    return sum(
        ((MARGIN + own - others).clamp(min=0).mean() for others in (words, spellings, recordings)),
        start=torch.zeros(()),
    )


def _offending(distances: Tensor, same: Tensor) -> Tensor:
    """Mean of the smallest distances of each row, of those that are not to the same word."""
    some = min(OFFENDERS, distances.shape[1] // 2)
    others = distances.masked_fill(same, torch.inf)
    return others.topk(some, dim=1, largest=False).values.mean(dim=1)


def contrast(
    audio: Tensor, written: Tensor, wrong: Tensor, types: Tensor, scale: Tensor, bias: Tensor
) -> Tensor:
    """Supervised contrast of recordings with words and with each other, and of every pair alone.

    wrong (V, D): spellings of no word here, one or two phonemes from one that is. The cross-entropy
    (Khosla et al. 2020) ranks within a row, in which the others of a row's own view stand too, as
    in obj¹: otherwise each view would keep to a side of its own. The sigmoid of each pair (Zhai et
    al. 2023) gives one threshold for all of them, as average precision asks.
    """
    spellings = torch.cat([written, wrong])
    across, among, between = audio @ spellings.t(), audio @ audio.t(), written @ spellings.t()
    same = types[:, None] == types[None]  # (B, B)
    itself = torch.eye(len(audio), dtype=torch.bool)
    own = torch.eye(len(written), len(spellings), dtype=torch.bool)
    to_words = F.cross_entropy(
        scale * torch.cat([across, among.masked_fill(same, -1e4)], dim=1), types
    )
    shares = _mean_rows(same.float() / same.sum(dim=0), types, len(written))
    to_recordings = F.cross_entropy(
        scale * torch.cat([across[:, : len(written)].t(), between.masked_fill(own, -1e4)], dim=1),
        F.pad(shares, (0, len(spellings))),
    )
    nearest = (scale * among).masked_fill(itself, -1e4).log_softmax(dim=1)
    others = (same & ~itself).float()
    to_each_other = -(nearest * others).sum(dim=1).div(others.sum(dim=1).clamp(min=1)).mean()
    fits = F.one_hot(types, across.shape[1]).bool()
    ranked = to_words + to_recordings + 0.5 * to_each_other
    return ranked + _pairs(across, fits, scale, bias) + 0.5 * _pairs(among, same, scale, bias)


def _mean_rows(shares: Tensor, types: Tensor, n_words: int) -> Tensor:
    """For each word the shares (W, B) of its recordings."""
    rows = torch.zeros(n_words, len(types))
    rows[types] = shares
    return rows


def _pairs(cosines: Tensor, same: Tensor, scale: Tensor, bias: Tensor) -> Tensor:
    """A recording with itself, whose cosine is 1, hardly counts."""
    signs = 2.0 * same - 1
    return -F.logsigmoid(signs * (scale * cosines - bias)).sum(dim=1).mean()
