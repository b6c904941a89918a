"""Train on a machine that is there for some minutes: the arrays of ``prepare`` are carried there,
speech as Opus, the rest as it is.
"""

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import numpy as np
import soundfile

from earshot.media.constants import HOP_LENGTH, SAMPLE_RATE
from training.common.loop import Budget
from training.voice_conversion.conversion import train_conversion
from training.voice_conversion.export import export
from training.voice_conversion.speech import FULL_SCALE

PIECE: Final = 30_000  # frames of a file: five minutes
QUALITY: Final = 0.952  # libsndfile's compression level: about 18 kbit/s
THREADS: Final = 16
ARRAYS: Final = ("pitch", "speaker", "corpus")
NAMES: Final = ("speakers.txt", "corpora.txt")


def pack(run: Path, out: Path) -> None:
    """Write what training needs of ``run`` below ``out``, about 2.3 kB a second of speech."""
    for split in ("train", "val"):
        (out / split).mkdir(parents=True, exist_ok=True)
        for name in NAMES:
            shutil.copy(run / split / name, out / split / name)
        arrays = {name: np.load(run / split / f"{name}.npy") for name in ARRAYS}
        np.savez_compressed(out / split / "arrays.npz", **arrays)
        waveform = np.load(run / split / "waveform.npy", mmap_mode="r")
        pieces = [waveform[start : start + PIECE] for start in range(0, len(waveform), PIECE)]
        paths = [out / split / f"{number:03d}.ogg" for number in range(len(pieces))]
        with ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(_encode, paths, pieces))
    shutil.copy(run / "constants.npz", out)
    _encode(out / "noise.ogg", np.load(run / "noise.npy"))


def unpack(packed: Path, run: Path) -> None:
    """Write the arrays again, below ``run``."""
    for split in ("train", "val"):
        (run / split).mkdir(parents=True, exist_ok=True)
        for name in NAMES:
            shutil.copy(packed / split / name, run / split / name)
        with np.load(packed / split / "arrays.npz") as arrays:
            for name in ARRAYS:
                np.save(run / split / f"{name}.npy", arrays[name])
            frames = len(arrays["pitch"])
        with ThreadPoolExecutor(THREADS) as pool:
            pieces = list(pool.map(_decode, sorted((packed / split).glob("*.ogg"))))
        waveform = np.concatenate(pieces)[: frames * HOP_LENGTH]
        waveform = np.pad(waveform, (0, frames * HOP_LENGTH - len(waveform)))
        np.save(run / split / "waveform.npy", waveform.reshape(-1, HOP_LENGTH))
    shutil.copy(packed / "constants.npz", run)
    np.save(run / "noise.npy", _decode(packed / "noise.ogg"))


def train_remote(
    packed: Path, run: Path, seconds: float, recogniser: Path, start: Path | None = None
) -> None:
    """Unpack, train for so many seconds from where a training was, and export.

    recogniser: the file encoder_model.ort; start: a checkpoint to begin with.
    """
    if not (run / "train" / "waveform.npy").exists():
        unpack(packed, run)
    train_conversion(run, "conversion", Budget(seconds=seconds), recogniser, start)
    export(run, run / "checkpoints")


def _encode(path: Path, samples: np.ndarray) -> None:
    soundfile.write(
        path,
        samples.reshape(-1),
        SAMPLE_RATE,
        format="OGG",
        subtype="OPUS",
        compression_level=QUALITY,
    )


def _decode(path: Path) -> np.ndarray:
    samples, rate = soundfile.read(path, dtype="float32")
    if rate != SAMPLE_RATE:
        raise ValueError(f"{path} is at {rate} Hz")
    return (samples.clip(-1, 1) * FULL_SCALE).astype(np.int16)
