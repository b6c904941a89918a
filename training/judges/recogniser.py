"""A small word recogniser for evaluation: phones by CTC, words by a grammar.

Trained only on original recordings of the training splits; no system is trained with it.
Shapes: B batch, S frames of 10 ms, U steps of 20 ms, C classes (blank, then PHONES).
"""

import numpy as np
import torch
from numba import njit
from torch import Tensor, nn
from torch.nn import functional as F

from earshot.media.constants import SAMPLE_RATE
from earshot.media.text.grammar import PHONES, Grammar, phone_ids
from training.judges.frontend import N_BANDS, LogMel, normalize, pad

MARGIN = round(0.1 * SAMPLE_RATE)  # samples of silence padded on both sides


class Recogniser(nn.Module):
    """Residual dilated convolutions over log-mel bands: each step sees 0.6 s to either side."""

    def __init__(self, width: int = 192, dropout: float = 0.1) -> None:
        super().__init__()
        self.width = width
        self.log_mel = LogMel()
        self.entry = nn.Conv1d(N_BANDS, width, 5, stride=2, padding=2)
        self.blocks = nn.ModuleList(
            nn.Sequential(
                nn.BatchNorm1d(width),
                nn.GELU(),
                nn.Dropout(dropout),
                nn.Conv1d(width, width, 5, padding=2 * dilation, dilation=dilation),
            )
            for dilation in (1, 1, 2, 2, 4, 4, 1)
        )
        self.norm = nn.BatchNorm1d(width)
        self.exit = nn.Conv1d(width, len(PHONES) + 1, 1)

    def forward(self, features: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Map normalised features (B, S, 40), frames (B,) to log-probabilities (B, U, C), steps
        (B,).
        """
        x = self.entry(features.transpose(1, 2))
        steps = (lengths + 1) // 2
        mask = (torch.arange(x.shape[2]) < steps[:, None]).to(x.dtype)[:, None]
        for block in self.blocks:
            x = x + block(x * mask)
        logits = self.exit(F.gelu(self.norm(x * mask))).transpose(1, 2)
        return logits.float().log_softmax(-1), steps

    @torch.inference_mode()
    def posteriors(self, waveforms: list[np.ndarray]) -> list[np.ndarray]:
        """Compute log-probabilities (U, C) of each waveform (T,) at 16 kHz, any lengths and
        levels.
        """
        results: list[np.ndarray] = []
        for first in range(0, len(waveforms), 16):
            batch, lengths = pad([prepare(w) for w in waveforms[first : first + 16]])
            output, steps = self(normalize(self.log_mel(batch), lengths), lengths)
            results += [row[:n].numpy() for row, n in zip(output, steps, strict=True)]
        return results

    def words(self, waveforms: list[np.ndarray], grammar: Grammar) -> list[list[str]]:
        """Recognise the most likely words of each waveform, one for every slot of the grammar."""
        return [best_words(posterior, grammar) for posterior in self.posteriors(waveforms)]


def prepare(waveform: np.ndarray) -> np.ndarray:
    """Bring a waveform to a power of 0.01, with a margin of silence on both sides: (T,) → (T',)."""
    power = float(np.sqrt(np.mean(waveform**2))) if len(waveform) else 0.0
    return np.pad(waveform * np.float32(0.1 / max(power, 1e-5)), MARGIN)


def best_words(log_probabilities: np.ndarray, grammar: Grammar) -> list[str]:
    """Find the best path of CTC through one word of every slot in turn (Viterbi, exact).

    log_probabilities: (U, C). A phone that ends one word and
    starts the next needs no blank between. Returns one word a slot, or [] when U is too short.
    """
    steps = len(log_probabilities)
    scores = np.ascontiguousarray(log_probabilities, np.float32)
    entry = np.full(steps + 1, -np.inf, np.float32)
    entry[0] = 0.0
    words, choices, starts = [], [], []
    for slot in grammar:
        ids = [phone_ids(phones) for phones in slot.values()]
        chains = np.zeros((len(ids), 2 * max(map(len, ids))), np.int64)
        for chain, phones in zip(chains, ids, strict=True):
            chain[1 : 2 * len(phones) : 2] = phones
        ends, begins = _walk(scores, chains, np.array([2 * len(p) for p in ids]), entry)
        choice = ends.argmax(1)
        entry = ends[np.arange(steps + 1), choice]
        words.append(list(slot))
        choices.append(choice)
        starts.append(begins)
    tail = np.append(np.cumsum(scores[::-1, 0])[::-1], 0.0)  # blanks to the end
    time = int(np.argmax(entry + tail))
    if not np.isfinite(entry[time]):
        return []
    result = []
    for names, choice, begins in zip(words[::-1], choices[::-1], starts[::-1], strict=True):
        result.append(names[choice[time]])
        time = begins[time, choice[time]]
    return result[::-1]


@njit(cache=True)
def _walk(
    scores: np.ndarray, chains: np.ndarray, lengths: np.ndarray, entry: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Find the best score of having ended each word after t steps, and the time at which it was
    entered.

    entry[t]: best score of being free to start a word after t steps. Returns two (U + 1, words).
    """
    steps, n_words = len(scores), len(chains)
    ends = np.full((steps + 1, n_words), -np.inf, np.float32)
    begins = np.zeros((steps + 1, n_words), np.int64)
    for word in range(n_words):
        length = lengths[word]
        state = np.full(length, -np.inf, np.float32)
        since = np.zeros(length, np.int64)
        for t in range(steps):
            for j in range(length - 1, -1, -1):
                best, begin = state[j], since[j]
                if j >= 1 and state[j - 1] > best:
                    best, begin = state[j - 1], since[j - 1]
                skips = j >= 3 and j % 2 == 1 and chains[word, j] != chains[word, j - 2]
                if skips and state[j - 2] > best:
                    best, begin = state[j - 2], since[j - 2]
                if j <= 1 and entry[t] > best:
                    best, begin = entry[t], t
                state[j] = best + scores[t, chains[word, j]]
                since[j] = begin
            ends[t + 1, word] = state[length - 1]
            begins[t + 1, word] = since[length - 1]
    return ends, begins
