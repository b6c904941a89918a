"""A pretrained speech model as the acoustic view: the mean over a word of one layer's frames.

Sanabria, Tang and Goldwater (2022), arXiv:2210.16043: without any training, such vectors of HuBERT
are as good as trained acoustic word embeddings, across languages.
"""

from collections.abc import Sequence

import numpy as np

from earshot.pipelines.front_end import FrontEnd


class SpeechModelView:
    """HuBERT, WavLM or wav2vec 2.0, frozen. It has no written view."""

    def __init__(self, front_end: FrontEnd) -> None:
        self._front_end = front_end
        self.layer = front_end.layer
        self.name = f"{front_end.identifier}, layer {self.layer}"

    @classmethod
    def from_pretrained(cls, name: str, device: str = "auto") -> "SpeechModelView":
        """Load "ID" or "ID:LAYER", and raise what FrontEnd.from_pretrained raises."""
        return cls(FrontEnd.from_pretrained(name, device))

    def at(self, layer: int | str | None) -> "SpeechModelView":
        """The same model at another layer; None: the one at three quarters of the depth.

        Raises InputError for a layer that it has not.
        """
        return SpeechModelView(self._front_end.at(layer))

    def embed_waveforms(self, waveforms: Sequence[np.ndarray]) -> np.ndarray:
        """Words at 16 kHz, (T,) float32 each, trimmed to the word → unit vectors (N, D).

        One at a time: padding changes what some of these models make of a recording.
        """
        means = np.stack([self._front_end.frames(each).mean(axis=0) for each in waveforms])
        return means / np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-12)


def nearest_is_same_word(
    vectors: np.ndarray, spellings: Sequence[str], voices: Sequence[str]
) -> float:
    """Of the recordings whose word another voice says too, the share whose nearest recording by
    another voice is that word: unit vectors (N, D) → 0 to 1, NaN where there is none."""
    words, speakers = np.array(spellings), np.array(voices)
    others = speakers[:, None] != speakers
    same = words[:, None] == words
    nearest = np.where(others, vectors @ vectors.T, -np.inf).argmax(axis=1)
    known = (same & others).any(axis=1)
    return float(same[np.arange(len(words)), nearest][known].mean()) if known.any() else np.nan
