"""Makes the words of the map: assets/words, spoken by voices that anyone may use, and their index.

python -m synthetic.words speak writes the recordings and words.csv; index embeds them, and some
thousand written words more, with checkpoints/words.
"""

from dataclasses import dataclass
from typing import Final

from media.paths import ASSETS
from media.text.phonemes import from_arpabet, from_ipa, from_pinyin
from pipelines.words.dictionary import pronunciations
from synthetic.words import english, other_languages

WORDS: Final = ASSETS / "words"
INDEX: Final = ASSETS / "words.index"


@dataclass(frozen=True)
class Word:
    """spelling: as a visitor would type it; read: what a voice is given; gloss: for the languages
    that few visitors know, how it is written and what it means."""

    language: str
    spelling: str
    phonemes: tuple[str, ...]
    read: str
    gloss: str = ""


def spoken_words() -> list[Word]:
    """The words that voices speak, English ones first."""
    dictionary = pronunciations()
    return [
        *(
            Word("English", spelling, from_arpabet(dictionary[spelling]), spelling)
            for spelling in english.words()
        ),
        *(
            Word("Mandarin", typed, from_pinyin(typed), read, gloss)
            for typed, read, gloss in other_languages.lines(other_languages.MANDARIN)
        ),
        *(
            Word("Arabic", typed, from_ipa(typed.strip("/")), read, gloss)
            for typed, read, gloss in other_languages.lines(other_languages.ARABIC)
        ),
    ]
