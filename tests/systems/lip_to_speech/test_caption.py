"""Captions of CTC outputs under the grammar."""

import numpy as np
import pytest

from earshot.media.text.grammar import GRID_WORDS
from earshot.systems.lip_to_speech.caption import Calibration, caption

SENTENCE = "bin blue at f two now"
CALIBRATION = Calibration(temperature=2.0)


def spoken(sentence: str, probability: float = 0.9, frames: int = 75) -> np.ndarray:
    """CTC log probabilities: five frames per word, ten frames apart, blank elsewhere."""
    probabilities = np.full((frames, len(GRID_WORDS) + 1), 1e-8)
    probabilities[:, 0] = 1.0
    for place, word in enumerate(sentence.split()):
        rows = slice(8 + 10 * place, 13 + 10 * place)
        probabilities[rows, 0] = 1 - probability
        probabilities[rows, 1 + GRID_WORDS.index(word)] = probability
    return np.log(probabilities / probabilities.sum(axis=1, keepdims=True))


def test_caption_has_words_and_times() -> None:
    words = caption(spoken(SENTENCE), CALIBRATION)
    assert [word.text for word in words] == SENTENCE.split()
    assert [word.start for word in words] == pytest.approx(0.32 + 0.4 * np.arange(6))
    assert [word.end for word in words] == pytest.approx(0.52 + 0.4 * np.arange(6))
    assert min(word.confidence for word in words) > 0.9


def test_caption_of_two_sentences_has_both() -> None:
    both = f"{SENTENCE} place red with q zero soon"
    assert [word.text for word in caption(spoken(both, frames=150), CALIBRATION)] == both.split()


def test_caption_follows_grammar_against_ctc() -> None:
    """CTC prefers a word of another slot."""
    observed = spoken(SENTENCE)
    row = slice(18, 23)  # of "blue", for which CTC now prefers a digit
    observed[row, 1 + GRID_WORDS.index("two")] = np.log(0.6)
    observed[row, 1 + GRID_WORDS.index("blue")] = np.log(0.3)
    assert [word.text for word in caption(observed, CALIBRATION)] == SENTENCE.split()


def test_confidence_between_equals_is_about_half() -> None:
    """Two words are nearly as likely as each other."""
    observed = spoken(SENTENCE)
    row = slice(38, 43)
    observed[row, 1 + GRID_WORDS.index("f")] = np.log(0.45)
    observed[row, 1 + GRID_WORDS.index("s")] = np.log(0.44)
    letter = caption(observed, CALIBRATION)[3]
    assert letter.text == "f"
    assert 0.4 < letter.confidence < 0.65


def test_confidence_in_noise_is_low() -> None:
    noise = np.log(np.random.default_rng(0).dirichlet(np.ones(len(GRID_WORDS) + 1), 75))
    assert np.mean([word.confidence for word in caption(noise, CALIBRATION)]) < 0.7


def test_caption_of_few_frames_is_empty() -> None:
    assert caption(spoken(SENTENCE)[:4], CALIBRATION) == ()


def test_calibration_changes_confidence_not_words() -> None:
    outputs = spoken(SENTENCE, probability=0.6)
    sharp, flat, scaled = (
        caption(outputs, calibration)
        for calibration in (Calibration(1.0), Calibration(4.0), Calibration(1.0, 0.2, -0.5))
    )
    assert [w.text for w in sharp] == [w.text for w in flat] == [w.text for w in scaled]
    means = [np.mean([w.confidence for w in words]) for words in (sharp, flat, scaled)]
    assert means[0] > means[1] and means[0] > means[2]


def test_confidence_is_logistic_in_logit() -> None:
    calibration = Calibration(temperature=1.0, slope=0.5, intercept=-1.0)
    assert calibration.confidence(0.8) == pytest.approx(1 / (1 + np.exp(1.0) / 2))  # odds 4 ** 0.5
    assert Calibration(temperature=1.0).confidence(0.8) == pytest.approx(0.8)


def test_no_word_is_entirely_certain() -> None:
    assert Calibration(temperature=1.0).confidence(1.0) < 1
    assert Calibration(temperature=1.0, slope=0.2).confidence(1.0) == pytest.approx(0.94, abs=0.01)
