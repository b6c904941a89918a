"""A folder in which lip to speech is trained."""

from pathlib import Path

import numpy as np
import pytest

from earshot.models.lip_to_speech import VoiceEncoderConfig
from tests.training.lip_to_speech.clips import write_clips
from training.lip_to_speech import eigenlips, readers, voices
from training.lip_to_speech.voices import train_voices


@pytest.fixture
def run(tmp_path: Path, tiny_checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Arrays of made-up videos, and a trained encoder of voices."""
    write_clips(tmp_path / "clips.npz", ["s1", "s4", "s1", "s26"], ["train", "train", "val", "val"])
    write_clips(tmp_path / "rendered.npz", ["ada"], ["train"])
    lengths = [90, 200, 120, 60, 80]
    np.savez(
        tmp_path / "voices.npz",
        log_mel=np.random.default_rng(1).standard_normal((sum(lengths), 80)).astype(np.float16),
        lengths=lengths,
        speaker=["a", "b", "c", "c", "d"],
        split=["train", "train", "val", "val", "val"],
    )
    for module, size in ((voices, 4), (readers, 2), (eigenlips, 2)):
        monkeypatch.setattr(module, "BATCH", size)
    monkeypatch.setattr(voices, "FACE_STEPS", 2)
    monkeypatch.setattr(eigenlips, "STEPS", 2)
    monkeypatch.setattr(voices, "VOCODER_START", tiny_checkpoints / "vocoder")
    train_voices(tmp_path, "voices", VoiceEncoderConfig(width=8, size=8), 2)
    return tmp_path
