"""Words of different lengths in one tensor.

Shapes: B batch, S frames, M mel bands, W words, P phonemes.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from training.words.data.concatenation import Word


def stacked(words: Sequence[np.ndarray]) -> tuple[Tensor, Tensor]:
    """Stack frames (S, M) of words to (B, S, M), padded with 0, and lengths (B,)."""
    lengths = torch.tensor([len(word) for word in words])
    frames = torch.zeros(len(words), int(lengths.max()), words[0].shape[1])
    for row, word in zip(frames, words, strict=True):
        row[: len(word)] = torch.from_numpy(word.astype(np.float32))
    return frames, lengths


def padded(words: list[Word]) -> tuple[Tensor, Tensor]:
    """Stack phoneme numbers of words to (W, P), padded with 0, and their lengths (W,)."""
    numbers = torch.zeros(len(words), max(map(len, words)), dtype=torch.long)
    for row, word in zip(numbers, words, strict=True):
        row[: len(word)] = torch.tensor(word)
    return numbers, torch.tensor([len(word) for word in words])
