"""Grapheme-to-phoneme conversion of English words.

Shapes: B batch, L letters with a word boundary at each end, S output slots (a few for each letter),
P phones and the CTC blank.
"""

from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor, nn

from earshot.media.text.phonemes import ARPABET

LETTERS: Final = "abcdefghijklmnopqrstuvwxyz'"
PHONES: Final = tuple(ARPABET)  # the first is class 1 of the network
BOUNDARY: Final = 0  # the symbol before and after every word
BLANK: Final = 0  # the CTC blank: a slot without a phone


@dataclass(frozen=True)
class G2PConfig:
    """Sizes of the network. slots: output steps for each letter. One is too few: "x" is K S, and
    two equal phones need a blank between them.
    """

    width: int = 160
    layers: int = 2
    slots: int = 2
    dropout: float = 0.2


class G2P(nn.Module):
    """Bidirectional LSTMs over the letters, then over the slots, trained with CTC (Graves et al.
    2006).

    All words of a batch have the same number of letters, so that nothing is padded.
    """

    def __init__(self, config: G2PConfig) -> None:
        super().__init__()
        self.config = config
        width = config.width
        self.letters = nn.Embedding(len(LETTERS) + 1, width)
        self.letter_encoder = _lstm(width, width, config.layers, config.dropout)
        self.dropout = nn.Dropout(config.dropout)
        self.spread = nn.Linear(2 * width, config.slots * width)
        self.slot_encoder = _lstm(width, width, 1, 0.0)
        self.output = nn.Linear(2 * width, len(PHONES) + 1)

    def forward(self, letters: Tensor) -> Tensor:
        """Map letter numbers (B, L) → CTC logits (B, S, P), S = slots · L."""
        states, _ = self.letter_encoder(self.letters(letters))
        slots = self.spread(self.dropout(states)).unflatten(-1, (self.config.slots, -1))
        states, _ = self.slot_encoder(slots.flatten(1, 2))
        return self.output(self.dropout(states))

    @torch.inference_mode()
    def pronounce(self, spelling: str) -> tuple[str, ...]:
        """Predict the phones of a word in LETTERS, by greedy CTC decoding; there may be none.

        Raises ValueError for a character that is not in LETTERS.
        """
        classes = self(torch.tensor([letter_numbers(spelling)]))[0].argmax(dim=-1)
        merged = torch.unique_consecutive(classes).tolist()
        return tuple(PHONES[number - 1] for number in merged if number != BLANK)


def letter_numbers(spelling: str) -> list[int]:
    """Number the letters of a word, as the network takes them. Raises ValueError for a character
    that is not in LETTERS.
    """
    return [BOUNDARY, *(LETTERS.index(letter) + 1 for letter in spelling), BOUNDARY]


def _lstm(inputs: int, width: int, layers: int, dropout: float) -> nn.LSTM:
    return nn.LSTM(inputs, width, layers, batch_first=True, dropout=dropout, bidirectional=True)
