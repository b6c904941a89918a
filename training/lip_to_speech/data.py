"""The prepared clips in memory, and batches of them.

Shapes: B batch, F frames of 40 ms, H side of a crop, L points of the lips, S mel frames of 10 ms,
M mel bands.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from media.lips import RATE
from media.warp import WARPS, warp
from training.lip_to_speech.augment import disturb, middle

BALANCE: Final = 0.3  # of talkers: 0 draws each clip as often, 1 each talker
TRACTS: Final = 0.5  # share of batches in which voices are warped
PACE: Final = (0.9, 1.1)  # of speech, one for a batch
READ: Final = ("crops", "points", "log_mel", "pitch", "words", "spoken", "speaker")


@dataclass(frozen=True)
class Batch:
    """crops (B, F, 64, 64) from 0 to 1; points (B, F, L, 2); log_mel (B, S, M); pitch (B, S) in Hz;
    words (B, 6): numbers of words, from 1; spoken (B, F): the one that is said in each frame, or
    0."""

    crops: Tensor
    points: Tensor
    log_mel: Tensor
    pitch: Tensor
    words: Tensor
    spoken: Tensor

    @property
    def voiced(self) -> Tensor:
        """Where there is a pitch: (B, S), 1 or 0."""
        return (self.pitch > 0).float()

    @property
    def melody(self) -> Tensor:
        """Log of pitch, less its mean in the clip; 0 where there is none: (B, S)."""
        log = self.pitch.clamp(min=1.0).log()
        mean = (log * self.voiced).sum(dim=1) / self.voiced.sum(dim=1).clamp(min=1)
        return (log - mean[:, None]) * self.voiced


class Clips:
    """The clips of a split: train or val."""

    def __init__(self, paths: Sequence[Path], split: str) -> None:
        """paths: files of ``prepare``, of real films and of painted ones."""
        parts = [_read(path, split) for path in paths]
        self.arrays = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        _, talker, count = np.unique(
            self.arrays["speaker"], return_inverse=True, return_counts=True
        )
        weights = (1.0 / count[talker]) ** BALANCE
        self._shares = weights / weights.sum()

    def __len__(self) -> int:
        return len(self.arrays["crops"])

    def batch(self, size: int, generator: torch.Generator) -> Batch:
        """Clips drawn at random, disturbed as other cameras, rooms and faces would."""
        rng = np.random.default_rng(int(torch.randint(2**31, (), generator=generator)))
        rows = rng.choice(len(self), size, p=self._shares)
        crops, points = disturb(self._crops(rows), self._points(rows), rng)
        log_mel, pitch = self._floats("log_mel", rows), self._floats("pitch", rows)
        if rng.random() < TRACTS:
            log_mel = warp(log_mel, torch.from_numpy(rng.integers(0, WARPS, size)))
        pace = rng.uniform(*PACE)
        frames = round(crops.shape[1] / pace)
        return Batch(
            crops=_paced(crops, frames),
            points=_paced(points, frames),
            log_mel=_paced(log_mel, 4 * frames),
            # Of two pitches only one: between a voiced and an unvoiced frame there is none.
            pitch=F.interpolate(pitch[:, None], size=4 * frames, mode="nearest")[:, 0],
            words=self._words(rows),
            spoken=self._spoken(rows, frames),
        )

    def rows(self, first: int, last: int) -> Batch:
        """Clips in their order, as they are."""
        rows = np.arange(first, min(last, len(self)))
        return Batch(
            middle(self._crops(rows)),
            self._points(rows),
            self._floats("log_mel", rows),
            self._floats("pitch", rows),
            self._words(rows),
            self._spoken(rows, self.arrays["crops"].shape[1]),
        )

    def _crops(self, rows: np.ndarray) -> Tensor:
        return torch.from_numpy(self.arrays["crops"][rows]).float() / 255

    def _points(self, rows: np.ndarray) -> Tensor:
        return self._floats("points", rows)

    def _floats(self, name: str, rows: np.ndarray) -> Tensor:
        return torch.from_numpy(self.arrays[name][rows].astype(np.float32))

    def _words(self, rows: np.ndarray) -> Tensor:
        return torch.from_numpy(self.arrays["words"][rows]).long() + 1

    def _spoken(self, rows: np.ndarray, frames: int) -> Tensor:
        """Of a film that was given so many frames."""
        times = (np.arange(frames) + 0.5) / frames * self.arrays["crops"].shape[1] / RATE
        spans = torch.from_numpy(self.arrays["spoken"][rows])[..., None]  # (B, 6, 2, 1)
        within = (spans[:, :, 0] <= torch.from_numpy(times)) & (
            torch.from_numpy(times) < spans[:, :, 1]
        )
        return (within * self._words(rows)[:, :, None]).amax(dim=1)


def _read(path: Path, split: str) -> dict[str, np.ndarray]:
    with np.load(path) as file:
        chosen = file["split"] == split
        return {name: file[name][chosen] for name in READ}


def _paced(values: Tensor, frames: int) -> Tensor:
    """(B, S, …) → (B, frames, …), linear between."""
    if frames == values.shape[1]:
        return values
    flat = values.flatten(2).transpose(1, 2)
    paced = F.interpolate(flat, size=frames, mode="linear", align_corners=False)
    return paced.transpose(1, 2).unflatten(2, values.shape[2:])
