"""Sentences of the grammar, out of what CTC would say."""

import numpy as np
import pytest

from media.text.grammar import GRID_WORDS
from pipelines.lip_to_speech.caption import caption

SENTENCE = "bin blue at f two now"


def spoken(sentence: str, sure: float = 0.9, frames: int = 75) -> np.ndarray:
    """Log probabilities in which every word has five frames, ten apart, and all else is pause."""
    probabilities = np.full((frames, len(GRID_WORDS) + 1), 1e-8)
    probabilities[:, 0] = 1.0
    for place, word in enumerate(sentence.split()):
        rows = slice(8 + 10 * place, 13 + 10 * place)
        probabilities[rows, 0] = 1 - sure
        probabilities[rows, 1 + GRID_WORDS.index(word)] = sure
    return np.log(probabilities / probabilities.sum(axis=1, keepdims=True))


def test_reads_a_sentence_with_its_times() -> None:
    words = caption(spoken(SENTENCE))
    assert [word.text for word in words] == SENTENCE.split()
    assert [word.start for word in words] == pytest.approx(0.32 + 0.4 * np.arange(6))
    assert [word.end for word in words] == pytest.approx(0.52 + 0.4 * np.arange(6))
    assert min(word.confidence for word in words) > 0.9


def test_reads_two_sentences() -> None:
    both = f"{SENTENCE} place red with q zero soon"
    assert [word.text for word in caption(spoken(both, frames=150))] == both.split()


def test_the_grammar_mends_what_cannot_be() -> None:
    heard = spoken(SENTENCE)
    row = slice(18, 23)  # of "blue", for which CTC now prefers a digit
    heard[row, 1 + GRID_WORDS.index("two")] = np.log(0.6)
    heard[row, 1 + GRID_WORDS.index("blue")] = np.log(0.3)
    assert [word.text for word in caption(heard)] == SENTENCE.split()


def test_is_unsure_between_two_words() -> None:
    heard = spoken(SENTENCE)
    row = slice(38, 43)
    heard[row, 1 + GRID_WORDS.index("f")] = np.log(0.45)
    heard[row, 1 + GRID_WORDS.index("s")] = np.log(0.44)
    letter = caption(heard)[3]
    assert letter.text == "f"
    assert 0.4 < letter.confidence < 0.65


def test_noise_is_no_sentence_to_be_sure_of() -> None:
    noise = np.log(np.random.default_rng(0).dirichlet(np.ones(len(GRID_WORDS) + 1), 75))
    assert np.mean([word.confidence for word in caption(noise)]) < 0.7


def test_too_few_frames_hold_no_sentence() -> None:
    assert caption(spoken(SENTENCE)[:4]) == ()
