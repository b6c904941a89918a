"""The systems that are evaluated: two baselines on MFCC, and our embeddings.

Shapes: N recordings, M written words, S frames, D dimensions, F frames of all recordings.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np

from earshot.media.audio.dtw import mfcc_frames
from earshot.pretrained.checkpoint import read_config
from earshot.systems.words import Words
from earshot.systems.words.time_warping import TimeWarping, frames
from training.words.test_set import WordType

DEFAULT_NAME: Final = "words"  # of the checkpoint that is shipped
FRAMES: Final = 10
PARTS: Final = 4  # of a word, over which states are averaged


class System(Protocol):
    """A system that encodes recordings, and measures the similarity of any two of them."""

    name: str
    shipped: bool
    max_recordings: int | None  # of which all pairs can be compared in reasonable time
    temperature: float | None  # of the softmax over written words; None without one

    def encode(self, waveforms: Sequence[np.ndarray]) -> Any:
        """Encode recordings, (T,) each at 16 kHz, as the system represents them."""
        ...

    def similarity(self, encoded: Any) -> np.ndarray:
        """Measure the similarity of each pair: (N, N), of which the upper triangle is used."""
        ...

    def similarity_to_written(self, encoded: Any, words: Sequence[WordType]) -> np.ndarray | None:
        """Measure the similarity of each recording to each written word: (N, M); None without a
        written view.
        """
        ...


class WarpingBaseline:
    """Dynamic time warping of MFCC, as the app has it; similarity: 1 − the mean cosine distance."""

    name = TimeWarping.name
    shipped = False
    max_recordings: int | None = 2500
    temperature: float | None = None

    def encode(self, waveforms: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Compute the MFCC frames (S, D) of each recording."""
        return [frames(waveform) for waveform in waveforms]

    def similarity(self, encoded: list[np.ndarray]) -> np.ndarray:
        """Compute 1 − distance, (N, N); 0 on and below the diagonal."""
        similarity = np.zeros((len(encoded), len(encoded)), np.float32)
        for i, one in enumerate(encoded[:-1]):
            similarity[i, i + 1 :] = 1 - TimeWarping().distances([one], encoded[i + 1 :])[0]
        return similarity

    def similarity_to_written(self, encoded: list[np.ndarray], words: Sequence[WordType]) -> None:
        """Return None: there is no written view."""


class AcousticVectors:
    """A system that gives recordings unit vectors, and has no written view."""

    shipped = False
    max_recordings: int | None = None
    temperature: float | None = None

    def similarity(self, encoded: np.ndarray) -> np.ndarray:
        """Compute cosines (N, N)."""
        return encoded @ encoded.T

    def similarity_to_written(self, encoded: np.ndarray, words: Sequence[WordType]) -> None:
        """Return None: there is no written view."""


class TenFrames(AcousticVectors):
    """The cosine of MFCC at ten evenly spaced times."""

    name = f"MFCC, {FRAMES} frames"

    def encode(self, waveforms: Sequence[np.ndarray]) -> np.ndarray:
        """Compute unit vectors (N, 390)."""
        return np.stack([_at_ten_times(mfcc_frames(waveform)) for waveform in waveforms])


class Embedding:
    """A checkpoint, with the preprocessing of the app."""

    max_recordings: int | None = None

    def __init__(self, folder: Path) -> None:
        self.name = folder.name
        self.shipped = folder.name == DEFAULT_NAME
        self.temperature: float | None = read_config(folder).get("temperature")
        self._words = Words.from_pretrained(folder)

    def encode(self, waveforms: Sequence[np.ndarray]) -> np.ndarray:
        """Embed recordings as unit vectors (N, D)."""
        return self._words.embed_waveforms(list(waveforms))

    def similarity(self, encoded: np.ndarray) -> np.ndarray:
        """Compute cosines (N, N)."""
        return encoded @ encoded.T

    def similarity_to_written(self, encoded: np.ndarray, words: Sequence[WordType]) -> np.ndarray:
        """Compute cosines (N, M)."""
        return encoded @ self._words.embed_phonemes([word.phonemes for word in words]).T


class PretrainedSpeech(AcousticVectors):
    """The states of a pretrained speech encoder, averaged over PARTS equal parts of a word, and
    each dimension standardised over the recordings; nothing is trained."""

    def __init__(self, name: str) -> None:
        from earshot.pretrained.speech_encoder import SpeechEncoder
        from earshot.systems.words.comparison import (
            AveragedStates,  # late, for they load transformers
        )

        self._averaged = AveragedStates(SpeechEncoder.from_pretrained(name), PARTS)
        self.name = self._averaged.name

    def encode(self, waveforms: Sequence[np.ndarray]) -> np.ndarray:
        """Embed recordings as unit vectors (N, D)."""
        from earshot.systems.words.comparison import unit

        means = self._averaged.means(waveforms)
        return unit((means - means.mean(axis=0)) / (means.std(axis=0) + 1e-6))


def systems(folders: Sequence[Path], speech_models: Sequence[str] = ()) -> list[System]:
    """Load the baselines, the pretrained speech models ("ID" or "ID:LAYER"), and each checkpoint
    that exists; missing ones are reported.
    """
    pretrained = [PretrainedSpeech(name) for name in speech_models]
    compared: list[System] = [WarpingBaseline(), TenFrames(), *pretrained]
    for folder in folders:
        if (folder / "config.json").exists():
            compared.append(Embedding(folder))
        else:
            print(f"There is no checkpoint in {folder}: its row is left out.")
    return compared


def _at_ten_times(frames: np.ndarray) -> np.ndarray:
    """Interpolate frames (S, D) linearly at ten times: a unit vector (FRAMES · D,)."""
    times = np.linspace(0, len(frames) - 1, FRAMES)
    before = np.minimum(times.astype(int), len(frames) - 2)
    share = (times - before)[:, None]
    vector = ((1 - share) * frames[before] + share * frames[before + 1]).ravel()
    return (vector / max(float(np.linalg.norm(vector)), 1e-6)).astype(np.float32)
