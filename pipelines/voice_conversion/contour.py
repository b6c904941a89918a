"""A log-F0 contour in few bits: what keeping a speaker's intonation costs.

Shapes: S frames of 10 ms, U = S / 2 steps of 20 ms, P = ceil(S / 4) points of 40 ms.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from pipelines.voice_conversion.voice import pitch_statistics

FRAMES_A_STEP: Final = 2
FRAMES_A_POINT: Final = 4
LEVELS: Final = 64
RANGE: Final = 3.2  # standard deviations to each side of the mean
BITS_PER_SECOND: Final = 50 + 25 * 6.0  # voicing of a step; one of 64 levels of a point


@dataclass(frozen=True, eq=False)
class Contour:
    """voiced: bool (U,); levels: int64 (P,) of log-F0, relative to the speaker's mean and in their
    standard deviations, from -RANGE (0) to RANGE (63)."""

    voiced: np.ndarray
    levels: np.ndarray

    @classmethod
    def of(cls, pitch: np.ndarray) -> "Contour":
        """Of a contour in Hz (S,), S even, 0 where unvoiced: bridged linearly there."""
        frames = np.arange(len(pitch))
        voiced = pitch > 0
        mean, std = pitch_statistics(pitch)
        if voiced.any():
            moved = (np.interp(frames, frames[voiced], np.log(pitch[voiced])) - mean) / std
        else:
            moved = np.zeros(len(pitch))
        points = np.pad(moved, (0, -len(moved) % FRAMES_A_POINT), mode="edge")
        means = points.reshape(-1, FRAMES_A_POINT).mean(axis=1)
        levels = np.round((means / RANGE + 1) / 2 * (LEVELS - 1)).clip(0, LEVELS - 1)
        steps = np.asarray(voiced.reshape(-1, FRAMES_A_STEP).any(axis=1))
        return cls(steps, levels.astype(np.int64))

    def frames(self, pitch_std: float) -> np.ndarray:
        """Voicing (0 or 1) and relative log-F0 of a voice that moves so widely: float32 (S, 2)."""
        voiced = np.repeat(self.voiced, FRAMES_A_STEP)
        centres = FRAMES_A_POINT * np.arange(len(self.levels)) + (FRAMES_A_POINT - 1) / 2
        moved = (2 * self.levels / (LEVELS - 1) - 1) * RANGE
        relative = np.interp(np.arange(len(voiced)), centres, moved) * pitch_std
        return np.stack([voiced, voiced * relative], axis=1).astype(np.float32)
