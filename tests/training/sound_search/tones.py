"""Classes of sounds that are tones, and an encoder that hears them."""

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from earshot.sound_index.embedding import AudioEmbedding

TONES = {"dog": 500, "cat": 1000, "sea_waves": 2000, "wind": 4000}  # Hz
RATE = 16_000
QUESTIONS = {
    "dog": ("a dog barks", "woof"),
    "cat": ("a cat meows", "purr"),
    "sea_waves": ("sea waves roll", "surf"),
    "wind": ("the wind blows", "gale"),
    "spaceship": ("a spaceship lands", "ufo"),
}


def one_hot(texts: Sequence[str]) -> np.ndarray:
    """Vectors with a one for each tone whose class or keyword is in the text."""
    words = {label: (label.split("_")[0], QUESTIONS[label][1]) for label in TONES}
    vectors = [[float(any(w in text for w in words[label])) for label in TONES] for text in texts]
    return np.array(vectors) / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1)


class ToneEncoder:
    """An encoder of the tones, or an ensemble; members with "deaf" in their name give zeros."""

    def __init__(self, names: list[str]) -> None:
        self.sample_rate = RATE
        self.threshold = self.own_threshold = 0.5
        self.fingerprint = "ear"
        self.name = " + ".join(names)
        self.dimension = len(TONES) * len(names)
        self._gains = np.array([float("deaf" not in name) for name in names])

    @classmethod
    def from_pretrained(cls, folders: Sequence[Path]) -> "ToneEncoder":
        return cls([folder.name for folder in folders])

    def segments(self, waveform: np.ndarray) -> np.ndarray:
        return waveform[None]

    def embed_audio(self, segments: np.ndarray) -> AudioEmbedding:
        whole = self._each(self._amplitudes(segments))
        seconds = [self._each(self._amplitudes(s.reshape(-1, RATE))) for s in segments]
        return AudioEmbedding(whole, np.stack(seconds))

    def _amplitudes(self, sounds: np.ndarray) -> np.ndarray:
        spectrum = np.abs(np.fft.rfft(sounds, axis=1))
        bins = [round(hertz * sounds.shape[1] / RATE) for hertz in TONES.values()]
        return spectrum[:, bins] / np.linalg.norm(spectrum[:, bins], axis=1, keepdims=True)

    def embed_text(self, texts: Sequence[str]) -> np.ndarray:
        return self._each(one_hot(texts))

    def _each(self, vectors: np.ndarray) -> np.ndarray:
        parts = [gain * vectors for gain in self._gains]
        return np.concatenate(parts, axis=1) / np.sqrt(len(parts))


def write_manifest(folder: Path, rows: list[dict]) -> None:
    with (folder / "manifest.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, ["path", "set", "label", "fold"])
        writer.writeheader()
        writer.writerows(rows)
