"""Clips as a trained eye sees them.

Looked at once, they need no eye in training: what comes after it learns for many more steps in the
same time.

Shapes: B batch, F frames of 40 ms, C channels of the eye, L points of the lips.
"""

from dataclasses import replace
from typing import Final

import numpy as np
import torch
from torch import Tensor, nn

from training.common.loop import device
from training.lip_to_speech.data.batches import CLEAR, Batch, Clips

AT_ONCE: Final = 8  # clips
HEARD: Final = ("log_mel", "pitch", "words", "spoken", "speaker")
HIDDEN: Final = (1, 9)  # frames of each clip in which nothing is seen


class Seen(Clips):
    """Each clip looked at a few times: in its batches, crops are what is seen (B, F, C)."""

    def __init__(self, clips: Clips, eye: nn.Module, looks: int) -> None:
        """looks: the first at the clips as they are, the others at clips disturbed."""
        rng = np.random.default_rng(0)
        seen, points = zip(
            *(_look(clips, eye, rng if again else None) for again in range(looks)), strict=True
        )
        heard = {name: np.concatenate([clips.arrays[name]] * looks) for name in HEARD}
        self.arrays = {"crops": np.concatenate(seen), "points": np.concatenate(points), **heard}
        self._order()
        if looks > 1:
            others = (1 - CLEAR) / (looks - 1)
            self._shares *= np.repeat([CLEAR] + [others] * (looks - 1), len(clips)) * looks

    def rows(self, first: int, last: int) -> Batch:
        """Clips in their order, as they were seen."""
        return self._whole(first, last)

    def _filmed(self, batch: Batch, rng: np.random.Generator, clear: float) -> Batch:
        """A moment hidden: instead of it, the mean of what is seen of the clip."""
        seen = batch.crops.clone()
        for row in range(len(seen)):
            count = int(rng.integers(*HIDDEN))
            first = int(rng.integers(0, seen.shape[1] - count))
            seen[row, first : first + count] = batch.crops[row].mean(dim=0)
        return replace(batch, crops=seen)

    def _pictures(self, films: np.ndarray, places: np.ndarray) -> Tensor:
        return self._floats("crops", films, places)


@torch.inference_mode()
def _look(
    clips: Clips, eye: nn.Module, rng: np.random.Generator | None
) -> tuple[np.ndarray, np.ndarray]:
    """What is seen of all clips (N, F, C), and the points (N, F, L, 2), disturbed by rng if any."""
    seen, points = [], []
    for first in range(0, len(clips), AT_ONCE):
        last = first + AT_ONCE
        batch = clips.disturbed_rows(first, last, rng) if rng else clips.rows(first, last)
        seen.append(eye(batch.crops.to(device())).half().cpu().numpy())
        points.append(batch.points.half().numpy())
    return np.concatenate(seen), np.concatenate(points)
