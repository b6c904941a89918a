"""The phoneme inventory and its three notations."""

import pytest

from earshot.core.errors import InputError
from earshot.media.text.phonemes import (
    PHONEMES,
    from_arpabet,
    from_ipa,
    from_pinyin,
    numbers,
)


def test_from_arpabet_agrees_with_from_ipa() -> None:
    assert from_arpabet("K AE1 T") == from_ipa("/ˈkæt/") == ("k", "æ", "t")
    assert from_arpabet("ch iy z") == from_ipa("t͡ʃiz") == from_ipa("tʃiz")
    assert from_arpabet("IH T S") == from_ipa("ɪts")


def test_from_ipa_keeps_arabic_emphasis() -> None:
    """It keeps the length of vowels, too."""
    assert from_ipa("taʕtˤiːl") == ("t", "a", "ʕ", "tˤ", "iː", "l")


def test_from_pinyin_keeps_tones() -> None:
    """It expands finals into their phonemes."""
    assert from_pinyin("bei3 jing1") == ("p", "e", "i", "˨˩˦", "tɕ", "i", "ŋ", "˥")
    assert from_pinyin("yu3 yan2") == ("y", "˨˩˦", "i", "ɛ", "n", "˧˥")
    assert from_pinyin("lv4") == ("l", "y", "˥˩")
    assert from_pinyin("xue2") == ("ɕ", "y", "ɛ", "˧˥")
    assert from_pinyin("shi4 ma5") == ("ʂ", "ɨ", "˥˩", "m", "a")
    assert from_pinyin("Bo1")[:3] == ("p", "u", "o")


def test_parsers_name_the_unknown_symbol() -> None:
    with pytest.raises(InputError, match="QQ"):
        from_arpabet("K QQ T")
    with pytest.raises(InputError, match="bei"):
        from_pinyin("bei")
    with pytest.raises(InputError, match="bq4"):
        from_pinyin("bq4")
    with pytest.raises(InputError, match="ʘ"):
        from_ipa("kʘt")


def test_numbers_are_distinct_and_no_padding() -> None:
    assert numbers(PHONEMES[1:]) == list(range(1, len(PHONEMES)))
    assert PHONEMES[0] == "" and len(set(PHONEMES)) == len(PHONEMES)
