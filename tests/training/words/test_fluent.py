"""Words cut from fluent speech, and how they are recognised."""

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from training.common.corpora import Item
from training.words.evaluate import measure_fluent
from training.words.recordings import RecordedWord, fluent_words

TEXT = "Seven elephants carried the yellow umbrellas"


@pytest.mark.slow
def test_fluent_words_are_cut_in_order(tmp_path: Path) -> None:
    """Short words are left out."""
    items = []
    for name, text in (("said", TEXT), ("unknown", "seven snorkelish elephants")):
        path = tmp_path / f"{name}.wav"
        subprocess.run(["espeak-ng", "-v", "en-us", "-s", "140", "-w", path, text], check=True)
        items.append(Item("librispeech_251", path, "espeak", "test", text))
    words = list(fluent_words(items))
    assert [word.item.text for word in words] == [w for w in TEXT.lower().split() if w != "the"]
    assert words[0].phonemes == ("s", "ɛ", "v", "ə", "n")
    seconds = [len(word.waveform) / 16_000 for word in words]
    assert all(0.15 < each < 1.0 for each in seconds) and sum(seconds) < 3.5


class Corpus:
    """Embeds recordings as the vector that their only sample numbers, words as unit vectors."""

    def embed_waveforms(self, waveforms: list[np.ndarray]) -> np.ndarray:
        vectors = np.array([[0.9, 0.1, 0, 0], [0.5, 0.4, 0, 0], [0.9, 0.8, 0.7, 0.6]])
        return vectors[[int(waveform[0]) for waveform in waveforms]]

    def embed_phonemes(self, words: list[tuple[str, ...]]) -> np.ndarray:
        return np.eye(4)[: len(words)]


def test_measure_counts_first_words() -> None:
    """Words among the first five are counted, too."""
    written: list[tuple[str, ...]] = [("a",), ("b",), ("a",), ("c",)]  # a homophone is one word
    item: Any = None
    own = [("a",), ("b",), tuple("defgh")]  # first, second, and fourth of four, not written yet
    recordings = [RecordedWord(item, np.full(1, i), word) for i, word in enumerate(own)]
    corpus: Any = Corpus()
    assert measure_fluent(corpus, recordings, written) == pytest.approx(
        {"p_at_1": 1 / 3, "p_at_5": 1.0, "long_p_at_1": 0.0, "long_p_at_5": 1.0}
    )
