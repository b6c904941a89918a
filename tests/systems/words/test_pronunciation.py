"""Pronunciation of typed words: dictionary, prediction, IPA, ARPAbet, pinyin, refusals."""

from pathlib import Path

import pytest

from earshot.core.errors import InputError
from earshot.media.text.phonemes import (
    PHONEMES,
    from_arpabet,
    from_ipa,
    from_pinyin,
    pronunciations,
)
from earshot.models.words.g2p import PHONES
from earshot.systems.words.pronunciation import Pronouncer, load_g2p


def pronouncer_of(tiny_checkpoints: Path, phone: str) -> Pronouncer:
    """A pronouncer whose network predicts one phone for every word."""
    network = load_g2p(tiny_checkpoints / "g2p")
    network.output.bias[PHONES.index(phone) + 1] = 1000.0
    return Pronouncer(network)


@pytest.fixture(scope="module")
def pronouncer(tiny_checkpoints: Path) -> Pronouncer:
    """Predicts AH for every word."""
    return pronouncer_of(tiny_checkpoints, "AH")


def test_pronunciations_reads_the_whole_dictionary() -> None:
    assert len(pronunciations()) > 130_000
    assert pronunciations()["cat"] == "K AE T"
    assert pronunciations()["read(2)"] == "R IY D"


@pytest.mark.parametrize(
    ("text", "phones"),
    [
        ("cat", "K AE T"),
        ("  Cat\n", "K AE T"),
        ("CAT", "K AE T"),
        ("“cat!”", "K AE T"),
        ("'cat'", "K AE T"),
        ("view glass", "V Y UW G L AE S"),
        ("view-glass", "V Y UW G L AE S"),
        ("ad-hoc", "AE D HH AA K"),
        ("don't", "D OW N T"),
        ("don’t", "D OW N T"),
        ("a.m.", "EY EH M"),
        ("c\u200ba\u200dt\x00", "K AE T"),
        ("Café", "K AH F EY"),
        ("cafe\u0301", "K AH F EY"),
        ("T V", "T IY V IY"),
        ("w", "D AH B AH L Y UW"),
        ("e\u2011mail", "IY M EY L"),
        ("twenty–one", "T W EH N T IY W AO N"),
        ("can´t", "K AE N T"),
    ],
)
def test_pronouncer_finds_words_of_the_dictionary(
    pronouncer: Pronouncer, text: str, phones: str
) -> None:
    pronunciation = pronouncer(text)
    assert pronunciation.phonemes == from_arpabet(phones)
    assert pronunciation.source == "dictionary"


@pytest.mark.parametrize(
    ("text", "phones"),
    [
        ("earshotting", "AH"),
        ("zzxq", "AH"),
        ("blorft cat", "AH K AE T"),
        ("blorft-cat", "AH K AE T"),
        ("o'blorft", "AH"),
        ("x" * 40, "AH"),
    ],
)
def test_pronouncer_predicts_words_outside_the_dictionary(
    pronouncer: Pronouncer, text: str, phones: str
) -> None:
    pronunciation = pronouncer(text)
    assert pronunciation.phonemes == from_arpabet(phones)
    assert pronunciation.source == "guess"


@pytest.mark.parametrize("text", ["/kæt/", "[kæt]", "kæt", "/ˈkæt/", "/k æ t/", "  /kæt/ "])
def test_pronouncer_parses_ipa(pronouncer: Pronouncer, text: str) -> None:
    pronunciation = pronouncer(text)
    assert (pronunciation.phonemes, pronunciation.source) == (("k", "æ", "t"), "IPA")


@pytest.mark.parametrize("text", ["taraːʒuʕ", "sˤad", "fatħ", "θri", "/sitta/"])
def test_pronouncer_parses_ipa_of_other_languages(pronouncer: Pronouncer, text: str) -> None:
    pronunciation = pronouncer(text)
    assert (pronunciation.phonemes, pronunciation.source) == (from_ipa(text), "IPA")


@pytest.mark.parametrize("text", ["K AE T", "K AE1 T", "K  AE0  T", "K AE T\n"])
def test_pronouncer_parses_arpabet(pronouncer: Pronouncer, text: str) -> None:
    pronunciation = pronouncer(text)
    assert (pronunciation.phonemes, pronunciation.source) == (("k", "æ", "t"), "ARPAbet")


def test_single_arpabet_vowel_needs_stress(pronouncer: Pronouncer) -> None:
    assert pronouncer("ER1").source == "ARPAbet"
    assert pronouncer("AW").source == "dictionary"  # aw, the word


@pytest.mark.parametrize("text", ["bei3 jing1", "bei3jing1", "BEI3 JING1", "Bei3 jing1 "])
def test_pronouncer_parses_pinyin(pronouncer: Pronouncer, text: str) -> None:
    pronunciation = pronouncer(text)
    assert (pronunciation.phonemes, pronunciation.source) == (from_pinyin("bei3 jing1"), "pinyin")


def test_pronouncer_parses_spellings_of_u_umlaut(pronouncer: Pronouncer) -> None:
    composed, decomposed, plain = (pronouncer(t) for t in ("nü3", "nu\u03083", "nv3"))
    assert composed == decomposed == plain
    assert "y" in plain.phonemes


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "Nothing is typed"),
        (" \n\t\u200b", "Nothing is typed"),
        ("😀", "no word in this"),
        ("-", "no word in this"),
        ("…?!", "no word in this"),
        ("//", "no word in this"),
        ("/ˈ/", "no sound in"),
        ("cat 😀", "“😀” has no sound"),
        ("r&b", "“&” has no sound"),
        ("straße", "“ß” has no sound"),
        ("3", "numbers as words"),
        ("٣", "numbers as words"),
        ("route 66", "numbers as words"),
        ("covid19", "numbers as words"),
        ("bei3 jing", "a tone from 1 to 5 follows every syllable"),
        ("bei6", "a tone from 1 to 5"),
        ("mp3", "“mp3” is not a syllable of pinyin"),
        ("nǐ hǎo", "write its tones as numbers"),
        ("K AE1 X", "“X” is not a symbol of ARPAbet"),
        ("/cat/", "“c” stands for no sound"),
        ("kæt 😀", "“😀” stands for no sound"),
        ("hello ʘ", "“ʘ” stands for no sound"),
        ("кот", "another script"),
        ("ねこ", "another script"),
        ("γάτα", "another script"),
        ("cat 猫", "Two scripts"),
        ("a" * 41, "41 letters; 40 are the most"),
        ("a" * 1_000_000, "80 characters are the most"),
        ("a" + "'" * 100 + "a", "80 characters are the most"),
    ],
)
def test_pronouncer_refuses_unusable_text_with_advice(
    pronouncer: Pronouncer, text: str, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        pronouncer(text)


def test_pronouncer_refuses_prediction_without_vowel(tiny_checkpoints: Path) -> None:
    with pytest.raises(InputError, match="“zzxq” cannot be said: it has no vowel"):
        pronouncer_of(tiny_checkpoints, "Z")("zzxq")


def test_dictionary_uses_only_inventory_phonemes() -> None:
    symbols = {symbol for phones in pronunciations().values() for symbol in phones.split()}
    assert {from_arpabet(symbol)[0] for symbol in symbols} <= set(PHONEMES[1:])


def test_from_pretrained_without_a_checkpoint_raises() -> None:
    with pytest.raises(FileNotFoundError):
        Pronouncer.from_pretrained("/nowhere/g2p")


@pytest.mark.parametrize(
    ("text", "ipa", "source"),
    [
        ("شكرا", "ʃukran", "Arabic"),
        ("كِتَاب", "kitaːb", "Arabic"),
        ("مُدَرِّس", "mudarris", "Arabic"),
        ("سَيَّارَة", "sajjaːra", "Arabic"),
        ("صَوْت", "sˤawt", "Arabic"),
        ("الشَّمْس", "aʃʃams", "Arabic"),
        ("يسار", "jasaːr", "Arabic guess"),
        ("مكتوب", "maktuːb", "Arabic guess"),
        ("مدرسة", "madrasa", "Arabic guess"),
    ],
)
def test_pronouncer_reads_arabic(pronouncer: Pronouncer, text: str, ipa: str, source: str) -> None:
    pronunciation = pronouncer(text)
    assert "".join(pronunciation.phonemes) == "".join(from_ipa(ipa))
    assert pronunciation.source == source


@pytest.mark.parametrize(
    ("text", "pinyin"),
    [("北京", "bei3 jing1"), ("女儿", "nü3 er2"), ("银行", "yin2 hang2"), ("猫！", "mao1")],
)
def test_pronouncer_reads_chinese(pronouncer: Pronouncer, text: str, pinyin: str) -> None:
    assert pronouncer(text).phonemes == from_pinyin(pinyin)
    assert pronouncer(text).source == "Chinese"


@pytest.mark.parametrize(
    ("usual", "others"),
    [
        ("كتاب", ["کتاب", "ﻛﺘﺎﺏ", "كـتاب", "\u200fكتاب\u200f", "كتاب\u200c"]),
        ("بيت", ["بیت", "ﺑﻴﺖ"]),
        ("音乐", ["音樂", "\u2fb3乐"]),
        ("大学", ["大學", "\u2f24学"]),
        ("hello", ["ｈｅｌｌｏ", "hello\u3000"]),
    ],
)
def test_letters_of_other_keyboards_are_the_same(
    pronouncer: Pronouncer, usual: str, others: list[str]
) -> None:
    """meilisearch/charabia#382, docling-project/docling#3929, fastfinge/eloquence_64#98: Persian
    letters, presentation forms of PDFs, traditional characters."""
    expected = pronouncer(usual).phonemes
    assert [pronouncer(other).phonemes for other in others] == [expected] * len(others)


def test_pronouncer_refuses_two_scripts_in_one(pronouncer: Pronouncer) -> None:
    with pytest.raises(InputError, match="Two scripts"):
        pronouncer("北京 cat")
