"""What is prepared for training: pitch, sound in time with the lips, and sentences."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from earshot.media.audio import features
from earshot.media.constants import HOP_LENGTH, SAMPLE_RATE
from earshot.media.text.grammar import GRID
from earshot.models.lip_to_speech import Prediction
from synthetic.heads.__main__ import SENTENCES
from training.lip_to_speech import av_sync, prepare
from training.lip_to_speech.prepare import lines

pytestmark = pytest.mark.slow


def test_pitch_of_room_hum_is_zero() -> None:
    times = np.arange(2 * features.SAMPLE_RATE) / features.SAMPLE_RATE
    voice = np.where(
        times < 1, np.sin(2 * np.pi * 130 * times), 0.01 * np.sin(2 * np.pi * 70 * times)
    )
    waveform = (0.1 * voice).astype(np.float32)
    pitch = prepare.voiced_pitch(waveform)
    assert np.median(pitch[20:80]) == pytest.approx(130, rel=0.05)
    assert not pitch[110:].any()


@dataclass(frozen=True)
class FakeReader:
    """Predicts the next of some spectrograms, whatever the crops."""

    predicted: Iterator[np.ndarray]

    def encode(self, crops: Tensor) -> tuple[Tensor, Tensor]:
        return crops, crops

    def decode(self, *_: object) -> Prediction:
        nothing = torch.zeros(1, 300)
        return Prediction(torch.from_numpy(next(self.predicted))[None], nothing, nothing)


@pytest.mark.parametrize("late", [-480, 0, 320])
def test_av_sync_shifts_audio_to_frames(
    run: Path, monkeypatch: pytest.MonkeyPatch, late: int
) -> None:
    """The audio is shifted to the predicted frames."""
    with np.load(run / "clips.npz") as file:
        before = {name: file[name][file["split"] == "train"] for name in file.files}
    loud = np.repeat(np.random.default_rng(0).random((2, 300)) > 0.5, HOP_LENGTH, axis=1)
    before["waveform"] = (before["waveform"] * loud).astype(np.int16)
    sounds = before["waveform"] / np.float32(2**15)
    before["log_mel"] = np.stack([features.log_mel(sound) for sound in sounds])
    np.savez(run / "clips.npz", **before)
    predicted = [features.log_mel(np.roll(sound, -late)) for sound in sounds]
    # Who learned from the first video, the third and so on is asked about the others.
    readers = {
        "even.pt": FakeReader(iter(predicted[1::2])),
        "odd.pt": FakeReader(iter(predicted[::2])),
    }
    monkeypatch.setattr(av_sync, "load_reader", lambda path: readers[path.name])
    av_sync.av_sync(run, "aligned", ["even", "odd"])
    with np.load(run / "aligned.npz") as after:
        inner = slice(600, -600)
        moved = np.roll(before["waveform"], -late, axis=1)[:, inner]
        np.testing.assert_array_equal(after["waveform"][:, inner], moved)
        observed = features.log_mel(after["waveform"][0] / np.float32(2**15))
        np.testing.assert_allclose(after["log_mel"][0], observed, atol=0.01)
        np.testing.assert_allclose(
            after["spoken"] - before["spoken"], -late / SAMPLE_RATE, atol=1e-6
        )
        np.testing.assert_array_equal(after["crops"], before["crops"])


def test_training_sentences_are_of_grammar() -> None:
    """Sentences of synthetic heads are no examples of the page."""
    rows = lines()
    assert len({line.seed for line in rows}) == len(rows)
    for line in rows:
        words = line.sentence.split()
        assert all(word in slot for word, slot in zip(words, GRID, strict=True))
        assert line.sentence not in SENTENCES.values()
