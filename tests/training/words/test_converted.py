"""Words in other people's voices, and Mandarin words joined from syllables."""

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import soundfile

from earshot.media.audio.features import log_mel
from earshot.media.audio.pitch import log_mel_and_pitch
from earshot.media.text.phonemes import TONES, from_pinyin
from tests.support.word_arrays import write_arrays
from training.common.zero_shot import zero_shot
from training.words import converted as voices
from training.words.concatenation import TONE_NUMBERS
from training.words.converted import Converter, joined
from training.words.frames.arrays import Columns
from training.words.frames.batches import Mixture, TrainingWords
from training.words.synthesis import sandhi

pytestmark = pytest.mark.slow
RATE = 16_000
FIELDS: Sequence[str] = "path speaker sex lang text seconds start end split licence".split()


def buzz(seconds: float, hz: float) -> np.ndarray:
    """A voiced sound that swells and fades."""
    time = np.arange(round(seconds * RATE)) / RATE
    wave = sum(np.sin(2 * np.pi * k * hz * time) / k for k in range(1, 12))
    return (0.1 * np.hanning(len(time)) * wave).astype(np.float32)


def write_corpus(root: Path, name: str, rows: list[tuple[str, np.ndarray]]) -> None:
    """A speech corpus: one file for each text, by a speaker of its own."""
    folder = root / "speech" / name
    folder.mkdir(parents=True)
    with (folder / "manifest.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        for number, (text, waveform) in enumerate(rows):
            soundfile.write(folder / f"{number}.wav", waveform, RATE)
            row = {"path": f"{number}.wav", "speaker": f"p{number}", "lang": "zh", "text": text}
            writer.writerow(row | {"split": "train"})


@pytest.fixture
def syllables(tmp_path: Path) -> Path:
    names = ("bei3", "jing1", "ma3", "shi2", "le1")
    rows = [(name, buzz(0.3, 180 + 20 * i)) for i, name in enumerate(names)]
    write_corpus(tmp_path, "mandarin_syllables", [*rows, ("de1", buzz(0.2, 150))])
    return tmp_path


def test_joined_words_have_tones(syllables: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Joined words are neither zero-shot nor of two third tones."""
    monkeypatch.setattr(voices, "N_JOINED", 15)
    words = joined(syllables, np.random.default_rng(0))
    assert len({phonemes for _, phonemes in words}) == 15
    assert not {phonemes for _, phonemes in words} & zero_shot("zh")
    for waveform, phonemes in words:
        count = sum(phoneme in TONES for phoneme in phonemes)
        assert len(waveform) == round((0.3 * count - 0.01 * (count - 1)) * RATE)
        assert np.isfinite(waveform).all()
    toneless, third = from_pinyin("de1"), TONES[2]
    for _, phonemes in words:
        assert phonemes[: len(toneless)] != toneless  # too short for a tone
        tones = [phoneme for phoneme in phonemes if phoneme in TONES]
        assert (third, third) not in set(zip(tones, tones[1:], strict=False))


def test_sandhi_is_where_third_tones_meet() -> None:
    assert sandhi(["ni3", "hao3"]) and sandhi(["a1", "ni3", "hao3"])
    assert not sandhi(["hao3", "ma1", "ni3"])


def test_converter_keeps_words_lengths(
    tmp_path: Path, tiny_checkpoints: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each word has as many frames as it had."""
    monkeypatch.setattr(voices, "GROUP", 2)
    write_corpus(tmp_path, "librispeech_251", [("read", buzz(1.0, hz)) for hz in (110, 210)])
    converter = Converter(tmp_path, tiny_checkpoints / "any-voice")
    words = [buzz(seconds, 150) for seconds in (0.3, 0.5, 0.411)]
    frames = list(converter(words, np.random.default_rng(0)))
    assert [mel.shape[1] for mel in frames] == [81] * 3  # the pitch is the last column
    assert all(((mel[:, 80] == 0) | (mel[:, 80] > 5)).all() for mel in frames)
    for word, mel in zip(words, frames, strict=True):
        assert abs(len(mel) - len(log_mel(word))) <= 1
        assert np.isfinite(mel).all()


def test_words_in_other_voices_are_synthetic(tmp_path: Path) -> None:
    """A batch counts words in other voices as synthetic ones."""
    write_arrays(tmp_path)
    columns = Columns(log_mel_and_pitch)
    for phonemes in (from_pinyin("ma1"), from_pinyin("shi2")):
        columns.append(np.zeros((40, 80)), phonemes, "", "zh")
    columns.write(tmp_path / "converted.npz")
    plain, words = TrainingWords(tmp_path, 1), TrainingWords(tmp_path, 1, converted=True)
    assert len(words.synthetic) == len(plain.synthetic) + 2
    assert words.recorded.keys() == plain.recorded.keys()


def test_words_with_tones_keep_pitch(tmp_path: Path) -> None:
    """The pitch of other words is liftered away."""
    write_arrays(tmp_path)
    words = TrainingWords(tmp_path, 1, mixture=Mixture(liftered=1.0, noisy=0.0, narrow_band=0.0))
    harmonics = np.tile(np.where(np.arange(80) % 2, 2.0, -2.0), (60, 1))
    tone = next(iter(TONE_NUMBERS))
    roughness = []
    for word in ((1, 2), (1, 2, tone)):
        mel, _ = words._chunk([(harmonics, word)] * 16, np.random.default_rng(0))
        roughness.append(float(mel[:, 20:40, 20:60].diff(dim=2).abs().mean()))
    assert roughness[0] < 0.5 * roughness[1]
