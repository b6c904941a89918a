"""One phoneme inventory, in IPA, for English, Arabic and Mandarin; parsers of IPA, ARPAbet, pinyin,
and of words in Chinese and in Arabic script.

English is broad General American. The dictionaries used do not mark stress, so ʌ and ə are one
phoneme here. Mandarin tones are phonemes of their own that follow their syllable. Chinese
characters are read by pypinyin's dictionary of phrases. Arabic is written without its short vowels:
where they are marked they are read; usual words are in a list; else the vowel between two
consonants is taken to be a, which is the most frequent.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from earshot.core.errors import InputError

DICTIONARY_PACKAGE: Final = "pocketsphinx"  # its recogniser is not loaded
DICTIONARY_FILE: Final = "model/en-us/cmudict-en-us.dict"
ARPABET: Final[Mapping[str, str]] = {
    phone: ipa
    for phone, _, ipa in (
        pair.partition(":")
        for pair in (
            "AA:ɑ AE:æ AH:ə AO:ɔ AW:aʊ AY:aɪ B:b CH:tʃ D:d DH:ð EH:ɛ ER:ɝ EY:eɪ F:f G:ɡ HH:h IH:ɪ "
            "IY:i JH:dʒ K:k L:l M:m N:n NG:ŋ OW:oʊ OY:ɔɪ P:p R:ɹ S:s SH:ʃ T:t TH:θ UH:ʊ UW:u V:v "
            "W:w Y:j Z:z ZH:ʒ"
        ).split()
    )
}
ARABIC: Final = tuple("aː iː uː a r x q ʔ ʕ ħ ɣ sˤ dˤ tˤ ðˤ".split())
INITIALS: Final[Mapping[str, str]] = {
    pinyin: ipa
    for pinyin, _, ipa in (
        pair.partition(":")
        for pair in (
            "b:p p:pʰ m:m f:f d:t t:tʰ n:n l:l g:k k:kʰ h:x j:tɕ q:tɕʰ x:ɕ zh:ʈʂ ch:ʈʂʰ sh:ʂ "
            "r:ɻ z:t͡s c:t͡sʰ s:s"
        ).split()
    )
}
FINALS: Final[Mapping[str, tuple[str, ...]]] = {
    name: tuple(phonemes.split("."))
    for name, _, phonemes in (
        pair.partition(":")
        for pair in (
            "a:a o:u.o e:ɤ ai:a.i ei:e.i ao:a.u ou:o.u an:a.n en:ə.n ang:a.ŋ eng:ə.ŋ ong:u.ŋ "
            "er:ɤ.ɻ i:i ia:i.a ie:i.ɛ iao:i.a.u iu:i.o.u ian:i.ɛ.n in:i.n iang:i.a.ŋ ing:i.ŋ "
            "iong:i.u.ŋ u:u ua:u.a uo:u.o uai:u.a.i ui:u.e.i uan:u.a.n un:u.ə.n uang:u.a.ŋ "
            "ueng:u.ə.ŋ ü:y üe:y.ɛ üan:y.ɛ.n ün:y.n"
        ).split()
    )
}
APICAL: Final = "ɨ"  # the vowel that is written i after z, c, s, zh, ch, sh and r
TONES: Final = ("˥", "˧˥", "˨˩˦", "˥˩")  # the neutral fifth tone is not written
WITHOUT_INITIAL: Final[Mapping[str, str]] = {  # how pinyin spells a final that begins its syllable
    "yi": "i", "ya": "ia", "ye": "ie", "yao": "iao", "you": "iu", "yan": "ian", "yin": "in",
    "yang": "iang", "ying": "ing", "yong": "iong", "wu": "u", "wa": "ua", "wo": "uo", "wai": "uai",
    "wei": "ui", "wan": "uan", "wen": "un", "wang": "uang", "weng": "ueng", "yu": "ü", "yue": "üe",
    "yuan": "üan", "yun": "ün",
}  # fmt: skip

# The index of a phoneme here is its number in every network; 0 is padding. New ones go to the end.
PHONEMES: Final[tuple[str, ...]] = (
    "",
    *dict.fromkeys(
        [
            *ARPABET.values(),
            *ARABIC,
            *INITIALS.values(),
            *(phoneme for final in FINALS.values() for phoneme in final),
            APICAL,
            *TONES,
        ]
    ),
)
_NUMBERS: Final = {phoneme: number for number, phoneme in enumerate(PHONEMES)}
# Other notations of phonemes in the inventory, and marks that are ignored.
_ALIASES: Final[Mapping[str, str]] = {
    "ʌ": "ə", "ɐ": "ə", "ɜ": "ɝ", "ɚ": "ɝ", "ɒ": "ɑ", "g": "ɡ", "ɫ": "l", "ɾ": "t", "χ": "x",
    "t͡ʃ": "tʃ", "d͡ʒ": "dʒ", "ʧ": "tʃ", "ʤ": "dʒ", "t͡ɕ": "tɕ", "t͡ɕʰ": "tɕʰ",
    "ʈ͡ʂ": "ʈʂ", "ʈ͡ʂʰ": "ʈʂʰ", "əʊ": "oʊ", "ai": "aɪ", "au": "aʊ", "ei": "eɪ", "ou": "oʊ",
    "ɑː": "ɑ", "ɔː": "ɔ", "ɝː": "ɝ", "ɜː": "ɝ", "ɥ": "y",
}  # fmt: skip
_MARKS: Final = str.maketrans("", "", "ˈˌ'.‿/[]- ̪̩̯")
_MAX_LETTERS: Final = max(map(len, (*PHONEMES, *_ALIASES)))


def from_arpabet(text: str) -> tuple[str, ...]:
    """Read "K AE1 T": ARPAbet separated by spaces, with or without stress, in either case.

    Raises InputError naming the symbol that is not ARPAbet.
    """
    symbols = [symbol.upper().rstrip("012") for symbol in text.split()]
    for symbol in symbols:
        if symbol not in ARPABET:
            raise InputError(f"“{symbol}” is not a symbol of ARPAbet. Try one like K AE T.")
    return tuple(ARPABET[symbol] for symbol in symbols)


def from_pinyin(text: str) -> tuple[str, ...]:
    """Read "bei3 jing1": syllables separated by spaces, each with the number of its tone.

    v stands for ü. Raises InputError naming the syllable that is not pinyin.
    """
    return tuple(phoneme for syllable in text.lower().split() for phoneme in _syllable(syllable))


def from_ipa(text: str) -> tuple[str, ...]:
    """Read "taraːʒuʕ". Stress and syllable marks are ignored; ts is t and s unless tied.

    Raises InputError naming the first symbol that stands for no phoneme of the inventory.
    """
    rest = unicodedata.normalize("NFD", text).translate(_MARKS)
    rest = unicodedata.normalize("NFC", rest).replace(":", "ː")
    phonemes = []
    while rest:
        for length in range(min(_MAX_LETTERS, len(rest)), 0, -1):
            piece = rest[:length]
            phoneme = piece if piece in _NUMBERS else _ALIASES.get(piece)
            if phoneme:
                phonemes.append(phoneme)
                rest = rest[length:]
                break
        else:
            raise InputError(f"“{rest[0]}” stands for no sound that is known here.")
    return tuple(phonemes)


def numbers(phonemes: Sequence[str]) -> list[int]:
    """Look up the phonemes' numbers. Raises KeyError for one outside the inventory."""
    return [_NUMBERS[phoneme] for phoneme in phonemes]


def _syllable(syllable: str) -> tuple[str, ...]:
    """Read initial, final and tone of a syllable of pinyin."""
    name, tone = syllable[:-1].replace("v", "ü"), syllable[-1:]
    if tone not in tuple("12345"):
        raise InputError(f"“{syllable}” has no tone. Write pinyin like bei3 jing1, 5 for no tone.")
    initial = next((i for i in ("zh", "ch", "sh") if name.startswith(i)), name[:1])
    final = name.removeprefix(initial)
    if initial in ("j", "q", "x"):
        final = final.replace("u", "ü", 1) if final.startswith("u") else final
    if initial not in INITIALS:
        initial, final = "", WITHOUT_INITIAL.get(name, name)
    if final not in FINALS:
        raise InputError(f"“{syllable}” is not a syllable of pinyin. Write it like bei3 jing1.")
    phonemes = FINALS[final]
    if final == "i" and initial in ("zh", "ch", "sh", "r", "z", "c", "s"):
        phonemes = (APICAL,)
    if final == "o":  # bo, po, mo and fo have a glide before the vowel; the interjection has not
        phonemes = phonemes if initial else ("o",)
    if initial:
        phonemes = (INITIALS[initial], *phonemes)
    return phonemes if tone == "5" else (*phonemes, TONES[int(tone) - 1])


CHINESE_SCRIPT: Final = re.compile(r"[\u3400-\u9fff]+")
ARABIC_SCRIPT: Final = re.compile(r"[\u0621-\u063a\u0641-\u0655\u0670\u0671]+")

ARABIC_CONSONANTS: Final = dict.fromkeys("أإؤئ", "ʔ") | dict(
    zip(
        "بتثجحخدذرزسشصضطظعغفقكلمنهويء",
        "b t θ ʒ ħ x d ð r z s ʃ sˤ dˤ tˤ ðˤ ʕ ɣ f q k l m n h w j ʔ".split(),
        strict=True,
    )
)
SHORT_VOWELS: Final = {"\u064e": "a", "\u064f": "u", "\u0650": "i"}
NUNATION: Final = {"\u064b": "an", "\u064c": "un", "\u064d": "in"}
LONG_VOWELS: Final = {"ا": "aː", "ى": "aː", "و": "uː", "ي": "iː", "\u0670": "aː"}
NO_VOWEL, DOUBLED = "\u0652", "\u0651"
SUN_LETTERS: Final = frozenset("تثدذرزسشصضطظلن")  # letters that the article's l becomes
# Usual words as they are written → as they are spoken.
USUAL_WORDS: Final[dict[str, str]] = dict(
    zip(
        (
            "مرحبا شكرا سلام نعم لا كتاب قلم قلب كلب بيت باب ماء خبز قهوة شاي شمس قمر واحد اثنان "
            "ثلاثة أربعة خمسة صوت كلمة مدينة ولد بنت"
        ).split(),
        (
            "marħaban ʃukran salaːm naʕam laː kitaːb qalam qalb kalb bajt baːb maːʔ xubz qahwa "
            "ʃaːj ʃams qamar waːħid iθnaːn θalaːθa arbaʕa xamsa sˤawt kalima madiːna walad bint"
        ).split(),
        strict=True,
    )
)


def from_chinese(text: str) -> tuple[str, ...]:
    """Read Chinese characters as phonemes, with their tones.

    Raises InputError for a character that has no known reading.
    """
    from pypinyin import Style, lazy_pinyin  # late, for its dictionary takes a second

    syllables = lazy_pinyin(text, style=Style.TONE3, neutral_tone_with_five=True, v_to_u=True)
    for syllable in syllables:
        if CHINESE_SCRIPT.match(syllable):
            raise InputError(
                f"“{syllable}” has no reading here. Write it in pinyin, as bei3 jing1."
            )
    return from_pinyin(" ".join(syllables))


def from_arabic(text: str) -> tuple[tuple[str, ...], bool]:
    """Read words in Arabic script as phonemes, and return whether they are certain: the words are
    usual, or their vowels are marked.
    """
    phonemes: list[str] = []
    certain = True
    for word in text.split():
        word = unicodedata.normalize("NFC", word).replace("\u0640", "")  # the stroke that stretches
        marked = any(letter in SHORT_VOWELS or letter in NUNATION for letter in word)
        certain &= marked or word in USUAL_WORDS
        usual = USUAL_WORDS.get(word)
        phonemes += from_ipa(usual) if usual else _spelled(word, marked)
    return tuple(phonemes), certain


def _spelled(word: str, marked: bool) -> list[str]:
    """Read the phonemes of a word by its letters. marked: whether its short vowels are written."""
    phonemes: list[str] = []
    letters = list(word)
    for i, letter in enumerate(letters):
        following = next((c for c in letters[i + 1 :] if c != DOUBLED), "")
        if i == 1 and word.startswith("ال") and letter == "ل":
            phonemes.append(ARABIC_CONSONANTS[following] if following in SUN_LETTERS else "l")
        elif letter in SHORT_VOWELS:
            phonemes.append(SHORT_VOWELS[letter])
        elif letter in NUNATION:
            phonemes += NUNATION[letter]
        elif letter == "آ":
            phonemes += ["ʔ", "aː"]
        elif letter == "ة":
            phonemes += [] if phonemes and phonemes[-1] == "a" else ["a"]
        elif letter in "اٱ" and i == 0:
            phonemes.append("a")
        elif letter in LONG_VOWELS and _is_long(phonemes, following, letter):
            if phonemes and phonemes[-1] in SHORT_VOWELS.values():
                phonemes.pop()
            phonemes.append(LONG_VOWELS[letter])
        elif letter == DOUBLED:
            _double(phonemes)
        elif letter in ARABIC_CONSONANTS:
            # Without marks: a vowel after every other consonant, maktuːb, madrasa.
            closed = bool(phonemes) and phonemes[-1] not in ARABIC_CONSONANTS.values()
            phonemes.append(ARABIC_CONSONANTS[letter])
            between = following in ARABIC_CONSONANTS and following not in LONG_VOWELS
            if not marked and between and not closed:
                phonemes.append("a")
        elif letter != NO_VOWEL:
            raise InputError(f"“{letter}” has no sound here. Write the word in IPA, as /marħaban/.")
    return phonemes


def _double(phonemes: list[str]) -> None:
    """Double the last consonant, unless the article's has become its like already."""
    place = max(i for i, phoneme in enumerate(phonemes) if phoneme in ARABIC_CONSONANTS.values())
    if place == 0 or phonemes[place - 1] != phonemes[place]:
        phonemes.insert(place, phonemes[place])


def _is_long(phonemes: list[str], following: str, letter: str) -> bool:
    """Whether و or ي is a long vowel: after a consonant or its own short vowel, and before
    none.
    """
    if letter not in "وي":
        return True
    own = {"و": "u", "ي": "i"}[letter]
    marks = {*SHORT_VOWELS, *LONG_VOWELS, NO_VOWEL, DOUBLED}
    after = bool(phonemes) and (phonemes[-1] == own or phonemes[-1] in ARABIC_CONSONANTS.values())
    return after and following not in marks


@cache
def pronunciations() -> dict[str, str]:
    """Read the dictionary that comes inside pocketsphinx, 134,000 entries of American English:
    spelling in lower case → ARPAbet without stress, "K AE T".

    A word's other pronunciations are under "read(2)", "read(3)"; do not change what is returned.
    Raises RuntimeError where the package is not installed.
    """
    spec = find_spec(DICTIONARY_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise RuntimeError(f"The package {DICTIONARY_PACKAGE} is not installed.")
    lines = (Path(spec.submodule_search_locations[0]) / DICTIONARY_FILE).read_text(encoding="utf-8")
    entries = (line.partition(" ") for line in lines.splitlines())
    return {spelling: phones for spelling, _, phones in entries}
