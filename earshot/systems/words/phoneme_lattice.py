"""The alignment of the phonemes of a text with what was said, each of which may be wrong.

By CTC, in a lattice in which every phoneme of the text may be said as expected, as any other of
English, or not at all, and any may be added before it. The posterior of each of these is summed
over all alignments (cf. Cao et al. 2024, segmentation-free goodness of pronunciation), so that a
phoneme that is wrong does not lower the others.

Shapes: S steps of an acoustic encoder, N phonemes of the text, A phonemes of English.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import ctc_loss, pad
from torch.nn.utils.rnn import pad_sequence

from earshot.media.text.phonemes import ARPABET, numbers

ENGLISH: Final = tuple(ARPABET.values())
COLUMNS: Final = [0, *numbers(ENGLISH)]  # of posteriors: the blank, and English
NUMBERS: Final = {phoneme: number for number, phoneme in enumerate(ENGLISH, start=1)}
# Chances, before anything is heard, that a phoneme is said as another, not at all, or that one is
# added before it.
SUBSTITUTED, DROPPED, ADDED = 0.05, 0.03, 0.01
MIN_POSTERIOR: Final = 1e-5  # of a posterior
EPSILON: Final = 1e-12
MIN_LIKELIHOOD: Final = -12.0  # logarithm, of a phoneme of a word


@dataclass(frozen=True)
class ExpectedPhoneme:
    """A phoneme of a text. others: what the dictionary has in its place as well, "" where it may be
    left out; word: the number of its word."""

    phoneme: str
    others: frozenset[str]
    word: int


@dataclass(frozen=True, eq=False)
class Evidence:
    """What one model heard, as logarithms of likelihood ratios. in_place (N, 1 + A): of each
    phoneme in the place of the expected one, 0: of none; before (N + 1, A): of each before it;
    times (N,), times_before (N + 1,): the middles in seconds."""

    in_place: np.ndarray
    before: np.ndarray
    times: np.ndarray
    times_before: np.ndarray


def align(
    log_posteriors: np.ndarray, expected: Sequence[ExpectedPhoneme], seconds: float
) -> Evidence:
    """Weigh what one model heard, its log posteriors (S, P) of so many seconds."""
    return align_english(np.exp(log_posteriors[:, COLUMNS]), expected, seconds)


def align_english(
    posteriors: np.ndarray, expected: Sequence[ExpectedPhoneme], seconds: float
) -> Evidence:
    """Weigh posteriors (S, 1 + A), of the blank and of the phonemes of English."""
    steps = torch.from_numpy(posteriors.astype(np.float64))
    steps = (steps / steps.sum(dim=1, keepdim=True)).clamp_min(MIN_POSTERIOR)
    length, width = len(expected), len(ENGLISH)
    in_place = torch.full((length, 1 + width), SUBSTITUTED / (width - 1))
    in_place[:, 0] = DROPPED
    for row, phoneme in zip(in_place, expected, strict=True):
        row[NUMBERS[phoneme.phoneme]] = 1 - SUBSTITUTED - DROPPED
    before = torch.full((length + 1, width), ADDED / width)
    times, times_before = torch.zeros(len(steps), length), torch.zeros(len(steps), length + 1)
    # The derivatives of the logarithm of the sum over all alignments are the posteriors.
    logs = [
        x.double().requires_grad_() for x in (in_place.log(), before.log(), times, times_before)
    ]
    with torch.enable_grad():
        total = _log_sum(steps, *(each.exp() for each in logs))
    shares, shares_before, when, when_before = torch.autograd.grad(total, logs)
    none = (1 - shares_before.sum(dim=1, keepdim=True)).clamp_min(EPSILON)
    step = seconds / len(steps)
    return Evidence(
        _ratio(shares, logs[0]),
        _ratio(shares_before, logs[1] + none.log()),
        _middles(when) * step,
        _middles(when_before) * step,
    )


@torch.inference_mode()
def likelihoods(log_posteriors: Tensor, words: Sequence[Sequence[int]]) -> np.ndarray:
    """Compute the logarithm of each word's likelihood by CTC, per phoneme, against the best path
    without constraint: log posteriors (S, P), N words by their numbers → (N,)."""
    steps = log_posteriors.float().log_softmax(dim=-1)
    lengths = torch.tensor([len(word) for word in words])
    targets = pad_sequence([torch.tensor(word) for word in words], batch_first=True)
    each = steps[:, None].expand(-1, len(words), -1)
    spans = torch.full((len(words),), len(steps))
    losses = ctc_loss(each, targets, spans, lengths, reduction="none")
    best = steps.max(dim=-1).values.sum()
    return ((-losses - best) / lengths).clamp(min=MIN_LIKELIHOOD).numpy()


def is_foreign(word: Sequence[str]) -> bool:
    """Whether a word has a phoneme that English lacks."""
    return not set(word) <= NUMBERS.keys()


def foreign_likelihoods(
    log_posteriors: Tensor, words: Sequence[Sequence[str]], usual: float
) -> np.ndarray:
    """Compute the likelihoods of N words with a phoneme that English lacks, above that which is
    ``usual`` of the word that was said; 0 for the others: (S, P) → (N,)."""
    foreign = [row for row, word in enumerate(words) if is_foreign(word)]
    scores = np.zeros(len(words))
    if foreign:
        spelled = [numbers(words[row]) for row in foreign]
        scores[foreign] = likelihoods(log_posteriors, spelled) - usual
    return scores


def _log_sum(
    steps: Tensor, in_place: Tensor, before: Tensor, times: Tensor, times_before: Tensor
) -> Tensor:
    """Sum the likelihoods of all alignments of steps (S, 1 + A), as a logarithm.

    in_place (N, 1 + A), before (N + 1, A): the weight of each phoneme there; times (S, N),
    times_before (S, N + 1): that of being there at each step.
    """
    dropped, others = in_place[:, 0], in_place[:, 1:]
    here = torch.zeros_like(others)  # alignments that are in a phoneme of the text
    extra = torch.zeros_like(before)  # in one that is added
    start = torch.zeros(len(before), dtype=steps.dtype)
    start[0] = 1.0
    between = _dropping(start, dropped)  # that may go on to the phoneme after
    total = torch.zeros((), dtype=steps.dtype)
    for step, weights, weights_before in zip(steps, times, times_before, strict=True):
        blank, phones = step[0], step[1:]
        ended = pad(here, (0, 0, 1, 0))  # the same phoneme twice needs a blank between
        go_on = between[:, None] - ended - extra
        blanks = between * blank
        here = (here + others * go_on[:-1]) * phones * weights[:, None]
        extra = (extra + before * go_on) * phones * weights_before[:, None]
        between = blanks + extra.sum(dim=1) + _dropping(pad(here.sum(dim=1), (1, 0)), dropped)
        scale = here.sum() + extra.sum() + between.sum()
        here, extra, between = here / scale, extra / scale, between / scale
        total = total + scale.log()
    return total + between[-1].clamp_min(1e-300).log()


def _dropping(ended: Tensor, dropped: Tensor) -> Tensor:
    """Add to the alignments that have just ended a phoneme (N + 1,) those that leave out the next,
    and the next two."""
    one = pad(dropped * ended[:-1], (1, 0))
    return ended + one + pad(dropped * one[:-1], (1, 0))


def _middles(occupied: Tensor) -> np.ndarray:
    """Average the steps at which a phoneme is said, by how likely it is there: (S, N) → (N,)."""
    middles = torch.arange(len(occupied)) + 0.5
    weights = occupied.sum(dim=0).clamp_min(EPSILON)
    return ((occupied * middles[:, None]).sum(dim=0) / weights).numpy()


def _ratio(posteriors: Tensor, logs: Tensor) -> np.ndarray:
    return (posteriors.clamp_min(EPSILON).log() - logs).detach().numpy()
