"""Words as averages of the states of a pretrained speech encoder, without any training.

Sanabria, Tang and Goldwater (2022), arXiv:2210.16043: such vectors of HuBERT are as good as trained
acoustic word embeddings, across languages.
"""

from collections.abc import Sequence

import numpy as np

from earshot.pretrained.speech_encoder import SpeechEncoder


class AveragedStates:
    """The mean of the encoder's states over each of equal parts of a word, one after the other. It
    has no written view."""

    def __init__(self, encoder: SpeechEncoder, parts: int = 1) -> None:
        self.encoder, self.parts = encoder, parts
        layers = ", ".join(map(str, encoder.layers))
        self.name = f"{encoder.identifier}, layer {layers}" + (
            f", {parts} parts" if parts > 1 else ""
        )

    def means(self, waveforms: Sequence[np.ndarray]) -> np.ndarray:
        """Map words at 16 kHz, (T,) float32 each, trimmed to the word → vectors (N, parts · D).

        One at a time: padding changes what some of these models make of a recording.
        """
        return np.stack([_means(self.encoder.states(each), self.parts) for each in waveforms])

    def embed_waveforms(self, waveforms: Sequence[np.ndarray]) -> np.ndarray:
        """Map words at 16 kHz, (T,) float32 each → unit vectors (N, parts · D)."""
        return unit(self.means(waveforms))


def unit(vectors: np.ndarray) -> np.ndarray:
    """Scale vectors (N, D) to length 1."""
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)


def nearest_is_same_word(
    vectors: np.ndarray, spellings: Sequence[str], voices: Sequence[str]
) -> float:
    """Measure, of the recordings whose word another voice says too, the share whose nearest
    recording by another voice is that word: unit vectors (N, D) → 0 to 1, NaN where there is none.
    """
    words, speakers = np.array(spellings), np.array(voices)
    others = speakers[:, None] != speakers
    same = words[:, None] == words
    nearest = np.where(others, vectors @ vectors.T, -np.inf).argmax(axis=1)
    known = (same & others).any(axis=1)
    return float(same[np.arange(len(words)), nearest][known].mean()) if known.any() else np.nan


def _means(states: np.ndarray, parts: int) -> np.ndarray:
    """Map states (S, D) → the means of ``parts`` parts, of one state at least: (parts · D,)."""
    starts = np.minimum(np.arange(parts) * len(states) // parts, len(states) - 1)
    ends = np.maximum((np.arange(parts) + 1) * len(states) // parts, starts + 1)
    pairs = zip(starts, ends, strict=True)
    return np.concatenate([states[start:end].mean(axis=0) for start, end in pairs])
