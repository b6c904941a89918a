"""Words in Chinese and in Arabic script as phonemes of the one inventory.

Chinese characters are read by pypinyin's dictionary of phrases. Arabic is written without its short
vowels: where they are marked they are read; usual words are known; else the vowel between two
consonants is taken to be a, which is the most frequent.
"""

import re
import unicodedata
from typing import Final

from earshot.core.errors import InputError
from earshot.media.text.phonemes import from_ipa, from_pinyin

CHINESE: Final = re.compile(r"[\u3400-\u9fff]+")
ARABIC: Final = re.compile(r"[\u0621-\u063a\u0641-\u0655\u0670\u0671]+")

CONSONANTS: Final = dict.fromkeys("أإؤئ", "ʔ") | dict(
    zip(
        "بتثجحخدذرزسشصضطظعغفقكلمنهويء",
        "b t θ ʒ ħ x d ð r z s ʃ sˤ dˤ tˤ ðˤ ʕ ɣ f q k l m n h w j ʔ".split(),
        strict=True,
    )
)
VOWELS: Final = {"\u064e": "a", "\u064f": "u", "\u0650": "i"}
NUNATION: Final = {"\u064b": "an", "\u064c": "un", "\u064d": "in"}
LONG: Final = {"ا": "aː", "ى": "aː", "و": "uː", "ي": "iː", "\u0670": "aː"}
NO_VOWEL, DOUBLED = "\u0652", "\u0651"
SUN: Final = frozenset("تثدذرزسشصضطظلن")  # letters that the article's l becomes
# Usual words as they are written → as they are said.
KNOWN: Final = dict(
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
        if CHINESE.match(syllable):
            raise InputError(
                f"“{syllable}” has no reading here. Write it in pinyin, as bei3 jing1."
            )
    return from_pinyin(" ".join(syllables))


def from_arabic(text: str) -> tuple[tuple[str, ...], bool]:
    """Read words in Arabic script as phonemes, and say whether they are certain: the words are
    known, or their vowels are marked.
    """
    phonemes: list[str] = []
    certain = True
    for word in text.split():
        word = unicodedata.normalize("NFC", word).replace("\u0640", "")  # the stroke that stretches
        marked = any(letter in VOWELS or letter in NUNATION for letter in word)
        certain &= marked or word in KNOWN
        said = from_ipa(KNOWN[word]) if word in KNOWN else tuple(_spelled(word, marked))
        phonemes += said
    return tuple(phonemes), certain


def _spelled(word: str, marked: bool) -> list[str]:
    """Read the phonemes of a word by its letters. marked: whether its short vowels are written."""
    said: list[str] = []
    letters = list(word)
    for i, letter in enumerate(letters):
        following = next((c for c in letters[i + 1 :] if c != DOUBLED), "")
        if i == 1 and word.startswith("ال") and letter == "ل":
            said.append(CONSONANTS[following] if following in SUN else "l")
        elif letter in VOWELS:
            said.append(VOWELS[letter])
        elif letter in NUNATION:
            said += NUNATION[letter]
        elif letter == "آ":
            said += ["ʔ", "aː"]
        elif letter == "ة":
            said += [] if said and said[-1] == "a" else ["a"]
        elif letter in "اٱ" and i == 0:
            said.append("a")
        elif letter in LONG and _is_long(said, following, letter):
            if said and said[-1] in VOWELS.values():
                said.pop()
            said.append(LONG[letter])
        elif letter == DOUBLED:
            _double(said)
        elif letter in CONSONANTS:
            # Without marks: a vowel after every other consonant, maktuːb, madrasa.
            closed = bool(said) and said[-1] not in CONSONANTS.values()
            said.append(CONSONANTS[letter])
            between = following in CONSONANTS and following not in LONG
            if not marked and between and not closed:
                said.append("a")
        elif letter != NO_VOWEL:
            raise InputError(f"“{letter}” has no sound here. Write the word in IPA, as /marħaban/.")
    return said


def _double(said: list[str]) -> None:
    """Double the last consonant, unless the article's has become its like already."""
    place = max(i for i, phoneme in enumerate(said) if phoneme in CONSONANTS.values())
    if place == 0 or said[place - 1] != said[place]:
        said.insert(place, said[place])


def _is_long(said: list[str], following: str, letter: str) -> bool:
    """Say whether و or ي is a long vowel: after a consonant or its own short vowel, and before
    none.
    """
    if letter not in "وي":
        return True
    own = {"و": "u", "ي": "i"}[letter]
    vowelled = following in VOWELS or following in LONG or following in (NO_VOWEL, DOUBLED)
    after = bool(said) and (said[-1] == own or said[-1] in CONSONANTS.values())
    return after and not vowelled
