"""A batch of words, and its composition."""

from dataclasses import dataclass
from typing import Final

from torch import Tensor

UTTERANCES: Final = 2  # of each word in a batch


@dataclass(frozen=True)
class Mixture:
    """The composition of a batch, as shares of its words.

    recorded: said by people, where there are enough such words; concatenated: from two recordings
    of one speaker; spliced: from recordings of several, in another voice, and tone_changed:
    recorded Mandarin words with other tones (see training.words.data.converted); the rest is
    synthetic speech. channel_matched: share of the synthetic utterances with the channel of a
    recording; channel_swapped: share of the recorded ones with that of another. narrow_band,
    liftered, noisy: see augment; words with tones are not liftered.
    """

    recorded: float = 0.3
    concatenated: float = 0.35
    spliced: float = 0.0
    tone_changed: float = 0.0
    channel_matched: float = 0.0
    channel_swapped: float = 0.0
    narrow_band: float = 0.15
    liftered: float = 0.0
    noisy: float = 0.4


MIXTURE: Final = Mixture()


@dataclass(frozen=True)
class Batch:
    """UTTERANCES of each of W words: chunks of mel (b, S, M) with lengths (b,); labels (B,): the
    word of each row, in the order of the chunks; phonemes (W, P) with their lengths (W,)."""

    chunks: list[tuple[Tensor, Tensor]]
    labels: Tensor
    phonemes: Tensor
    phoneme_lengths: Tensor
