"""The recordings of the evaluation, with their words and speakers; and adverse conditions: additive
environmental noise, and a far microphone in a reverberant room.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np
from scipy.signal import fftconvolve

from earshot.core.errors import InputError
from earshot.media.audio.load import load
from earshot.media.constants import SAMPLE_RATE
from training.common.corpora import Item, waveforms
from training.common.sounds import ESC50, manifest_of, sound_files
from training.common.zero_shot import is_zero_shot
from training.words.recordings import phonemes_of, word_items

FILES: Final = 10  # fewest files that a sample is drawn from, where there are as many
NOISE_FOLDS: Final = frozenset({4})  # not used in training
REVERBERATION: Final = 0.5  # s, the T60 of the room
TAIL: Final = 0.25  # s kept after the word: the reverberation has fallen by 30 dB
PRE_DELAY: Final = 0.005  # s from the direct sound to the reverberation
DIGITAL_SILENCE: Final = 1e-4


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
    test = in_split(items, split)
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


def in_split(items: Sequence[Item], split: str) -> np.ndarray:
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


def noises(data: Path, folds: Collection[int] = NOISE_FOLDS) -> list[np.ndarray]:
    """Load the sounds of these folds of ESC-50, or of every fold if there are none: (T,) each at 16
    kHz.

    Empty where the data has no sounds. Digital silence at either end is trimmed.
    """
    if not manifest_of(data).exists():
        return []
    files = [file for file in sound_files(data) if file.corpus == ESC50]
    chosen = [file for file in files if file.fold in folds] or files
    clips = (load(file.path, SAMPLE_RATE).waveform for file in chosen)
    return [clip for clip in map(_audible, clips) if len(clip)]


def in_noise(waveform: np.ndarray, noise: np.ndarray, snr_db: float, start: float) -> np.ndarray:
    """Add noise to a waveform (T,) at a signal-to-noise ratio in dB over the whole word.

    noise (T',) is repeated as needed, from the share ``start`` of its length, from 0 to 1, on.
    """
    noise = np.resize(np.roll(noise, -int(start * len(noise))), len(waveform))
    ratio = _power(waveform) / max(_power(noise), 1e-12)
    mixed = waveform + np.sqrt(ratio / 10 ** (snr_db / 10)) * noise
    return _within_full_scale(mixed)


def far(waveform: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Move a waveform (T,) to a far microphone: (T + TAIL,).

    The room's impulse response is exponentially decaying white noise, with a direct-to-reverberant
    ratio of 0 dB.
    """
    time = np.arange(round(REVERBERATION * SAMPLE_RATE)) / SAMPLE_RATE
    room = rng.normal(size=len(time)) * 10 ** (-3 * time / REVERBERATION)
    room *= time >= PRE_DELAY
    room /= np.sqrt((room**2).sum())
    room[0] = 1.0  # the direct sound
    reverberant = fftconvolve(waveform, room)[: len(waveform) + round(TAIL * SAMPLE_RATE)]
    return _within_full_scale(reverberant)


def _audible(clip: np.ndarray) -> np.ndarray:
    audible = np.flatnonzero(np.abs(clip) > DIGITAL_SILENCE)
    return clip[audible[0] : audible[-1] + 1] if len(audible) else clip[:0]


def _power(waveform: np.ndarray) -> float:
    return float(np.mean(np.square(waveform, dtype=np.float64)))


def _within_full_scale(waveform: np.ndarray) -> np.ndarray:
    return (waveform / max(1.0, float(np.abs(waveform).max()))).astype(np.float32)
