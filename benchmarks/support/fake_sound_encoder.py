"""A sound encoder without a network: the octaves in which a sound has its energy, and their names.

Texts are known by words ("low tone", "high or middle"), so that tests of search mean something.
"""

import math
import re
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from earshot.media.audio.load import wav_bytes
from earshot.sound_index.embedding import AudioEmbedding

RATE = 8_000
EDGES = (0, 200, 400, 800, 1600, 4000)  # Hz
WORDS = ("deep", "low", "middle", "high", "shrill")
FREQUENCY = (100, 300, 600, 1200, 2500)  # Hz, of each word


class FakeEncoder:
    """An encoder whose vectors have a dimension an octave, and one for words that mean nothing
    here.
    """

    name = "octaves"
    sample_rate = RATE
    dimension = len(WORDS) + 1
    threshold = 0.5
    own_threshold = 0.4

    def __init__(self, fingerprint: str = "fake", delay: float = 0.0) -> None:
        self.fingerprint = fingerprint
        self.delay = delay  # seconds an embedding takes
        self.calls = 0

    def segments(self, waveform: np.ndarray) -> np.ndarray:
        n_segments = max(1, math.ceil(len(waveform) / (10 * RATE)))
        length = max(RATE, math.ceil(len(waveform) / n_segments))
        padded = np.pad(waveform, (0, n_segments * length - len(waveform)))
        return padded.reshape(n_segments, length)

    def embed_audio(self, segments: np.ndarray) -> AudioEmbedding:
        self.calls += 1
        time.sleep(self.delay)
        n_seconds = math.ceil(segments.shape[1] / RATE)
        padded = np.pad(segments, ((0, 0), (0, n_seconds * RATE - segments.shape[1])))
        power = np.abs(np.fft.rfft(padded.reshape(len(segments), n_seconds, RATE))) ** 2
        bands = np.stack([power[..., a:b].sum(-1) for a, b in zip(EDGES, EDGES[1:], strict=False)])
        per_second = np.append(np.moveaxis(bands, 0, -1), np.full((*bands.shape[1:], 1), 1e-3), -1)
        return AudioEmbedding(unit(per_second.sum(axis=1)), unit(per_second))

    def embed_text(self, texts: Sequence[str]) -> np.ndarray:
        vectors = np.zeros((len(texts), self.dimension))
        for vector, text in zip(vectors, texts, strict=True):
            for word in re.findall(r"\w+", text.lower()):
                vector[WORDS.index(word) if word in WORDS else -1] += 1 if word in WORDS else 0.1
        return unit(vectors)


def unit(vectors: np.ndarray) -> np.ndarray:
    return (vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)).astype(np.float32)


def tone(*words: str, seconds: float = 2.0, level: float = 0.3) -> np.ndarray:
    """Make tones of these octaves, one after the other, each as long: (T,)."""
    clock = np.arange(round(seconds * RATE)) / RATE
    frequencies = [FREQUENCY[WORDS.index(word)] for word in words]
    return np.concatenate([level * np.sin(2 * np.pi * f * clock) for f in frequencies])


def write_tone(path: Path, *words: str, seconds: float = 2.0, level: float = 0.3) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(wav_bytes(tone(*words, seconds=seconds, level=level), RATE))
    return path
