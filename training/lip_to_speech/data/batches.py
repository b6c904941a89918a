"""The prepared clips in memory, and batches of them.

Shapes: B batch, F frames of 40 ms, H side of a crop, L points of the lips, S mel frames of 10 ms,
M mel bands.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from media.audio.vtlp import WARPS, warp
from media.video.lips import RATE
from training.lip_to_speech.data.augment import disturb, middle

BALANCE: Final = 0.3  # of talkers: 0 draws each clip as often, 1 each talker
CLEAR: Final = 0.5  # of clips are seen as they are
TRACTS: Final = 0.3  # share of batches in which voices are warped
PACE: Final = (0.95, 1.05)  # of speech, one for a batch
SPLICED: Final = 0.35  # of the places between two words, at which another clip goes on
N_WORDS: Final = 6  # of a sentence of GRID
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
        return (self.pitch.clamp(min=1.0).log() - self.mean_log_pitch) * self.voiced

    @property
    def mean_log_pitch(self) -> Tensor:
        """Of the voiced frames of each clip: (B, 1)."""
        log = self.pitch.clamp(min=1.0).log() * self.voiced
        return log.sum(dim=1, keepdim=True) / self.voiced.sum(dim=1, keepdim=True).clamp(min=1)


class Clips:
    """The clips of a split: train or val."""

    def __init__(self, paths: Sequence[Path], split: str) -> None:
        """paths: files of ``prepare``, of real films and of painted ones."""
        parts = [_read(path, split) for path in paths]
        self.arrays = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        self._order()

    def _order(self) -> None:
        """Who is drawn how often, and where words change."""
        _, self._talker, count = np.unique(
            self.arrays["speaker"], return_inverse=True, return_counts=True
        )
        weights = (1.0 / count[self._talker]) ** BALANCE
        self._shares = weights / weights.sum()
        spans = self.arrays["spoken"]
        # Frames at which one word ends and the next begins: (clips, 5).
        self._changes = np.round((spans[:, :-1, 1] + spans[:, 1:, 0]) / 2 * RATE).astype(int)

    def keep(self, rows: slice) -> None:
        """These clips only."""
        self.arrays = {name: array[rows] for name, array in self.arrays.items()}
        self._order()

    def __len__(self) -> int:
        return len(self.arrays["crops"])

    def batch(self, size: int, generator: torch.Generator, clear: float = CLEAR) -> Batch:
        """Clips drawn at random, spliced into other sentences, and but for the share that is clear
        disturbed as other cameras, rooms and faces would."""
        rng = np.random.default_rng(int(torch.randint(2**31, (), generator=generator)))
        rows = rng.choice(len(self), size, p=self._shares)
        batch = self._gathered(self._spliced(rows, rng), pace=rng.uniform(*PACE))
        batch = self._filmed(batch, rng, clear)
        if rng.random() < TRACTS:
            warps = torch.from_numpy(rng.integers(0, WARPS, size))
            batch = replace(batch, log_mel=warp(batch.log_mel, warps))
        return batch

    def rows(self, first: int, last: int) -> Batch:
        """Clips in their order, as they are."""
        batch = self._whole(first, last)
        return replace(batch, crops=middle(batch.crops))

    def disturbed_rows(self, first: int, last: int, rng: np.random.Generator) -> Batch:
        """Clips in their order, disturbed."""
        return self._filmed(self._whole(first, last), rng, clear=0.0)

    def _whole(self, first: int, last: int) -> Batch:
        rows = np.arange(first, min(last, len(self)))
        return self._gathered(np.repeat(rows[:, None], N_WORDS, axis=1))

    def _filmed(self, batch: Batch, rng: np.random.Generator, clear: float) -> Batch:
        """All but the share that is clear as other cameras would show them."""
        crops, points = disturb(batch.crops, batch.points, rng)
        kept = torch.from_numpy(rng.random(len(crops)) < clear)[:, None, None, None]
        return replace(
            batch,
            crops=torch.where(kept, middle(batch.crops), crops),
            points=torch.where(kept, batch.points, points),
        )

    def _spliced(self, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """The clip of each word (B, 6): another of the talker may go on where it, too, changes
        from one word to the next. So sentences are many, and cannot be learned by heart."""
        films = np.repeat(rows[:, None], N_WORDS, axis=1)
        for row, place in np.ndindex(len(rows), N_WORDS - 1):
            if rng.random() < SPLICED:
                now = films[row, place]
                others = (self._talker == self._talker[now]) & (
                    self._changes[:, place] == self._changes[now, place]
                )
                films[row, place + 1 :] = rng.choice(np.flatnonzero(others))
        return films

    def _gathered(self, films: np.ndarray, pace: float = 1.0) -> Batch:
        """What the clip of each word (B, 6) shows and says while it is said, so much faster."""
        words = np.arange(N_WORDS)
        times = np.arange(self.arrays["crops"].shape[1])
        changes = self._changes[films[:, :-1], words[:-1]]
        shown = np.take_along_axis(films, (times[:, None] >= changes[:, None]).sum(axis=2), axis=1)
        heard, hops = np.repeat(shown, 4, axis=1), np.arange(4 * len(times))
        frames = round(len(times) / pace)
        numbers = torch.from_numpy(self.arrays["words"][films, words]).long() + 1
        return Batch(
            crops=_paced(self._pictures(shown, times), frames),
            points=_paced(self._floats("points", shown, times), frames),
            log_mel=_paced(self._floats("log_mel", heard, hops), 4 * frames),
            # Of two pitches only one: between a voiced and an unvoiced frame there is none.
            pitch=F.interpolate(
                self._floats("pitch", heard, hops)[:, None], size=4 * frames, mode="nearest"
            )[:, 0],
            words=numbers,
            spoken=_spoken(self._floats("spoken", films, words) * RATE / pace, numbers, frames),
        )

    def _pictures(self, films: np.ndarray, places: np.ndarray) -> Tensor:
        return self._floats("crops", films, places) / 255

    def _floats(self, name: str, films: np.ndarray, places: np.ndarray) -> Tensor:
        return torch.from_numpy(self.arrays[name][films, places].astype(np.float32))


def _spoken(spans: Tensor, words: Tensor, frames: int) -> Tensor:
    """The word of (B, 6) that is said in each frame, by their spans (B, 6, 2) in frames: (B, F)."""
    times = torch.arange(frames) + 0.5
    within = (spans[..., :1] <= times) & (times < spans[..., 1:])
    return (within * words[:, :, None]).amax(dim=1)


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
