"""Turn every speech corpus into arrays, so that training needs only torch and numpy.

Written below OUT/SPLIT (train, val), one file an array, N frames of 10 ms of all recordings:
  log_bands.npy  float16 (N, 40)    log_mel.npy  float16 (N, 80)
  pitch.npy      float16 (N,)       Hz, 0 where unvoiced
  speaker.npy    int16 (N,)         rows of speakers.txt; whom a corpus does not name is a speaker
                                    of one recording
  corpus.npy     int8 (N,)          rows of corpora.txt
  waveform.npy   int16 (N, 160)
and OUT/constants.npz: the mel filters and the DCT that training shares with media.audio.features.
"""

from collections.abc import Iterable
from itertools import groupby
from multiprocessing import Pool
from pathlib import Path
from typing import Final

import numpy as np

from earshot.media.audio import features
from earshot.media.audio.load import to_int16
from earshot.media.audio.pitch import track_pitch
from earshot.media.constants import HOP_LENGTH, N_FFT, N_MELS, SAMPLE_RATE
from training.common.corpora import Item, speech_items, waveforms
from training.common.zero_shot import has_zero_shot_word

CUT: Final = 4 * HOP_LENGTH  # samples: recordings are cut to whole multiples of 40 ms
SHORTEST: Final = 0.2  # seconds
PROCESSES: Final = 2

Arrays = dict[str, np.ndarray]


def prepare(data: Path, out: Path) -> None:
    """Write the arrays of the training and validation splits; the test split is not touched."""
    out.mkdir(parents=True, exist_ok=True)
    np.savez(
        out / "constants.npz",
        mel_filters=features.mel_filters(N_FFT, N_MELS),
        dct=features.dct_matrix(),
    )
    items = [item for item in speech_items(data) if not has_zero_shot_word(item)]
    for split in ("train", "val"):
        _write([item for item in items if item.split == split], out / split)


def _write(items: list[Item], folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    files = [list(group) for _, group in groupby(items, lambda item: item.path)]
    with Pool(PROCESSES) as pool:
        parts = [part for parts in pool.imap(_arrays, files, chunksize=4) for part in parts]
    speakers, corpora = [], []
    for number, (item, arrays) in enumerate(parts):
        frames = len(arrays["pitch"])
        speakers += [item.speaker or f"{item.corpus}-{number}"] * frames
        corpora += [item.corpus] * frames
    for name in parts[0][1]:
        np.save(folder / f"{name}.npy", np.concatenate([arrays[name] for _, arrays in parts]))
    _save_names(speakers, folder, "speaker", "speakers", np.int16)
    _save_names(corpora, folder, "corpus", "corpora", np.int8)
    print(f"{folder.name}: {len(speakers) / 6000:.0f} minutes, {len(set(speakers))} speakers")


def _arrays(items: list[Item]) -> list[tuple[Item, Arrays]]:
    """The features of all recordings in one file."""
    return [(item, _features(cut)) for item, cut in _cut(items)]


def _cut(items: list[Item]) -> Iterable[tuple[Item, np.ndarray]]:
    for item, waveform in waveforms(items):
        cut = waveform[: len(waveform) // CUT * CUT]
        if len(cut) >= SHORTEST * SAMPLE_RATE:
            yield item, cut


def _features(waveform: np.ndarray) -> Arrays:
    return {
        "log_bands": features.log_bands(waveform).astype(np.float16),
        "log_mel": features.log_mel(waveform).astype(np.float16),
        "pitch": track_pitch(waveform).astype(np.float16),
        "waveform": to_int16(waveform).reshape(-1, HOP_LENGTH),
    }


def _save_names(names: list[str], folder: Path, array: str, table: str, kind: type) -> None:
    """Names as rows of a table: folder/table.txt, and folder/array.npy with a row a frame."""
    unique, index = np.unique(names, return_inverse=True)
    (folder / f"{table}.txt").write_text("\n".join(unique) + "\n")
    np.save(folder / f"{array}.npy", index.astype(kind))
