"""The synthetic recordings of the words tab (assets/words, in freely usable voices), their index.

``python -m synthetic.words speak`` writes the recordings and words.csv; ``index`` embeds them and
5,000 more written words with checkpoints/words.
"""

from dataclasses import dataclass
from typing import Final

from earshot.core.paths import ASSETS
from earshot.media.text.phonemes import from_arpabet, from_ipa, from_pinyin, pronunciations
from synthetic.words import english, other_languages

WORDS: Final = ASSETS / "words"
INDEX: Final = ASSETS / "words.index"


@dataclass(frozen=True)
class Word:
    """A word to synthesise. spelling: as a visitor would type it; read: the text given to the
    synthesiser; gloss: for Mandarin and Arabic, the usual spelling and the meaning.
    """

    language: str
    spelling: str
    phonemes: tuple[str, ...]
    read: str
    gloss: str = ""


def spoken_words() -> list[Word]:
    """List the words to synthesise, English first."""
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
