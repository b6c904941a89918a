"""Calibration errors by hand, and the fit by speakers who were left out."""

import numpy as np
import pytest

from earshot.media.text.grammar import GRID, GRID_WORDS
from earshot.systems.lip_to_speech.caption import SpokenWord
from training.lip_to_speech import calibration
from training.lip_to_speech.calibration import CaptionWords, fit


def test_right_confidence_has_no_calibration_error() -> None:
    """The error of confidence equal to accuracy is zero."""
    words = CaptionWords(np.full(4, 0.75), np.array([True, True, True, False]))
    assert words.calibration_error == pytest.approx(0)
    assert words.brier_score == pytest.approx(0.1875)


def test_certain_mistakes_have_calibration_error_one() -> None:
    """The error of certain wrong words is one."""
    assert CaptionWords(np.ones(3), np.zeros(3, bool)).calibration_error == pytest.approx(1)


def test_calibration_error_weighs_bins_by_words() -> None:
    words = CaptionWords(np.array([0.95, 0.95, 0.95, 0.25]), np.array([True, True, True, True]))
    assert words.calibration_error == pytest.approx((3 * 0.05 + 0.75) / 4)


def test_words_are_compared_with_references() -> None:
    read = [SpokenWord("bin", 0.9, 0.0, 0.1), SpokenWord("red", 0.4, 0.1, 0.2)]
    words = CaptionWords.of([read, ()], [["bin", "blue"], ["lay", "red"]])
    assert words.confidence.tolist() == [0.9, 0.4]
    assert words.correct.tolist() == [True, False]
    assert len(CaptionWords.of([()], [["bin"]]).correct) == 0


def overconfident_outputs(rng: np.random.Generator) -> tuple[np.ndarray, list[str]]:
    """CTC log probabilities of a sentence, and what was said: words of an odds of 9 to 1 are wrong
    two times in five."""
    outputs = np.full((75, len(GRID_WORDS) + 1), 1e-4)
    outputs[:, 0] = 1.0
    calls = []
    first = 0
    for place, slot in enumerate(GRID):
        right, other = rng.choice(len(slot), 2, replace=False)
        read, not_read = (right, other) if rng.random() < 0.6 else (other, right)
        rows = slice(8 + 10 * place, 9 + 10 * place)
        outputs[rows, 0] = 1e-4
        outputs[rows, 1 + first + read], outputs[rows, 1 + first + not_read] = 0.9, 0.1
        calls.append(GRID_WORDS[first + right])
        first += len(slot)
    return np.log(outputs / outputs.sum(axis=1, keepdims=True)), calls


@pytest.fixture
def few_temperatures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every sentence is read at each temperature, which takes long."""
    monkeypatch.setattr(calibration, "TEMPERATURES", (1.0, 2.5))


@pytest.mark.usefixtures("few_temperatures")
def test_fit_leaves_out_words_of_a_second_sentence() -> None:
    rng = np.random.default_rng(0)
    outputs, references = zip(*[overconfident_outputs(rng) for _ in range(12)], strict=True)
    longer = [np.concatenate([outputs[0]] * 2), *outputs[1:]]
    _, words = fit(longer, references, np.repeat(["s1", "s2"], 6))
    assert len(words.correct) == 72


@pytest.mark.usefixtures("few_temperatures")
def test_fit_mends_confidence_of_overconfident_reader() -> None:
    """Each speaker's words are predicted by the others'."""
    rng = np.random.default_rng(0)
    outputs, references = zip(*[overconfident_outputs(rng) for _ in range(60)], strict=True)
    fitted, words = fit(outputs, references, np.repeat(["s1", "s2", "s3"], 20))
    assert words.correct.mean() == pytest.approx(0.6, abs=0.06)
    assert words.calibration_error < 0.06
    assert fitted.confidence(0.9) < 0.75
