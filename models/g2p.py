"""Spelling → phones: a network that reads the letters of an English word.

Shapes: B batch, L letters with an edge at each end, S slots in which a phone may stand, D width,
P phones and the blank.
"""

from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor, nn

from media.text.phonemes import ARPABET

LETTERS: Final = "abcdefghijklmnopqrstuvwxyz'"
PHONES: Final = tuple(ARPABET)  # the first is class 1 of the network
EDGE: Final = 0  # the letter before and after every word
BLANK: Final = 0  # the class of a slot without a phone


@dataclass(frozen=True)
class G2PConfig:
    """slots: places for phones beside each letter: "x" is K S, and a double phone needs a blank."""

    width: int = 160
    layers: int = 2
    slots: int = 2
    dropout: float = 0.2


class G2P(nn.Module):
    """Bidirectional LSTMs over the letters, then over slots, with CTC (Graves et al. 2006).

    Words of a batch have equally many letters, so that nothing is padded.
    """

    def __init__(self, config: G2PConfig) -> None:
        super().__init__()
        self.config = config
        width = config.width
        self.letters = nn.Embedding(len(LETTERS) + 1, width)
        self.reader = _lstm(width, width, config.layers, config.dropout)
        self.dropout = nn.Dropout(config.dropout)
        self.spread = nn.Linear(2 * width, config.slots * width)
        self.speaker = _lstm(width, width, 1, 0.0)
        self.output = nn.Linear(2 * width, len(PHONES) + 1)

    def forward(self, letters: Tensor) -> Tensor:
        """Numbers of letters (B, L) → logits (B, S, P), S = slots · L."""
        read, _ = self.reader(self.letters(letters))
        slots = self.spread(self.dropout(read)).unflatten(-1, (self.config.slots, -1))
        spoken, _ = self.speaker(slots.flatten(1, 2))
        return self.output(self.dropout(spoken))

    @torch.inference_mode()
    def pronounce(self, spelling: str) -> tuple[str, ...]:
        """The likeliest phones of a word in LETTERS, perhaps none."""
        classes = self(torch.tensor([letter_numbers(spelling)]))[0].argmax(dim=-1)
        merged = torch.unique_consecutive(classes).tolist()
        return tuple(PHONES[number - 1] for number in merged if number != BLANK)


def letter_numbers(spelling: str) -> list[int]:
    """What the network reads. Raises ValueError for a character that is not in LETTERS."""
    return [EDGE, *(LETTERS.index(letter) + 1 for letter in spelling), EDGE]


def _lstm(inputs: int, width: int, layers: int, dropout: float) -> nn.LSTM:
    return nn.LSTM(inputs, width, layers, batch_first=True, dropout=dropout, bidirectional=True)
