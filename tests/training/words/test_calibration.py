"""Probabilities of words, fitted on what validation speakers say."""

from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from earshot.media.constants import SAMPLE_RATE
from earshot.systems.words import Words
from training.common.corpora import Item
from training.words import calibration
from training.words.recordings import RecordedWord

ITEM = Item("corpus", Path("word.wav"), "speaker", "val")
MEANT: list[tuple[str, ...]] = [("t", "uː"), ("θ", "ɹ", "iː"), ("s", "ɪ", "k", "s")]


def recording(row: int) -> RecordedWord:
    return RecordedWord(ITEM, np.full(SAMPLE_RATE // 4, row, np.float32), MEANT[row])


class Fake:
    """Words whose recordings are near their own writing: (N, 3) on the axes of MEANT."""

    def embed_waveforms(self, waveforms: list[np.ndarray]) -> np.ndarray:
        return 0.9 * np.eye(3)[[int(waveform[0]) for waveform in waveforms]]

    def embed_phonemes(self, words: list[tuple[str, ...]]) -> np.ndarray:
        return np.eye(3)[[MEANT.index(word) for word in words]]


def test_in_conditions_adds_noise_at_each_snr() -> None:
    rng = np.random.default_rng(0)
    noise = rng.standard_normal(SAMPLE_RATE).astype(np.float32)
    tone = 0.05 * np.sin(0.1 * np.arange(SAMPLE_RATE)).astype(np.float32)
    word = RecordedWord(ITEM, tone, MEANT[0])
    versions = list(calibration.in_conditions([word, word], [noise]))
    assert [one.phonemes for one in versions] == [MEANT[0]] * 6
    assert np.array_equal(versions[0].waveform, tone)
    for one, snr in zip(versions[2:], (10, 10, 0, 0), strict=True):
        added = one.waveform - tone
        measured = 10 * np.log10(np.mean(tone**2) / np.mean(added**2))
        assert measured == pytest.approx(snr, abs=0.01)
    assert len(list(calibration.in_conditions([word], []))) == 1


def test_in_sentences_takes_english_validation_prompts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Zero-shot words of the prompts are left out."""
    prompt = replace(ITEM, corpus="studio_prompts", text="three birds")
    others = [replace(prompt, split="train"), replace(prompt, language="fr"), ITEM]
    spelled = {"three": MEANT[1], "bird": ("b", "ɜː", "d"), "six": MEANT[2]}

    def cut(items: list[Item]) -> list[RecordedWord]:
        assert items == [prompt]
        return [
            RecordedWord(replace(prompt, text=text), np.zeros(1), phonemes)
            for text, phonemes in spelled.items()
        ]

    monkeypatch.setattr(calibration, "speech_items", lambda _: [prompt, *others])
    monkeypatch.setattr(calibration, "fluent_words", cut)
    texts = [word.item.text for word in calibration.in_sentences(Path())]
    assert texts == ["three", "six"]
    monkeypatch.setattr(calibration, "speech_items", lambda _: others)
    with pytest.raises(SystemExit, match="studio_prompts"):
        list(calibration.in_sentences(Path()))


def test_softmax_of_puts_unknown_word_between(monkeypatch: pytest.MonkeyPatch) -> None:
    """Recordings are right at a cosine of 0.9, and the next word is at 0: any cosine between tells
    an unknown word apart."""
    monkeypatch.setattr(calibration, "frequent", lambda _: [MEANT[2]])
    monkeypatch.setattr(Words, "CANDIDATES", 3)
    fitted = calibration.softmax_of(
        cast("Words", Fake()), [recording(0), recording(1), recording(0)], sorted(MEANT[:2])
    )
    assert 0.1 < fitted["another"] < 0.8
    assert 0 < fitted["temperature"] < 0.2
