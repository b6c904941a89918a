"""The prepared arrays as batches of windows, each of one speaker: torch and numpy only."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

STEP = 2  # frames: windows start at whole steps of the content encoder
# How often a corpus is drawn: wide vocabularies and the voices that are shipped come first.
SHARES = {
    "librispeech_251": 0.40,
    "studio_prompts": 0.20,
    "npvcc2016": 0.14,
    "grid": 0.10,
    "picovoice_commands": 0.06,
    "dspspeech20": 0.03,
    "arabic_speech_commands": 0.03,
    "free_spoken_digits": 0.02,
    "mandarin_syllables": 0.02,
}


@dataclass(frozen=True)
class Speakers:
    """names; mean and standard deviation of log-F0 of each (N,); last, nobody's: of everyone."""

    names: list[str]
    pitch_mean: Tensor
    pitch_std: Tensor


class Corpus:
    """Windows of the arrays of one split, read from disk as they are needed."""

    def __init__(self, folder: Path, frames: int, shares: dict[str, float] = SHARES) -> None:
        """frames: the length of the windows, all within the speech of one speaker."""
        names = ("log_bands", "log_mel", "pitch", "waveform")
        self.arrays = {n: np.load(folder / f"{n}.npy", mmap_mode="r") for n in names}
        self.frames = frames
        speaker = np.load(folder / "speaker.npy")
        corpus = np.load(folder / "corpus.npy")
        self.speaker = torch.from_numpy(speaker).long()
        self.speakers = _speakers(folder, speaker, np.asarray(self.arrays["pitch"]))
        starts = np.arange(0, len(speaker) - frames, STEP)
        starts = starts[speaker[starts] == speaker[starts + frames - 1]]
        self.starts = torch.from_numpy(starts)
        of = speaker[starts]
        order = np.argsort(of, kind="stable")
        self._order = torch.from_numpy(order)
        counts = np.bincount(of, minlength=len(self.speakers.names))
        self._first = torch.from_numpy(np.cumsum(counts) - counts)
        self._counts = torch.from_numpy(counts)
        self._weights = _weights(folder, corpus[starts], of, counts, shares)

    def draw(self, size: int, generator: torch.Generator) -> Tensor:
        """First frames of random windows: (size,)."""
        rows = torch.multinomial(self._weights, size, replacement=True, generator=generator)
        return self.starts[rows]

    def same_speaker(self, starts: Tensor, generator: torch.Generator) -> Tensor:
        """First frames of other windows by the speakers of these: (B,) → (B,)."""
        of = self.speaker[starts]
        place = torch.rand(len(of), generator=generator) * self._counts[of]
        return self.starts[self._order[self._first[of] + place.long()]]

    def every(self) -> Tensor:
        """First frames of windows that follow each other, as far as each has one speaker."""
        return self.starts[:: self.frames // STEP]

    def read(self, name: str, starts: Tensor) -> Tensor:
        """The array ``name`` in windows: float (B, frames, …), samples of waveform in [-1, 1]."""
        rows = starts.numpy()[:, None] + np.arange(self.frames)
        values = torch.from_numpy(np.asarray(self.arrays[name][rows])).float()
        return values.flatten(1) / 32767 if name == "waveform" else values


def _weights(
    folder: Path, corpus: np.ndarray, speaker: np.ndarray, counts: np.ndarray, shares: dict
) -> Tensor:
    """Of every window: by the share of its corpus, in which each speaker counts by the square
    root of how much there is of them. Double precision: there are a million windows."""
    names = (folder / "corpora.txt").read_text().split()
    weights = 1 / np.sqrt(counts[speaker])
    for number, name in enumerate(names):
        here = corpus == number
        weights[here] *= shares.get(name, 0.0) / max(weights[here].sum(), 1e-9)
    return torch.from_numpy(weights)


def _speakers(folder: Path, speaker: np.ndarray, pitch: np.ndarray) -> Speakers:
    names = (folder / "speakers.txt").read_text().split("\n")[:-1]
    voiced = pitch > 0
    log_f0, of = np.log(pitch[voiced].astype(np.float64)), speaker[voiced]
    n = np.bincount(of, minlength=len(names))
    everyone = 50.0  # frames' worth of belief in everyone's mean
    total = np.bincount(of, log_f0, len(names)) + everyone * log_f0.mean()
    mean = total / (n + everyone)
    square = np.bincount(of, (log_f0 - mean[of]) ** 2, len(names)) + everyone * 0.05
    std = np.sqrt(square / (n + everyone))
    return Speakers(names, torch.from_numpy(mean).float(), torch.from_numpy(std).float())
