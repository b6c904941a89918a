"""The prepared words in memory, and batches of them.

Shapes: N words, B batch, S frames of 10 ms, M mel bands, P phonemes.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import Tensor

from training.words.data.augment import as_recorded, disturb
from training.words.data.concatenation import Splices, Take, Word

TAKES: Final = 2  # recordings of each word in a batch
LONGEST: Final = 170  # frames of a word that are heard
CHUNKS: Final = 4  # of a batch, of words of like length, so that little is padding


@dataclass(frozen=True)
class Mixture:
    """What a batch is made of. recorded: share of its words that people said, where there are
    enough; spliced: put together from two that a talker said; dressed: share of the synthetic ones
    that sound as if they were recorded; exchanged: of the recorded ones that sound as if they were
    recorded where another was; narrow, smooth: see augment.disturb."""

    recorded: float = 0.3
    spliced: float = 0.35
    dressed: float = 0.0
    exchanged: float = 0.0
    narrow: float = 0.15
    smooth: float = 0.0


MIXTURE: Final = Mixture()


@dataclass(frozen=True)
class Batch:
    """Words, TAKES recordings of each: chunks of mel (b, S, M) with lengths (b,), in the order of
    the rows of types (B,): the place of each recording's word in phonemes (W, P), W words."""

    chunks: list[tuple[Tensor, Tensor]]
    types: Tensor
    phonemes: Tensor
    phoneme_lengths: Tensor


class Words:
    """Every recorded and synthetic word of a run, but those to leave out.

    left_out: phonemes of words that this training shall not hear; validation speakers never are
    heard. shards: how many of the synthetic arrays are read.
    """

    def __init__(
        self,
        run: Path,
        shards: int,
        left_out: Collection[Word] = (),
        mixture: Mixture = MIXTURE,
    ) -> None:
        self._mixture = mixture
        paths = [run / "recorded.npz", *(run / f"synthetic-{i}.npz" for i in range(shards))]
        self.frames: list[np.ndarray] = []
        self.offsets: list[tuple[int, int, int]] = []  # part, first and last frame
        self.recorded: dict[Word, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
        self.synthetic: dict[Word, list[int]] = defaultdict(list)
        # Number, word, speaker and language of each recording of validation speakers.
        self.validation: list[tuple[int, Word, str, int]] = []
        self.noise = np.load(run / "noise.npz")["frames"]
        takes: list[tuple[int, Word, str, int]] = []
        for part, path in enumerate(paths):
            arrays = np.load(path)
            self.frames.append(arrays["frames"])
            ends = np.cumsum(arrays["lengths"])
            rows = zip(
                ends - arrays["lengths"],
                ends,
                arrays["phonemes"].tolist(),
                arrays["speakers"].tolist(),
                arrays["languages"].tolist(),
                arrays["validation"].tolist(),
                strict=True,
            )
            for first, last, padded, speaker, language, validation in rows:
                word = tuple(number for number in padded if number)
                number = len(self.offsets)
                self.offsets.append((part, int(first), int(last)))
                if validation:
                    self.validation.append((number, word, speaker, language))
                elif word not in left_out:
                    said = self.synthetic[word] if part else self.recorded[word][speaker]
                    said.append(number)
                    if not part:
                        takes.append((number, word, speaker, language))
        self._known = list(self.recorded)
        starts = np.load(run / "starts.npy")
        self._splices = Splices(takes, starts, left_out)
        known = {word for _, word, *_ in (*takes, *self.validation)}
        self._held = Splices(self.validation, starts, known)

    def mel(self, number: int) -> np.ndarray:
        """Frames of a word as they are: (S, M), at most LONGEST."""
        part, first, last = self.offsets[number]
        return self.frames[part][first : min(last, first + LONGEST)]

    def new(self, count: int) -> list[tuple[Word, np.ndarray]]:
        """Words that nobody recorded, put together from what validation speakers said, with their
        frames (S, M); the same ones each time. Training may have put some together too, from what
        others said."""
        rng = np.random.default_rng(0)
        drawn = (self._held.draw(1, rng) for _ in range(count))
        return [(word, self._spliced(take)) for word, [take] in drawn]

    def batches(self, n_words: int, generator: torch.Generator) -> Iterator[Batch]:
        """Endless batches of so many words, TAKES recordings each, every one disturbed anew."""
        rng = np.random.default_rng(int(torch.randint(2**31, (), generator=generator)))
        recorded, synthetic = list(self.recorded), list(self.synthetic)
        share = min(round(self._mixture.recorded * n_words), len(recorded))
        while True:
            spoken: dict[Word, list[np.ndarray]] = {}
            for place in rng.choice(len(recorded), share, replace=False):
                spoken[recorded[place]] = self._takes(recorded[place], rng)
            for _ in range(round(self._mixture.spliced * n_words)):
                word, takes = self._splices.draw(TAKES, rng)
                spoken.setdefault(word, [self._spliced(take) for take in takes])
            while len(spoken) < n_words:
                word = synthetic[rng.integers(len(synthetic))]
                spoken.setdefault(word, self._takes(word, rng))
            yield self._batch(spoken, rng)

    def _takes(self, word: Word, rng: np.random.Generator) -> list[np.ndarray]:
        if word in self.recorded:
            # By talkers, not by recordings: nine in ten of many words are by the same one.
            said = list(self.recorded[word].values())
            pools = [said[i] for i in rng.choice(len(said), TAKES, replace=len(said) < TAKES)]
            if word in self.synthetic:  # now and then by a synthetic voice too
                pools = [self.synthetic[word] if rng.random() < 0.2 else pool for pool in pools]
        else:
            pools = [self.synthetic[word]] * TAKES
        return [self._take(pool[rng.integers(len(pool))], rng) for pool in pools]

    def _take(self, number: int, rng: np.random.Generator) -> np.ndarray:
        """The frames of a word (S, M), perhaps as if it were recorded where another was."""
        synthetic = self.offsets[number][0] > 0
        share = self._mixture.dressed if synthetic else self._mixture.exchanged
        if not share or rng.random() >= share:
            return self.mel(number)
        said = list(self.recorded[self._known[rng.integers(len(self._known))]].values())
        pool = said[rng.integers(len(said))]
        return as_recorded(self.mel(number), self.mel(pool[rng.integers(len(pool))]), rng)

    def _spliced(self, take: Take) -> np.ndarray:
        one, until, other, since = take
        return np.concatenate([self.mel(one)[:until], self.mel(other)[since:]])[:LONGEST]

    def _batch(self, spoken: dict[Word, list[np.ndarray]], rng: np.random.Generator) -> Batch:
        takes = [(mel, place) for place, mels in enumerate(spoken.values()) for mel in mels]
        takes.sort(key=lambda take: len(take[0]))
        size = -(-len(takes) // CHUNKS)
        chunks = [
            disturb(
                [mel for mel, _ in takes[i : i + size]],
                self.noise,
                self._mixture.narrow,
                rng,
                self._mixture.smooth,
            )
            for i in range(0, len(takes), size)
        ]
        types = torch.tensor([place for _, place in takes])
        return Batch(chunks, types, *padded(list(spoken)))


def padded(words: list[Word]) -> tuple[Tensor, Tensor]:
    """Phoneme numbers (W, P), padded with 0, and their lengths (W,)."""
    numbers = torch.zeros(len(words), max(map(len, words)), dtype=torch.long)
    for row, word in zip(numbers, words, strict=True):
        row[: len(word)] = torch.tensor(word)
    return numbers, torch.tensor([len(word) for word in words])
