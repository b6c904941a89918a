"""Clips as encoded once by a frozen visual front-end.

Training what comes after the front-end then takes many more steps in the same time.

Shapes: B batch, N frames of 40 ms, C channels of the front-end.
"""

from dataclasses import replace
from typing import Final

import numpy as np
import torch
from torch import Tensor, nn

from training.common.loop import device
from training.lip_to_speech.data.batches import CLEAN, Batch, Clips

BATCH: Final = 8  # clips that are encoded at once
TARGETS: Final = ("log_mel", "pitch", "words", "spoken", "speaker")
MASKED: Final = (1, 9)  # frames of each clip that are masked, from and below


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
    for first in range(0, len(clips), BATCH):
        last = first + BATCH
        batch = clips.augmented_rows(first, last, rng) if rng else clips.rows(first, last)
        features.append(frontend(batch.crops.to(device())).half().cpu().numpy())
    return np.concatenate(features)
