"""Made-up clips for tests of the training, and a tiny network that reads them."""

from pathlib import Path

import numpy as np

from earshot.media.text.grammar import GRID_WORDS
from earshot.models.lip_to_speech import LipReaderConfig, WordReaderConfig

TINY = LipReaderConfig(channels=(4, 8), width=16, inner=16, layers=1, heads=2, voice=8)
TINY_WORDS = WordReaderConfig(channels=(4, 8), width=8, inner=8, layers=1, heads=2, clip_share=0.5)


def write_clips(path: Path, speakers: list[str], splits: list[str]) -> None:
    rng = np.random.default_rng(0)
    count = len(speakers)
    np.savez(
        path,
        crops=rng.integers(0, 256, (count, 75, 80, 80), np.uint8),
        portraits=rng.integers(0, 256, (count, 2, 64, 64, 3), np.uint8),
        log_mel=rng.standard_normal((count, 300, 80)).astype(np.float16),
        pitch=rng.choice([0.0, 120.0], (count, 300)).astype(np.float32),
        waveform=rng.integers(-3000, 3000, (count, 48_000)).astype(np.int16),
        words=rng.integers(0, len(GRID_WORDS), (count, 6)).astype(np.int8),
        spoken=np.tile([[0.31 + 0.4 * k, 0.6 + 0.4 * k] for k in range(6)], (count, 1, 1)),
        speaker=speakers,
        split=splits,
    )
