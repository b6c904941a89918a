"""Turn the speech corpora into compact arrays, so that training needs only torch and numpy.

Written below OUT:
  constants.npz         the mel filters and DCT that training shares with media.audio.features
  units-SPLIT.npz       all the speech, end to end: log_bands (N, 40), speaker (N,)
  voices-SPLIT.npz      the target voices: waveform int16 (N * HOP_LENGTH,), log_bands (N, 40),
                        log_mel (N, 80), pitch in Hz (N,), voice (N,) as index of TARGET_VOICES
N counts frames of 10 ms; utterances follow each other, cut to whole units.
"""

from pathlib import Path

import numpy as np

from media.audio import features
from media.audio.load import to_int16
from media.constants import FRAMES_PER_SECOND, HOP_LENGTH, N_FFT, N_MELS
from training.common.corpora import TARGET_VOICES, Item, speech_items, waveforms

CUT = 4 * HOP_LENGTH  # samples in the longest unit


def prepare(data: Path, out: Path) -> None:
    """Write the arrays of the training and validation splits; the test split is not touched."""
    out.mkdir(parents=True, exist_ok=True)
    np.savez(
        out / "constants.npz",
        mel_filters=features.mel_filters(N_FFT, N_MELS),
        dct=features.dct_matrix(),
    )
    items = speech_items(data)
    for split in ("train", "val"):
        chosen = [item for item in items if item.split == split]
        _write_units(chosen, out / f"units-{split}.npz")
        _write_voices(
            [i for i in chosen if i.speaker in TARGET_VOICES], out / f"voices-{split}.npz"
        )


def _write_units(items: list[Item], path: Path) -> None:
    """A recording without a speaker label counts as a speaker of its own."""
    bands, names = [], []
    for number, (item, waveform) in enumerate(waveforms(items)):
        frames = features.log_bands(_whole_units(waveform))
        bands.append(frames.astype(np.float16))
        names += [item.speaker or f"{item.corpus}-{number}"] * len(frames)
    speakers, index = np.unique(names, return_inverse=True)
    np.savez(path, log_bands=np.concatenate(bands), speaker=index.astype(np.int16))
    minutes = len(names) / FRAMES_PER_SECOND / 60
    print(f"{path.name}: {minutes:.1f} minutes, {len(speakers)} speakers", flush=True)


def _write_voices(items: list[Item], path: Path) -> None:
    columns: dict[str, list[np.ndarray]] = {
        name: [] for name in ("waveform", "log_bands", "log_mel", "pitch", "voice")
    }
    for item, full in waveforms(items):
        assert item.speaker is not None  # chosen by speaker
        waveform = _whole_units(full)
        mel = features.log_mel(waveform)
        columns["waveform"].append(to_int16(waveform))
        columns["log_bands"].append(features.log_bands(waveform).astype(np.float16))
        columns["log_mel"].append(mel.astype(np.float16))
        columns["pitch"].append(features.pitch(waveform))
        columns["voice"].append(np.full(len(mel), TARGET_VOICES.index(item.speaker), np.int8))
    arrays = {name: np.concatenate(parts) for name, parts in columns.items()}
    np.savez(path, **arrays)  # type: ignore[arg-type]
    print(f"{path.name}: {len(arrays['voice']) / FRAMES_PER_SECOND / 60:.1f} minutes", flush=True)


def _whole_units(waveform: np.ndarray) -> np.ndarray:
    return waveform[: len(waveform) // CUT * CUT]
