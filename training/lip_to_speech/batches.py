"""The prepared clips in memory, as they are or as encoded once by a frozen visual front-end, and
batches of them. After the front-end, many more steps can be trained in the same time.

Shapes: B batch, N frames of 40 ms, S mel frames of 10 ms, M mel bands, C channels of the front-end.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from earshot.media.audio.vtlp import N_FACTORS, vtlp
from earshot.media.constants import VIDEO_RATE
from training.common.loop import device, numpy_generator
from training.lip_to_speech.augment import augment, centre_crop

BALANCE: Final = 0.3  # 0 samples each clip as often, 1 each speaker
CLEAN: Final = 0.5  # share of clips that are not augmented
VTLP_SHARE: Final = 0.3  # share of batches with VTLP
PACE: Final = (0.95, 1.05)  # speed perturbation, one factor per batch
CONCATENATION_SHARE: Final = 0.35  # share of word boundaries at which another clip continues
N_WORDS: Final = 6  # of a sentence of GRID
ARRAYS: Final = ("crops", "log_mel", "pitch", "words", "spoken", "speaker")

Augmentation = Callable[[Tensor, np.random.Generator], Tensor]  # of crops, see augment
ENCODED_AT_ONCE: Final = 8  # clips that are encoded at once
TARGETS: Final = ("log_mel", "pitch", "words", "spoken", "speaker")
MASKED: Final = (1, 9)  # frames of each clip that are masked, from and below


@dataclass(frozen=True)
class Batch:
    """A batch of clips. crops (B, N, 64, 64) from 0 to 1; log_mel (B, S, M); pitch (B, S) in Hz, 0
    where unvoiced; words (B, 6): CTC classes of the words, from 1; spoken (B, N): the class of the
    word at each frame, or 0.
    """

    crops: Tensor
    log_mel: Tensor
    pitch: Tensor
    words: Tensor
    spoken: Tensor

    @property
    def voiced(self) -> Tensor:
        """Mark voiced frames with 1, others with 0: (B, S)."""
        return (self.pitch > 0).float()

    @property
    def log_f0(self) -> Tensor:
        """Compute the log-F0 contour: log F0 less its mean over the clip; 0 where unvoiced: (B,
        S).
        """
        return (self.pitch.clamp(min=1.0).log() - self.mean_log_pitch) * self.voiced

    @property
    def mean_log_pitch(self) -> Tensor:
        """Average the log F0 of the voiced frames of each clip: (B, 1)."""
        log = self.pitch.clamp(min=1.0).log() * self.voiced
        return log.sum(dim=1, keepdim=True) / self.voiced.sum(dim=1, keepdim=True).clamp(min=1)


class Clips:
    """The clips of a split: train or val."""

    def __init__(
        self, paths: Sequence[Path], split: str, augmentation: Augmentation = augment
    ) -> None:
        """Read the clips. paths: files of ``prepare``, of recorded clips and of rendered heads."""
        self._augmentation = augmentation
        parts = [_read(path, split) for path in paths]
        self.arrays = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        self._index()

    def _index(self) -> None:
        """Find the sampling probability of each clip, and its word boundaries."""
        _, self._speaker, count = np.unique(
            self.arrays["speaker"], return_inverse=True, return_counts=True
        )
        weights = (1.0 / count[self._speaker]) ** BALANCE
        self._shares = weights / weights.sum()
        spans = self.arrays["spoken"]
        # Frames at which one word ends and the next begins: (clips, 5).
        seconds = (spans[:, :-1, 1] + spans[:, 1:, 0]) / 2
        self._boundaries = np.round(seconds * VIDEO_RATE).astype(int)

    def keep(self, rows: slice | np.ndarray) -> None:
        """Keep these clips only. An array holds a bool for each."""
        self.arrays = {name: array[rows] for name, array in self.arrays.items()}
        self._index()

    def __len__(self) -> int:
        return len(self.arrays["crops"])

    def batch(self, size: int, generator: torch.Generator, clean: float = CLEAN) -> Batch:
        """Draw random clips, concatenated into new sentences; all but the share ``clean``
        augmented."""
        rng = numpy_generator(generator)
        rows = rng.choice(len(self), size, p=self._shares)
        batch = self._gathered(self._concatenated(rows, rng), pace=rng.uniform(*PACE))
        batch = self._augmented(batch, rng, clean)
        if rng.random() < VTLP_SHARE:
            factors = torch.from_numpy(rng.integers(0, N_FACTORS, size))
            batch = replace(batch, log_mel=vtlp(batch.log_mel, factors))
        return batch

    def rows(self, first: int, last: int) -> Batch:
        """Take the clips from ``first`` to ``last`` in their order, not augmented."""
        batch = self._whole(first, last)
        return replace(batch, crops=centre_crop(batch.crops))

    def augmented_rows(self, first: int, last: int, rng: np.random.Generator) -> Batch:
        """Take the clips from ``first`` to ``last`` in their order, all augmented."""
        return self._augmented(self._whole(first, last), rng, clean=0.0)

    def _whole(self, first: int, last: int) -> Batch:
        rows = np.arange(first, min(last, len(self)))
        return self._gathered(np.repeat(rows[:, None], N_WORDS, axis=1))

    def _augmented(self, batch: Batch, rng: np.random.Generator, clean: float) -> Batch:
        """Augment the crops of all but the share ``clean``."""
        crops = self._augmentation(batch.crops, rng)
        unchanged = torch.from_numpy(rng.random(len(crops)) < clean)[:, None, None, None]
        return replace(batch, crops=torch.where(unchanged, centre_crop(batch.crops), crops))

    def _concatenated(self, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw the clip of each word (B, 6): another clip of the speaker may continue where it has
        a word boundary at the same frame. New sentences prevent memorising.
        """
        clips = np.repeat(rows[:, None], N_WORDS, axis=1)
        for row, place in np.ndindex(len(rows), N_WORDS - 1):
            if rng.random() < CONCATENATION_SHARE:
                now = clips[row, place]
                others = (self._speaker == self._speaker[now]) & (
                    self._boundaries[:, place] == self._boundaries[now, place]
                )
                clips[row, place + 1 :] = rng.choice(np.flatnonzero(others))
        return clips

    def _gathered(self, clips: np.ndarray, pace: float = 1.0) -> Batch:
        """Concatenate the clips of each word (B, 6), sped up by ``pace``."""
        words = np.arange(N_WORDS)
        times = np.arange(self.arrays["crops"].shape[1])
        boundaries = self._boundaries[clips[:, :-1], words[:-1]]
        word = (times[:, None] >= boundaries[:, None]).sum(axis=2)
        rows = np.take_along_axis(clips, word, axis=1)
        mel_rows, hops = np.repeat(rows, 4, axis=1), np.arange(4 * len(times))
        frames = round(len(times) / pace)
        spans = self._floats("spoken", clips, words) * VIDEO_RATE / pace
        numbers = torch.from_numpy(self.arrays["words"][clips, words]).long() + 1
        return Batch(
            crops=_paced(self._crops(rows, times), frames),
            log_mel=_paced(self._floats("log_mel", mel_rows, hops), 4 * frames),
            # Nearest: nothing lies between a voiced and an unvoiced frame.
            pitch=F.interpolate(
                self._floats("pitch", mel_rows, hops)[:, None], size=4 * frames, mode="nearest"
            )[:, 0],
            words=numbers,
            spoken=_spoken(spans, numbers, frames),
        )

    def _crops(self, clips: np.ndarray, times: np.ndarray) -> Tensor:
        return self._floats("crops", clips, times) / 255

    def _floats(self, name: str, clips: np.ndarray, times: np.ndarray) -> Tensor:
        return torch.from_numpy(self.arrays[name][clips, times].astype(np.float32))


def _spoken(spans: Tensor, words: Tensor, frames: int) -> Tensor:
    """Find the class of the word at each frame (B, N), by words (B, 6) and spans (B, 6, 2) in
    frames.
    """
    times = torch.arange(frames) + 0.5
    within = (spans[..., :1] <= times) & (times < spans[..., 1:])
    return (within * words[:, :, None]).amax(dim=1)


def _read(path: Path, split: str) -> dict[str, np.ndarray]:
    with np.load(path) as file:
        chosen = file["split"] == split
        return {name: file[name][chosen] for name in ARRAYS}


def _paced(values: Tensor, frames: int) -> Tensor:
    """Stretch values (B, S, …) to (B, frames, …), by linear interpolation."""
    if frames == values.shape[1]:
        return values
    flat = values.flatten(2).transpose(1, 2)
    paced = F.interpolate(flat, size=frames, mode="linear", align_corners=False)
    return paced.transpose(1, 2).unflatten(2, values.shape[2:])


class EncodedClips(Clips):
    """Each clip in several augmented views; in batches, ``crops`` are features (B, N, C)."""

    def __init__(self, clips: Clips, frontend: nn.Module, views: int) -> None:
        """Encode the clips. views: of each clip; the first is not augmented, the others are."""
        rng = np.random.default_rng(0)
        features = [_encode(clips, frontend, rng if view else None) for view in range(views)]
        targets = {name: np.concatenate([clips.arrays[name]] * views) for name in TARGETS}
        self.arrays = {"crops": np.concatenate(features), **targets}
        self._index()
        if views > 1:
            others = (1 - CLEAN) / (views - 1)
            self._shares *= np.repeat([CLEAN] + [others] * (views - 1), len(clips)) * views

    def rows(self, first: int, last: int) -> Batch:
        """Take the clips from ``first`` to ``last`` in their order."""
        return self._whole(first, last)

    def _augmented(self, batch: Batch, rng: np.random.Generator, clean: float) -> Batch:
        """Mask a few frames in time: their features become the mean of the clip's."""
        features = batch.crops.clone()
        for row in range(len(features)):
            count = int(rng.integers(*MASKED))
            first = int(rng.integers(0, features.shape[1] - count))
            features[row, first : first + count] = batch.crops[row].mean(dim=0)
        return replace(batch, crops=features)

    def _crops(self, clips: np.ndarray, times: np.ndarray) -> Tensor:
        return self._floats("crops", clips, times)


@torch.inference_mode()
def _encode(clips: Clips, frontend: nn.Module, rng: np.random.Generator | None) -> np.ndarray:
    """Encode all clips by the front end as features (B, N, C), augmented where there is an rng."""
    features = []
    for first in range(0, len(clips), ENCODED_AT_ONCE):
        last = first + ENCODED_AT_ONCE
        batch = clips.augmented_rows(first, last, rng) if rng else clips.rows(first, last)
        features.append(frontend(batch.crops.to(device())).half().cpu().numpy())
    return np.concatenate(features)
