"""The recordings of the evaluation, with their words and speakers."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np

from earshot.core.errors import InputError
from training.common.corpora import Item, waveforms
from training.common.zero_shot import is_zero_shot
from training.words.data.recordings import phonemes_of, word_items

FILES: Final = 10  # fewest files that a sample is drawn from, where there are as many


@dataclass(frozen=True)
class WordType:
    """A word by its pronunciation: homophones ("two", "too") are one word, but not across
    languages."""

    language: str
    phonemes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Recording:
    """A recorded word with its waveform (T,) at 16 kHz.

    speaker: unique over all corpora; unknown speakers of a corpus count as one.
    """

    word: WordType
    speaker: str
    waveform: np.ndarray


@dataclass(frozen=True)
class TestSet:
    """N recordings, the M written words of all corpora, and masks that select them.

    test (N,): recordings of the split, of any word; of_zero_shot (N,): recordings of zero-shot
    words, by any speaker; zero_shot (M,): the zero-shot words.
    """

    recordings: list[Recording]
    vocabulary: list[WordType]
    test: np.ndarray
    of_zero_shot: np.ndarray
    zero_shot: np.ndarray

    def __str__(self) -> str:
        chosen = self.labels[self.test]
        speakers = len(set(self.speakers[self.test]))
        return (
            f"{len(chosen)} recordings of {len(set(chosen))} words by {speakers} speakers; "
            f"{self.of_zero_shot.sum()} recordings of {self.zero_shot.sum()} zero-shot words; "
            f"{len(self.vocabulary)} written words."
        )

    @cached_property
    def labels(self) -> np.ndarray:
        """Find the index of each recording's word in the vocabulary: (N,)."""
        indices = {word: index for index, word in enumerate(self.vocabulary)}
        return np.array([indices[recording.word] for recording in self.recordings])

    @cached_property
    def speakers(self) -> np.ndarray:
        """List the speaker of each recording: (N,)."""
        return np.array([recording.speaker for recording in self.recordings])

    @cached_property
    def languages(self) -> np.ndarray:
        """List the language of each recording: (N,)."""
        return np.array([recording.word.language for recording in self.recordings])


def select_test_set(data: Path, split: str, limit: int | None = None) -> TestSet:
    """Select the recordings of a split; with a limit, a seeded sample of at most so many recordings
    of each kind.

    split: ``test``, without speakers who are also in another split, or ``all``: every recording.
    Raises SystemExit where there is nothing to measure.
    """
    items, words, of_zero_shot = _read(data)
    test = _in_split(items, split)
    zero_shot = {word for word, held_out in zip(words, of_zero_shot, strict=True) if held_out}
    if not test.any():
        raise SystemExit(f"{data} has no words by test speakers: try --split all.")
    if limit:
        test, of_zero_shot = (_sample(kind, items, limit) for kind in (test, of_zero_shot))
    vocabulary = sorted(set(words), key=lambda word: (word.language, word.phonemes))
    rows = np.flatnonzero(test | of_zero_shot).tolist()
    loaded = waveforms([items[i] for i in rows])
    recordings = [
        Recording(words[i], f"{item.corpus} {item.speaker}", waveform)
        for i, (item, waveform) in zip(rows, loaded, strict=True)
    ]
    return TestSet(
        recordings,
        vocabulary,
        test[rows],
        of_zero_shot[rows],
        np.array([word in zero_shot for word in vocabulary]),
    )


def _read(data: Path) -> tuple[list[Item], list[WordType], np.ndarray]:
    """List all recordings of words, their words, and which of these are zero-shot."""
    items, words, of_zero_shot = [], [], []
    for item in word_items(data):
        try:
            word = WordType(item.language, phonemes_of(item))
        except (InputError, KeyError) as error:
            print(f"Skipped: {item.text} ({item.language}) /{item.phones}/: {error}")
            continue
        items.append(item)
        words.append(word)
        of_zero_shot.append(is_zero_shot(item.language, item.text, word.phonemes))
    if not items:
        raise SystemExit(f"{data} has no recordings of words.")
    return items, words, np.array(of_zero_shot)


def _in_split(items: Sequence[Item], split: str) -> np.ndarray:
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


def _sample(chosen: np.ndarray, items: Sequence[Item], limit: int) -> np.ndarray:
    """Mark at most ``limit`` of those chosen, from few files: decoding these takes longest."""
    rng = np.random.default_rng(0)
    files: dict[Path, list[int]] = {}
    for i in np.flatnonzero(chosen).tolist():
        files.setdefault(items[i].path, []).append(i)
    share = math.ceil(limit / min(FILES, len(files))) if files else 0
    drawn: list[int] = []
    for file in rng.permutation(len(files)).tolist():
        drawn += rng.permutation([*files.values()][file])[:share].tolist()
        if len(drawn) >= limit:
            break
    sample = np.zeros(len(chosen), bool)
    sample[drawn[:limit]] = True
    return sample
