"""Prepared arrays of a few made-up words, and seeded numbers, for tests of the training."""

from pathlib import Path

import numpy as np

from earshot.media.audio.features import log_mel
from earshot.media.text.phonemes import from_arpabet
from training.words.frames.arrays import Columns, Frames


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def write_arrays(run: Path, frames_of: Frames = log_mel) -> None:
    """Write six words as tones, by three speakers, one of them for validation, and six synthetic
    ones."""
    words = [from_arpabet(p) for p in ("K AE T", "D AO G", "B EH D", "S IH T", "G OW", "T R IY")]
    for name, speakers in (("recorded", "abv"), ("synthetic-0", "s")):
        columns = Columns(frames_of)
        for number, word in enumerate(words):
            for speaker in speakers:
                time = np.arange(6000 + 400 * ord(speaker) % 1000) / 16_000
                wave = np.sin(2 * np.pi * (300 + 150 * number + ord(speaker)) * time)
                phonemes = word if name == "recorded" else (*word, "z")
                columns.add(0.1 * wave.astype(np.float32), phonemes, speaker, "en", speaker == "v")
        columns.write(run / f"{name}.npz")
    np.save(run / "starts.npy", np.tile(np.array([0, 10, 20], np.uint16), (18, 1)))
    np.savez(run / "noise.npz", frames=np.full((2, 500, 80), -9.0, np.float16))
