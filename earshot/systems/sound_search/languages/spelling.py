"""The spellings by which words of the dictionary are compared: without case, accents, vowel signs
and articles.
"""

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

PUNCTUATION: Final = str.maketrans("，、。；：！？（）؟،؛「」『』«»„“”", ',,.;:!?()?,;"""""""""')
# Spellings of one letter that writers exchange freely.
SAME: Final = str.maketrans({"œ": "oe", "æ": "ae", "ى": "ي", "ة": "ه", "ـ": None})
UMLAUTS: Final = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})
HAN: Final = "㐀-䶿一-鿿"
PIECES: Final = re.compile(rf"[{HAN}]+|[^\W{HAN}]+|[^\w\s]")

# Arabic writes these together with the word: conjunctions, prepositions, the article, pronouns.
ARTICLE: Final = "ال"
BEFORE: Final = (*"وال فال بال كال لل".split(), ARTICLE, *"وفبلكس")
BEHIND: Final = "ها هم هن نا كم ات ون ين ان ته ه ي ك ا ت".split()
MIN_ROOT: Final = 3  # letters that remain of an Arabic word
PERSONS: Final = "تنا"  # first letters of Arabic verbs that are listed with ي


def folded(text: str) -> str:
    """Fold a text to lower case, without accents, vowel signs and invisible characters."""
    plain = unicodedata.normalize("NFKD", text.casefold().translate(SAME))
    return "".join(c for c in plain if unicodedata.category(c) not in ("Mn", "Cf"))


def spellings(word: str) -> set[str]:
    """Spell the word as it is, folded, and with its umlauts written as two letters."""
    return {
        word.casefold(),
        folded(word),
        folded(unicodedata.normalize("NFC", word).translate(UMLAUTS)),
    }


def pieces(text: str) -> list[str]:
    """Split a text into words, runs of Chinese characters and punctuation marks, in order."""
    composed = unicodedata.normalize("NFC", text).translate(PUNCTUATION)
    visible = "".join(c for c in composed if unicodedata.category(c) not in ("Mn", "Cf"))
    return PIECES.findall(re.sub(r"['’‘_-]", " ", visible))


def arabic_stems(word: str) -> Iterator[tuple[str, bool]]:
    """Yield the forms under which a folded Arabic word may be listed, the longest first, each with
    whether an "and" was taken off.
    """
    for start in ("", *BEFORE):
        if not word.startswith(start):
            continue
        rest = word[len(start) :]
        for end in ("", *BEHIND):
            stem = rest.removesuffix(end)
            if not rest.endswith(end) or len(stem) < MIN_ROOT:
                continue
            yield stem, start.startswith("و")
            if stem[0] in PERSONS:
                yield "ي" + stem[1:], start.startswith("و")


def is_latin(word: str) -> bool:
    """Say whether all letters are Latin ones."""
    return all(ord(character) < 0x250 for character in word)
