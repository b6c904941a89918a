"""The recogniser of open vocabulary: its texts, its bigram model, and its test_set."""

import csv
from pathlib import Path

import numpy as np
import pytest
import soundfile

from training.judges.sphinx import (
    bigram_arpa,
    open_test_set,
    spoken_words,
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Press 1, or 12.", "press one or twelve"),
        ("...has joined; the CONFERENCE", "has joined the conference"),
        ("your party's 'first' name", "your party's first name"),
        ("Call-Forward", "call forward"),
        ("13", "13"),
        ("...", ""),
    ],
)
def test_spoken_words_of_prompts_are_normalised(text: str, words: str) -> None:
    assert spoken_words(text) == words.split()


def test_bigram_probabilities_sum_to_one() -> None:
    """The ARPA probabilities of each history sum to one."""
    texts = ["the cat sat", "the cat ran", "the dog sat on the cat"]
    lines = bigram_arpa(str(text).split() for text in texts).splitlines()
    unigrams, backoffs, bigrams = {}, {}, {}
    for line in lines:
        parts = line.split()
        if len(parts) == 3 and parts[1].startswith(("<", *"abcdefghijklmnopqrstuvwxyz")):
            if parts[2].replace(".", "").lstrip("-").isdigit():
                unigrams[parts[1]] = 10 ** float(parts[0])
                backoffs[parts[1]] = 10 ** float(parts[2])
            else:
                bigrams[parts[1], parts[2]] = 10 ** float(parts[0])
    assert sum(unigrams.values()) == pytest.approx(1, abs=1e-3)
    for history in ("<s>", "the", "cat", "sat"):
        chances = [
            bigrams.get((history, word), backoffs[history] * unigrams[word])
            for word in unigrams
            if word != "<s>"
        ]
        assert sum(chances) == pytest.approx(1, abs=2e-3)


def test_bigram_arpa_leaves_out_unpronounceable_words() -> None:
    assert "xqzt" not in bigram_arpa([["the", "xqzt", "cat"]])


def test_open_test_set_gives_test_utterances(tmp_path: Path) -> None:
    """The set gives those of the folder."""
    folder = tmp_path / "speech" / "librispeech_251"
    folder.mkdir(parents=True)
    noise = 0.05 * np.random.default_rng(0).standard_normal(16_000)
    rows = [
        ("a.wav", "ls1", "en", "", 1.0, "train"),
        ("b.wav", "ls2", "en", "one two", 1.0, "test"),
    ]
    with (folder / "manifest.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow("path speaker lang text seconds split".split())
        writer.writerows(rows)
    for row in rows:
        soundfile.write(folder / row[0], noise, 16_000)
    test_set = open_test_set(tmp_path)
    assert list(test_set) == ["visitors"]
    assert [utterance.words for utterance in test_set["visitors"]] == [["one", "two"]]
