"""Words that are tones, and a system of word embeddings that hears them."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from earshot.media.text.phonemes import from_arpabet, from_ipa, from_pinyin

RATE = 16_000
# Word → its tone in Hz, which an ideal system recovers; the last two are zero-shot.
TONES = {
    ("en", "T R IY", "tree"): 400,
    ("en", "TH R IY", "three"): 600,
    ("ar", "laː", "no"): 900,
    ("zh", "yu3 yin1", "语音"): 1300,
    ("en", "B ER D", "bird"): 1900,
    ("ar", "sitta", "six"): 2700,
}
READ = {"en": from_arpabet, "ar": from_ipa, "zh": from_pinyin}
PHONEMES = [READ[language](phones) for language, phones, _ in TONES]


class FakeWords:
    """Embeds the strength of each tone; the constant one ignores the sound."""

    def __init__(self, constant: bool) -> None:
        self._constant = constant

    @classmethod
    def from_pretrained(cls, folder: Path) -> "FakeWords":
        return cls(folder.name == "words-constant")

    def embed_waveforms(self, waveforms: Sequence[np.ndarray]) -> np.ndarray:
        return np.stack([self._embed(waveform) for waveform in waveforms])

    def embed_phonemes(self, words: Sequence[Sequence[str]]) -> np.ndarray:
        return np.eye(len(TONES), dtype=np.float32)[[PHONEMES.index(tuple(w)) for w in words]]

    def _embed(self, waveform: np.ndarray) -> np.ndarray:
        if self._constant:
            return np.full(len(TONES), len(TONES) ** -0.5, np.float32)
        time = np.arange(len(waveform)) / RATE
        tones = np.exp(-2j * np.pi * np.outer([*TONES.values()], time))
        powers = np.abs(tones @ waveform)
        return (powers / np.linalg.norm(powers)).astype(np.float32)
