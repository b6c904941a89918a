"""Words as arrays of frames, with what is known of each: written, read, and stacked into tensors.

Shapes: N recordings, B batch, S frames of 10 ms, M mel bands, W words, P phonemes; over a front end
frames are of 20 ms, and M is their width.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import Tensor

from earshot.media.text.phonemes import numbers
from training.words.concatenation import Utterance, Word

MAX_PHONEMES: Final = 30  # phonemes of a recorded phrase, at most
LANGUAGES: Final = ("en", "ar", "zh")

Frames = Callable[[np.ndarray], np.ndarray]


@dataclass
class Columns:
    """The columns of the arrays: words with their frames, phonemes, speaker, language, split.

    frames_of: waveform (T,) → frames; of 10 ms (S, N_MELS + 1), or those of a front end.
    """

    frames_of: Frames
    frames: list[np.ndarray] = field(default_factory=list)
    phonemes: list[list[int]] = field(default_factory=list)
    speakers: list[str] = field(default_factory=list)
    languages: list[int] = field(default_factory=list)
    validation: list[bool] = field(default_factory=list)

    def add(
        self,
        waveform: np.ndarray,
        phonemes: tuple[str, ...],
        speaker: str,
        language: str,
        validation: bool = False,
    ) -> None:
        """Append a word with its waveform (T,) at 16 kHz."""
        self.append(self.frames_of(waveform), phonemes, speaker, language, validation)

    def append(
        self,
        frames: np.ndarray,
        phonemes: tuple[str, ...],
        speaker: str,
        language: str,
        validation: bool = False,
    ) -> None:
        """Append a word with its frames (S, M)."""
        self.frames.append(frames.astype(np.float16))
        self.phonemes.append(numbers(phonemes))
        self.speakers.append(speaker)
        self.languages.append(LANGUAGES.index(language))
        self.validation.append(validation)

    def write(self, path: Path) -> None:
        """Write frames (of all words), lengths (N,), phonemes (N, MAX_PHONEMES) padded with 0,
        speakers, languages and validation (N,); ``path`` is never a half-written file."""
        padded = np.zeros((len(self.phonemes), MAX_PHONEMES), np.uint8)
        for row, word in zip(padded, self.phonemes, strict=True):
            row[: len(word)] = word
        unfinished = path.with_suffix(".new.npz")
        np.savez(
            unfinished,
            frames=np.concatenate(self.frames),
            lengths=np.array([len(f) for f in self.frames]),
            phonemes=padded,
            speakers=np.array(self.speakers),
            languages=np.array(self.languages, np.uint8),
            validation=np.array(self.validation),
        )
        unfinished.replace(path)


class Arrays:
    """The frames of the words of several files, numbered in the order in which these were read."""

    def __init__(self) -> None:
        self.files: list[np.ndarray] = []  # all frames of each file
        self._spans: list[tuple[int, int, int]] = []  # file, first and last frame

    def read(self, path: Path) -> Iterator[tuple[Utterance, bool]]:
        """Read the utterances of a file of Columns, and whether each is for validation."""
        arrays = np.load(path)
        self.files.append(arrays["frames"])
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
        for first, last, phonemes, speaker, language, validates in rows:
            word = tuple(number for number in phonemes if number)
            utterance = Utterance(len(self._spans), word, speaker, language)
            self._spans.append((len(self.files) - 1, int(first), int(last)))
            yield utterance, validates

    def file_of(self, number: int) -> int:
        """Find the file of a recording, counted from 0."""
        return self._spans[number][0]

    def frames(self, number: int) -> np.ndarray:
        """Read the frames of a recording: (S, M)."""
        file, first, last = self._spans[number]
        return self.files[file][first:last]


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
