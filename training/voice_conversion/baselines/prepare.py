"""Turn the speech corpora into compact arrays, so that training needs only torch and numpy.

Written below OUT:
  constants.npz         the mel filters and DCT that training shares with
                        earshot.media.audio.features
  units-SPLIT.npz       all the speech, end to end: log_bands (N, 40), speaker (N,)
  voices-SPLIT.npz      the target voices: waveform int16 (N * HOP_LENGTH,), log_bands (N, 40),
                        log_mel (N, 80), pitch in Hz (N,), voice (N,) as index of TARGET_VOICES
With a front end, units and voices also have its frames: features (N / 2, D).
N counts frames of 10 ms; utterances follow each other, cut to whole units.
"""

from collections import defaultdict
from pathlib import Path

import numpy as np

from earshot.media.audio import features
from earshot.media.audio.load import to_int16
from earshot.media.audio.pitch import track_pitch
from earshot.media.constants import FRAMES_PER_SECOND, HOP_LENGTH
from earshot.pretrained.speech_encoder import SpeechEncoder
from training.common.corpora import Item, speech_items, waveforms
from training.voice_conversion.prepare import write_constants
from training.voice_conversion.speech import TARGET_VOICES

CUT = 4 * HOP_LENGTH  # samples in the longest unit


def prepare(data: Path, out: Path, front_end: SpeechEncoder | None = None) -> None:
    """Write the arrays of the training and validation splits; the test split is not touched."""
    out.mkdir(parents=True, exist_ok=True)
    write_constants(out)
    items = speech_items(data)
    for split in ("train", "val"):
        chosen = [item for item in items if item.split == split]
        _write_units(chosen, out / f"units-{split}.npz", front_end)
        voices = [i for i in chosen if i.speaker in TARGET_VOICES]
        _write_voices(voices, out / f"voices-{split}.npz", front_end)


def _write_units(items: list[Item], path: Path, front_end: SpeechEncoder | None) -> None:
    """Write the arrays of units; a recording without a speaker label counts as a speaker of its
    own.
    """
    columns: dict[str, list[np.ndarray]] = defaultdict(list)
    names = []
    for number, (item, full) in enumerate(waveforms(items)):
        waveform = _whole_units(full)
        frames = features.log_bands(waveform)
        columns["log_bands"].append(frames.astype(np.float16))
        _add_features(columns, waveform, front_end)
        names += [item.speaker or f"{item.corpus}-{number}"] * len(frames)
    speakers, index = np.unique(names, return_inverse=True)
    columns["speaker"].append(index.astype(np.int16))
    _write(columns, path)
    minutes = len(names) / FRAMES_PER_SECOND / 60
    print(f"{path.name}: {minutes:.1f} minutes, {len(speakers)} speakers", flush=True)


def _write_voices(items: list[Item], path: Path, front_end: SpeechEncoder | None) -> None:
    columns: dict[str, list[np.ndarray]] = defaultdict(list)
    for item, full in waveforms(items):
        assert item.speaker is not None  # chosen by speaker
        waveform = _whole_units(full)
        mel = features.log_mel(waveform)
        columns["waveform"].append(to_int16(waveform))
        columns["log_bands"].append(features.log_bands(waveform).astype(np.float16))
        columns["log_mel"].append(mel.astype(np.float16))
        columns["pitch"].append(track_pitch(waveform))
        columns["voice"].append(np.full(len(mel), TARGET_VOICES.index(item.speaker), np.int8))
        _add_features(columns, waveform, front_end)
    _write(columns, path)
    frames = sum(map(len, columns["voice"]))
    print(f"{path.name}: {frames / FRAMES_PER_SECOND / 60:.1f} minutes", flush=True)


def _add_features(
    columns: dict[str, list[np.ndarray]], waveform: np.ndarray, front_end: SpeechEncoder | None
) -> None:
    if front_end:
        columns["features"].append(front_end.on_grid(waveform).astype(np.float16))


def _write(columns: dict[str, list[np.ndarray]], path: Path) -> None:
    arrays = {name: np.concatenate(parts) for name, parts in columns.items()}
    np.savez(path, **arrays)  # type: ignore[arg-type]


def _whole_units(waveform: np.ndarray) -> np.ndarray:
    return waveform[: len(waveform) // CUT * CUT]
