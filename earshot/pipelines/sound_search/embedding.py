"""Files and waveforms → what an index holds of them."""

import hashlib
from pathlib import Path
from typing import Final

import numpy as np

from earshot.core.errors import InputError
from earshot.media.audio.load import SILENT_PEAK, load
from earshot.pipelines.sound_search.encoders.encoder import SoundEncoder
from earshot.pipelines.sound_search.library import Entry, Sound

MAX_SECONDS: Final = 3600.0  # of one file


def embedded(encoder: SoundEncoder, path: Path, digest: str) -> Entry:
    """A file, with the hash of its content. Raises InputError if it is not audio, or silent."""
    waveform = load(path, encoder.sample_rate, MAX_SECONDS, min_seconds=0.0).waveform
    if np.abs(waveform).max() < SILENT_PEAK:
        raise InputError("This file is silent from beginning to end.")
    vectors, per_second = embed(encoder, waveform)
    length = len(waveform) / encoder.sample_rate
    return Entry(Sound("", path, path.name, "", "", length, digest), vectors, per_second)


def embed(encoder: SoundEncoder, waveform: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A waveform (T,) → vectors of N segments, float32 (N, D), and S seconds, float16 (S, D)."""
    segments = encoder.segments(waveform)
    embedding = encoder.embed_audio(segments)
    # Each second takes the vector of the segment's second that contains its midpoint.
    total, length = len(waveform) / encoder.sample_rate, segments.shape[1] / encoder.sample_rate
    begin = np.arange(np.ceil(total))
    middle = (begin + np.minimum(begin + 1, total)) / 2
    segment = np.minimum(middle // length, len(segments) - 1).astype(int)
    within = np.minimum(middle - segment * length, embedding.per_second.shape[1] - 1).astype(int)
    return embedding.vectors, embedding.per_second[segment, within].astype(np.float16)


def content_hash(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
