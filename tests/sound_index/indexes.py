"""Vectors to search, what an index finds, and what its folder holds."""

from pathlib import Path

import numpy as np

from earshot.sound_index.index import SoundIndex


def clusters(count: int, dimension: int = 32) -> np.ndarray:
    """Unit vectors around fifty centres: (count, dimension)."""
    generator = np.random.default_rng(0)
    centres = generator.normal(size=(50, dimension))
    vectors = centres[generator.integers(50, size=count)]
    vectors = vectors + 0.5 * generator.normal(size=vectors.shape)
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def names(index: SoundIndex, text: str, limit: int = 10) -> list[str]:
    query = index.encoder.embed_text([text])[0]
    return [sound.name for sound, _, _ in index.search(query, limit)]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}
