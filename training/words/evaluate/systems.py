"""The systems that are measured: two old ways to compare recordings, and our embeddings.

Letters: N recordings, M written words, S frames, D dimensions, F frames of all recordings.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
from numba import njit, prange

from media.audio.dtw import mfcc_frames, path_mean
from pipelines.checkpoint import read_config
from pipelines.words import Words
from training.words.evaluate.material import WordType

DEFAULT_NAME: Final = "words"  # of the checkpoint that is shipped
FRAMES: Final = 10


class System(Protocol):
    """Hears recordings, and says how alike any two of them are."""

    name: str
    shipped: bool
    most: int | None  # recordings of which all pairs can be compared in reasonable time
    temperature: float | None  # of the softmax over written words, where there is one

    def hear(self, waveforms: Sequence[np.ndarray]) -> Any:
        """What it keeps of recordings, (T,) each at 16 kHz."""
        ...

    def similarity(self, heard: Any) -> np.ndarray:
        """How alike each pair is: (N, N), of which the upper triangle counts."""
        ...

    def spell(self, heard: Any, words: Sequence[WordType]) -> np.ndarray | None:
        """How well each recording fits each written word: (N, M); None where it cannot tell."""
        ...


class TimeWarping:
    """Dynamic time warping of MFCC: 1 less the mean of the frames' cosine distances."""

    name = "MFCC + DTW"
    shipped = False
    most: int | None = 2500
    temperature: float | None = None

    def hear(self, waveforms: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Frames (S, D) of each."""
        return [mfcc_frames(waveform).astype(np.float32) for waveform in waveforms]

    def similarity(self, heard: list[np.ndarray]) -> np.ndarray:
        """1 − distance, (N, N); 0 below the diagonal."""
        frames = np.concatenate(heard)
        ends = np.cumsum([len(one) for one in heard])
        similarity = np.zeros((len(heard), len(heard)), np.float32)
        for i, one in enumerate(heard[:-1]):
            distances = 1 - frames[ends[i] :] @ one.T
            similarity[i, i + 1 :] = 1 - path_means(distances, ends[i:] - ends[i])
        return similarity

    def spell(self, heard: list[np.ndarray], words: Sequence[WordType]) -> None:
        """It knows no written words."""


class TenFrames:
    """The cosine of MFCC at ten places, evenly spaced."""

    name = f"MFCC, {FRAMES} frames"
    shipped = False
    most: int | None = None
    temperature: float | None = None

    def hear(self, waveforms: Sequence[np.ndarray]) -> np.ndarray:
        """Unit vectors (N, 390)."""
        return np.stack([_at_ten_places(mfcc_frames(waveform)) for waveform in waveforms])

    def similarity(self, heard: np.ndarray) -> np.ndarray:
        """Cosines (N, N)."""
        return heard @ heard.T

    def spell(self, heard: np.ndarray, words: Sequence[WordType]) -> None:
        """It knows no written words."""


class Embedding:
    """One of our checkpoints, on the path of the app."""

    most: int | None = None

    def __init__(self, folder: Path) -> None:
        self.name = folder.name
        self.shipped = folder.name == DEFAULT_NAME
        self.temperature: float | None = read_config(folder).get("temperature")
        self._words = Words.from_pretrained(folder)

    def hear(self, waveforms: Sequence[np.ndarray]) -> np.ndarray:
        """Unit vectors (N, D)."""
        return self._words.embed_waveforms(list(waveforms))

    def similarity(self, heard: np.ndarray) -> np.ndarray:
        """Cosines (N, N)."""
        return heard @ heard.T

    def spell(self, heard: np.ndarray, words: Sequence[WordType]) -> np.ndarray:
        """Cosines (N, M)."""
        return heard @ self._words.embed_phonemes([word.phonemes for word in words]).T


def systems(folders: Sequence[Path]) -> list[System]:
    """The old ways, and each checkpoint that is there; which ones are not is printed."""
    found: list[System] = [TimeWarping(), TenFrames()]
    for folder in folders:
        if (folder / "config.json").exists():
            found.append(Embedding(folder))
        else:
            print(f"There is no checkpoint in {folder}: its row is left out.")
    return found


@njit(cache=True, parallel=True)
def path_means(distances: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """One recording of S frames against others, one after another: (F, S) → (N,).

    ends (N + 1,): where each begins, and the last one ends.
    """
    means = np.empty(len(ends) - 1, np.float32)
    for k in prange(len(means)):
        means[k] = path_mean(distances[ends[k] : ends[k + 1]])
    return means


def _at_ten_places(frames: np.ndarray) -> np.ndarray:
    """(S, D) → a unit vector (FRAMES · D,), linear between frames."""
    places = np.linspace(0, len(frames) - 1, FRAMES)
    before = np.minimum(places.astype(int), len(frames) - 2)
    share = (places - before)[:, None]
    vector = ((1 - share) * frames[before] + share * frames[before + 1]).ravel()
    return (vector / max(float(np.linalg.norm(vector)), 1e-6)).astype(np.float32)
