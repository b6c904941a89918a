"""A world of made-up raters of made-up systems: ratings whose truth is known."""

from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

MIDDLE = 3.4  # of the scale of 1 to 5


@dataclass(frozen=True)
class World:
    """The standard deviations on a scale of 1 to 5: how raters differ, and stimuli, how they differ
    about one system, and what remains.
    """

    raters: float = 0.5
    stimuli: float = 0.3
    tastes: float = 0.25
    fits: float = 0.3
    noise: float = 0.7

    def draw(
        self,
        rng: np.random.Generator,
        raters: int,
        stimuli: int,
        quality: np.ndarray,
    ) -> np.ndarray:
        """Draw what raters think (R, S, K) of systems of this quality (K,), not yet on a scale."""
        systems = len(quality)
        return (
            quality
            + self.raters * rng.normal(size=(raters, 1, 1))
            + self.stimuli * rng.normal(size=(stimuli, 1))
            + self.tastes * rng.normal(size=(raters, 1, systems))
            + self.fits * rng.normal(size=(stimuli, systems))
            + self.noise * rng.normal(size=(raters, stimuli, systems))
        )

    @property
    def mos(self) -> float:
        """Find the mean opinion score of a system of quality MIDDLE, over all raters and
        stimuli."""
        parts = (self.raters, self.stimuli, self.tastes, self.fits, self.noise)
        edges = np.arange(1.5, 5)
        return 1 + float(norm.sf((edges - MIDDLE) / np.linalg.norm(parts)).sum())


def on_scale(thoughts: np.ndarray) -> np.ndarray:
    """Round to whole numbers from 1 to 5."""
    return np.clip(np.round(thoughts), 1, 5)


def votes(thoughts: np.ndarray, indifference: float) -> np.ndarray:
    """Vote 1 where the first of two (..., 2) is better, 0 where the second is, 0.5 where it is
    close."""
    gap = thoughts[..., 0] - thoughts[..., 1]
    return np.where(np.abs(gap) < indifference, 0.5, (gap > 0).astype(float))
