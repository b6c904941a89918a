"""Words that are spliced from recordings of several people."""

from pathlib import Path

import numpy as np
import pytest
import torch

from earshot.media.text.phonemes import from_arpabet, from_ipa, numbers
from training.common.corpora import Item
from training.words import converted as splicing
from training.words.concatenation import HELD_OUT, Word
from training.words.converted import spliced_words, write_spliced
from training.words.frames.arrays import Arrays
from training.words.recordings import RecordedWord

WORDS = ("K AE T", "D AO G", "B EH D", "B ER T", "HH AW D", "F AY V")


def recorded() -> list[Word]:
    return [tuple(numbers(from_arpabet(word))) for word in WORDS]


def test_spliced_words_are_new_words() -> None:
    """Spliced words are parts of recorded ones, and never recorded or zero-shot."""
    words = spliced_words(recorded(), 60, np.random.default_rng(0))
    assert len({word for word, _ in words}) == 60
    assert {len(parts) for _, parts in words} == {2, 3}
    for word, parts in words:
        assert word not in {*recorded(), *HELD_OUT}
        assert all(0 <= part.begin < part.end <= len(part.word) for part in parts)
        assert parts[0].begin == 0 and parts[-1].end == len(parts[-1].word)
        assert sum((part.word[part.begin : part.end] for part in parts), ()) == word


def test_spliced_words_may_be_few() -> None:
    """There are fewer words where few can be made."""
    assert spliced_words(recorded()[:1], 5, np.random.default_rng(0)) == []


class Numbered:
    """Instead of the converter: the content of a recording is its loudness, step by step."""

    def __init__(self, *_: object) -> None:
        pass

    def content(self, speech: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(speech.reshape(-1, 320).max(axis=1, keepdims=True))

    def any_of(self, rng: np.random.Generator) -> None:
        return None

    def speak(self, content: torch.Tensor, intonation: object, voice: None) -> np.ndarray:
        return np.repeat(content.numpy(), 2, axis=0)


def test_write_spliced_takes_recorded_phonemes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each phoneme comes from a recording of it."""
    monkeypatch.setattr(splicing, "Converter", Numbered)
    monkeypatch.setattr(splicing, "WORDS", {"ar": 12})
    # Each phoneme is a constant of its own, ten frames long, in two recordings of each word.
    recordings = []
    for ipa in ("kalb", "farʃ", "sˤifr", "batn"):
        phonemes = from_ipa(ipa)
        waveform = np.repeat(np.array(numbers(phonemes), np.float32) / 100, 1600)
        item = Item("", tmp_path, None, "train", language="ar")
        word = RecordedWord(item, waveform, phonemes)
        recordings += [(word, np.arange(len(phonemes)) * 10)] * 2
    write_spliced(tmp_path, recordings, tmp_path / "spliced.npz")
    arrays = Arrays()
    utterances = [utterance for utterance, _ in arrays.read(tmp_path / "spliced.npz")]
    assert len(utterances) == 12 * splicing.SPLICED_RENDITIONS
    for utterance in utterances:
        source_numbers = 100 * arrays.frames(utterance.number)[:, 0].astype(np.float32)
        assert source_numbers == pytest.approx(np.repeat(utterance.word, 10), rel=0.01)
