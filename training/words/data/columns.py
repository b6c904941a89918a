"""Words as arrays of frames, with what is known of each."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np

from earshot.media.audio.pitch import log_mel_and_pitch
from earshot.media.text.phonemes import numbers

MAX_PHONEMES: Final = 30  # phonemes of a recorded phrase, at most
LANGUAGES: Final = ("en", "ar", "zh")

Frames = Callable[[np.ndarray], np.ndarray]


@dataclass
class Columns:
    """The columns of the arrays: words with their frames, phonemes, speaker, language, split.

    frames_of: waveform (T,) → frames; of 10 ms (S, N_MELS + 1), or those of a front end.
    """

    frames_of: Frames = log_mel_and_pitch
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
