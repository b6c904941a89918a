"""What word embeddings are measured on: which recordings, of which words, by whom."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np

from media.errors import InputError
from training.common.corpora import Item, waveforms
from training.words.data.recordings import phonemes_of, word_items
from training.words.data.zero_shot import is_zero_shot

FILES: Final = 10  # of which a sample consists at least, where there are so many


@dataclass(frozen=True)
class WordType:
    """A word by its sound: "two" and "too" are one, the same sounds in two languages are not."""

    language: str
    phonemes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Recording:
    """A word as somebody said it: waveform (T,) at 16 kHz.

    speaker: unique over all corpora; where it is not known, the same for the whole corpus.
    """

    word: WordType
    speaker: str
    waveform: np.ndarray


@dataclass(frozen=True)
class Material:
    """N recordings, the M written words of all corpora, and which of them belong to which measure.

    main (N,): recordings of the chosen speakers, of every word; unseen (N,): of words that are
    never trained on, by anybody. untrained (M,): which words these are.
    """

    recordings: list[Recording]
    vocabulary: list[WordType]
    main: np.ndarray
    unseen: np.ndarray
    untrained: np.ndarray

    def __str__(self) -> str:
        chosen = self.labels[self.main]
        speakers = len(set(self.speakers[self.main]))
        return (
            f"{len(chosen)} recordings of {len(set(chosen))} words by {speakers} speakers; "
            f"{self.unseen.sum()} recordings of {self.untrained.sum()} words never trained on; "
            f"{len(self.vocabulary)} written words."
        )

    @cached_property
    def labels(self) -> np.ndarray:
        """The place of each recording's word in the vocabulary: (N,)."""
        places = {word: place for place, word in enumerate(self.vocabulary)}
        return np.array([places[recording.word] for recording in self.recordings])

    @cached_property
    def speakers(self) -> np.ndarray:
        """(N,)"""
        return np.array([recording.speaker for recording in self.recordings])

    @cached_property
    def languages(self) -> np.ndarray:
        """(N,)"""
        return np.array([recording.word.language for recording in self.recordings])


def choose(data: Path, split: str, most: int | None = None) -> Material:
    """The material of a split; of each kind of recordings at most so many, seeded.

    split: ``test``, of which those speakers count who are in no other split, or ``all``: every
    recording. Raises SystemExit where there is nothing to measure.
    """
    items, words, untrained = _read(data)
    main, unseen = _chosen(items, split), untrained
    if not main.any():
        raise SystemExit(f"{data} has no words by test speakers: try --split all.")
    if most:
        main, unseen = (_sample(kind, items, most) for kind in (main, unseen))
    vocabulary = sorted(set(words), key=lambda word: (word.language, word.phonemes))
    rare = {word for word, held in zip(words, untrained, strict=True) if held}
    kept = np.flatnonzero(main | unseen).tolist()
    heard = waveforms([items[i] for i in kept])
    recordings = [
        Recording(words[i], f"{item.corpus} {item.speaker}", waveform)
        for i, (item, waveform) in zip(kept, heard, strict=True)
    ]
    return Material(
        recordings,
        vocabulary,
        main[kept],
        unseen[kept],
        np.array([word in rare for word in vocabulary]),
    )


def _read(data: Path) -> tuple[list[Item], list[WordType], np.ndarray]:
    """All recordings of words, their types, and which are of words never trained on."""
    items, words, untrained = [], [], []
    for item in word_items(data):
        try:
            word = WordType(item.language, phonemes_of(item))
        except (InputError, KeyError) as error:
            print(f"Left out: {item.text} ({item.language}) /{item.phones}/: {error}")
            continue
        items.append(item)
        words.append(word)
        untrained.append(is_zero_shot(item.language, item.text, word.phonemes))
    if not items:
        raise SystemExit(f"{data} has no recordings of words.")
    return items, words, np.array(untrained)


def _chosen(items: Sequence[Item], split: str) -> np.ndarray:
    if split == "all":
        return np.ones(len(items), bool)
    elsewhere = {(item.corpus, item.speaker) for item in items if item.split != split}
    return np.array(
        [
            item.split == split
            and item.speaker is not None
            and (item.corpus, item.speaker) not in elsewhere
            for item in items
        ]
    )


def _sample(chosen: np.ndarray, items: Sequence[Item], most: int) -> np.ndarray:
    """At most so many of those chosen, of few files, as it takes longest to decode these."""
    rng = np.random.default_rng(0)
    files: dict[Path, list[int]] = {}
    for i in np.flatnonzero(chosen).tolist():
        files.setdefault(items[i].path, []).append(i)
    share = math.ceil(most / min(FILES, len(files))) if files else 0
    drawn: list[int] = []
    for file in rng.permutation(len(files)).tolist():
        drawn += rng.permutation([*files.values()][file])[:share].tolist()
        if len(drawn) >= most:
            break
    kept = np.zeros(len(chosen), bool)
    kept[drawn[:most]] = True
    return kept
