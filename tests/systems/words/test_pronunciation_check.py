"""Which sound of a word was wrong: from posteriors made here, and by the shipped networks."""

import numpy as np
import pytest

from earshot.core.errors import InputError
from earshot.core.paths import ASSETS
from earshot.systems.words import Words
from earshot.systems.words.phoneme_lattice import (
    COLUMNS,
    ENGLISH,
    NUMBERS,
    ExpectedPhoneme,
    align_english,
)
from earshot.systems.words.pronunciation_check import (
    Calibration,
    CheckedPhoneme,
    check_pronunciation,
    expected_phonemes,
    judge,
)

STEP = 0.02  # seconds
CALIBRATION = Calibration([1.0, 0.0], [1.0, 0.0], {}, [0.0], wrong=0.5, close=0.2)


def posteriors(*phonemes: str) -> np.ndarray:
    """Posteriors in which each phoneme lasts two steps, with three blank ones before each."""
    steps = []
    for phoneme in phonemes:
        steps += [0, 0, 0, NUMBERS[phoneme], NUMBERS[phoneme]]
    sure = np.full((len(steps) + 3, 1 + len(ENGLISH)), 0.002)
    sure[np.arange(len(sure)), [*steps, 0, 0, 0]] = 0.92
    return sure


def checked(expected: str, *spoken: str) -> tuple[CheckedPhoneme, ...]:
    steps = posteriors(*spoken)
    text = [ExpectedPhoneme(phoneme, frozenset(), 0) for phoneme in expected.split()]
    evidence = align_english(steps, text, len(steps) * STEP)
    return judge([evidence], text, CALIBRATION)


@pytest.mark.parametrize(
    ("spoken", "result", "second"),
    [
        ("l aɪ t h aʊ s", "", 0.0),
        ("l aɪ t h aʊ θ", "s>θ", 0.58),
        ("l aɪ d h aʊ s", "t>d", 0.28),
        ("aɪ t h aʊ s", "l>", 0.04),
        ("l aɪ t aʊ s", "h>", 0.33),
        ("l aɪ t h aʊ s ə", ">ə", 0.68),
        ("l aɪ t ɪ h aʊ s", ">ɪ", 0.38),
    ],
)
def test_one_wrong_phoneme_is_found_and_does_not_lower_others(
    spoken: str, result: str, second: float
) -> None:
    phonemes = checked("l aɪ t h aʊ s", *spoken.split())
    wrong = [phoneme for phoneme in phonemes if phoneme.verdict != "expected"]
    assert [f"{phoneme.phoneme}>{phoneme.actual}" for phoneme in wrong] == (
        [result] if result else []
    )
    for phoneme in wrong:
        assert (phoneme.start + phoneme.end) / 2 == pytest.approx(second, abs=0.06)
    assert all(p.probability < 0.1 for p in phonemes if p.verdict == "expected")
    starts = [phoneme.start for phoneme in phonemes]
    assert starts == sorted(starts)


def test_difference_of_accents_is_close() -> None:
    (wrong,) = (p for p in checked("k ɔ t", "k", "ɑ", "t") if p.verdict != "expected")
    assert (wrong.phoneme, wrong.verdict) == ("ɔ", "close")


@pytest.fixture(scope="module")
def words() -> Words:
    return Words.from_pretrained("words", "cpu")


def test_other_pronunciations_of_the_dictionary_are_right(words: Words) -> None:
    spellings, expected = expected_phonemes(words.pronounce, "The hot tea, ｒｅａｄ!")
    assert spellings == ("The", "hot", "tea,", "read!")
    assert [each.others for each in expected if each.others] == [{"i"}, {""}, {"i"}]
    assert [each.phoneme for each in expected][-3:] == ["ɹ", "ɛ", "d"]


def test_recording_is_checked_by_shipped_networks(words: Words) -> None:
    bird = ASSETS / "words" / "bird-awb.ogg"
    right = check_pronunciation(words, bird, "bird")
    assert [phoneme.verdict for phoneme in right.phonemes] == ["expected"] * 3
    other = check_pronunciation(words, bird, "third")
    assert [phoneme.phoneme for phoneme in other.phonemes if phoneme.verdict == "wrong"] == ["θ"]
    with pytest.raises(InputError, match="does not sound like “lighthouse”"):
        check_pronunciation(words, bird, "lighthouse")
    with pytest.raises(InputError, match="no speech"):
        noise = 0.1 * np.random.default_rng(0).standard_normal(32_000).astype(np.float32)
        check_pronunciation(words, (16_000, noise), "bird")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "Nothing is typed"),
        ("a " * 31, "30 words are the most"),
        ("lighthouse " * 450, "200 letters are the most"),
        ("слово", "another script"),
        ("北京", "Only the sounds of English"),
        ("bei3 jing1", "Only the sounds of English"),
        ("/taraːʒuʕ/", "Only the sounds of English"),
        ("🙂", "no word in this"),
        ("bird 7", "numbers as words"),
    ],
)
def test_text_that_cannot_be_checked_is_refused(words: Words, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        expected_phonemes(words.pronounce, text)


def test_columns_are_the_blank_and_english() -> None:
    assert COLUMNS[0] == 0 and len(set(COLUMNS)) == 1 + len(ENGLISH)
