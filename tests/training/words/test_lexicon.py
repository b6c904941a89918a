"""Words to train on, and how they are said: lexicon and synthesis."""

from unicodedata import normalize

import numpy as np
import pytest

from earshot.media.text.phonemes import from_arpabet, from_ipa
from tests.support.word_arrays import rng
from training.common.zero_shot import is_zero_shot
from training.words.synthesis import (
    Word,
    arabic,
    consistent_with_voice,
    english,
    mandarin,
    rendition,
    speak,
    vowelled,
)

pytestmark = pytest.mark.slow


def test_lexicon_has_no_zero_shot_words() -> None:
    words = [*mandarin(200, rng()), *arabic(200, rng())]
    assert len({word.phonemes for word in words}) == 400
    for word in words:
        assert not is_zero_shot(word.language, word.text, word.phonemes)
    spellings = dict(english(rng()))
    assert {"hello", "speech", "tree"} <= set(spellings)
    assert not {"bird", "house", "project", "signal", "marvin", "sheila"} & set(spellings)


def test_vowelled_writes_every_vowel_mark() -> None:
    assert vowelled(from_ipa("madrasa")) == "مَدْرَسَ"
    assert normalize("NFC", vowelled(from_ipa("kabbaːr"))) == normalize("NFC", "كَبَّارْ")
    assert vowelled(from_ipa("ʔislaːm")) == "إِسْلَامْ"


@pytest.mark.parametrize(
    "word",
    [
        Word("en", "speaker", from_arpabet("S P IY K ER")),
        *mandarin(1, rng(1)),
        *arabic(1, rng(1)),
    ],
    ids=["en", "zh", "ar"],
)
def test_speak_gives_trimmed_word(word: Word, monkeypatch: pytest.MonkeyPatch) -> None:
    """The word is at the level of speech."""
    monkeypatch.setattr("training.words.synthesis.FLITE_SHARE", 0.0)  # flite may not be there
    waveform = speak(rendition(word, rng()))
    assert 0.15 < len(waveform) / 16_000 < 2.5
    assert 0.05 < np.abs(waveform).max() <= 1.0
    edge = np.abs(waveform[:160]).max()
    assert edge < 0.2 * np.abs(waveform).max()  # cut to the word, with a little rest


def test_words_pronounced_otherwise_are_dropped() -> None:
    """Words consistent with the voice stay."""
    pronunciation = consistent_with_voice(
        [("speech", [from_arpabet("S P IY CH")]), ("house", [from_arpabet("K AE T S")])]
    )
    assert [word.text for word in pronunciation] == ["speech"]
    assert pronunciation[0].phonemes == from_arpabet("S P IY CH")
