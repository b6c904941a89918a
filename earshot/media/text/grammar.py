"""Words with their ARPAbet phones (no stress), and the grammars of GRID and of digits."""

from collections.abc import Mapping, Sequence
from typing import Final

Grammar = Sequence[Mapping[str, str]]  # slots, each of which maps words to their phones

PHONES: Final = tuple(
    "AA AE AH AO AW AY B CH D DH EH ER EY F G HH IH IY JH K L M N NG OW OY P R S SH T TH UH UW"
    " V W Y Z ZH".split()
)
DIGITS: Final[Mapping[str, str]] = {
    "zero": "Z IH R OW",
    "one": "W AH N",
    "two": "T UW",
    "three": "TH R IY",
    "four": "F AO R",
    "five": "F AY V",
    "six": "S IH K S",
    "seven": "S EH V AH N",
    "eight": "EY T",
    "nine": "N AY N",
}
# The six slots of every GRID sentence: command, colour, preposition, letter, digit, adverb.
GRID: Final[Grammar] = (
    {"bin": "B IH N", "lay": "L EY", "place": "P L EY S", "set": "S EH T"},
    {"blue": "B L UW", "green": "G R IY N", "red": "R EH D", "white": "W AY T"},
    {"at": "AE T", "by": "B AY", "in": "IH N", "with": "W IH DH"},
    {
        "a": "EY",
        "b": "B IY",
        "c": "S IY",
        "d": "D IY",
        "e": "IY",
        "f": "EH F",
        "g": "JH IY",
        "h": "EY CH",
        "i": "AY",
        "j": "JH EY",
        "k": "K EY",
        "l": "EH L",
        "m": "EH M",
        "n": "EH N",
        "o": "OW",
        "p": "P IY",
        "q": "K Y UW",
        "r": "AA R",
        "s": "EH S",
        "t": "T IY",
        "u": "Y UW",
        "v": "V IY",
        "x": "EH K S",
        "y": "W AY",
        "z": "Z EH D",
    },
    DIGITS,
    {"again": "AH G EH N", "now": "N AW", "please": "P L IY Z", "soon": "S UW N"},
)
GRID_WORDS: Final = tuple(word for slot in GRID for word in slot)


def grid_phones(sentence: str) -> list[str]:
    """List the phones of each word of a GRID sentence. Raises KeyError for a word outside it."""
    return [slot[word] for slot, word in zip(GRID, sentence.split(), strict=True)]


def phone_ids(phones: str) -> list[int]:
    """Number phones as classes of a recogniser: 0 is the blank, so the first phone is 1."""
    return [PHONES.index(phone) + 1 for phone in phones.split()]
