"""The language of a query, and its translation into English.

English, and whatever is not recognised, stays as it is.
"""

import unicodedata
from collections import Counter
from dataclasses import dataclass
from typing import Final

from earshot.systems.sound_search.languages.dictionary import (
    Dictionary,
    dictionaries,
    english_words,
)
from earshot.systems.sound_search.languages.spelling import folded, pieces

MAX_CHARACTERS: Final = 1000  # of a query, and of its translation
LANGUAGES: Final = {
    "de": "German",
    "fr": "French",
    "es": "Spanish",
    "zh": "Chinese",
    "ar": "Arabic",
}
LATIN: Final = ("de", "fr", "es")
ENDINGS: Final = ("s", "es", "d", "ed", "ing", "er", "ly")
# English words that are spelled like words of the other languages, and not on the English side.
ALSO_ENGLISH: Final = frozenset(
    "aide al alt alter alto am anime arc arrive art attend auto automobile bach bah balance "
    "bald ballast baton belle blast blitz boot boutique brand brief bub bum bureau cafe "
    "canon carafe carillon cascade celebration cent chalet chant chat chats coca collision "
    "combat come comic commence comment compose conductor conference corral course court "
    "cri crier d debut den dental dents detonation dice dick die diner ding disco dit "
    "divide dose e emission encore ensemble escape essence et explosion expose fallen "
    "fanfare fatigue fern fest file final fizz flex fort forte foyer fur gang gene "
    "glockenspiel golden gorge grab grand grande grill grille ha haha halt handy hang heli "
    "hell hunger hut image index inspire instant interior j jogger journal klaxon l la "
    "labor lame lance land las lava lent lever lied limo links lit loch m main mains "
    "mankind manner mantel mar marches mare me met metro micro mist mit mon mono motors "
    "motorsport mutter n o omnibus ovation pace pages pale par parole part partner passe "
    "pasta pastor patio pc persona petit photo pic pie pigeons pile plateau plume pop port "
    "portable porter pose pour prairie pre premiere reactor regular reservoir respiration "
    "reveille robe robot rose rouge route s sac sage sale sales salon sang sausage scene "
    "scooter see sent serpent siesta sin singe slurp smartphone solo son sonar stall stark "
    "start stein stern stock strand stridulation stuck suit t tacker tag tac tags tambourine "
    "taste te tempo temporal tic ton torture tot tour trains traverse tremble tu u usa vague "
    "vent ventilator voyage wand wanderer was wc will y zip".split()
)
KEPT: Final = ",.;:!?()&+"
JAPANESE: Final = frozenset({"HIRAGANA", "KATAKANA"})
SCRIPTS: Final = {"ARABIC": "ar", "CJK": "zh"}  # first word of a letter's Unicode name → language


@dataclass(frozen=True)
class Translation:
    """A query in English.

    english: what is searched for. language: the code in LANGUAGES of what was typed, "" if nothing
    was translated.
    """

    english: str
    language: str = ""

    @property
    def notice(self) -> str:
        """Say what was understood, or that nothing was, if there is something to say."""
        if self.language:
            return f"{LANGUAGES[self.language]}, read as “{self.english}”."
        letters = [character for character in self.english if character.isalpha()]
        if 2 * sum(character.isascii() for character in letters) >= len(letters):
            return ""
        *names, last = LANGUAGES.values()
        return f"Describe the sound in English, {', '.join(names)} or {last} if you can."


def translate(text: str) -> Translation:
    """Translate a text that is in one of LANGUAGES into English; any other stays as it is."""
    parts = pieces(text)
    dictionary = _dictionary([part for part in parts if part.isalnum()])
    if dictionary is None:
        return Translation(text)
    english = _translated(dictionary, parts)
    if not any(character.isalnum() for character in english):
        return Translation(text)
    return Translation(english[:MAX_CHARACTERS], dictionary.language)


def _dictionary(words: list[str]) -> Dictionary | None:
    """Choose the dictionary for the language of the words: by their script, or for Latin letters
    where more words are of that language alone than are English."""
    scripts = Counter(unicodedata.name(letter, "?").split()[0] for letter in "".join(words))
    script = max(scripts, key=scripts.__getitem__, default="?")
    if script in SCRIPTS and not scripts.keys() & JAPANESE:
        return dictionaries()[SCRIPTS[script]]
    if script != "LATIN":
        return None
    evidence = {language: _evidence(dictionaries()[language], words) for language in LATIN}
    best = max(evidence, key=evidence.__getitem__)
    return dictionaries()[best] if evidence[best] > (0, 0) else None


def _evidence(dictionary: Dictionary, words: list[str]) -> tuple[int, int]:
    """Count the words that only this language has, less those that only English has; and, where
    languages are even, words that have the accents of this one."""
    surplus = accents = 0
    for segment in dictionary.segments(words):
        for word in segment.words:
            english = _is_english(word)
            if segment.listed:
                surplus += not english
                accents += word.casefold() in dictionary.english
            else:
                surplus -= english
    return (surplus, accents) if surplus > 0 else (0, 0)


def _is_english(word: str) -> bool:
    key = folded(word)
    stems = (key, *(key.removesuffix(end) for end in ENDINGS), key.removesuffix("ing") + "e")
    return any(stem in english_words() or stem in ALSO_ENGLISH for stem in stems)


def _translated(dictionary: Dictionary, parts: list[str]) -> str:
    """Translate runs of words; punctuation stays between them."""
    text, run = "", []
    for part in [*parts, ""]:
        if part.isalnum():
            run.append(part)
            continue
        text += f" {dictionary.translate(run)}" if run else ""
        text += part if part in KEPT else ' " ' if part == '"' else " "
        run = []
    return " ".join(text.split())
