"""Letters as other keyboards, countries and files write them, as the ones that are usual here."""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

# Full-width letters of Chinese and Japanese keyboards and their space, Arabic letters by the form
# that they have within a word, Latin letters that are joined, and Chinese characters as parts of
# others: PDFs have these.
COMPATIBLE: Final = re.compile(
    r"[\u0132\u0133\u2e80-\u2fdf\u3000\uf900-\ufaff\ufb00-\ufb06\ufb50-\ufdff\ufe70-\uffef]+"
)
# Letters of Persian and Urdu keyboards, and the stroke that stretches a word.
ARABIC: Final = str.maketrans(
    "\u06a9\u06cc\u06d0\u06c1\u06d5\u06be", "\u0643\u064a\u064a\u0647\u0647\u0647", "\u0640"
)
# A line of traditional characters, and one of the same simplified: OpenCC's table (Apache 2.0).
CHINESE: Final = Path(__file__).with_name("simplified.txt")
MAX_MARKS: Final = 30  # on a letter, as in the stream-safe text of Unicode (UAX #15)


def usual_letters(text: str) -> str:
    """Write a text in the letters that are usual: Arabic ones of Arabic, simplified Chinese, and
    Latin ones of normal width; nothing invisible.

    >>> usual_letters("ｄｏｇ　語言")
    'dog 语言'
    """
    plain = COMPATIBLE.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text)
    visible = "".join(c for c in plain if unicodedata.category(c) != "Cf")
    return visible.translate(ARABIC).translate(_simplified())


def composed(text: str) -> str:
    """Write a text in Unicode's normal form C, with no more than MAX_MARKS marks on a letter:
    unicodedata sorts all that there are, in quadratic time, while nothing else runs.
    """
    if len(text) > MAX_MARKS and not text.isascii():
        text = "".join(_with_few_marks(text))
    return unicodedata.normalize("NFC", text)


def _with_few_marks(text: str) -> Iterator[str]:
    marks = 0
    for character in text:
        marks = marks + 1 if unicodedata.category(character)[0] == "M" else 0
        if marks <= MAX_MARKS:
            yield character


@cache
def _simplified() -> dict[int, int]:
    traditional, simplified = CHINESE.read_text(encoding="utf-8").split()
    return str.maketrans(traditional, simplified)
