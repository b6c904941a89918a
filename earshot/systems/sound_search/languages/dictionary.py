"""A dictionary of one language: its words → English, inflected and compound words too.

words.csv has a line an English word or phrase and a column a language; words of one meaning are
separated by commas. Everyday inflection is met by comparing beginnings.
"""

import csv
from bisect import bisect_left
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from earshot.systems.sound_search.languages.spelling import (
    ARTICLE,
    arabic_stems,
    folded,
    is_latin,
    spellings,
)

WORDS: Final = Path(__file__).with_name("words.csv")
DROPPED: Final = "-"  # the English of words that English has no word for
MAX_WORDS: Final = 6  # words of a phrase, or Chinese characters
MIN_STEM: Final = 4  # letters that inflected words share
MIN_SHARE: Final = 0.6  # of the letters of both
MIN_PART: Final = 3  # letters of a part of a compound
MAX_COMPOUND: Final = 40  # letters: more parts take too long to find
LINKS: Final = ("", "s", "n", "en", "es")  # between the parts of a German compound
# Words that are no parts of compounds: articles, pronouns, prepositions and the like.
GRAMMAR: Final = frozenset(
    "- a the and or of in into on off up i you he she it we us my your his her is as at by for from"
    " not so the then to too under what who why how where when with about over through".split()
)


class Segment(NamedTuple):
    """Words of a text, and their English. listed: as they are written, or as a compound."""

    words: tuple[str, ...]
    english: str
    listed: bool


class Dictionary:
    """Words and phrases of one language with their English."""

    def __init__(self, language: str, english: dict[str, str]) -> None:
        """Keep the words. english: of each word or phrase as it is written, and folded."""
        self.language = language
        self.english = english
        comparable = (word for word in english if " " not in word and word[:2] != ARTICLE)
        self._sorted = sorted(comparable)

    def segments(self, words: list[str]) -> Iterator[Segment]:
        """Yield the longest listed phrases, from the left; what is unknown keeps its Latin letters,
        and is left out in other scripts.
        """
        position = 0
        while position < len(words):
            word = words[position]
            if self.language == "zh" and not word.isascii():
                yield from self._characters(word)
                position += 1
                continue
            segment = self._phrase(words[position : position + MAX_WORDS]) or self._word(word)
            yield segment
            position += len(segment.words)

    def translate(self, words: list[str]) -> str:
        """Translate words that follow each other into English."""
        found = [segment.english for segment in self.segments(words)]
        return " ".join(word for word in found if word not in ("", DROPPED))

    def _phrase(self, words: list[str]) -> Segment | None:
        for length in range(len(words), 0, -1):
            written = " ".join(words[:length]).casefold()
            for key in (written, folded(written)):
                if key in self.english:
                    return Segment(tuple(words[:length]), self.english[key], True)
        return None

    def _word(self, word: str) -> Segment:
        """Translate a word that is not listed itself."""
        key = folded(word)
        if self.language == "ar":
            return Segment((word,), self._arabic(key) or (word if is_latin(word) else ""), False)
        compound = self.language == "de" and len(key) <= MAX_COMPOUND
        if compound and (parts := self._parts(word.casefold()) or self._parts(key)):
            return Segment((word,), " ".join(parts), True)
        return Segment((word,), self._nearest(key) or (word if is_latin(word) else ""), False)

    def _characters(self, text: str) -> Iterator[Segment]:
        """Yield the longest listed words from the left, for Chinese has no spaces."""
        position = 0
        while position < len(text):
            parts = (text[position : position + n] for n in range(MAX_WORDS, 0, -1))
            part = next((part for part in parts if part in self.english), text[position])
            yield Segment((part,), self.english.get(part, ""), part in self.english)
            position += len(part)

    def _arabic(self, word: str) -> str:
        stems = list(arabic_stems(word))
        for find in (self.english.get, self._nearest):
            for stem, conjunction in stems:
                if english := find(stem):
                    return f"and {english}" if conjunction else english
        return ""

    def _nearest(self, word: str) -> str:
        """Find the English of the word with the longest common beginning, or ""."""
        for length in range(len(word), MIN_STEM - 1, -1):
            if length < MIN_SHARE * len(word):
                break
            first = bisect_left(self._sorted, word[:length])
            last = bisect_left(self._sorted, word[:length] + "\U0010ffff")
            near = [w for w in self._sorted[first:last] if length >= MIN_SHARE * len(w)]
            if near:
                return self.english[min(near, key=len)]
        return ""

    def _parts(self, word: str) -> list[str]:
        """Translate the parts of a German compound; none if it is not one."""
        for length in range(len(word) - MIN_PART, MIN_PART - 1, -1):
            english = self.english.get(word[:length], DROPPED)
            if english in GRAMMAR:
                continue
            for link in LINKS:
                rest = word[length:].removeprefix(link)
                if len(rest) < MIN_PART or not word[length:].startswith(link):
                    continue
                last = self.english.get(rest, DROPPED)
                behind = [last] if last not in GRAMMAR else self._parts(rest)
                if behind:
                    return [english, *behind]
        return []


@cache
def dictionaries() -> dict[str, Dictionary]:
    """Read the dictionaries, by the code of the language."""
    rows = _rows()
    languages = [language for language in rows[0] if language != "en"]
    return {language: _dictionary(rows, language) for language in languages}


@cache
def english_words() -> frozenset[str]:
    """Collect every word of the English side."""
    return frozenset(word for row in _rows() for word in row["en"].split())


def _rows() -> list[dict[str, str]]:
    with WORDS.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="|"))


def _dictionary(rows: list[dict[str, str]], language: str) -> Dictionary:
    """Make the dictionary of a language. Of several meanings of a word, that of its own spelling
    comes first, then none at all, the shortest, and that whose line names the word earliest.
    """
    found: dict[str, tuple[tuple[bool, int, int, int], str]] = {}
    for number, row in enumerate(rows):
        meaning = row["en"]
        length = 0 if meaning == DROPPED else len(meaning.split())
        for place, word in enumerate(filter(None, row[language].split(","))):
            for key in spellings(word):
                rank = (key != word.casefold(), length, place, number)
                found[key] = min(found.get(key, (rank, meaning)), (rank, meaning))
    return Dictionary(language, {key: meaning for key, (_, meaning) in found.items()})
