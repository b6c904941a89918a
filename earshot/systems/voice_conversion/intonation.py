"""The intonation of speech in few bits: its voicing and its log-F0 contour.

Shapes: S frames of 10 ms, U = S / 2 steps of 20 ms, P = ceil(U / 2) points of 40 ms.
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from earshot.pretrained.voice import pitch_statistics

FRAMES_PER_STEP: Final = 2
STEPS_PER_POINT: Final = 2
LEVELS: Final = 64
RANGE: Final = 3.2  # standard deviations to each side of the mean
BITS_PER_SECOND: Final = 50 + 25 * 6.0  # the voicing of each step; one of 64 levels of each point


@dataclass(frozen=True, eq=False)
class Intonation:
    """The intonation of speech. voiced: bool (U,); log_f0: float32 (U,), relative to the speaker's
    mean and in the speaker's standard deviations, interpolated where unvoiced.
    """

    voiced: np.ndarray
    log_f0: np.ndarray

    @classmethod
    def of(cls, pitch: np.ndarray, statistics: tuple[float, float] | None = None) -> "Intonation":
        """Quantise an F0 contour in Hz (S,), S even, 0 where unvoiced, to BITS_PER_SECOND.

        statistics: mean and standard deviation of the speaker's log-F0, where they are not those
        of the contour.
        """
        frames = np.arange(len(pitch))
        voiced = pitch > 0
        mean, std = statistics or pitch_statistics(pitch)
        relative = np.zeros(len(pitch))
        if voiced.any():
            relative = (np.interp(frames, frames[voiced], np.log(pitch[voiced])) - mean) / std
        steps = relative.reshape(-1, FRAMES_PER_STEP).mean(axis=1)
        padded = np.pad(steps, (0, -len(steps) % STEPS_PER_POINT), mode="edge")
        points = padded.reshape(-1, STEPS_PER_POINT).mean(axis=1)
        levels = np.round((points / RANGE + 1) / 2 * (LEVELS - 1)).clip(0, LEVELS - 1)
        centres = STEPS_PER_POINT * np.arange(len(points)) + (STEPS_PER_POINT - 1) / 2
        quantized = (2 * levels / (LEVELS - 1) - 1) * RANGE
        return cls(
            np.asarray(voiced.reshape(-1, FRAMES_PER_STEP).any(axis=1)),
            np.interp(np.arange(len(steps)), centres, quantized).astype(np.float32),
        )

    def at(self, steps: np.ndarray | slice) -> "Intonation":
        """Take the intonation of the steps with these indices, one after the other."""
        return Intonation(self.voiced[steps], self.log_f0[steps])

    def then(self, other: "Intonation") -> "Intonation":
        """Append another intonation."""
        return Intonation(
            np.append(self.voiced, other.voiced), np.append(self.log_f0, other.log_f0)
        )

    def contour(self, pitch_std: float) -> np.ndarray:
        """Compute voicing (0 or 1) and log-F0 relative to the mean of a voice with this standard
        deviation, as the inverter takes them: float32 (S, 2).
        """
        voiced = np.repeat(self.voiced, FRAMES_PER_STEP)
        centres = FRAMES_PER_STEP * np.arange(len(self.log_f0)) + (FRAMES_PER_STEP - 1) / 2
        relative = np.interp(np.arange(len(voiced)), centres, self.log_f0) * pitch_std
        return np.stack([voiced, voiced * relative], axis=1).astype(np.float32)

    def document(self) -> dict[str, Any]:
        """Write the intonation for a JSON file; from_document reads it."""
        return {"voiced": self.voiced.astype(int).tolist(), "log_f0": _rounded(self.log_f0)}

    @classmethod
    def from_document(cls, document: Any, steps: int) -> "Intonation":
        """Read an intonation. Raises ValueError, TypeError or KeyError unless it is one of this
        many steps.
        """
        voiced = np.array(document["voiced"], dtype=np.float32)
        log_f0 = np.array(document["log_f0"], dtype=np.float32)
        if voiced.shape != (steps,) or log_f0.shape != (steps,) or not np.isfinite(log_f0).all():
            raise ValueError("one number a step")
        return cls(voiced > 0, log_f0.clip(-RANGE, RANGE))


def _rounded(values: np.ndarray) -> list[float]:
    return values.astype(np.float64).round(3).tolist()
